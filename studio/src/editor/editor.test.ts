import { EditorState, Text } from '@codemirror/state';
import { describe, expect, it } from 'vitest';
import { Converter, lineEndsOf, textOf } from './bytes';
import { mergeTexts } from './merge';
import { changeBetween, changesOf } from './patches';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const docOf = (text: string): Text => {
  const ends = lineEndsOf(text);
  return Text.of(text.split(ends.mixed ? '\n' : /\r\n?|\n/));
};

const texts = ['', 'a', 'let x = "é😀" + nope\n', 'a\r\nb😀\r\n\r\nc', 'a\nb\r\nc\rd', '\n\n', '𝒜\u{10FFFF}é\nß'];

describe('the converter', () => {
  it.each(texts)('agrees with the encoded text: %j', (text) => {
    const ends = lineEndsOf(text);
    const doc = docOf(text);
    const converter = new Converter(doc, ends);
    expect(textOf(doc, ends)).toBe(text);
    expect(converter.bytes).toBe(bytes(text).length);
    for (let at = 0; at <= doc.length; ++at) {
      const before = doc.sliceString(0, at, ends.separator);
      if (/[\uD800-\uDBFF]$/.test(before)) continue; // between the halves of a character
      expect(converter.offset(at)).toBe(bytes(before).length);
      expect(converter.position(bytes(before).length)).toBe(at);
    }
  });

  it('takes an offset inside of a character for its start, and one after the end for the end', () => {
    const converter = new Converter(docOf('é😀'), lineEndsOf('é😀'));
    expect([1, 2, 3, 5, 6, 99].map((offset) => converter.position(offset))).toEqual([0, 1, 1, 1, 3, 3]);
  });
});

describe('patches', () => {
  it('become changes of one transaction, also after astral characters and with CRLF', () => {
    const text = '// é😀\r\nblock a: emit {\r\n}\r\n';
    const ends = lineEndsOf(text);
    const state = EditorState.create({ doc: text });
    const at = bytes('// é😀\r\nblock ').length;
    const patches = [
      { offset: at, removed: 1, inserted: 'bb' },
      { offset: bytes(text).length, removed: 0, inserted: 'block c: code {\r\n}\r\n' },
    ];
    const changed = state.update({ changes: changesOf(patches, state.doc, ends) }).state;
    expect(textOf(changed.doc, ends)).toBe('// é😀\r\nblock bb: emit {\r\n}\r\nblock c: code {\r\n}\r\n');
  });

  it('between two texts are as small as possible', () => {
    expect(changeBetween('abc', 'abc')).toBeNull();
    expect(changeBetween('aXc', 'aYYc')).toEqual({ from: 1, to: 2, insert: 'YY' });
    expect(changeBetween('aa', 'aaa')).toEqual({ from: 2, to: 2, insert: 'a' });
    expect(changeBetween('abcabc', 'abc')).toEqual({ from: 3, to: 6, insert: '' });
  });
});

describe('a merge', () => {
  it('takes changes of different lines from both', () => {
    expect(mergeTexts('a\nb\nc\nd\n', 'A\nb\nc\nd\n', 'a\nb\nc\nD\ne\n')).toEqual({ text: 'A\nb\nc\nD\ne\n', conflicts: 0 });
  });
  it('takes what both have changed alike once', () => {
    expect(mergeTexts('a\nb', 'a\nx', 'a\nx')).toEqual({ text: 'a\nx', conflicts: 0 });
  });
  it('marks what both have changed differently', () => {
    const merged = mergeTexts('a\nb\nc', 'a\nx\nc', 'a\ny\nc');
    expect(merged.conflicts).toBe(1);
    expect(merged.text).toBe('a\n<<<<<<< mine\nx\n=======\ny\n>>>>>>> on disk\nc');
  });
  it('keeps deletions and additions', () => {
    expect(mergeTexts('a\nb\nc\nd', 'a\nc\nd', 'a\nb\nc\nnew\nd')).toEqual({ text: 'a\nc\nnew\nd', conflicts: 0 });
  });
  it('gives back the other version where one has not changed', () => {
    const lines = (seed: number): string => Array.from({ length: 60 }, (_, i) => String((i * seed) % 7)).join('\n');
    for (let seed = 1; seed < 12; ++seed) {
      const [base, changed] = [lines(seed), lines(seed + 3)];
      expect(mergeTexts(base, base, changed)).toEqual({ text: changed, conflicts: 0 });
      expect(mergeTexts(base, changed, base)).toEqual({ text: changed, conflicts: 0 });
    }
  });
});
