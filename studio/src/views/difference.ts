import { isObject, showValue } from '../api/json';
import type { DifferencePart, Json } from '../api/types';

/** The number of an argument or an entry is in place of `#`. */
const kindWords: Record<string, string> = {
  input: 'Input',
  choice: 'Call',
  argument: 'Argument #',
  context: 'Entry # that the model saw',
  request: 'Format or prompt template of the request',
  pause: 'Question of a tool',
  result: 'Result',
  output: 'Value of the run',
  place: 'Position in the program',
  tools: 'Tools of the program',
  control: 'Limits of the turn',
};

/** What differs, as a title. */
export function titleOf(part: DifferencePart): string {
  const kind = (kindWords[part.what] ?? part.what).replace('#', `${part.index ?? ''}`);
  if (part.tool === undefined) return kind;
  return part.what === 'choice' ? `${kind} of ${part.tool}, in one run` : `${kind}, of ${part.tool}`;
}

/** A side as a person reads it. A value or a failure is in an object of its own. */
export function textOfSide(value: Json | undefined): string | null {
  if (value === undefined) return null;
  if (isObject(value) && Object.keys(value).length === 1 && 'value' in value) return showValue(value['value']);
  return showValue(value);
}

export interface Piece {
  text: string;
  differs: boolean;
}

/** With the white space after it, which alone would make texts alike that are not. */
const words = /\s+|[\p{L}\p{N}_]+\s*|[^\s\p{L}\p{N}_]\s*/gu;
/** The work for one pair of texts; longer ones are only compared at their ends. */
const cellsMax = 250_000;

function merged(pieces: Piece[]): Piece[] {
  const result: Piece[] = [];
  for (const piece of pieces) {
    const last = result.at(-1);
    if (piece.text === '') continue;
    if (last && last.differs === piece.differs) last.text += piece.text;
    else result.push({ ...piece });
  }
  return result;
}

/** Marks the words of two texts that are not in the other one: by a longest common sequence between their equal ends. */
export function markDifferences(a: string, b: string): { a: Piece[]; b: Piece[] } {
  const left = a.match(words) ?? [];
  const right = b.match(words) ?? [];
  let begin = 0;
  while (begin < left.length && begin < right.length && left[begin] === right[begin]) ++begin;
  let end = 0;
  while (end < Math.min(left.length, right.length) - begin && left.at(-1 - end) === right.at(-1 - end)) ++end;
  const x = left.slice(begin, left.length - end);
  const y = right.slice(begin, right.length - end);
  const same = (list: string[]): Piece => ({ text: list.join(''), differs: false });
  const head = same(left.slice(0, begin));
  const tail = same(left.slice(left.length - end));
  if (x.length * y.length > cellsMax) {
    const whole = (list: string[]): Piece[] => merged([head, { text: list.join(''), differs: true }, tail]);
    return { a: whole(x), b: whole(y) };
  }
  const width = y.length + 1;
  const longest = new Uint32Array((x.length + 1) * width);
  const cell = (i: number, j: number): number => longest[i * width + j] ?? 0;
  for (let i = x.length - 1; i >= 0; --i) {
    for (let j = y.length - 1; j >= 0; --j) {
      longest[i * width + j] = x[i] === y[j] ? cell(i + 1, j + 1) + 1 : Math.max(cell(i + 1, j), cell(i, j + 1));
    }
  }
  const one: Piece[] = [head];
  const two: Piece[] = [head];
  for (let i = 0, j = 0; i < x.length || j < y.length; ) {
    if (i < x.length && j < y.length && x[i] === y[j]) {
      one.push({ text: x[i++] ?? '', differs: false });
      two.push({ text: y[j++] ?? '', differs: false });
    } else if (j === y.length || (i < x.length && cell(i + 1, j) >= cell(i, j + 1))) {
      one.push({ text: x[i++] ?? '', differs: true });
    } else {
      two.push({ text: y[j++] ?? '', differs: true });
    }
  }
  one.push(tail);
  two.push(tail);
  return { a: merged(one), b: merged(two) };
}
