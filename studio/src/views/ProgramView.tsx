import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { blocksOf, hasBlocks } from '../api/client';
import type { Agent, Block, Problem } from '../api/types';
import { Editor, focusEditor, redoIn, searchIn, suggestIn, undoIn } from '../editor/Editor';
import { GraphView, type GraphActions } from '../graph/GraphView';
import { groupOf, KindIcon } from '../graph/kinds';
import { offerCommands, type Command } from '../state/commands';
import type { Drawing, FileState, OpenProgram } from '../state/program';
import { AddBlock } from './AddBlock';
import { AgentInspector } from './AgentInspector';
import { ChangedOnDisk } from './ChangedOnDisk';
import { ConnectBlock } from './ConnectBlock';
import { goToBlock } from './goTo';
import { Inspector } from './Inspector';
import { NewRun } from './NewRun';
import { PlanView } from './PlanView';
import { Prompts } from './Prompts';
import { removeOps } from './places';
import { converterOf } from '../editor/bytes';

const fileWords: Record<FileState, string> = {
  loading: 'Loading…',
  unreadable: 'Cannot be read',
  saved: 'Saved',
  saved_with_errors: 'Saved, with errors: new runs use the last version without errors',
  unsaved: 'Unsaved changes',
  saving: 'Saving…',
  changed_on_disk: 'Unsaved changes; changed on disk',
  failed: 'Not saved',
};

type Open = { what: 'add' | 'connect'; agent: Agent; block: Block } | { what: 'run' } | null;

function FileStatus({ program }: { program: OpenProgram }) {
  const state = program.fileState.value;
  const problem = state === 'failed' || state === 'unreadable' ? `: ${program.fileProblem.value}` : '';
  return (
    <span class={`file-state ${state}`} role="status" aria-label="File">
      {fileWords[state]}
      {problem}
    </span>
  );
}

function Problems({ program }: { program: OpenProgram }) {
  const problems = program.problems.value;
  const described = program.described.value;
  const lineOf = (problem: Problem): number =>
    described ? described.lineAt(converterOf(described, program.ends).position(problem.offset ?? 0)).number : 1;
  return (
    <section class="problems">
      <h2 id="problems">
        Problems <span class="hint">{problems.length === 0 ? 'none' : problems.length}</span>
      </h2>
      {problems.length > 0 && (
        <ul aria-labelledby="problems-name">
          {problems.map((problem, index) => (
            <li key={index}>
              <button type="button" class="problem-item" onClick={() => program.reveal(problem.offset ?? 0, problem.length ?? 0, true)}>
                <span class={`severity ${problem.severity}`}>
                  {problem.severity} {problem.code}
                </span>
                <span>
                  {problem.message}
                  {problem.hints.map((hint) => (
                    <span key={hint} class="hint">
                      {' '}
                      {hint}
                    </span>
                  ))}
                </span>
                <span class="hint line-number">line {lineOf(problem)}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      <span id="problems-name" hidden>
        Problems
      </span>
    </section>
  );
}

function removeBlock(program: OpenProgram, agent: Agent, block: Block): void {
  const { ops, next } = removeOps(agent, block);
  void program.edit(ops).then((ok) => {
    if (ok) program.selected.value = next ? { agent: agent.name, path: next.path } : null;
  });
}

const drawingNames: Record<Drawing, string> = { blocks: 'Blocks', calls: 'Calls', plan: 'Plan' };

/** The drawings that the program has, as buttons; none if there is just one. */
function DrawingTools({ program, all, drawn }: { program: OpenProgram; all: Drawing[]; drawn: Drawing }) {
  if (all.length < 2) return null;
  return (
    <>
      {all.map((one) => (
        <button key={one} type="button" aria-pressed={one === drawn} onClick={() => (program.drawn.value = one)}>
          {drawingNames[one]}
        </button>
      ))}
    </>
  );
}

/** What calls what in the file. */
function CallsPane({ program, calls, note, tools }: { program: OpenProgram; calls: Agent; note: string; tools: ComponentChildren }) {
  const chosen = program.chosenCall;
  const reveal = (block: Block, focus: boolean): void => program.reveal(block.range.offset, block.range.length, focus);
  const block = blocksOf(calls).find((one) => one.path === chosen.value?.path);
  return (
    <>
      <GraphView
        key="calls"
        agents={[calls]}
        label="Calls"
        note={note}
        selected={chosen.value}
        onSelect={(selected) => {
          chosen.value = selected;
          const found = blocksOf(calls).find((one) => one.path === selected.path);
          if (found) reveal(found, false);
        }}
        actions={{ open: (_agent, one) => reveal(one, true) }}
        tools={tools}
      />
      {block && (
        <section class={`inspector group-${groupOf(block.kind)}`} aria-label={`${block.kind} ${block.name}`}>
          <header class="inspector-head">
            <KindIcon kind={block.kind} />
            <h2>{block.name}</h2>
            <code class="hint">{block.statements}</code>
            <span class="spacer" />
            <button type="button" onClick={() => reveal(block, true)}>
              Go to its text
            </button>
            <button type="button" aria-label="Close" title="Close" onClick={() => (chosen.value = null)}>
              ×
            </button>
          </header>
          {block.documentation && <p class="documentation">{block.documentation}</p>}
          <Prompts key={block.path} program={program} range={block.range} />
        </section>
      )}
    </>
  );
}

/** Shows the blocks, what calls what, or the plan of a `pursue`. In a program without blocks, the calls. */
function GraphPane({ program, actions }: { program: OpenProgram; actions: GraphActions }) {
  const agents = useMemo(() => program.agents.value.filter(hasBlocks), [program.agents.value]);
  const calls = program.calls.value;
  const isOutdated = program.isOutdated.value;
  const all = program.drawings.value;
  const drawn = program.shown.value;
  const tools = <DrawingTools {...{ program, all, drawn }} />;
  if (calls?.left_out && all.length === 0) {
    return (
      <div class="empty graph-empty">
        <p>This program has {calls.left_out} functions, which are too many to draw.</p>
      </div>
    );
  }
  if (program.described.value && all.length === 0) {
    return (
      <div class="empty graph-empty">
        <p>This program has no agents and no functions.</p>
        <p class="hint">
          Write <code>agent NAME {'{ … }'}</code> or <code>fn NAME() {'{ … }'}</code>, and a graph appears here.
        </p>
      </div>
    );
  }
  const note = isOutdated ? 'No block can be read in this text. This is the graph from before.' : '';
  if (drawn === 'plan') return <PlanView program={program} tools={tools} />;
  if (drawn === 'calls' && calls) return <CallsPane {...{ program, calls, note, tools }} />;
  return (
    <GraphView
      key="blocks"
      agents={agents}
      note={note}
      selected={program.selected.value}
      onSelect={(selected) => {
        program.selected.value = selected;
        const block = program.block.value;
        if (block) program.reveal(block.range.offset, block.range.length, false);
      }}
      {...(!isOutdated && { actions })}
      tools={tools}
    />
  );
}

function Dialogs({ program, open, close }: { program: OpenProgram; open: Open; close: () => void }) {
  if (program.resolving.value) return <ChangedOnDisk program={program} />;
  if (open?.what === 'run') return <NewRun program={program.name} onClose={close} />;
  if (open?.what === 'add') return <AddBlock program={program} agent={open.agent} block={open.block} onClose={close} />;
  if (open?.what === 'connect') return <ConnectBlock program={program} agent={open.agent} block={open.block} onClose={close} />;
  return null;
}

/** The focus goes to the next pane, or to the one before. */
function focusPane(program: OpenProgram, step: 1 | -1): void {
  const panes = ['.editor', '.problems', '.graph', '.inspector'].map((name) => document.querySelector<HTMLElement>(name));
  const present = panes.filter((pane) => pane?.querySelector('[tabindex="0"], button, .editor-host'));
  const at = present.findIndex((pane) => pane?.contains(document.activeElement));
  const next = at < 0 ? present[0] : present[(at + step + present.length) % present.length];
  if (next?.matches('.editor')) focusEditor(program);
  else next?.querySelector<HTMLElement>('[role="treeitem"][tabindex="0"], button, input')?.focus();
}

/** What the view offers beyond its buttons. */
function commandsOf(program: OpenProgram, actions: GraphActions): Command[] {
  const agents = program.isOutdated.value ? [] : program.agents.value;
  const chosen = program.block.value;
  const agent = agents.find((one) => one.name === program.selected.value?.agent);
  const ofBlock: Command[] =
    chosen && agent
      ? [
          { name: `Go to the text of ${chosen.name}`, key: 'Enter', run: () => actions.open(agent, chosen) },
          { name: `Add a block after ${chosen.name}`, key: 'a', run: () => actions.add(agent, chosen) },
          { name: `Connect ${chosen.name}`, key: 'c', run: () => actions.connect(agent, chosen) },
          { name: `Delete ${chosen.name}`, key: 'Del', run: () => actions.remove(agent, chosen) },
        ]
      : [];
  return [
    ...ofBlock,
    ...agents.flatMap((one) => blocksOf(one).map((block) => ({ name: `Go to ${block.path}`, run: () => goToBlock(program, one, block) }))),
    ...program.declarations.value.map(({ kind, name, range }) => ({
      name: `Go to ${kind} ${name}`,
      run: () => program.reveal(range.offset, range.length, true),
    })),
    { name: 'Go to the text', run: () => focusEditor(program) },
    { name: 'Search in the text', key: 'Ctrl+F', run: () => searchIn(program) },
    { name: 'Suggest names', key: 'Ctrl+Space', run: () => suggestIn(program) },
    { name: 'Next pane', key: 'F6', run: () => focusPane(program, 1) },
    { name: 'Previous pane', key: 'Shift+F6', run: () => focusPane(program, -1) },
    ...program.problems.value.map((problem) => ({
      name: `Go to ${problem.severity} ${problem.code}: ${problem.message}`,
      run: () => program.reveal(problem.offset ?? 0, problem.length ?? 0, true),
    })),
  ];
}

/** A field of a form is committed when it is left. */
function commitField(): void {
  const field = document.activeElement;
  if (!(field instanceof HTMLElement)) return;
  field.blur();
  field.focus();
}

/** Keys that work everywhere in the view: before the editor's own ones. */
function useKeys(program: OpenProgram, startRun: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const command = event.ctrlKey || event.metaKey;
      const isField = event.target instanceof Element && event.target.closest('.inspector') !== null;
      let action: (() => void) | null = null;
      if (command && event.key === 's') {
        action = () => {
          if (isField) commitField();
          void program.save();
        };
      }
      else if (command && event.key === 'Enter' && !isField) action = startRun;
      else if (event.key === 'F6') action = () => focusPane(program, event.shiftKey ? -1 : 1);
      if (!action) return;
      event.preventDefault();
      event.stopPropagation();
      if (!document.querySelector('dialog[open]')) action();
    };
    addEventListener('keydown', onKey, { capture: true });
    return () => removeEventListener('keydown', onKey, { capture: true });
  }, [program]);
}

export function ProgramView({ program }: { program: OpenProgram }) {
  const open = useSignal<Open>(null);
  useKeys(program, () => (open.value = { what: 'run' }));

  const latest = useRef<() => Command[]>(() => []);
  useEffect(() => offerCommands(() => latest.current()), []);

  const text = program.initial.value;
  if (text === null) {
    return (
      <main class="page" id="main" tabIndex={-1}>
        <h1>{program.name}</h1>
        <FileStatus program={program} />
      </main>
    );
  }
  const actions: GraphActions = {
    open: (_agent, block) => program.reveal(block.range.offset, block.range.length, true),
    add: (agent, block) => (open.value = { what: 'add', agent, block }),
    connect: (agent, block) => (open.value = { what: 'connect', agent, block }),
    remove: (agent, block) => removeBlock(program, agent, block),
  };
  latest.current = () => commandsOf(program, actions);
  const chosen = program.block.value;
  const agent = program.agents.value.find((one) => one.name === program.selected.value?.agent);
  const drawn = program.shown.value;
  const showsAgent = drawn === 'blocks' ? !(chosen && agent) : drawn === 'calls' && !program.chosenCall.value;
  return (
    <main class="program" id="main" tabIndex={-1}>
      <header class="bar">
        <h1>{program.name}</h1>
        <FileStatus program={program} />
        {program.onDisk.value && !program.resolving.value && (
          <button type="button" onClick={() => (program.resolving.value = true)}>
            Resolve…
          </button>
        )}
        <span class="spacer" />
        <button type="button" title="Ctrl+Z" onClick={() => undoIn(program)}>
          Undo
        </button>
        <button type="button" title="Ctrl+Y" onClick={() => redoIn(program)}>
          Redo
        </button>
        <button type="button" onClick={() => void program.save()} title="Ctrl+S">
          Save
        </button>
        <button type="button" class="primary" title="Ctrl+Enter" onClick={() => (open.value = { what: 'run' })}>
          New run
        </button>
      </header>
      <div class="panes">
        <section class="pane text-pane" aria-label="Text">
          <Editor program={program} text={text} />
          <Problems program={program} />
        </section>
        <section class="pane graph-pane" aria-label="Graph">
          <GraphPane program={program} actions={actions} />
          {program.editProblem.value && (
            <p class="edit-problem" role="alert">
              The graph was not changed: {program.editProblem.value}
            </p>
          )}
          {showsAgent && <AgentInspector program={program} />}
          {drawn === 'blocks' && chosen && agent && (
            <Inspector
              key={`${agent.name}/${chosen.path}`}
              {...{ program, agent, block: chosen, actions }}
              onClose={() => {
                program.selected.value = null;
                focusEditor(program);
              }}
            />
          )}
        </section>
      </div>
      <Dialogs program={program} open={open.value} close={() => (open.value = null)} />
    </main>
  );
}
