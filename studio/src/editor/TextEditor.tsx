import { setDiagnostics } from '@codemirror/lint';
import { EditorSelection, EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Problem } from '../api/types';
import { lineEndsOf, textOf } from './bytes';
import { diagnosticsOf, textExtensions } from './extensions';

interface Props {
  /** At the start; what is typed is passed to `onChange`, with the same line ends. */
  text: string;
  /** The line that is in sight at the start, from 1. */
  line: number | null;
  /** Of the text `of`: they are shown while the editor has that text. */
  problems: { of: string; list: readonly Problem[] };
  onChange: (text: string) => void;
}

/** A program's text that is changed in a dialog. Tab leaves it, so that Escape can close the dialog. */
export function TextEditor({ text, line, problems, onChange }: Props) {
  const container = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const ends = useRef(lineEndsOf(text));

  useLayoutEffect(() => {
    const host = container.current;
    if (!host) return undefined;
    // In a shadow root the editor's styles are adopted style sheets, which the page's policy allows.
    const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
    const state = EditorState.create({
      doc: text,
      extensions: [
        textExtensions(ends.current, []),
        EditorView.contentAttributes.of({ 'aria-label': 'Program text', tabindex: '0' }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) onChange(textOf(update.state.doc, ends.current));
        }),
      ],
    });
    const mounted = new EditorView({ state, root, parent: root });
    view.current = mounted;
    if (line !== null && line <= mounted.state.doc.lines) {
      const at = mounted.state.doc.line(line).from;
      mounted.dispatch({ selection: EditorSelection.cursor(at), effects: EditorView.scrollIntoView(at, { y: 'center' }) });
    }
    return () => mounted.destroy();
  }, []);

  useLayoutEffect(() => {
    const mounted = view.current;
    if (!mounted || textOf(mounted.state.doc, ends.current) !== problems.of) return;
    mounted.dispatch(setDiagnostics(mounted.state, diagnosticsOf(problems.list, mounted.state.doc, ends.current)));
  }, [problems]);

  return <div class="editor-host" ref={container} />;
}
