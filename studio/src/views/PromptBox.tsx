import { useSignal } from '@preact/signals';
import { useEffect, useId } from 'preact/hooks';
import { api } from '../api/client';
import type { Run, Schema, Startable } from '../api/types';
import { loadStartables, noteError, readRunAgain } from '../state/live';
import { readForm, type Entered } from './schema';
import { SchemaField } from './SchemaForm';

/** Starts the next turn of an idle conversation. */
export function PromptBox({ run }: { run: Run }) {
  const schema = useSignal<Schema | boolean>({ type: 'string' });
  const entered = useSignal<Entered>({});
  const problems = useSignal<Record<string, string>>({});
  const failure = useSignal('');
  const id = useId();

  useEffect(() => {
    const isIt = (one: Startable): boolean => one.kind === 'agent' && (one.name === run.agent || one.name.endsWith(`.${run.agent}`));
    loadStartables().then((found) => (schema.value = found.find(isIt)?.input ?? { type: 'string' }), noteError);
  }, [run.agent]);

  const send = async (event: Event): Promise<void> => {
    event.preventDefault();
    const read = readForm(schema.value, entered.value);
    problems.value = 'problems' in read ? read.problems : {};
    if ('problems' in read || read.value === '') return;
    failure.value = '';
    try {
      await api.prompt(run.run, read.value);
      entered.value = {};
    } catch (error) {
      noteError(error);
      failure.value = error instanceof Error ? error.message : String(error);
    }
    readRunAgain(run.run);
  };
  const isText = typeof schema.value === 'object' && schema.value.type === 'string' && !schema.value.enum;

  return (
    <form class="prompt-box" aria-label="Next turn" noValidate onSubmit={(event) => void send(event)}>
      {isText ? (
        <div class="field">
          <label for={id}>Message</label>
          <textarea
            id={id}
            rows={2}
            value={entered.value[''] ?? ''}
            onInput={(event) => (entered.value = { '': event.currentTarget.value })}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) void send(event);
            }}
          />
        </div>
      ) : (
        <SchemaField
          schema={schema.value}
          name="Input"
          path=""
          entered={entered.value}
          problems={problems.value}
          onChange={(path, value) => (entered.value = { ...entered.value, [path]: value })}
        />
      )}
      {failure.value && (
        <p class="field-problem" role="alert">
          {failure.value}
        </p>
      )}
      <div class="actions">
        <span class="hint">{isText && 'Enter sends, Shift+Enter starts a line.'}</span>
        <span class="spacer" />
        <button type="submit" class="primary">
          Send
        </button>
      </div>
    </form>
  );
}
