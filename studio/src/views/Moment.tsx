import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { api } from '../api/client';
import { showValue } from '../api/json';
import type { Moment, Prompt } from '../api/types';
import { noteError } from '../state/live';
import { Marked } from '../text';

const roleWords: Record<string, string> = {
  program: '',
  instructions: 'instructions',
  person: 'message',
  assistant: 'answered before',
  requirement: 'requirement',
  refusal: 'why an answer was refused',
};

/** The first of the origins decides the colour; the words say all of them. */
function groupOf(origin: string): string {
  const first = origin.split(/[ ,]/)[0] ?? '';
  return ['person', 'model', 'extern', 'argument'].includes(first) ? first : 'program';
}

function Tokens({ prompt }: { prompt: Prompt }) {
  const { tokens } = prompt;
  if (!tokens) return null;
  return (
    <p class="tokens hint" role="group" aria-label="Tokens">
      computed {tokens.computed} reused {tokens.reused} generated {tokens.generated}
    </p>
  );
}

function Seen({ prompt }: { prompt: Prompt }) {
  // What follows the context says what is to be answered, and how; it is part of no entry.
  const note = prompt.messages.at(-1);
  const isNote = note !== undefined && !prompt.entries.some((entry) => note.text.includes(entry.text));
  return (
    <>
      <h3 id="seen">What the model saw</h3>
      <ol class="seen" aria-labelledby="seen">
        {prompt.entries.map((entry, index) => (
          <li key={index} class={`origin-${groupOf(entry.origin)}`}>
            <span class="origin">
              {entry.origin} <span class="hint">{roleWords[entry.role]}</span>
            </span>
            <span class="seen-text">
              <Marked text={entry.text} />
            </span>
          </li>
        ))}
        {isNote && (
          <li class="origin-program">
            <span class="origin">
              program <span class="hint">what to answer</span>
            </span>
            <span class="seen-text">
              <Marked text={note.text} />
            </span>
          </li>
        )}
      </ol>
      <Tokens prompt={prompt} />
    </>
  );
}

/** The arrows go from call to call. */
function moveInStack(event: KeyboardEvent): void {
  const calls = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('[role="treeitem"]')];
  const at = calls.indexOf(event.target as HTMLElement);
  const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: calls.length - 1 }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  calls[next]?.focus();
}

function Stack({ moment }: { moment: Moment }) {
  if (moment.stack.length === 0) return null;
  return (
    <>
      <h3 id="stack">Stack</h3>
      <ul class="stack" role="tree" aria-labelledby="stack" onKeyDown={moveInStack}>
        {moment.stack.map((call, index) => (
          <li key={index} role="treeitem" aria-level={1} aria-selected={false} tabIndex={index === 0 ? 0 : -1}>
            <code>{call.function}</code> <span class="hint">{call.place}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

/** The run as it was after a record: what the model saw, the stack and the state. */
export function MomentView({ run, record }: { run: string; record: number }) {
  const moment = useSignal<Moment | null>(null);
  const failure = useSignal('');
  useEffect(() => {
    let isCurrent = true;
    moment.value = null;
    failure.value = '';
    api.moment(run, record).then(
      (found) => {
        if (isCurrent) moment.value = found;
      },
      (error: unknown) => {
        noteError(error);
        if (isCurrent) failure.value = error instanceof Error ? error.message : String(error);
      },
    );
    return () => {
      isCurrent = false;
    };
  }, [run, record]);

  const found = moment.value;
  if (failure.value) return <p class="field-problem">{failure.value}</p>;
  if (!found) return <p class="hint">Reading the record…</p>;
  return (
    <div class="moment">
      {found.prompt && <Seen prompt={found.prompt} />}
      <Stack moment={found} />
      {found.state !== undefined && (
        <>
          <h3>State of {found.agent}</h3>
          <pre class="state">
            <Marked text={showValue(found.state)} />
          </pre>
        </>
      )}
    </div>
  );
}
