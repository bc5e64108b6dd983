import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

// The colours are variables of style.css, which differ between the light and the dark scheme.
const highlight = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--code-keyword)', fontWeight: '600' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--code-string)' },
  { tag: [tags.escape, tags.special(tags.brace)], color: 'var(--code-template)' },
  { tag: [tags.number, tags.bool], color: 'var(--code-number)' },
  { tag: [tags.lineComment, tags.blockComment], color: 'var(--code-comment)' },
  { tag: tags.docComment, color: 'var(--code-doc)' },
  { tag: tags.typeName, color: 'var(--code-type)' },
  { tag: tags.function(tags.variableName), color: 'var(--code-function)' },
  { tag: tags.labelName, color: 'var(--code-label)', fontWeight: '600' },
  { tag: tags.propertyName, color: 'var(--code-property)' },
  { tag: [tags.operator, tags.brace], color: 'var(--code-operator)' },
]);

const look = EditorView.theme({
  '&': { height: '100%', color: 'var(--text)', backgroundColor: 'var(--surface)', fontSize: '13px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55' },
  '.cm-content': { caretColor: 'var(--text)', paddingBottom: '40vh' },
  '.cm-cursor, .cm-dropCursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'var(--surface)', color: 'var(--muted)', border: 'none' },
  '.cm-activeLine': { backgroundColor: 'var(--line-active)' },
  '.cm-activeLineGutter': { backgroundColor: 'var(--line-active)', color: 'var(--text)' },
  '.cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground': {
    backgroundColor: 'var(--selection)',
  },
  '.cm-block-selected': { boxShadow: 'inset 3px 0 var(--accent)' },
  '.cm-foldPlaceholder': { backgroundColor: 'var(--chip)', border: 'none', color: 'var(--muted)', padding: '0 6px' },
  '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--chip)', outline: '1px solid var(--line)' },
  '.cm-nonmatchingBracket, &.cm-focused .cm-nonmatchingBracket': { color: 'var(--error)' },
  '.cm-specialChar': { color: 'var(--error)' },
  '.cm-searchMatch': { backgroundColor: 'var(--match)' },
  '.cm-searchMatch-selected': { outline: '2px solid var(--accent)' },
  '.cm-panels': { backgroundColor: 'var(--panel)', color: 'var(--text)', borderColor: 'var(--line)' },
  '.cm-panel input, .cm-panel button': { font: 'inherit' },
  '.cm-textfield': { backgroundColor: 'var(--surface)', border: '1px solid var(--field-line)', color: 'var(--text)' },
  '.cm-button': { backgroundImage: 'none', backgroundColor: 'var(--chip)', border: '1px solid var(--field-line)', color: 'var(--text)' },
  '.cm-tooltip': { backgroundColor: 'var(--panel)', color: 'var(--text)', border: '1px solid var(--line)', borderRadius: '6px' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', fontSize: '12.5px', maxHeight: '18em' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '2px 8px', lineHeight: '1.5' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--accent)', color: 'var(--accent-text)' },
  '.cm-completionDetail': { color: 'var(--muted)', fontStyle: 'normal', marginLeft: '1.2em' },
  'li[aria-selected] .cm-completionDetail': { color: 'inherit' },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '700' },
  '.cm-completionIcon': { opacity: '1', color: 'var(--muted)', width: '1.4em', paddingRight: '4px' },
  'li[aria-selected] .cm-completionIcon': { color: 'inherit' },
  '.cm-tooltip.cm-completionInfo': { fontFamily: 'var(--sans)', fontSize: '12.5px', padding: '6px 10px', maxWidth: '44ch', whiteSpace: 'pre-wrap' },
  '.cm-meaning': { padding: '6px 10px', maxWidth: '64ch', fontSize: '12.5px' },
  '.cm-meaning code': { fontFamily: 'var(--mono)' },
  '.cm-meaning p': { margin: '4px 0 0', fontFamily: 'var(--sans)', whiteSpace: 'pre-wrap' },
  '.cm-diagnostic': { fontFamily: 'var(--sans)', padding: '6px 10px', maxWidth: '60ch', whiteSpace: 'pre-wrap' },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--error)' },
  '.cm-diagnostic-warning': { borderLeftColor: 'var(--warning)' },
  '.cm-lintRange-error, .cm-lintRange-warning, .cm-lintRange-info': {
    backgroundImage: 'none',
    textDecorationLine: 'underline',
    textDecorationStyle: 'wavy',
    textDecorationSkipInk: 'none',
    textUnderlineOffset: '3px',
  },
  '.cm-lintRange-error': { textDecorationColor: 'var(--error)' },
  '.cm-lintRange-warning': { textDecorationColor: 'var(--warning)' },
  '.cm-lintRange-info': { textDecorationColor: 'var(--muted)' },
  '.cm-lintPoint-error:after': { borderBottomColor: 'var(--error)' },
});

export const theme = [look, syntaxHighlighting(highlight)];
