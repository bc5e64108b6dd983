import { useId } from 'preact/hooks';
import type { Agent, Block, Edge, KindRule } from '../api/types';
import type { GraphActions } from '../graph/GraphView';
import { groupOf, KindIcon } from '../graph/kinds';
import { palette } from '../state/live';
import type { OpenProgram } from '../state/program';
import { delegateOf, goToAgent } from './goTo';
import { NewName } from './NewName';
import { Phrase } from './Phrase';
import { disconnectOp, moveOp, nameProblem, redirectOps, relabelOps, targetsFor, waysOf, type Way } from './places';
import { Prompts } from './Prompts';
import { SourceField } from './SourceField';

interface Props {
  program: OpenProgram;
  agent: Agent;
  block: Block;
  actions: GraphActions;
  onClose: () => void;
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

interface EdgeRowProps {
  program: OpenProgram;
  agent: Agent;
  block: Block;
  edge: Edge;
  way: Way | undefined;
}

function EdgeRow({ program, agent, block, edge, way }: EdgeRowProps) {
  const written = edge.kind === 'case' ? 'on' : edge.kind;
  const isLabelled = edge.label !== undefined && edge.label !== 'else';
  const words = edge.kind === 'next' || edge.kind === 'else' ? written : `${written} ${edge.text ?? edge.label ?? ''}`;
  const targets = targetsFor(agent, block);
  const move = (step: 1 | -1): void => {
    if (way) void program.edit([moveOp(agent, block, edge, way.position + step)]);
  };
  return (
    <li>
      <span class="edge-words" title={edge.label}>
        {isLabelled ? (edge.kind === 'case' ? `on ${edge.on ?? ''}` : written) : words}
      </span>
      {isLabelled ? (
        <SourceField
          compact
          rows={0}
          name={`Label of ${words}`}
          value={edge.label ?? ''}
          onCommit={(label) => program.tryEdit(relabelOps(agent, block, edge, label, way))}
        />
      ) : (
        <span />
      )}
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
      <span class="row-buttons">
        {way && way.count > 1 && (
          <>
            <button type="button" aria-label={`Move ${words} up`} title="Up" disabled={way.position === 0} onClick={() => move(-1)}>
              ↑
            </button>
            <button
              type="button"
              aria-label={`Move ${words} down`}
              title="Down"
              disabled={way.position === way.count - 1}
              onClick={() => move(1)}
            >
              ↓
            </button>
          </>
        )}
        <button
          type="button"
          aria-label={`Remove ${words}`}
          title="Remove"
          onClick={() => void program.edit([disconnectOp(agent, block, edge)])}
        >
          ×
        </button>
      </span>
    </li>
  );
}

/** What a for_each iterates over. */
function ItemFields({ program, agent, block }: { program: OpenProgram; agent: Agent; block: Block }) {
  const item = block.item ?? { name: '', type: '', list: '' };
  const set = (part: Partial<typeof item>): Promise<string> =>
    program.tryEdit([{ op: 'set_item', agent: agent.name, block: block.path, item: { ...item, ...part } }]);
  return (
    <>
      <SourceField name="Item" rows={0} value={item.name} hint="the name of each item" onCommit={(name) => set({ name })} />
      <SourceField name="Type" rows={0} value={item.type} hint="the type of an item" onCommit={(type) => set({ type })} />
      <SourceField name="List" rows={0} value={item.list} hint="the list of the items" onCommit={(list) => set({ list })} />
    </>
  );
}

/** The branches of a `parallel`. */
function Branches({ program, agent, block }: { program: OpenProgram; agent: Agent; block: Block }) {
  const at = { agent: agent.name, block: block.path };
  return (
    <>
      <h3>Branches</h3>
      <ul class="rows">
        {(block.sequences ?? []).map(({ name, path }) => (
          <li key={path}>
            <SourceField
              compact
              rows={0}
              name={`Name of branch ${name}`}
              value={name}
              onCommit={(next) => program.tryEdit([{ op: 'rename_branch', ...at, branch: name, name: next }])}
            />
            <button
              type="button"
              aria-label={`Remove branch ${name}`}
              title="Remove"
              onClick={() => void program.edit([{ op: 'remove_branch', ...at, branch: name }])}
            >
              ×
            </button>
          </li>
        ))}
      </ul>
      <NewName label="New branch" submit="Add branch" onAdd={(branch) => program.tryEdit([{ op: 'add_branch', ...at, branch }])} />
    </>
  );
}

/** What a block consists of, as a form made from the palette. */
export function Inspector({ program, agent, block, actions, onClose }: Props) {
  const rules = palette.value.kinds;
  const rule = rules.find((one) => one.name === block.kind);
  const at = { agent: agent.name, block: block.path };
  const edit = program.tryEdit.bind(program);
  const ways = waysOf(block);
  const delegate = delegateOf(program, block);
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
        {delegate && (
          <button type="button" title={delegate.documentation ?? ''} onClick={() => goToAgent(program, delegate)}>
            Go to agent {delegate.name}
          </button>
        )}
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
      <div class="inspector-fields">
        <SourceField name="Name" value={block.name} rows={0} onCommit={rename} />
        <KindField program={program} block={block} rules={rules} />
        <SourceField
          name="Doc comment"
          value={block.documentation ?? ''}
          onCommit={(text) => edit([{ op: 'set_documentation', ...at, text }])}
        />
        {rule?.parts.includes('items') && <ItemFields {...{ program, agent, block }} />}
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
      <Prompts program={program} range={block.range} />
      {rule?.parts.includes('branches') && <Branches {...{ program, agent, block }} />}
      <h3>Edges</h3>
      {block.edges.length === 0 ? (
        <p class="hint">No edge leads from this block: the sequence ends after it.</p>
      ) : (
        <ul class="edges">
          {block.edges.map((edge, index) => (
            <EdgeRow key={index} {...{ program, agent, block, edge }} way={ways.get(edge)} />
          ))}
        </ul>
      )}
    </section>
  );
}
