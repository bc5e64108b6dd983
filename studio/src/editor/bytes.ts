import type { Text } from '@codemirror/state';

/**
 * How the lines of a program's text end. The editor counts every line end as one character, the server counts bytes. In a text
 * whose line ends are not all alike, only LF ends a line and a CR is a character like any other, so that no byte is lost.
 */
export interface LineEnds {
  separator: '\n' | '\r\n';
  mixed: boolean;
}

export function lineEndsOf(text: string): LineEnds {
  const all = text.match(/\r\n|\n|\r/g) ?? [];
  const first = all[0];
  if (first === undefined || all.every((end) => end === '\n')) return { separator: '\n', mixed: false };
  if (first === '\r\n' && all.every((end) => end === '\r\n')) return { separator: '\r\n', mixed: false };
  return { separator: '\n', mixed: true };
}

/** The text of the editor as the server knows it, byte for byte. */
export function textOf(doc: Text, ends: LineEnds): string {
  return doc.sliceString(0, doc.length, ends.separator);
}

function bytesOfCode(code: number): number {
  return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}

function bytesOf(text: string): number {
  let bytes = 0;
  for (let at = 0; at < text.length; ++at) {
    const code = text.codePointAt(at) ?? 0;
    bytes += bytesOfCode(code);
    if (code > 0xffff) ++at;
  }
  return bytes;
}

/** Translates between offsets in bytes of UTF-8 and positions of the editor, which are in UTF-16. */
export class Converter {
  /** The offset in bytes at which each line starts. */
  private readonly starts: number[] = [];
  readonly bytes: number;

  constructor(
    private readonly doc: Text,
    ends: LineEnds,
  ) {
    let at = 0;
    for (const line of doc.iterLines()) {
      this.starts.push(at);
      at += bytesOf(line) + ends.separator.length;
    }
    this.bytes = at - ends.separator.length;
  }

  /** An offset inside of a character or of a line end is taken for its start; one after the end for the end. */
  position(offset: number): number {
    let low = 0;
    let high = this.starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    const line = this.doc.line(low + 1);
    let rest = offset - (this.starts[low] ?? 0);
    let at = 0;
    while (at < line.text.length) {
      const code = line.text.codePointAt(at) ?? 0;
      rest -= bytesOfCode(code);
      if (rest < 0) break;
      at += code > 0xffff ? 2 : 1;
    }
    return line.from + at;
  }

  offset(position: number): number {
    const line = this.doc.lineAt(Math.min(position, this.doc.length));
    return (this.starts[line.number - 1] ?? 0) + bytesOf(line.text.slice(0, position - line.from));
  }
}

const converters = new WeakMap<Text, Converter>();

/** The converter of a text, made once. */
export function converterOf(doc: Text, ends: LineEnds): Converter {
  let found = converters.get(doc);
  if (!found) {
    found = new Converter(doc, ends);
    converters.set(doc, found);
  }
  return found;
}
