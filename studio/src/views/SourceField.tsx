import { useSignal } from '@preact/signals';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Phrase } from './Phrase';

interface SourceFieldProps {
  name: string;
  value: string;
  hint?: string;
  required?: boolean;
  rows?: number;
  /** In a table, whose heads say what it is: the name is for assistive technology alone. */
  compact?: boolean;
  /** Answers with the reason if the value was rejected. */
  onCommit: (value: string) => Promise<string>;
}

/** A field with source text. It is committed when it is left, or with Ctrl+Enter; Escape brings the old value back. */
export function SourceField({ name, value, hint, required, rows, compact, onCommit }: SourceFieldProps) {
  const text = useSignal(value);
  const problem = useSignal('');
  /** What was last committed: leaving a field after that does not commit it again. */
  const sent = useRef(value);
  /** The value from outside that the field has: what a person types before the first effect stays. */
  const given = useRef(value);
  const id = useId();
  useEffect(() => {
    if (given.current === value) return;
    given.current = value;
    text.value = value;
    sent.current = value;
    problem.value = '';
  }, [value]);
  const commit = async (): Promise<void> => {
    if (text.value === value || text.value === sent.current) return;
    sent.current = text.value;
    problem.value = await onCommit(text.value);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey || rows === 0)) {
      event.preventDefault();
      void commit();
    } else if (event.key === 'Escape') {
      text.value = value;
      sent.current = value;
      problem.value = '';
    }
  };
  const lines = text.value.split('\n').length;
  const common = {
    id,
    class: 'code',
    spellcheck: false,
    value: text.value,
    'aria-label': compact ? name : undefined,
    'aria-describedby': `${id}-notes`,
    'aria-invalid': problem.value ? true : undefined,
    onInput: (event: { currentTarget: { value: string } }) => (text.value = event.currentTarget.value),
    onBlur: () => void commit(),
    onKeyDown,
  };
  return (
    <div class={compact ? 'field compact' : 'field'}>
      {!compact && (
        <label for={id}>
          {name}
          {required && <span class="hint"> required</span>}
        </label>
      )}
      {rows === 0 ? <input {...common} /> : <textarea {...common} rows={Math.min(12, Math.max(rows ?? 1, lines))} />}
      <span id={`${id}-notes`}>
        {problem.value ? <span class="field-problem">{problem.value}</span> : hint && <Phrase text={hint} />}
      </span>
    </div>
  );
}
