import type { Json } from './types';

interface Source {
  source?: string;
}
type Reviver = (this: unknown, key: string, value: unknown, context?: Source) => unknown;
const parse = JSON.parse as (text: string, reviver?: Reviver) => unknown;
const rawJson = (JSON as { rawJSON?: (text: string) => unknown }).rawJSON;

/** Numbers that a double cannot hold stay as they were written, where the browser can keep them. */
const keepLongNumbers: Reviver = (_key, value, context) => {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || !Number.isInteger(value)) return value;
  return context?.source !== undefined && rawJson ? rawJson(context.source) : value;
};

export function parseJson(text: string): unknown {
  return /[0-9]{16}/.test(text) ? parse(text, keepLongNumbers) : parse(text);
}

/** A value as a person reads it: a text as it is, anything else as JSON. */
export function showValue(value: unknown): string {
  if (typeof value === 'string') return value;
  return JSON.stringify(value ?? null, null, 2);
}

/** The same on one line. */
export function showShort(value: unknown, charactersMax = 300): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? null);
  const line = text.replace(/\s+/g, ' ');
  return line.length > charactersMax ? `${line.slice(0, charactersMax)}…` : line;
}

export function isObject(value: unknown): value is Record<string, Json> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
