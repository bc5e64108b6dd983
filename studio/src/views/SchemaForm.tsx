// Forms for values of a JSON Schema.
import { useId } from 'preact/hooks';
import type { Schema } from '../api/types';
import { inner, kindOf, plain, required, type Entered, type Kind } from './schema';

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
