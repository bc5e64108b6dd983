import { autocompletion, type Completion, type CompletionContext, type CompletionResult } from '@codemirror/autocomplete';
import type { Extension } from '@codemirror/state';
import { hoverTooltip } from '@codemirror/view';
import { api } from '../api/client';
import type { Suggestion } from '../api/types';
import { noteError } from '../state/live';
import type { OpenProgram } from '../state/program';
import { converterOf, textOf } from './bytes';

const word = /[A-Za-z_][A-Za-z_0-9]*/;
/** What a name follows: it is suggested before its first letter is typed. */
const leads = /(\w\.|\?\.|::|-> ?|\{\{ ?)$/;
/** The editor sorts by how well a name fits to what is typed; the nearest of equals come first. */
const boostMax = 9;

/** How the editor's icons are called, where that is another word. */
const icons: Record<string, string> = {
  field: 'property',
  option: 'property',
  extern: 'function',
  agent: 'class',
  case: 'enum',
  module: 'namespace',
  value: 'constant',
  block: 'text',
  block_kind: 'interface',
};

function optionOf(suggestion: Suggestion, index: number): Completion {
  return {
    label: suggestion.label,
    type: icons[suggestion.kind] ?? suggestion.kind,
    boost: Math.max(-boostMax, boostMax - index),
    ...(suggestion.detail !== undefined && { detail: suggestion.detail }),
    ...(suggestion.documentation !== undefined && { info: suggestion.documentation }),
    ...(suggestion.inserted !== undefined && { apply: suggestion.inserted }),
  };
}

function sourceOf(program: OpenProgram) {
  return async (context: CompletionContext): Promise<CompletionResult | null> => {
    const typed = context.matchBefore(word);
    const { doc } = context.state;
    if (!typed && !context.explicit && !leads.test(doc.sliceString(Math.max(0, context.pos - 3), context.pos))) return null;
    const converter = converterOf(doc, program.ends);
    try {
      const found = await api.complete(program.name, textOf(doc, program.ends), converter.offset(context.pos));
      const labels = new Set(found.suggestions.map((one) => one.label));
      // A name that is written in full needs no suggestion, which Enter would take instead of ending the line.
      if (context.aborted || labels.size === 0 || (typed && !context.explicit && labels.has(typed.text))) return null;
      return {
        from: converter.position(found.from),
        options: found.suggestions.map(optionOf),
        ...(found.complete && { validFor: (text: string) => /^\w*$/.test(text) && !labels.has(text) }),
      };
    } catch (error) {
      noteError(error);
      return null;
    }
  };
}

/** What the name under the pointer means. */
const meanings = (program: OpenProgram): Extension =>
  hoverTooltip(async (view, position) => {
    const { doc } = view.state;
    const converter = converterOf(doc, program.ends);
    try {
      const meaning = await api.explain(program.name, textOf(doc, program.ends), converter.offset(position));
      if (meaning.title === undefined || view.state.doc !== doc) return null;
      const dom = document.createElement('div');
      dom.className = 'cm-meaning';
      const title = dom.appendChild(document.createElement('code'));
      title.textContent = meaning.title;
      if (meaning.documentation) {
        const text = dom.appendChild(document.createElement('p'));
        text.textContent = meaning.documentation;
      }
      return { pos: converter.position(meaning.from ?? 0), end: converter.position(meaning.to ?? 0), above: true, create: () => ({ dom }) };
    } catch (error) {
      noteError(error);
      return null;
    }
  });

/** Suggestions and explanations of the checker. */
export const assistance = (program: OpenProgram): Extension => [
  autocompletion({ override: [sourceOf(program)], icons: true, aboveCursor: false }),
  meanings(program),
];
