import { useSignal } from '@preact/signals';
import { api } from '../api/client';
import type { Json, Wait } from '../api/types';
import { noteError, now, readRunAgain } from '../state/live';
import { ageOf, dateOf, Marked } from '../text';
import { enter, hasFields, readForm, type Entered } from './schema';
import { SchemaField } from './SchemaForm';

function Deadline({ until }: { until: number }) {
  const left = until - now.value;
  return (
    <span class={left < 60_000 ? 'deadline soon' : 'deadline'} title={dateOf(until)}>
      {left > 0 ? `${ageOf(now.value, until)} left` : 'the time is over'}
    </span>
  );
}

/** What a person is asked to approve, and where it comes from. */
function Shown({ wait }: { wait: Wait }) {
  const sources = wait.sources ?? [];
  return (
    <div class="approval">
      <pre>
        <Marked text={typeof wait.value === 'string' ? wait.value : JSON.stringify(wait.value, null, 2)} />
      </pre>
      <p class="hint">
        Depends on <Marked text={sources.length === 0 ? 'the program alone' : sources.join(' and ')} />.
      </p>
    </div>
  );
}

/** A question of a run, with a form for an answer of its type. */
export function QuestionForm({ run, wait }: { run: string; wait: Wait }) {
  const entered = useSignal<Entered>({});
  const problems = useSignal<Record<string, string>>({});
  const failure = useSignal('');
  const sending = useSignal(false);
  const isApproval = wait.value !== undefined;
  const changes = useSignal(false);

  const answer = (event: Event): void => {
    event.preventDefault();
    const read = readForm(wait.schema, entered.value);
    problems.value = 'problems' in read ? read.problems : {};
    if (!('problems' in read)) void send(read.value);
  };

  const change = (): void => {
    entered.value = enter(wait.schema, wait.value as Json);
    changes.value = true;
  };

  const send = async (value: Json): Promise<void> => {
    failure.value = '';
    if (sending.value) return;
    sending.value = true;
    try {
      await api.answer(run, wait.wait, value);
    } catch (error) {
      noteError(error);
      failure.value = error instanceof Error ? error.message : String(error);
    } finally {
      sending.value = false;
      readRunAgain(run);
    }
  };

  return (
    <form class="question-form" aria-label={`Question ${wait.question}`} noValidate onSubmit={answer}>
      <p class="question-text">
        <Marked text={wait.question} />
      </p>
      <p class="hint">
        {wait.agent && <span>{wait.agent} asks. </span>}
        {wait.until !== undefined && <Deadline until={wait.until} />}
      </p>
      {isApproval && <Shown wait={wait} />}
      {(!isApproval || changes.value) && (
        <SchemaField
          schema={wait.schema}
          name={hasFields(wait.schema) ? '' : 'Your answer'}
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
        {isApproval && !changes.value && (
          <>
            <button type="button" class="primary" disabled={sending.value} onClick={() => void send('yes')}>
              Approve
            </button>
            <button type="button" disabled={sending.value} onClick={() => void send('no')}>
              Refuse
            </button>
            <button type="button" onClick={change}>
              Change
            </button>
          </>
        )}
        {(!isApproval || changes.value) && (
          <button type="submit" class="primary" disabled={sending.value}>
            Answer
          </button>
        )}
      </div>
    </form>
  );
}
