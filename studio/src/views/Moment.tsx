import { useSignal } from '@preact/signals';
import { showValue } from '../api/json';
import type { AgentState, Json, Moment, Prompt, StackCall } from '../api/types';
import { Marked } from '../text';
import type { Looked } from './moments';

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
      computed {tokens.computed} reused {tokens.reused} generated {tokens.generated} forced {tokens.forced}
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

function Variables({ call }: { call: StackCall }) {
  const variables = call.variables ?? [];
  if (variables.length === 0) return null;
  return (
    <table class="variables">
      <caption class="hint">Variables of {call.function}</caption>
      <tbody>
        {variables.map((variable) => (
          <tr key={variable.name}>
            <th scope="row">
              <code>{variable.name}</code>
            </th>
            <td>
              <Marked text={variable.cut === undefined ? showValue(variable.value) : `${variable.cut}…`} />
            </td>
            <td class="hint">{variable.origin}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Stack({ moment }: { moment: Moment }) {
  const selected = useSignal(0);
  if (moment.stack.length === 0) return null;
  const last = moment.stack.length - 1;
  /** The arrows go from call to call. */
  const onKeyDown = (event: KeyboardEvent): void => {
    const at = selected.value;
    const next = { ArrowDown: Math.min(last, at + 1), ArrowUp: Math.max(0, at - 1), Home: 0, End: last }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    selected.value = next;
    (event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('[role="treeitem"]')[next]?.focus();
  };
  const call = moment.stack[selected.value] ?? moment.stack[0];
  return (
    <>
      <h3 id="stack">Stack</h3>
      <ul class="stack" role="tree" aria-labelledby="stack" onKeyDown={onKeyDown}>
        {moment.stack.map((one, index) => (
          <li
            key={index}
            role="treeitem"
            aria-level={1}
            aria-selected={index === selected.value}
            tabIndex={index === selected.value ? 0 : -1}
            onClick={() => (selected.value = index)}
          >
            <code>{one.function}</code> <span class="hint">{one.place}</span>
          </li>
        ))}
      </ul>
      {call && <Variables call={call} />}
    </>
  );
}

function Value({ title, value }: { title: string; value: Json | undefined }) {
  return (
    <div class="state-side">
      <h4 class="hint">{title}</h4>
      <pre class="state">
        <Marked text={value === undefined ? '–' : showValue(value)} />
      </pre>
    </div>
  );
}

/** A value after the record, and before it if the record has changed it. */
function Changed({ title, moment, of }: { title: string; moment: Moment; of: keyof AgentState }) {
  const after = moment[of];
  const before = moment.before?.[of];
  if (after === undefined && before === undefined) return null;
  const isChanged = JSON.stringify(after) !== JSON.stringify(before);
  return (
    <>
      <h3>{title}</h3>
      {isChanged ? (
        <div class="sides">
          <Value title="before" value={before} />
          <Value title="after" value={after} />
        </div>
      ) : (
        <Value title="before and after" value={after} />
      )}
    </>
  );
}

/** The run as it was after a record: what the model saw, the stack and the state before and after. */
export function MomentView({ record, looked }: { record: number; looked: Looked | null }) {
  const current = looked?.record === record ? looked : null;
  if (current?.failure) return <p class="field-problem moment-note">{current.failure}</p>;
  const found = current?.moment;
  if (!found) return <p class="hint moment-note">Reading the record…</p>;
  return (
    <div class="moment">
      {found.prompt && <Seen prompt={found.prompt} />}
      <Stack key={record} moment={found} />
      <Changed title={`State of ${found.agent ?? 'the agent'}`} moment={found} of="state" />
      <Changed title="Scratchpad" moment={found} of="scratchpad" />
    </div>
  );
}
