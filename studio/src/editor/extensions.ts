// What every editor of a program's text has.
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { bracketMatching, foldGutter, foldKeymap, indentUnit } from '@codemirror/language';
import { lintGutter, lintKeymap, type Diagnostic } from '@codemirror/lint';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { EditorState, type Extension, type Text } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
  type KeyBinding,
} from '@codemirror/view';
import type { Problem } from '../api/types';
import { hiddenCharacters } from '../text';
import { converterOf, type LineEnds } from './bytes';
import { folding, indenting, tenon } from './language';
import { theme } from './theme';

export function textExtensions(ends: LineEnds, keys: readonly KeyBinding[]): Extension {
  return [
    // Otherwise a CR between lines that end with LF would be taken for a line end, and lost.
    ends.mixed ? EditorState.lineSeparator.of('\n') : [],
    EditorView.clipboardInputFilter.of((text) => text.replace(/\r\n?/g, '\n')),
    lineNumbers(),
    highlightActiveLineGutter(),
    highlightSpecialChars({ addSpecialChars: hiddenCharacters }),
    history(),
    foldGutter(),
    lintGutter(),
    drawSelection(),
    EditorState.allowMultipleSelections.of(true),
    indentUnit.of('    '),
    bracketMatching(),
    highlightActiveLine(),
    highlightSelectionMatches(),
    search({ top: true }),
    tenon,
    folding,
    indenting,
    theme,
    keymap.of([...defaultKeymap, ...searchKeymap, ...historyKeymap, ...foldKeymap, ...lintKeymap, ...keys]),
  ];
}

export function diagnosticsOf(problems: readonly Problem[], doc: Text, ends: LineEnds): Diagnostic[] {
  const converter = converterOf(doc, ends);
  return problems.map(({ offset = 0, length = 0, ...problem }) => ({
    from: converter.position(offset),
    to: converter.position(offset + length),
    severity: problem.severity === 'note' ? 'info' : problem.severity,
    source: problem.code,
    message: [problem.message, ...(problem.hints ?? [])].join('\n'),
  }));
}
