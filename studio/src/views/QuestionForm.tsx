import { useSignal } from '@preact/signals';
import { api } from '../api/client';
import type { Wait } from '../api/types';
import { noteError, now, readRunAgain } from '../state/live';
import { ageOf, dateOf, Marked } from '../text';
import { hasFields, readForm, type Entered } from './schema';
import { SchemaField } from './SchemaForm';

function Deadline({ until }: { until: number }) {
  const left = until - now.value;
  return (
    <span class={left < 60_000 ? 'deadline soon' : 'deadline'} title={dateOf(until)}>
      {left > 0 ? `${ageOf(now.value, until)} left` : 'the time is over'}
    </span>
  );
}

/** A question of a run, with a form for an answer of its type. */
export function QuestionForm({ run, wait }: { run: string; wait: Wait }) {
  const entered = useSignal<Entered>({});
  const problems = useSignal<Record<string, string>>({});
  const failure = useSignal('');
  const sending = useSignal(false);

  const answer = async (event: Event): Promise<void> => {
    event.preventDefault();
    failure.value = '';
    const read = readForm(wait.schema, entered.value);
    problems.value = 'problems' in read ? read.problems : {};
    if ('problems' in read || sending.value) return;
    sending.value = true;
    try {
      await api.answer(run, wait.wait, read.value);
    } catch (error) {
      noteError(error);
      failure.value = error instanceof Error ? error.message : String(error);
    } finally {
      sending.value = false;
      readRunAgain(run);
    }
  };

  return (
    <form class="question-form" aria-label={`Question ${wait.question}`} noValidate onSubmit={(event) => void answer(event)}>
      <p class="question-text">
        <Marked text={wait.question} />
      </p>
      <p class="hint">
        {wait.agent && <span>{wait.agent} asks. </span>}
        {wait.until !== undefined && <Deadline until={wait.until} />}
      </p>
      <SchemaField
        schema={wait.schema}
        name={hasFields(wait.schema) ? '' : 'Your answer'}
        path=""
        entered={entered.value}
        problems={problems.value}
        onChange={(path, value) => (entered.value = { ...entered.value, [path]: value })}
      />
      {failure.value && (
        <p class="field-problem" role="alert">
          {failure.value}
        </p>
      )}
      <div class="actions">
        <button type="submit" class="primary" disabled={sending.value}>
          Answer
        </button>
      </div>
    </form>
  );
}
