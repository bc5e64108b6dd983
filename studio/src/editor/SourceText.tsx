import { EditorState, StateEffect, StateField } from '@codemirror/state';
import { Decoration, EditorView, type DecorationSet } from '@codemirror/view';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { lineEndsOf } from './bytes';
import { textExtensions } from './extensions';

/** How a line is marked: the run is there, around there, or has failed there. */
export type Mark = 'here' | 'around' | 'failed';

export type MarkedLines = ReadonlyMap<number, Mark>;

const setMarks = StateEffect.define<MarkedLines>();

const marks = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(value, transaction) {
    for (const one of transaction.effects) {
      if (!one.is(setMarks)) continue;
      const { doc } = transaction.state;
      const lines = [...one.value].filter(([line]) => line >= 1 && line <= doc.lines).sort(([a], [b]) => a - b);
      return Decoration.set(lines.map(([line, mark]) => Decoration.line({ class: `cm-run-${mark}` }).range(doc.line(line).from)));
    }
    return value;
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** Only a reader who is in the text has a line of their own. */
const quiet = EditorView.theme({ '&:not(.cm-focused) .cm-activeLine, &:not(.cm-focused) .cm-activeLineGutter': { backgroundColor: 'transparent' } });

interface Props {
  text: string;
  label: string;
  marked: MarkedLines;
  /** A line that is brought into sight; again with each new object. */
  shown: { line: number } | null;
}

/** A program's text that is only read, with the lines at which a run is. */
export function SourceText({ text, label, marked, shown }: Props) {
  const container = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);

  useLayoutEffect(() => {
    const host = container.current;
    if (!host) return undefined;
    // In a shadow root the editor's styles are adopted style sheets, which the page's policy allows.
    const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
    const state = EditorState.create({
      doc: text,
      extensions: [
        textExtensions(lineEndsOf(text), []),
        EditorState.readOnly.of(true),
        quiet,
        marks,
        EditorView.contentAttributes.of({ 'aria-label': label, 'aria-readonly': 'true', tabindex: '0' }),
      ],
    });
    const mounted = new EditorView({ state, root, parent: root });
    view.current = mounted;
    return () => {
      mounted.destroy();
      view.current = null;
    };
  }, [text]);

  const key = [...marked].join(' ');
  useLayoutEffect(() => {
    const mounted = view.current;
    if (!mounted) return;
    const here = [...marked].find(([, mark]) => mark !== 'around')?.[0];
    const follows = here !== undefined && here <= mounted.state.doc.lines && !mounted.hasFocus;
    mounted.dispatch({
      effects: [
        setMarks.of(marked),
        ...(follows ? [EditorView.scrollIntoView(mounted.state.doc.line(here).from, { y: 'nearest', yMargin: 60 })] : []),
      ],
    });
  }, [key, text]);

  useLayoutEffect(() => {
    const mounted = view.current;
    if (!mounted || !shown || shown.line > mounted.state.doc.lines) return;
    mounted.dispatch({ effects: EditorView.scrollIntoView(mounted.state.doc.line(shown.line).from, { y: 'center' }) });
  }, [shown, text]);

  return <div class="editor-host" ref={container} />;
}
