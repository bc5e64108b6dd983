import type { Text } from '@codemirror/state';
import type { Patch } from '../api/types';
import { converterOf, type LineEnds } from './bytes';

export interface Change {
  from: number;
  to: number;
  insert: string;
}

/** The changes of the editor that the server's patches describe. */
export function changesOf(patches: readonly Patch[], doc: Text, ends: LineEnds): Change[] {
  const converter = converterOf(doc, ends);
  return patches.map((patch) => ({
    from: converter.position(patch.offset),
    to: converter.position(patch.offset + patch.removed),
    insert: patch.inserted,
  }));
}

/** The one change that turns a text into another: what is between their common start and their common end. */
export function changeBetween(before: string, after: string): Change | null {
  if (before === after) return null;
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) ++start;
  let end = 0;
  while (end < shorter - start && before[before.length - 1 - end] === after[after.length - 1 - end]) ++end;
  return { from: start, to: before.length - end, insert: after.slice(start, after.length - end) };
}
