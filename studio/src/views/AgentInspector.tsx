import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import type { Agent, Declaration, Edit, Field } from '../api/types';
import type { OpenProgram } from '../state/program';
import { NewName } from './NewName';
import { SourceField } from './SourceField';

type Section = 'state' | 'scratchpad';

const meanings: Record<Section, string> = {
  state: 'kept for the whole conversation',
  scratchpad: 'new in each turn',
};

/** A new entry begins with these; they are changed in its row. */
const newEntry = { type: 'String', value: '""' };

function FieldRow({ program, agent, section, field }: { program: OpenProgram; agent: Agent; section: Section; field: Field }) {
  const at = { agent: agent.name, section, field: field.name };
  return (
    <tr>
      <td>
        <SourceField
          compact
          rows={0}
          name={`Name of ${field.name}`}
          value={field.name}
          onCommit={(name) => program.tryEdit([{ op: 'rename_field', ...at, name }])}
        />
      </td>
      <td>
        <SourceField
          compact
          rows={0}
          name={`Type of ${field.name}`}
          value={field.type}
          onCommit={(type) => program.tryEdit([{ op: 'set_field', ...at, type }])}
        />
      </td>
      <td>
        <SourceField
          compact
          rows={0}
          name={`Value of ${field.name}`}
          value={field.value}
          onCommit={(value) => program.tryEdit([{ op: 'set_field', ...at, value }])}
        />
      </td>
      <td>
        <SourceField
          compact
          rows={0}
          name={`Doc comment of ${field.name}`}
          value={field.documentation ?? ''}
          onCommit={(text) => program.tryEdit([{ op: 'set_documentation', ...at, text }])}
        />
      </td>
      <td>
        <button
          type="button"
          aria-label={`Remove ${field.name}`}
          title="Remove"
          onClick={() => void program.edit([{ op: 'remove_field', ...at }])}
        >
          ×
        </button>
      </td>
    </tr>
  );
}

function Fields({ program, agent, section }: { program: OpenProgram; agent: Agent; section: Section }) {
  const fields = agent[section];
  const add = (name: string): Promise<string> =>
    program.tryEdit([{ op: 'add_field', agent: agent.name, section, name, ...newEntry }]);
  return (
    <>
      <h3>
        {section} <span class="hint">{meanings[section]}</span>
      </h3>
      {fields.length > 0 && (
        <table class="fields" aria-label={`Entries of ${section}`}>
          <thead>
            <tr>
              {['Name', 'Type', 'Value at first', 'Doc comment'].map((head) => (
                <th key={head} scope="col">
                  {head}
                </th>
              ))}
              <td />
            </tr>
          </thead>
          <tbody>
            {fields.map((field) => (
              <FieldRow key={field.name} {...{ program, agent, section, field }} />
            ))}
          </tbody>
        </table>
      )}
      <NewName label={`New entry of ${section}`} submit={`Add to ${section}`} onAdd={add} />
    </>
  );
}

function DeclarationRow({ program, agent, one }: { program: OpenProgram; agent?: Agent; one: Declaration }) {
  const at = { ...(agent && { agent: agent.name }), declaration: one.name };
  const isNamed = one.kind !== 'impl' && one.kind !== 'test' && one.kind !== 'use';
  return (
    <li>
      <span class="declaration-kind">{one.kind}</span>
      {isNamed ? (
        <SourceField
          compact
          rows={0}
          name={`Name of ${one.kind} ${one.name}`}
          value={one.name}
          onCommit={(name) => program.tryEdit([{ op: 'rename_declaration', ...at, name }])}
        />
      ) : (
        <code class="declaration-name">{one.name}</code>
      )}
      <span class="row-buttons">
        <button
          type="button"
          aria-label={`Go to ${one.kind} ${one.name}`}
          title="Go to its text"
          onClick={() => program.reveal(one.range.offset, one.range.length, true)}
        >
          →
        </button>
        {one.kind !== 'impl' && (
          <button
            type="button"
            aria-label={`Remove ${one.kind} ${one.name}`}
            title="Remove"
            onClick={() => void program.edit([{ op: 'remove_declaration', ...at }])}
          >
            ×
          </button>
        )}
      </span>
    </li>
  );
}

/** Sources of new declarations, which are complete programs from the start. */
const sources: Record<string, (name: string) => string> = {
  function: (name) => `fn ${name}() -> String {\n    ""\n}`,
  struct: (name) => `struct ${name} {\n    name: String\n}`,
  agent: (name) => `agent ${name} {\n    block start: request {\n        prompt: "Answer briefly."\n    }\n}`,
};

function Declarations({ program, agent, all }: { program: OpenProgram; agent?: Agent; all: Declaration[] }) {
  const kind = useSignal('function');
  const add = (name: string): Promise<string> => {
    const source = (agent ? sources['function'] : sources[kind.value])?.(name) ?? '';
    const op: Edit = { op: 'add_declaration', source, ...(agent && { agent: agent.name }) };
    return program.tryEdit([op]);
  };
  return (
    <>
      <h3>{agent ? 'Functions' : 'Declarations of the file'}</h3>
      {all.length > 0 && (
        <ul class="rows">
          {all.map((one) => (
            <DeclarationRow key={`${one.kind} ${one.name} ${one.range.offset}`} program={program} one={one} {...(agent && { agent })} />
          ))}
        </ul>
      )}
      <div class="new-declaration">
        {!agent && (
          <select aria-label="Kind of the new declaration" value={kind.value} onChange={(event) => (kind.value = event.currentTarget.value)}>
            {Object.keys(sources).map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        )}
        <NewName
          label={agent ? `New function of ${agent.name}` : 'New declaration'}
          submit={agent ? 'Add function' : 'Add declaration'}
          onAdd={add}
        />
      </div>
    </>
  );
}

function AgentFields({ program, agent }: { program: OpenProgram; agent: Agent }) {
  const at = { agent: agent.name };
  const id = useId();
  const blocks = agent.sequences.find((sequence) => sequence.path === '')?.blocks ?? [];
  return (
    <>
      <div class="inspector-fields">
        <SourceField
          name="Name"
          rows={0}
          value={agent.name}
          onCommit={(name) => program.tryEdit([{ op: 'rename_declaration', declaration: agent.name, name }])}
        />
        <SourceField
          name="Doc comment"
          value={agent.documentation ?? ''}
          onCommit={(text) => program.tryEdit([{ op: 'set_documentation', ...at, text }])}
        />
        <SourceField
          name="Instructions"
          rows={2}
          value={agent.instructions ?? ''}
          hint='statements, such as `"Be brief."!`'
          onCommit={(statements) => program.tryEdit([{ op: 'set_instructions', ...at, statements }])}
        />
        {blocks.length > 0 && (
          <>
            <div class="field">
              <label for={`${id}-start`}>Start</label>
              <select
                id={`${id}-start`}
                value={agent.start}
                onChange={(event) => void program.edit([{ op: 'set_start', ...at, block: event.currentTarget.value }])}
              >
                {blocks.map((block) => (
                  <option key={block.path} value={block.name}>
                    {block.name}
                  </option>
                ))}
              </select>
            </div>
            <div class="field">
              <label for={`${id}-next`}>Next turn</label>
              <select
                id={`${id}-next`}
                value={agent.next_turn ?? 'restart'}
                onChange={(event) => void program.edit([{ op: 'set_next_turn', ...at, mode: event.currentTarget.value }])}
              >
                <option value="restart">restart: at the start</option>
                <option value="resume">resume: where the last one ended</option>
                <option value="smart">smart: the model decides</option>
              </select>
            </div>
          </>
        )}
      </div>
      <Fields program={program} agent={agent} section="state" />
      {blocks.length > 0 && <Fields program={program} agent={agent} section="scratchpad" />}
      <Declarations program={program} agent={agent} all={agent.functions} />
    </>
  );
}

/** What the program consists of besides blocks, as forms. */
export function AgentInspector({ program }: { program: OpenProgram }) {
  const agents = program.agents.value;
  const chosen = useSignal('');
  const isOpen = program.showsAgent;
  if (program.isOutdated.value || !program.described.value) return null;
  const agent = agents.find((one) => one.name === chosen.value) ?? agents[0];
  const isFile = chosen.value === ' file' || !agent;
  return (
    <section class="inspector agent-inspector" aria-label={isFile ? 'Declarations' : `Agent ${agent.name}`}>
      <header class="inspector-head">
        <button
          type="button"
          class="disclosure"
          aria-expanded={isOpen.value}
          onClick={() => (isOpen.value = !isOpen.value)}
        >
          {isOpen.value ? '▾' : '▸'} {isFile ? 'Declarations' : `Agent ${agent.name}`}
        </button>
        <span class="spacer" />
        {isOpen.value && agent && (
          <select aria-label="Show" value={isFile ? ' file' : agent.name} onChange={(event) => (chosen.value = event.currentTarget.value)}>
            {agents.map((one) => (
              <option key={one.name} value={one.name}>
                {one.name}
              </option>
            ))}
            <option value=" file">declarations of the file</option>
          </select>
        )}
      </header>
      {isOpen.value && (isFile ? <Declarations program={program} all={program.declarations.value} /> : <AgentFields key={agent.name} {...{ program, agent }} />)}
    </section>
  );
}
