import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import type { Agent, Block } from '../api/types';
import { palette } from '../state/live';
import type { OpenProgram } from '../state/program';
import { Dialog, DialogEnd } from './Dialog';
import { Phrase } from './Phrase';
import { addOps, gapAfter, gapsOf, nameProblem } from './places';

interface Props {
  program: OpenProgram;
  agent: Agent;
  block: Block;
  onClose: () => void;
}

export function AddBlock({ program, agent, block, onClose }: Props) {
  const gaps = gapsOf(agent);
  const rules = palette.value.kinds;
  const name = useSignal('');
  const kind = useSignal(rules.find((rule) => rule.name === 'request')?.name ?? rules[0]?.name ?? '');
  const gap = useSignal(gapAfter(gaps, block));
  const problem = useSignal('');
  const id = useId();
  const rule = rules.find((one) => one.name === kind.value);

  const add = async (event: Event): Promise<void> => {
    event.preventDefault();
    const place = gaps[gap.value];
    problem.value = nameProblem(agent, name.value);
    if (problem.value || !place || !rule) return;
    if (!(await program.edit(addOps(agent, place, name.value, rule, rules)))) {
      problem.value = program.editProblem.value;
      program.editProblem.value = '';
      return;
    }
    program.selected.value = { agent: agent.name, path: place.sequence.path ? `${place.sequence.path}/${name.value}` : name.value };
    onClose();
  };

  return (
    <Dialog title="Add block" onClose={onClose}>
      <form onSubmit={(event) => void add(event)} noValidate>
        <div class="field">
          <label for={`${id}-name`}>Name</label>
          <input
            id={`${id}-name`}
            autofocus
            autocomplete="off"
            spellcheck={false}
            value={name.value}
            aria-describedby={`${id}-problem`}
            onInput={(event) => (name.value = event.currentTarget.value.trim())}
          />
        </div>
        <div class="field">
          <label for={`${id}-kind`}>Kind</label>
          <select id={`${id}-kind`} value={kind.value} onChange={(event) => (kind.value = event.currentTarget.value)}>
            {rules.map((one) => (
              <option key={one.name} value={one.name}>
                {one.name}
              </option>
            ))}
          </select>
          {rule && <Phrase text={rule.meaning} />}
        </div>
        <div class="field">
          <label for={`${id}-gap`}>Put it between</label>
          <select id={`${id}-gap`} value={String(gap.value)} onChange={(event) => (gap.value = Number(event.currentTarget.value))}>
            {gaps.map((one, index) => (
              <option key={index} value={String(index)}>
                {one.text}
              </option>
            ))}
          </select>
        </div>
        <DialogEnd problem={problem.value} problemId={`${id}-problem`} submit="Add" onClose={onClose} />
      </form>
    </Dialog>
  );
}
