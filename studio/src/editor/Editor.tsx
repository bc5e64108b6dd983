import { startCompletion } from '@codemirror/autocomplete';
import { indentWithTab, isolateHistory, redo, undo } from '@codemirror/commands';
import { setDiagnostics } from '@codemirror/lint';
import { openSearchPanel } from '@codemirror/search';
import { EditorSelection, EditorState, StateEffect, StateField, type Extension } from '@codemirror/state';
import { Decoration, EditorView, type DecorationSet } from '@codemirror/view';
import { effect } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { OpenProgram } from '../state/program';
import { assistance } from './assist';
import { converterOf } from './bytes';
import { diagnosticsOf, textExtensions } from './extensions';

/** Marks the lines of the selected block. */
const markBlock = StateEffect.define<{ from: number; to: number } | null>();
const selectedLine = Decoration.line({ class: 'cm-block-selected' });

const blockMark = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, transaction) {
    let result = marks.map(transaction.changes);
    for (const one of transaction.effects) {
      if (!one.is(markBlock)) continue;
      const lines = [];
      const range = one.value;
      if (range) {
        const { doc } = transaction.state;
        const last = doc.lineAt(range.to).number;
        for (let number = doc.lineAt(range.from).number; number <= last; ++number) {
          lines.push(selectedLine.range(doc.line(number).from));
        }
      }
      result = Decoration.set(lines);
    }
    return result;
  },
  provide: (field) => EditorView.decorations.from(field),
});

function extensionsFor(program: OpenProgram): Extension[] {
  return [
    assistance(program),
    textExtensions(program.ends, [indentWithTab]),
    blockMark,
    EditorView.contentAttributes.of({
      'aria-label': 'Program text',
      tabindex: '0',
      'aria-description': 'Tab indents. Escape, then Tab, leaves the text. Ctrl+Space suggests names.',
    }),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) program.edited();
      if (update.selectionSet && update.view.hasFocus) program.cursorAt(update.state.selection.main.head);
    }),
  ];
}

interface Mounted {
  host: HTMLElement;
  view: EditorView;
}

/** The editors of open programs. They keep their history while another view is shown. */
const editors = new WeakMap<OpenProgram, Mounted>();

export const undoIn = (program: OpenProgram): void => void withView(program, undo);
export const searchIn = (program: OpenProgram): void => void withView(program, openSearchPanel);
export const suggestIn = (program: OpenProgram): void =>
  withView(program, (view) => {
    view.focus();
    startCompletion(view);
  });
export const redoIn = (program: OpenProgram): void => void withView(program, redo);

function withView(program: OpenProgram, action: (view: EditorView) => unknown): void {
  const view = editors.get(program)?.view;
  if (view) action(view);
}

export function focusEditor(program: OpenProgram): void {
  withView(program, (view) => view.focus());
}

function mount(program: OpenProgram, text: string): Mounted {
  const host = document.createElement('div');
  host.className = 'editor-host';
  // In a shadow root the editor's styles are adopted style sheets, which the page's policy allows.
  const root = host.attachShadow({ mode: 'open' });
  const state = EditorState.create({ doc: text, extensions: extensionsFor(program) });
  const view = new EditorView({ state, root, parent: root });
  program.attach({
    doc: () => view.state.doc,
    change(changes) {
      view.dispatch({ changes, annotations: isolateHistory.of('full'), userEvent: 'input.graph', scrollIntoView: false });
    },
    select(from, to, focus) {
      const selection = EditorSelection.single(focus ? to : from, from);
      view.dispatch({
        ...(focus && { selection }),
        effects: EditorView.scrollIntoView(EditorSelection.range(from, to), { y: focus ? 'center' : 'nearest', yMargin: 40 }),
      });
      if (focus) view.focus();
    },
  });
  effect(() => {
    const described = program.described.value;
    const block = program.block.value;
    if (described !== view.state.doc) return;
    const converter = converterOf(described, program.ends);
    const range = block && {
      from: converter.position(block.range.offset),
      to: converter.position(block.range.offset + block.range.length),
    };
    view.dispatch({ effects: markBlock.of(range) });
  });
  effect(() => {
    if (program.described.value === view.state.doc) {
      view.dispatch(setDiagnostics(view.state, diagnosticsOf(program.problems.value, view.state.doc, program.ends)));
    }
  });
  return { host, view };
}

export function Editor({ program, text }: { program: OpenProgram; text: string }) {
  const container = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    let mounted = editors.get(program);
    if (!mounted) {
      mounted = mount(program, text);
      editors.set(program, mounted);
    }
    container.current?.replaceChildren(mounted.host);
    mounted.view.requestMeasure();
  }, [program]);
  return <div class="editor" ref={container} />;
}
