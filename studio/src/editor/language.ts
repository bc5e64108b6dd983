import { foldService, indentService, StreamLanguage, type StreamParser, type StringStream } from '@codemirror/language';
import { tags } from '@lezer/highlight';

const keywords = new Set(
  'as break continue else enum extern false fn for if in let match return select struct true try use while'.split(' '),
);
/** Words that are keywords only where the grammar uses them. */
const contextual = new Set(
  ('agent assert block branch budget called catch check ensures finally impl instructions item len matching model next_turn on ' +
    'parallel post_turn pre_turn pursue requires scratchpad secret shield start state strategy test to tools trust trusted type when').split(' '),
);
const constants = new Set(['true', 'false']);

/** A string that is being read, or the template in it. */
interface OpenString {
  triple: boolean;
  inTemplate: boolean;
  braces: number;
}

interface State {
  strings: OpenString[];
  comments: number;
  /** The last word was `block NAME:`; the kind follows. */
  expects: 'name' | 'kind' | '';
  last: string;
}

function readComment(stream: StringStream, state: State): string {
  while (!stream.eol()) {
    if (stream.match('/*')) ++state.comments;
    else if (stream.match('*/')) {
      if (--state.comments === 0) break;
    } else stream.next();
  }
  return 'blockComment';
}

function readString(stream: StringStream, state: State, open: OpenString): string {
  if (stream.match(open.triple ? '"""' : '"')) {
    while (open.triple && stream.peek() === '"') stream.next();
    state.strings.pop();
    return 'string';
  }
  if (stream.match('{{')) {
    open.inTemplate = true;
    open.braces = 0;
    return 'templateBrace';
  }
  if (stream.match(/^\\(u\{[0-9a-fA-F]*\}|.?)/)) return 'escape';
  while (!stream.eol()) {
    if (stream.peek() === '\\' || stream.match(open.triple ? '"""' : '"', false) || stream.match('{{', false)) break;
    stream.next();
  }
  if (stream.eol() && !open.triple) state.strings.length = 0;
  return 'string';
}

function readWord(stream: StringStream, state: State): string | null {
  const word = (stream.match(/^[A-Za-z_][A-Za-z_0-9]*/) as RegExpMatchArray)[0];
  const before = state.last;
  state.last = word;
  const isMember = before === '.';
  if (constants.has(word)) return 'bool';
  if (keywords.has(word)) return 'keyword';
  if (before === 'fn') return 'functionName';
  if (before === 'block' || before === 'branch' || before === 'start') {
    state.expects = before === 'block' ? 'name' : '';
    return 'label';
  }
  if (before === ':' && state.expects === 'name') {
    state.expects = '';
    return 'typeName';
  }
  if (before === '->' && stream.match(/^\s*($|\/\/|\})/, false)) return /^[A-Z]/.test(word) ? 'typeName' : 'label';
  if (/^[A-Z]/.test(word)) return 'typeName';
  if (stream.match(/^\s*\(/, false)) return 'functionName';
  if (stream.match(/^\s*:(?!:)/, false)) return 'propertyName';
  if (isMember) return 'propertyName';
  if (contextual.has(word) && !stream.match(/^\s*[.,)=\]]/, false)) return 'keyword';
  return null;
}

function readToken(stream: StringStream, state: State): string | null {
  if (stream.eatSpace()) return null;
  if (stream.match('//')) {
    const isDoc = stream.string.startsWith('///', stream.start) && !stream.string.startsWith('////', stream.start);
    stream.skipToEnd();
    return isDoc ? 'docComment' : 'lineComment';
  }
  if (stream.match('/*')) {
    state.comments = 1;
    return readComment(stream, state);
  }
  if (stream.peek() === '"') {
    const triple = state.strings.some((one) => one.triple);
    if (triple && stream.match('"""')) {
      while (state.strings.pop()?.triple === false);
      return 'string';
    }
    state.strings.push({ triple: Boolean(stream.match('"""')) || !stream.match('"'), inTemplate: false, braces: 0 });
    return 'string';
  }
  if (stream.match(/^(0[xob][0-9a-fA-F_]+|[0-9][0-9_]*(\.[0-9][0-9_]*)?([eE][+-]?[0-9]+)?)(ms|s|m|h|d)?\b/)) {
    state.last = '0';
    return 'number';
  }
  const template = state.strings.at(-1);
  if (template) {
    if (stream.match('{')) {
      ++template.braces;
      return 'brace';
    }
    if (template.braces === 0 && stream.match('}}')) {
      template.inTemplate = false;
      return 'templateBrace';
    }
    if (stream.match('}')) {
      --template.braces;
      return 'brace';
    }
  }
  if (/[A-Za-z_]/.test(stream.peek() ?? '')) return readWord(stream, state);
  const operator = stream.match(/^(->|=>|==|!=|<=|>=|&&|\|\||\?\?|\?\.|::|\.\.=?|[-+*/%]=|[-+*/%=<>!|?])/);
  if (operator) {
    state.last = (operator as RegExpMatchArray)[0];
    return 'operator';
  }
  state.last = stream.next() ?? '';
  return /[()[\]{}]/.test(state.last) ? 'brace' : null;
}

const parser: StreamParser<State> = {
  name: 'tenon',
  startState: () => ({ strings: [], comments: 0, expects: '', last: '' }),
  copyState: (state) => ({ ...state, strings: state.strings.map((one) => ({ ...one })) }),
  blankLine: (state) => {
    if (state.strings.some((one) => !one.triple)) state.strings.length = 0;
  },
  token(stream, state) {
    if (stream.sol()) {
      // A string in single quotes ends with its line.
      const lasting = state.strings.findLastIndex((one) => one.triple) + 1;
      state.strings.length = lasting;
    }
    if (state.comments > 0) return readComment(stream, state);
    const open = state.strings.at(-1);
    return open && !open.inTemplate ? readString(stream, state, open) : readToken(stream, state);
  },
  languageData: {
    commentTokens: { line: '//', block: { open: '/*', close: '*/' } },
    closeBrackets: { brackets: ['(', '[', '{', '"'] },
    indentOnInput: /^\s*[}\])]$/,
  },
  tokenTable: {
    templateBrace: tags.special(tags.brace),
    functionName: tags.function(tags.variableName),
    label: tags.labelName,
    bool: tags.bool,
    docComment: tags.docComment,
    escape: tags.escape,
    brace: tags.brace,
  },
};

export const tenon = StreamLanguage.define(parser);

/** A line that opens a bracket folds up to the line that closes it, which is the next one that is not indented deeper. */
export const folding = foldService.of((state, start, end) => {
  const line = state.doc.lineAt(start);
  if (!/[{[(]\s*(\/\/.*)?$/.test(line.text)) return null;
  const indent = /^\s*/.exec(line.text)?.[0].length ?? 0;
  for (let number = line.number + 1; number <= state.doc.lines; ++number) {
    const next = state.doc.line(number);
    const depth = next.text.search(/\S/);
    if (depth < 0 || depth > indent) continue;
    if (depth < indent || !/^\s*[}\])]/.test(next.text)) return null;
    return next.number > line.number + 1 ? { from: end, to: next.from + depth } : null;
  }
  return null;
});

/** A line is indented as the one before it, deeper after an opening bracket, and less if it starts with a closing one. */
export const indenting = indentService.of((context, position) => {
  const { text } = context.lineAt(position);
  const before = position > 0 ? context.lineAt(position - 1, -1) : null;
  if (!before) return 0;
  const opens = /[{[(]\s*(\/\/.*)?$/.test(before.text) ? context.unit : 0;
  const closes = /^\s*[}\])]/.test(text) ? context.unit : 0;
  return Math.max(0, context.lineIndent(before.from) + opens - closes);
});
