import { useSignal } from '@preact/signals';
import { useEffect, useId, useRef } from 'preact/hooks';
import type { Agent, Block, Edge, KindRule } from '../api/types';
import type { GraphActions } from '../graph/GraphView';
import { groupOf, KindIcon } from '../graph/kinds';
import { palette } from '../state/live';
import type { OpenProgram } from '../state/program';
import { Phrase } from './Phrase';
import { disconnectOp, nameProblem, redirectOps, targetsFor } from './places';

interface Props {
  program: OpenProgram;
  agent: Agent;
  block: Block;
  actions: GraphActions;
  onClose: () => void;
}

interface SourceFieldProps {
  name: string;
  value: string;
  hint?: string;
  required?: boolean;
  rows?: number;
  /** Answers with the reason if the value was rejected. */
  onCommit: (value: string) => Promise<string>;
}

/** A field with source text. It is committed when it is left, or with Ctrl+Enter; Escape brings the old value back. */
function SourceField({ name, value, hint, required, rows, onCommit }: SourceFieldProps) {
  const text = useSignal(value);
  const problem = useSignal('');
  /** What was last committed: leaving a field after that does not commit it again. */
  const sent = useRef(value);
  const id = useId();
  useEffect(() => {
    text.value = value;
    sent.current = value;
    problem.value = '';
  }, [value]);
  const commit = async (): Promise<void> => {
    if (text.value === value || text.value === sent.current) return;
    sent.current = text.value;
    problem.value = await onCommit(text.value);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey || rows === 0)) {
      event.preventDefault();
      void commit();
    } else if (event.key === 'Escape') {
      text.value = value;
      sent.current = value;
      problem.value = '';
    }
  };
  const lines = text.value.split('\n').length;
  const common = {
    id,
    class: 'code',
    spellcheck: false,
    value: text.value,
    'aria-describedby': `${id}-notes`,
    'aria-invalid': problem.value ? true : undefined,
    onInput: (event: { currentTarget: { value: string } }) => (text.value = event.currentTarget.value),
    onBlur: () => void commit(),
    onKeyDown,
  };
  return (
    <div class="field">
      <label for={id}>
        {name}
        {required && <span class="hint"> required</span>}
      </label>
      {rows === 0 ? <input {...common} /> : <textarea {...common} rows={Math.min(12, Math.max(rows ?? 1, lines))} />}
      <span id={`${id}-notes`}>
        {problem.value ? <span class="field-problem">{problem.value}</span> : hint && <Phrase text={hint} />}
      </span>
    </div>
  );
}

/** Where the kind is in the block's text. */
function kindPlace(program: OpenProgram, block: Block): { from: number; to: number } | null {
  const source = program.source(block.range.offset, block.range.length);
  const found = new RegExp(`\\bblock\\s+${block.name}\\s*:\\s*(?=${block.kind}\\b)`).exec(source.text);
  if (!found) return null;
  const from = source.from + found.index + found[0].length;
  return { from, to: from + block.kind.length };
}

function KindField({ program, block, rules }: { program: OpenProgram; block: Block; rules: KindRule[] }) {
  const id = useId();
  const rule = rules.find((one) => one.name === block.kind);
  return (
    <div class="field">
      <label for={id}>Kind</label>
      <select
        id={id}
        value={block.kind}
        onChange={(event) => {
          const place = kindPlace(program, block);
          if (place) program.changeText({ ...place, insert: event.currentTarget.value });
        }}
      >
        {!rule && <option value={block.kind}>{block.kind}</option>}
        {rules.map((one) => (
          <option key={one.name} value={one.name}>
            {one.name}
          </option>
        ))}
      </select>
      <Phrase text={rule?.meaning ?? 'This kind does not exist.'} />
    </div>
  );
}

function EdgeRow({ program, agent, block, edge }: { program: OpenProgram; agent: Agent; block: Block; edge: Edge }) {
  const written = edge.kind === 'case' ? 'on' : edge.kind;
  const words = edge.kind === 'next' || edge.kind === 'else' ? written : `${written} ${edge.text ?? edge.label ?? ''}`;
  const targets = targetsFor(agent, block);
  return (
    <li>
      <span class="edge-words" title={edge.label}>
        {words}
      </span>
      <select
        aria-label={`Target of ${words}`}
        value={edge.target}
        onChange={(event) => void program.edit(redirectOps(agent, block, edge, event.currentTarget.value))}
      >
        {!targets.some((one) => one.name === edge.target) && <option value={edge.target}>{edge.target} (missing)</option>}
        {targets.map((one) => (
          <option key={one.path} value={one.name}>
            {one.name}
          </option>
        ))}
      </select>
      <button
        type="button"
        aria-label={`Remove ${words}`}
        title="Remove"
        onClick={() => void program.edit([disconnectOp(agent, block, edge)])}
      >
        ×
      </button>
    </li>
  );
}

/** What a block consists of, as a form made from the palette. */
export function Inspector({ program, agent, block, actions, onClose }: Props) {
  const rules = palette.value.kinds;
  const rule = rules.find((one) => one.name === block.kind);
  const at = { agent: agent.name, block: block.path };
  const edit = async (ops: Parameters<OpenProgram['edit']>[0]): Promise<string> => {
    if (await program.edit(ops)) return '';
    const reason = program.editProblem.value;
    program.editProblem.value = '';
    return reason;
  };
  const rename = async (name: string): Promise<string> => {
    const problem = nameProblem(agent, name, block.name);
    if (problem) return problem;
    const failed = await edit([{ op: 'rename', ...at, name }]);
    if (!failed) program.selected.value = { agent: agent.name, path: block.path.replace(/[^/]*$/, name) };
    return failed;
  };
  const setOption = (option: string, value: string): Promise<string> =>
    edit([{ op: 'set_option', ...at, option, ...(value.trim() !== '' && { value }) }]);
  const known = rule?.options ?? [];
  const unknown = block.options.filter((option) => !known.some((one) => one.name === option.name));

  return (
    <section class={`inspector group-${groupOf(block.kind)}`} aria-label={`Block ${block.name}`}>
      <header class="inspector-head">
        <KindIcon kind={block.kind} />
        <h2>{block.name}</h2>
        <span class="spacer" />
        <button type="button" onClick={() => actions.add(agent, block)}>
          Add after…
        </button>
        <button type="button" onClick={() => actions.connect(agent, block)}>
          Connect…
        </button>
        <button type="button" onClick={() => actions.remove(agent, block)}>
          Delete
        </button>
        <button type="button" aria-label="Close" title="Close" onClick={onClose}>
          ×
        </button>
      </header>
      {block.documentation && <p class="documentation">{block.documentation}</p>}
      <div class="inspector-fields">
        <SourceField name="Name" value={block.name} rows={0} onCommit={rename} />
        <KindField program={program} block={block} rules={rules} />
        {block.item && (
          <p class="item-line">
            <code>
              item {block.item.name}: {block.item.type} in {block.item.list}
            </code>
          </p>
        )}
        {rule?.has_statements && (
          <SourceField
            name="Statements"
            value={block.statements ?? ''}
            rows={3}
            onCommit={(statements) => edit([{ op: 'set_statements', ...at, statements }])}
          />
        )}
        {known.map((option) => (
          <SourceField
            key={option.name}
            name={option.name}
            hint={option.meaning}
            required={option.required}
            value={block.options.find((one) => one.name === option.name)?.value ?? ''}
            onCommit={(value) => setOption(option.name, value)}
          />
        ))}
        {unknown.map((option) => (
          <SourceField
            key={option.name}
            name={option.name}
            hint={`A block of the kind ${block.kind} does not have this option.`}
            value={option.value}
            onCommit={(value) => setOption(option.name, value)}
          />
        ))}
      </div>
      <h3>Edges</h3>
      {block.edges.length === 0 ? (
        <p class="hint">No edge leads from this block: the sequence ends after it.</p>
      ) : (
        <ul class="edges">
          {block.edges.map((edge, index) => (
            <EdgeRow key={index} {...{ program, agent, block, edge }} />
          ))}
        </ul>
      )}
    </section>
  );
}
