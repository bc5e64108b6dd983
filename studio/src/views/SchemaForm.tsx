// Forms for values of a JSON Schema.
import { useId } from 'preact/hooks';
import { isObject } from '../api/json';
import type { Json, Schema } from '../api/types';

type Kind = 'text' | 'integer' | 'number' | 'boolean' | 'choice' | 'object' | 'json';

function plain(schema: Schema | boolean): { schema: Schema; optional: boolean } {
  if (typeof schema === 'boolean') return { schema: {}, optional: false };
  const options = schema.anyOf?.filter((one): one is Schema => typeof one !== 'boolean') ?? [];
  const others = options.filter((one) => one.type !== 'null');
  const [only] = others;
  if (only && others.length === 1 && options.length === 2) {
    return { schema: schema.description ? { description: schema.description, ...only } : only, optional: true };
  }
  return { schema, optional: false };
}

function kindOf(schema: Schema): Kind {
  if (schema.enum && schema.enum.length > 0) return 'choice';
  if (schema.type === 'string') return 'text';
  if (schema.type === 'integer' || schema.type === 'number' || schema.type === 'boolean') return schema.type;
  if (schema.type === 'object' && schema.properties) return 'object';
  return 'json';
}

/** What a person has entered: a text for each control, by the path of its field. */
export type Entered = Record<string, string>;

const inner = (path: string, name: string): string => `${path}/${name}`;

function required(schema: Schema, name: string): boolean {
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

interface FieldProps {
  schema: Schema | boolean;
  name: string;
  path: string;
  entered: Entered;
  problems: Record<string, string>;
  onChange: (path: string, value: string) => void;
  isRequired?: boolean;
}

function Control({ schema, kind, id, optional, described, props }: {
  schema: Schema;
  kind: Kind;
  id: string;
  optional: boolean;
  described: string | undefined;
  props: FieldProps;
}) {
  const { path, entered, onChange } = props;
  const value = entered[path] ?? '';
  const common = { id, 'aria-describedby': described, 'aria-invalid': path in props.problems ? true : undefined };
  const set = (event: { currentTarget: { value: string } }): void => onChange(path, event.currentTarget.value);
  if (kind === 'choice') {
    return (
      <select {...common} value={value} onChange={set}>
        <option value="">{optional ? 'none' : 'Choose…'}</option>
        {schema.enum?.map((one, index) => (
          <option key={index} value={String(index)}>
            {typeof one === 'string' ? one : JSON.stringify(one)}
          </option>
        ))}
      </select>
    );
  }
  if (kind === 'integer' || kind === 'number') {
    return <input {...common} type="text" inputMode={kind === 'integer' ? 'numeric' : 'decimal'} value={value} onInput={set} />;
  }
  return <textarea {...common} class={kind === 'json' ? 'code' : ''} rows={kind === 'json' ? 3 : 1} value={value} onInput={set} />;
}

/** One field and those in it. */
export function SchemaField(props: FieldProps) {
  const { schema, optional } = plain(props.schema);
  const kind = kindOf(schema);
  const id = useId();
  const problem = props.problems[props.path];
  const hints = [
    schema.description,
    optional ? 'May be left out.' : '',
    kind === 'json' ? 'As JSON.' : '',
    schema.minimum !== undefined && schema.maximum !== undefined && schema.maximum - schema.minimum < 1e6
      ? `From ${schema.minimum} to ${schema.maximum}.`
      : '',
  ].filter(Boolean);
  const hint = hints.join(' ');
  const described = [hint && `${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(' ') || undefined;
  const notes = (
    <>
      {hint && (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
      {problem && (
        <span class="field-problem" id={`${id}-problem`}>
          {problem}
        </span>
      )}
    </>
  );
  if (kind === 'object') {
    const fields = Object.entries(schema.properties ?? {}).map(([name, field]) => (
      <SchemaField key={name} {...props} schema={field} name={name} path={inner(props.path, name)} isRequired={required(schema, name)} />
    ));
    if (props.path === '') return <>{fields}</>;
    return (
      <fieldset>
        <legend>{props.name}</legend>
        {notes}
        {fields}
      </fieldset>
    );
  }
  if (kind === 'boolean' && !optional && props.path === '') {
    return (
      <fieldset class="field field-radio" aria-describedby={described}>
        <legend>{props.name}</legend>
        {['true', 'false'].map((value) => (
          <label key={value}>
            <input
              type="radio"
              name={id}
              checked={props.entered[''] === value}
              onChange={() => props.onChange('', value)}
            />
            {value === 'true' ? 'Yes' : 'No'}
          </label>
        ))}
        {notes}
      </fieldset>
    );
  }
  if (kind === 'boolean' && !optional) {
    return (
      <div class="field field-check">
        <input
          id={id}
          type="checkbox"
          checked={props.entered[props.path] === 'true'}
          aria-describedby={described}
          onChange={(event) => props.onChange(props.path, String(event.currentTarget.checked))}
        />
        <label for={id}>{props.name}</label>
        {notes}
      </div>
    );
  }
  const shown = kind === 'boolean' ? { ...schema, enum: [true, false] } : schema;
  return (
    <div class="field">
      <label for={id}>{props.name}</label>
      <Control schema={shown} kind={kind === 'boolean' ? 'choice' : kind} {...{ id, optional, described, props }} />
      {notes}
    </div>
  );
}

/** Whether the schema is of an object with fields. */
export function hasFields(schema: Schema | boolean): boolean {
  return isObject(schema) && kindOf(plain(schema as Schema).schema) === 'object';
}
