import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { blocksOf } from '../api/client';
import { showShort } from '../api/json';
import type { Agent, Moment, Plan, Pursuit, PursuitState } from '../api/types';
import { lineEndsOf } from '../editor/bytes';
import { SourceText, type Mark, type MarkedLines } from '../editor/SourceText';
import { GraphView } from '../graph/GraphView';
import type { RunFold } from '../state/fold';
import { lineIn } from '../state/place';
import type { Selected } from '../state/program';
import type { ShownProgram } from '../state/runProgram';
import { Marked } from '../text';
import { Steps } from './PlanView';
import { RunBlock, shortFigures } from './RunBlock';

export type Drawn = 'blocks' | 'source' | 'plan';
const names: Record<Drawn, string> = { blocks: 'Blocks', source: 'Source', plan: 'Plan' };

/** What of a run's program can be shown. */
export function drawnOf(program: ShownProgram, agents: readonly Agent[]): Drawn[] {
  return [...(agents.length > 0 ? (['blocks'] as const) : []), 'source', ...(program.plans.length > 0 ? (['plan'] as const) : [])];
}

function DrawnTools({ all, drawn, onDrawn }: { all: readonly Drawn[]; drawn: Drawn; onDrawn: (drawn: Drawn) => void }) {
  if (all.length < 2) return null;
  return (
    <>
      {all.map((one) => (
        <button key={one} type="button" aria-pressed={one === drawn} onClick={() => onDrawn(one)}>
          {names[one]}
        </button>
      ))}
    </>
  );
}

/** The line of a place in the text, from 1. */
function lineAt(text: string, offset: number): number {
  const before = new TextDecoder().decode(new TextEncoder().encode(text).subarray(0, offset));
  const ends = lineEndsOf(text).mixed ? /\n/g : /\r\n|\r|\n/g;
  return (before.match(ends)?.length ?? 0) + 1;
}

/** The lines at which a run is, or was at a moment. What it waits for is known from its events, the rest from the stack. */
function marksOf(program: ShownProgram, fold: RunFold, moment: Moment | null): MarkedLines {
  const marks = new Map<number, Mark>();
  const add = (place: string | null | undefined, mark: Mark): void => {
    const line = lineIn(program.file, place ?? undefined);
    if (line !== null) marks.set(line, mark);
  };
  const { here, around } = fold.places;
  const running = program.agents.flatMap((agent) =>
    blocksOf(agent).filter((block) => fold.running.has(`${agent.name}/${block.path}`)),
  );
  for (const call of moment?.stack ?? []) add(call.place, 'around');
  for (const place of around) add(place, 'around');
  for (const block of running) marks.set(lineAt(program.text, block.range.offset), here.length > 0 ? 'around' : 'here');
  if (here.length === 0 && running.length === 0) add(moment?.stack[0]?.place, 'here');
  for (const place of here) add(place, 'here');
  add(fold.failedAt, 'failed');
  return marks;
}

/** Where the run is, in words. */
function wordsOf(marked: MarkedLines): string {
  const lines = (wanted: Mark): number[] => [...marked].filter(([, mark]) => mark === wanted).map(([line]) => line);
  const list = (all: number[]): string => `${all.length === 1 ? 'line' : 'lines'} ${all.join(', ')}`;
  const failed = lines('failed');
  if (failed.length > 0) return `failed at ${list(failed)}`;
  const here = lines('here');
  return here.length > 0 ? `at ${list(here)}` : 'at no line of this text';
}

interface SourceProps {
  program: ShownProgram;
  marked: MarkedLines;
  shown: { line: number } | null;
}

function Source({ program, marked, shown }: SourceProps) {
  return (
    <div class="run-source">
      <p class="source-head hint">
        <code>{program.file}</code>
        <span role="status" aria-label="Place in the source">
          {wordsOf(marked)}
        </span>
      </p>
      <div class="editor">
        <SourceText text={program.text} label="Source of the run" marked={marked} shown={shown} />
      </div>
    </div>
  );
}

/** Those of the plan's `pursue` in which the run is, of its innermost call. */
function pursuitOf(plan: Plan, moment: Moment | null): Pursuit | null {
  for (const call of moment?.stack ?? []) {
    const found = call.pursuits?.find((one) => plan.place.endsWith(`:${one.place}`));
    if (found) return found;
  }
  return null;
}

function stateName(plan: Plan, { action }: PursuitState): string {
  return action === 0 ? 'start' : (plan.actions[action - 1]?.name ?? `action ${action}`);
}

interface PlanProps {
  plans: readonly Plan[];
  moment: Moment | null;
  tools: preact.ComponentChildren;
}

/** The states and steps of a `pursue`, with the present states. */
function RunPlan({ plans, moment, tools }: PlanProps) {
  const chosen = useSignal<string | null>(null);
  const selected = useSignal<Selected | null>(null);
  const active = plans.find((plan) => pursuitOf(plan, moment) !== null);
  const plan = plans.find((one) => one.place === chosen.value) ?? active ?? plans[0];
  const states = useMemo(() => (plan && pursuitOf(plan, moment)?.states) ?? [], [plan, moment]);
  const lit = useMemo(() => new Set(plan ? states.map((state) => `${plan.graph.name}/${stateName(plan, state)}`) : []), [plan, states]);
  if (!plan) return null;
  return (
    <>
      <GraphView
        key={`plan ${plan.place}`}
        agents={[plan.graph]}
        label={`Plan of ${plan.goal}`}
        selected={selected.value}
        onSelect={(state) => (selected.value = state)}
        running={lit}
        tools={tools}
      />
      <section class="inspector" aria-label="Plan" tabIndex={0}>
        <header class="inspector-head">
          <h2>{plan.goal}</h2>
          <span class="spacer" />
          {plans.length > 1 && (
            <select aria-label="Goal" value={plan.place} onChange={(event) => (chosen.value = event.currentTarget.value)}>
              {plans.map((one) => (
                <option key={one.place} value={one.place}>
                  {one.goal}
                </option>
              ))}
            </select>
          )}
          {selected.value && (
            <button type="button" onClick={() => (selected.value = null)}>
              Show all steps
            </button>
          )}
        </header>
        <div role="status" aria-label="Present state">
          {states.length === 0 ? (
            <p class="hint">The run is not in this pursue.</p>
          ) : (
            states.map((state, index) => (
              <p key={index} class="present-state">
                <span class="hint">present state</span> <strong>{stateName(plan, state)}</strong>{' '}
                <Marked text={state.cut === undefined ? showShort(state.value) : `${state.cut}…`} />
              </p>
            ))
          )}
        </div>
        <Steps plan={plan} state={selected.value?.path ?? null} />
      </section>
    </>
  );
}

interface Props {
  run: string;
  program: ShownProgram;
  agents: Agent[];
  /** The run as it is, or as it was after the record that is shown. */
  fold: RunFold;
  version: number;
  /** The moment of that record, and of the newest one while the plan is shown. */
  moment: Moment | null;
  isRecord: boolean;
  drawn: Drawn;
  onDrawn: (drawn: Drawn) => void;
}

/** Where a run is in its program: in the graph of its blocks, in its text, and in the plan of a `pursue`. */
export function RunGraph({ run, program, agents, fold, version, moment, isRecord, drawn, onDrawn }: Props) {
  const selected = useSignal<Selected | null>(null);
  const shownLine = useSignal<{ line: number } | null>(null);
  const all = drawnOf(program, agents);
  const tools = <DrawnTools all={all} drawn={drawn} onDrawn={onDrawn} />;
  const lit = useMemo(() => {
    const figures = new Map([...fold.visits].map(([key, visits]) => [key, shortFigures(visits)]));
    return { running: fold.running, visited: new Set(fold.visited), failed: new Set(fold.failed), figures };
  }, [fold, version]);
  const marked = useMemo(() => marksOf(program, fold, isRecord ? moment : null), [program, fold, version, isRecord, moment]);

  if (drawn === 'plan') return <RunPlan plans={program.plans} moment={moment} tools={tools} />;
  if (drawn === 'source') {
    return (
      <>
        <Source program={program} marked={marked} shown={shownLine.value} />
        <div class="graph-tools">{tools}</div>
      </>
    );
  }
  const agent = agents.find((one) => one.name === selected.value?.agent);
  const block = agent && blocksOf(agent).find((one) => one.path === selected.value?.path);
  const goToSource = (offset: number): void => {
    shownLine.value = { line: lineAt(program.text, offset) };
    onDrawn('source');
  };
  return (
    <>
      <GraphView
        agents={agents}
        selected={selected.value}
        onSelect={(one) => (selected.value = one)}
        actions={{ open: (_agent, one) => goToSource(one.range.offset) }}
        running={lit.running}
        visited={lit.visited}
        failed={lit.failed}
        figures={lit.figures}
        tools={tools}
      />
      {agent && block && (
        <RunBlock
          key={`${agent.name}/${block.path}`}
          run={run}
          block={block}
          visits={fold.visits.get(`${agent.name}/${block.path}`) ?? []}
          onSource={() => goToSource(block.range.offset)}
          onClose={() => (selected.value = null)}
        />
      )}
    </>
  );
}
