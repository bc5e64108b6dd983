import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { api } from '../api/client';
import type { Passage, Plan, Requirement } from '../api/types';
import { GraphView } from '../graph/GraphView';
import type { OpenProgram, Selected } from '../state/program';
import { Marked } from '../text';
import { useAsked } from './asked';

const passages: Record<Passage, string> = {
  always: 'can always be taken',
  perhaps: 'known in the run',
  undecided: 'undecided until a model has judged it',
  never: 'can never be taken',
};

const deciders: Record<string, string> = {
  types: 'by the types',
  words: 'the same words',
  checker: 'by the checker',
  model: 'by a model',
  run: 'in the run',
  undecided: 'not judged yet',
};

function Reason({ requirement }: { requirement: Requirement }) {
  const { words, relation, by, reason } = requirement;
  return (
    <li>
      <span class={`relation ${relation}`}>{relation}</span> <Marked text={words} />{' '}
      <span class="hint">
        {deciders[by] ?? by}
        {reason && <Marked text={`: ${reason}`} />}
      </span>
    </li>
  );
}

export function Steps({ plan, state }: { plan: Plan; state: string | null }) {
  const shown = plan.edges.filter(({ from, to }) => state === null || from === state || to === state);
  return (
    <table class="steps" aria-label="Steps of the plan">
      <thead>
        <tr>
          {['From', 'To', 'Passage', 'Why'].map((head) => (
            <th key={head} scope="col">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {shown.map((edge) => (
          <tr key={`${edge.from} ${edge.to}`}>
            <td>{edge.from}</td>
            <td>{edge.to}</td>
            <td>
              <span class={`passage ${edge.passage}`}>{edge.passage}</span> <span class="hint">{passages[edge.passage]}</span>
            </td>
            <td>
              {edge.requirements.length === 0 ? (
                <span class="hint">{edge.passage === 'never' ? 'the types do not fit' : 'nothing is required'}</span>
              ) : (
                <ul class="reasons">
                  {edge.requirements.map((requirement, index) => (
                    <Reason key={index} requirement={requirement} />
                  ))}
                </ul>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The Kripke structure of a `pursue`: its states, the steps between them, and why each can be taken or not. */
export function PlanView({ program, tools }: { program: OpenProgram; tools: ComponentChildren }) {
  const asked = useAsked(program, true, api.plans).value;
  const chosen = useSignal(0);
  const selected = useSignal<Selected | null>(null);
  const plan = asked?.plans[Math.min(chosen.value, asked.plans.length - 1)];
  if (!asked || !plan) {
    const words = asked?.has_errors
      ? 'The program has errors. Its plan is known once it has none.'
      : asked && 'The program pursues no goal. Write `pursue GOAL from START { … }`, and its plan appears here.';
    return (
      <>
        <div class="empty graph-empty">
          <p role="status">{words}</p>
        </div>
        <div class="graph-tools">{tools}</div>
      </>
    );
  }
  return (
    <>
      <GraphView
        key={`plan ${plan.place}`}
        agents={[plan.graph]}
        label={`Plan of ${plan.goal}`}
        selected={selected.value}
        onSelect={(state) => (selected.value = state)}
        tools={tools}
      />
      <section class="inspector" aria-label="Plan">
        <header class="inspector-head">
          <h2>{plan.goal}</h2>
          <span class="hint">
            from {plan.start_type} to {plan.goal_type}
          </span>
          <span class="spacer" />
          {asked.plans.length > 1 && (
            <select aria-label="Goal" value={String(chosen.value)} onChange={(event) => (chosen.value = Number(event.currentTarget.value))}>
              {asked.plans.map((one, index) => (
                <option key={one.place} value={String(index)}>
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
          <button type="button" onClick={() => program.reveal(plan.range.offset, plan.range.length, true)}>
            Go to its text
          </button>
        </header>
        {plan.dead.length > 0 && <p class="plan-warning">No path leads to {plan.dead.join(', ')}.</p>}
        {plan.missing.length > 0 && (
          <p class="plan-warning">
            Nothing is known to satisfy {plan.missing.map(({ of, words }) => `“${words}” of ${of}`).join('; ')}.
          </p>
        )}
        <Steps plan={plan} state={selected.value?.path ?? null} />
      </section>
    </>
  );
}
