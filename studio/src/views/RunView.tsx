import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { api } from '../api/client';
import type { Agent, RecordedEvent, Run } from '../api/types';
import { foldUntil } from '../state/fold';
import { noteError, now, readRunAgain, runs } from '../state/live';
import { programLink, recordLink, replaceAddress, runLink } from '../state/route';
import { OpenRun } from '../state/run';
import { readProgram, type ShownProgram } from '../state/runProgram';
import { ageOf, dateOf } from '../text';
import { ChooseRun } from './ChooseRun';
import { Conversation } from './Conversation';
import { Events } from './Events';
import { Fork } from './Fork';
import { useMoment } from './moments';
import { PromptBox } from './PromptBox';
import { QuestionForm } from './QuestionForm';
import { RecordBar } from './RecordBar';
import { Replay } from './Replay';
import { drawnOf, RunGraph, type Drawn } from './RunGraph';
import { StateMark } from './StateMark';

/** The agents whose blocks the run went through, or will: the one that was started comes first. */
function agentsOf(run: Run, seen: ReadonlySet<string>, program: ShownProgram): Agent[] {
  const own = run.agent.replace(/^.*\./, '');
  return program.agents.filter((agent) => agent.name === own || seen.has(agent.name));
}

function Unavailable({ run }: { run: Run }) {
  const list = run.unavailable ?? [];
  if (list.length === 0) return null;
  return (
    <div class="notice">
      {list.map((one) => (
        <p key={one.name}>
          The {one.unavailable} {one.name} cannot be reached: {one.reason}.{' '}
          {one.next_at === undefined ? 'It is not tried again by itself.' : `It is tried again in ${ageOf(now.value, one.next_at)}.`}
        </p>
      ))}
      <button type="button" onClick={() => void api.retry(run.run).catch(noteError)}>
        Try now
      </button>
    </div>
  );
}

function CancelButtons({ run, failed }: { run: Run; failed: (message: string) => void }) {
  const cancel = async (conversation: boolean): Promise<void> => {
    try {
      await api.cancel(run.run, conversation);
    } catch (error) {
      noteError(error);
      failed(error instanceof Error ? error.message : String(error));
    }
    readRunAgain(run.run);
  };
  const active = run.state === 'running' || run.state === 'waiting';
  if (!active && run.state !== 'idle') return null;
  return (
    <button type="button" onClick={() => void cancel(run.state === 'idle')}>
      {run.state === 'idle' ? 'End conversation' : 'Cancel'}
    </button>
  );
}

function useOpenRun(name: string): { open: OpenRun; program: ShownProgram | null } {
  const opened = useMemo(() => {
    const open = new OpenRun(name);
    return { open, ...readProgram(name, open.programsTaken) };
  }, [name]);
  useEffect(
    () => () => {
      opened.stop();
      opened.open.close();
    },
    [opened],
  );
  return { open: opened.open, program: opened.program.value };
}

const noEvents: readonly RecordedEvent[] = [];
/** While the slider is moved, events of the records in between are not read. In milliseconds. */
const readPause = 80;

/** The events up to a record, as many as are needed to say where the run was. */
function useEventsUntil(open: OpenRun, record: number | null): readonly RecordedEvent[] {
  const distant = useSignal<{ record: number; events: RecordedEvent[] } | null>(null);
  const isThere = record === null || open.covers(record);
  useEffect(() => {
    if (isThere) return undefined;
    let isCurrent = true;
    const timer = setTimeout(() => {
      open.readUntil(record).then((events) => {
        if (isCurrent) distant.value = { record, events };
      }, noteError);
    }, readPause);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [open, record, isThere]);
  if (isThere) return open.fold.events;
  return distant.value?.record === record ? distant.value.events : noEvents;
}

type Opened = 'fork' | 'replay' | 'compare' | null;

/** `record`: the one that is shown, which is part of the address. */
export function RunView({ name, record }: { name: string; record: number | null }) {
  const { open, program } = useOpenRun(name);
  const dialog = useSignal<Opened>(null);
  const failure = useSignal('');
  const chosen = useSignal<Drawn | null>(null);
  const version = open.version.value;
  const run = runs.value.get(name);
  // What the graph shows: the run as it is, or as it was after the record.
  const until = useEventsUntil(open, record);
  const fold = useMemo(() => (record === null ? open.fold : foldUntil(until, record)), [open, record, until, record === null ? 0 : version]);
  const seen = useMemo(() => {
    const { running, visited } = open.fold;
    return [...new Set([...running, ...visited].map((key) => key.slice(0, key.indexOf('/'))))].sort().join('/');
  }, [open, version]);
  const agents = useMemo(
    () => (run && program ? agentsOf(run, new Set(seen.split('/')), program) : []),
    [run?.agent, program, seen],
  );
  const all = program ? drawnOf(program, agents) : [];
  const drawn = chosen.value && all.includes(chosen.value) ? chosen.value : all[0];
  const looked = useMoment(name, record ?? (drawn === 'plan' && open.fold.number > 0 ? open.fold.number : null)).value;

  if (open.missing.value && !run) {
    return (
      <main class="page" id="main" tabIndex={-1}>
        <h1>Run {name}</h1>
        <p class="empty">The store contains no run of this name.</p>
      </main>
    );
  }
  const records = Math.max(run?.records ?? 0, open.fold.number);
  const showRecord = (number: number | null): void => replaceAddress(number === null ? runLink(name) : recordLink(name, number));
  const close = (): void => {
    dialog.value = null;
  };
  return (
    <main class="run" id="main" tabIndex={-1}>
      <header class="bar">
        <h1>
          {run?.agent ?? 'Run'} <span class="run-name hint">{name}</span>
        </h1>
        {run && <StateMark state={run.state} status />}
        {run && (
          <span class="hint" title={dateOf(run.created_at)}>
            started {ageOf(run.created_at, now.value)} ago
          </span>
        )}
        <span class="bar-actions">
          {failure.value && (
            <span class="field-problem" role="alert">
              {failure.value}
            </span>
          )}
          {program?.program !== undefined && <a href={programLink(program.program)}>{program.program}</a>}
          {run && <CancelButtons run={run} failed={(message) => (failure.value = message)} />}
        </span>
      </header>
      <RecordBar
        records={records}
        record={record}
        event={record === null ? undefined : open.fold.events.find((event) => event.number === record)}
        onRecord={showRecord}
        onFork={() => (dialog.value = 'fork')}
        onReplay={() => (dialog.value = 'replay')}
        onCompare={() => (dialog.value = 'compare')}
      />
      <div class={`run-panes${program && drawn ? '' : ' no-graph'}${record === null ? '' : ' with-record'}`}>
        <section class="pane talk-pane" aria-label="Conversation and questions">
          <Conversation fold={open.fold} version={version} onEarlier={() => void open.readEarlier()} />
          {run && <Unavailable run={run} />}
          <div class="talk-forms">
            {run?.waits?.map((wait) => <QuestionForm key={wait.wait} run={name} wait={wait} />)}
            {run?.state === 'idle' && <PromptBox run={run} />}
          </div>
        </section>
        {program && drawn && (
          <section class="pane graph-pane" aria-label="Graph">
            <RunGraph
              run={name}
              {...{ program, agents, fold, version, drawn }}
              moment={record === null || looked?.record === record ? (looked?.moment ?? null) : null}
              isRecord={record !== null}
              onDrawn={(one) => (chosen.value = one)}
            />
          </section>
        )}
        <Events
          looked={looked}
          events={open.fold.events}
          earlier={open.fold.earlier}
          apart={open.apart}
          onEarlier={() => void open.readEarlier()}
          onAround={(position) => open.readAround(position)}
          version={version}
          record={record}
          onRecord={showRecord}
        />
      </div>
      {dialog.value === 'fork' && <Fork run={name} record={record ?? records} onClose={close} />}
      {dialog.value === 'replay' && <Replay run={name} onClose={close} />}
      {dialog.value === 'compare' && <ChooseRun run={name} onClose={close} />}
    </main>
  );
}
