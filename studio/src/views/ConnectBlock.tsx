import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import type { Agent, Block, EdgeKind, Edit, KindRule } from '../api/types';
import { palette } from '../state/live';
import type { OpenProgram } from '../state/program';
import { Dialog, DialogEnd } from './Dialog';
import { targetsFor } from './places';

interface Props {
  program: OpenProgram;
  agent: Agent;
  block: Block;
  onClose: () => void;
}

function kindsFor(rule: KindRule | undefined): EdgeKind[] {
  if (!rule?.parts.includes('else')) return ['next', ...(rule?.parts.filter((part) => part === 'when' || part === 'called') ?? [])];
  return ['when', 'to', 'case', 'else'];
}

const labels: Partial<Record<EdgeKind, string>> = { when: 'Condition', to: 'Description', case: 'Pattern', called: 'Tool' };
const words: Record<EdgeKind, string> = {
  next: 'always (->)',
  when: 'when a condition holds (when)',
  to: 'if the model chooses it (to)',
  case: 'for a value (on)',
  else: 'otherwise (else)',
  called: 'after a tool was called (called)',
};

export function ConnectBlock({ program, agent, block, onClose }: Props) {
  const targets = targetsFor(agent, block);
  const kinds = kindsFor(palette.value.kinds.find((rule) => rule.name === block.kind));
  const target = useSignal(targets.find((one) => one !== block && !block.edges.some((edge) => edge.target === one.name))?.name ?? '');
  const kind = useSignal<EdgeKind>(kinds[0] ?? 'next');
  const label = useSignal('');
  const on = useSignal(block.edges.find((edge) => edge.on !== undefined)?.on ?? '');
  const problem = useSignal('');
  const id = useId();

  const connect = async (event: Event): Promise<void> => {
    event.preventDefault();
    const op: Edit = { op: 'connect', agent: agent.name, block: block.path, kind: kind.value, target: target.value };
    // A description is a string of the program; a person need not know how to write one.
    const written = kind.value === 'to' && !label.value.startsWith('"') ? JSON.stringify(label.value) : label.value;
    if (labels[kind.value]) op['label'] = written;
    if (kind.value === 'case') op['on'] = on.value;
    if (await program.edit([op])) onClose();
    else {
      problem.value = program.editProblem.value;
      program.editProblem.value = '';
    }
  };

  return (
    <Dialog title={`Connect ${block.name}`} onClose={onClose}>
      <form onSubmit={(event) => void connect(event)} noValidate>
        <div class="field">
          <label for={`${id}-target`}>To</label>
          <select id={`${id}-target`} autofocus value={target.value} onChange={(event) => (target.value = event.currentTarget.value)}>
            {targets.map((one) => (
              <option key={one.path} value={one.name}>
                {one.name}
              </option>
            ))}
          </select>
        </div>
        <div class="field">
          <label for={`${id}-kind`}>Taken</label>
          <select id={`${id}-kind`} value={kind.value} onChange={(event) => (kind.value = event.currentTarget.value as EdgeKind)}>
            {kinds.map((one) => (
              <option key={one} value={one}>
                {words[one]}
              </option>
            ))}
          </select>
        </div>
        {kind.value === 'case' && (
          <div class="field">
            <label for={`${id}-on`}>Value</label>
            <input id={`${id}-on`} class="code" value={on.value} onInput={(event) => (on.value = event.currentTarget.value)} />
          </div>
        )}
        {labels[kind.value] && (
          <div class="field">
            <label for={`${id}-label`}>{labels[kind.value]}</label>
            <input id={`${id}-label`} class="code" value={label.value} onInput={(event) => (label.value = event.currentTarget.value)} />
          </div>
        )}
        <DialogEnd problem={problem.value} submit="Connect" onClose={onClose} />
      </form>
    </Dialog>
  );
}
