import { useSignal } from '@preact/signals';
import { useEffect, useId } from 'preact/hooks';
import { api } from '../api/client';
import type { Startable } from '../api/types';
import { loadStartables, noteError, readRunAgain } from '../state/live';
import { openProgram } from '../state/program';
import { go, runLink } from '../state/route';
import { curlOf, startBody } from './curl';
import { Dialog, DialogEnd } from './Dialog';
import { hasFields, readForm, type Entered } from './schema';
import { SchemaField } from './SchemaForm';

interface Props {
  /** The program that the run is started from. */
  program?: string;
  onClose: () => void;
}

/** What a person most likely wants to start: an agent of the program, or its first function. */
function likely(startables: Startable[], program: string | undefined): Startable | undefined {
  const own = program === undefined ? [] : openProgram(program).agents.value.map((agent) => agent.name);
  const isOwn = (one: Startable): boolean => own.includes(one.name.replace(/^.*\./, ''));
  const prefixed = (one: Startable): boolean => one.name.startsWith(`${program}.`);
  return startables.find(isOwn) ?? startables.find(prefixed) ?? startables.find((one) => one.name === 'main') ?? startables[0];
}

/** The request as a command for a shell, made from what is entered. */
function AsCurl({ what, entered, onProblems }: {
  what: Startable;
  entered: Entered;
  onProblems: (problems: Record<string, string>) => void;
}) {
  const copied = useSignal<{ of: Entered; words: string } | null>(null);
  const copy = async (): Promise<void> => {
    const read = readForm(what.input, entered);
    onProblems('problems' in read ? read.problems : {});
    if ('problems' in read) return;
    let words = 'Copied. The studio’s address has the token for $TOKEN.';
    try {
      await navigator.clipboard.writeText(curlOf(location.origin, what, read.value));
    } catch {
      words = 'The browser does not allow to copy.';
    }
    copied.value = { of: entered, words };
  };
  return (
    <p class="as-curl">
      <button type="button" onClick={() => void copy()}>
        Copy as cURL
      </button>{' '}
      <span class="hint" role="status">
        {copied.value?.of === entered && copied.value.words}
      </span>
    </p>
  );
}

export function NewRun({ program, onClose }: Props) {
  const startables = useSignal<Startable[] | null>(null);
  const chosen = useSignal('');
  const entered = useSignal<Entered>({});
  const problems = useSignal<Record<string, string>>({});
  const failure = useSignal('');
  const sending = useSignal(false);
  const id = useId();
  const what = startables.value?.find((one) => one.name === chosen.value);

  const fail = (error: unknown): void => {
    noteError(error);
    failure.value = error instanceof Error ? error.message : String(error);
  };
  useEffect(() => {
    loadStartables().then((found) => {
      startables.value = found;
      chosen.value = likely(found, program)?.name ?? '';
    }, fail);
  }, []);

  const start = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (!what || sending.value) return;
    const read = readForm(what.input, entered.value);
    problems.value = 'problems' in read ? read.problems : {};
    if ('problems' in read) return;
    sending.value = true;
    failure.value = '';
    try {
      const run = await api.start(startBody(what, read.value));
      readRunAgain(run);
      onClose();
      go(runLink(run));
    } catch (error) {
      fail(error);
    } finally {
      sending.value = false;
    }
  };

  const unsaved = program !== undefined && openProgram(program).hasUnsaved;
  return (
    <Dialog title="New run" onClose={onClose}>
      <form onSubmit={(event) => void start(event)} noValidate>
        <div class="field">
          <label for={id}>Agent or function</label>
          <select
            id={id}
            autofocus
            value={chosen.value}
            onChange={(event) => {
              chosen.value = event.currentTarget.value;
              entered.value = {};
              problems.value = {};
            }}
          >
            {(['agent', 'function'] as const).map((kind) => (
              <optgroup key={kind} label={kind === 'agent' ? 'Agents' : 'Functions'}>
                {startables.value
                  ?.filter((one) => one.kind === kind)
                  .map((one) => (
                    <option key={one.name} value={one.name}>
                      {one.name}
                    </option>
                  ))}
              </optgroup>
            ))}
          </select>
          {what?.description && <span class="hint">{what.description}</span>}
        </div>
        {what && (
          <SchemaField
            key={what.name}
            schema={what.input}
            name={hasFields(what.input) ? '' : 'Input'}
            path=""
            entered={entered.value}
            problems={problems.value}
            onChange={(path, value) => (entered.value = { ...entered.value, [path]: value })}
          />
        )}
        {what && <AsCurl what={what} entered={entered.value} onProblems={(found) => (problems.value = found)} />}
        {unsaved && <p class="hint">The text has unsaved changes, which this run does not use.</p>}
        <DialogEnd problem={failure.value} submit="Start" disabled={!what || sending.value} onClose={onClose} />
      </form>
    </Dialog>
  );
}
