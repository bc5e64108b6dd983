// What a form for a value of a JSON Schema consists of, and the value that was entered in it.
import { isObject } from '../api/json';
import type { Json, Schema } from '../api/types';

export type Kind = 'text' | 'integer' | 'number' | 'boolean' | 'choice' | 'object' | 'json';

export function plain(schema: Schema | boolean): { schema: Schema; optional: boolean } {
  if (typeof schema === 'boolean') return { schema: {}, optional: false };
  const options = schema.anyOf?.filter((one): one is Schema => typeof one !== 'boolean') ?? [];
  const others = options.filter((one) => one.type !== 'null');
  const [only] = others;
  if (only && others.length === 1 && options.length === 2) {
    return { schema: schema.description ? { description: schema.description, ...only } : only, optional: true };
  }
  return { schema, optional: false };
}

export function kindOf(schema: Schema): Kind {
  if (schema.enum && schema.enum.length > 0) return 'choice';
  if (schema.type === 'string') return 'text';
  if (schema.type === 'integer' || schema.type === 'number' || schema.type === 'boolean') return schema.type;
  if (schema.type === 'object' && schema.properties) return 'object';
  return 'json';
}

/** What a person has entered: a text for each control, by the path of its field. */
export type Entered = Record<string, string>;

export const inner = (path: string, name: string): string => `${path}/${name}`;

export function required(schema: Schema, name: string): boolean {
  return schema.required?.includes(name) ?? false;
}

class FieldProblem extends Error {
  constructor(
    readonly path: string,
    message: string,
  ) {
    super(message);
  }
}

function readNumber(text: string, path: string, integer: boolean): Json {
  const trimmed = text.trim();
  if (!(integer ? /^[+-]?\d+$/ : /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/).test(trimmed)) {
    throw new FieldProblem(path, integer ? 'Expected a whole number.' : 'Expected a number.');
  }
  const value = Number(trimmed);
  // The server reads a text as JSON where it expects a number, which keeps all digits.
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? trimmed.replace(/^\+/, '') : value;
}

function readField(given: Schema | boolean, entered: Entered, path: string, isRequired: boolean): Json | undefined {
  const { schema, optional } = plain(given);
  const kind = kindOf(schema);
  const text = entered[path] ?? '';
  if (kind === 'object') {
    if (optional && !Object.keys(entered).some((one) => one.startsWith(`${path}/`) && entered[one])) return null;
    const value: Record<string, Json> = {};
    for (const [name, field] of Object.entries(schema.properties ?? {})) {
      const found = readField(field, entered, inner(path, name), required(schema, name));
      if (found !== undefined) value[name] = found;
    }
    return value;
  }
  if (text === '' && kind !== 'text' && kind !== 'boolean') {
    if (optional) return null;
    if (!isRequired) return undefined;
    throw new FieldProblem(path, 'A value is missing.');
  }
  if (text === '' && optional) return null;
  if (text === '' && kind === 'boolean' && path === '') throw new FieldProblem(path, 'Choose yes or no.');
  switch (kind) {
    case 'boolean':
      // Where it may be left out, it is a choice of true and false.
      return optional ? text === '0' : text === 'true';
    case 'integer':
    case 'number':
      return readNumber(text, path, kind === 'integer');
    case 'choice':
      return schema.enum?.[Number(text)] ?? null;
    case 'json':
      try {
        return JSON.parse(text) as Json;
      } catch {
        throw new FieldProblem(path, 'Expected JSON.');
      }
    default:
      return text;
  }
}

export type Read = { value: Json } | { problems: Record<string, string> };

/** The value that was entered, or the first problem by the path of its field. */
export function readForm(schema: Schema | boolean, entered: Entered): Read {
  try {
    return { value: readField(schema, entered, '', true) ?? null };
  } catch (error) {
    if (error instanceof FieldProblem) return { problems: { [error.path]: error.message } };
    throw error;
  }
}

/** What a form for the schema shows of a value that is to be changed. */
export function enter(given: Schema | boolean, value: Json, path = ''): Entered {
  const { schema, optional } = plain(given);
  const kind = kindOf(schema);
  if (kind === 'object' && isObject(value)) {
    const fields = Object.entries(schema.properties ?? {});
    const entered = fields.map(([name, field]) => enter(field, (value as Record<string, Json>)[name] ?? null, inner(path, name)));
    return Object.assign({}, ...entered) as Entered;
  }
  if (value === null) return {};
  if (kind === 'json') return { [path]: JSON.stringify(value) };
  if (kind === 'boolean' && optional) return { [path]: value ? '0' : '1' };
  if (kind === 'choice') return { [path]: String(schema.enum?.indexOf(value)) };
  return { [path]: String(value) };
}

/** Whether the schema is of an object with fields. */
export function hasFields(schema: Schema | boolean): boolean {
  return isObject(schema) && kindOf(plain(schema as Schema).schema) === 'object';
}
