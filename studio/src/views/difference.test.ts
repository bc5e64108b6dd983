import { describe, expect, it } from 'vitest';
import { markDifferences, textOfSide, titleOf, type Piece } from './difference';

const shown = (pieces: Piece[]): string => pieces.map((piece) => (piece.differs ? `[${piece.text}]` : piece.text)).join('');

describe('two texts side by side', () => {
  it('have marks at the words that differ', () => {
    const { a, b } = markDifferences('Answer about tea, please.', 'Answer in one word about milk.');
    expect(shown(a)).toBe('Answer about [tea, please].');
    expect(shown(b)).toBe('Answer [in one word ]about [milk].');
  });

  it('are whole, whatever they are', () => {
    for (const [a, b] of [['', 'x'], ['same', 'same'], ['a b', 'b a'], ['é😀 x', 'é x'], ['x '.repeat(900), 'y '.repeat(900)]] as const) {
      const marked = markDifferences(a, b);
      expect(marked.a.map((piece) => piece.text).join('')).toBe(a);
      expect(marked.b.map((piece) => piece.text).join('')).toBe(b);
    }
  });
});

describe('a difference', () => {
  it('says what differs, and shows a value without what is around it', () => {
    expect(titleOf({ what: 'context', turn: 1, tool: 'answer', index: 2, a: {}, b: {} })).toBe('Entry 2 that the model saw, of answer');
    expect(textOfSide({ value: 'tea' })).toBe('tea');
    expect(textOfSide({ value: 1, other: 2 })).toBe('{\n  "value": 1,\n  "other": 2\n}');
    expect(textOfSide(undefined)).toBeNull();
  });
});
