// Text from models, tools and people. It only ever becomes text nodes.
import type { ComponentChild } from 'preact';

/** Characters that change how others are read, or are not seen: controls, bidirectional controls, zero-width characters, tags. */
export const hiddenCharacters = new RegExp(
  '[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u115f\\u1160\\u180e\\u200b-\\u200f\\u2028-\\u202e' +
    '\\u2060-\\u206f\\u3164\\ufe00-\\ufe0f\\ufeff\\ufff9-\\ufffb\\u{e0000}-\\u{e007f}]',
  'gu',
);

function markOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Whether a character only selects how the one before it is drawn, as in emoji. */
function isHarmless(text: string, at: number, character: string): boolean {
  if (character === '\r' && text[at + 1] === '\n') return true;
  const before = text.slice(0, at);
  if (character === '\ufe0f') return /[\p{Emoji}]$/u.test(before);
  return character === '\u200d' && /[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f]$/u.test(before);
}

/** The text with a visible mark in place of each hidden character. */
export function Marked({ text }: { text: string }) {
  const parts: ComponentChild[] = [];
  let end = 0;
  for (const found of text.matchAll(hiddenCharacters)) {
    if (isHarmless(text, found.index, found[0])) continue;
    parts.push(text.slice(end, found.index));
    parts.push(<span class="hidden-character">{markOf(found[0])}</span>);
    end = found.index + found[0].length;
  }
  parts.push(text.slice(end));
  return <bdi>{parts}</bdi>;
}

export function ageOf(time: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - time) / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

export function timeOf(time: number): string {
  const date = new Date(time);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

export const dateOf = (time: number): string => new Date(time).toLocaleString();

/** A time that has passed, in milliseconds. */
export function durationOf(ms: number): string {
  if (ms < 1000) return `${ms} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

export const numberOf = (value: number): string => value.toLocaleString('en');
