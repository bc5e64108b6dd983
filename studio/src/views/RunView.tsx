import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { api } from '../api/client';
import type { Agent, Run } from '../api/types';
import { GraphView } from '../graph/GraphView';
import { savedAgents, wantGraphs } from '../state/graphs';
import { noteError, now, programs, readRunAgain, runs } from '../state/live';
import { programLink, recordLink, replaceAddress, runLink } from '../state/route';
import { OpenRun } from '../state/run';
import type { Selected } from '../state/program';
import { ageOf, dateOf } from '../text';
import { ChooseRun } from './ChooseRun';
import { Conversation } from './Conversation';
import { Events } from './Events';
import { Fork } from './Fork';
import { PromptBox } from './PromptBox';
import { QuestionForm } from './QuestionForm';
import { RecordBar } from './RecordBar';
import { Replay } from './Replay';
import { StateMark } from './StateMark';

/** The agents whose blocks the run went through, or will: the one that was started comes first. */
function agentsOf(run: Run, seen: ReadonlySet<string>): { program: string; agents: Agent[] } | null {
  for (const [program, agents] of savedAgents.value) {
    const own = agents.filter((agent) => agent.name === run.agent.replace(/^.*\./, '') || seen.has(agent.name));
    if (own.length > 0) return { program, agents: own };
  }
  return null;
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

function useOpenRun(name: string): OpenRun {
  const open = useMemo(() => new OpenRun(name), [name]);
  useEffect(() => () => open.close(), [open]);
  useEffect(wantGraphs, [programs.value]);
  return open;
}

type Opened = 'fork' | 'replay' | 'compare' | null;

/** `record`: the one that is shown, which is part of the address. */
export function RunView({ name, record }: { name: string; record: number | null }) {
  const open = useOpenRun(name);
  const dialog = useSignal<Opened>(null);
  const failure = useSignal('');
  const selected = useSignal<Selected | null>(null);
  const version = open.version.value;
  const run = runs.value.get(name);
  const { fold } = open;

  const lit = useMemo(() => {
    const running = fold.running;
    const visited = new Set(fold.visited);
    const seen = new Set([...running, ...visited].map((key) => key.slice(0, key.indexOf('/'))));
    return { running, visited, seen };
  }, [version]);
  const graph = useMemo(() => run && agentsOf(run, lit.seen), [run?.agent, savedAgents.value, [...lit.seen].join(' ')]);

  if (open.missing.value && !run) {
    return (
      <main class="page" id="main" tabIndex={-1}>
        <h1>Run {name}</h1>
        <p class="empty">The store contains no run of this name.</p>
      </main>
    );
  }
  const records = Math.max(run?.records ?? 0, fold.number);
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
        <span class="spacer" />
        {failure.value && (
          <span class="field-problem" role="alert">
            {failure.value}
          </span>
        )}
        {graph && <a href={programLink(graph.program)}>{graph.program}</a>}
        {run && <CancelButtons run={run} failed={(message) => (failure.value = message)} />}
      </header>
      <RecordBar
        records={records}
        record={record}
        event={record === null ? undefined : fold.events.find((event) => event.number === record)}
        onRecord={showRecord}
        onFork={() => (dialog.value = 'fork')}
        onReplay={() => (dialog.value = 'replay')}
        onCompare={() => (dialog.value = 'compare')}
      />
      <div class={`run-panes${graph ? '' : ' no-graph'}${record === null ? '' : ' with-record'}`}>
        <section class="pane talk-pane" aria-label="Conversation and questions">
          <Conversation fold={fold} version={version} onEarlier={() => void open.readEarlier()} />
          {run && <Unavailable run={run} />}
          <div class="talk-forms">
            {run?.waits?.map((wait) => <QuestionForm key={wait.wait} run={name} wait={wait} />)}
            {run?.state === 'idle' && <PromptBox run={run} />}
          </div>
        </section>
        {graph && (
          <section class="pane graph-pane" aria-label="Graph">
            <GraphView
              agents={graph.agents}
              selected={selected.value}
              onSelect={(chosen) => (selected.value = chosen)}
              running={lit.running}
              visited={lit.visited}
            />
          </section>
        )}
        <Events
          run={name}
          events={fold.events}
          earlier={fold.earlier}
          onEarlier={() => void open.readEarlier()}
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
