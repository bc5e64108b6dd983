import { blocksOf } from '../api/client';
import type { Agent, Block } from '../api/types';
import type { OpenProgram } from '../state/program';

/** The block becomes the selected one, and its box gets the focus. */
export function goToBlock(program: OpenProgram, agent: Agent, block: Block): void {
  program.drawn.value = 'blocks';
  program.selected.value = { agent: agent.name, path: block.path };
  program.reveal(block.range.offset, block.range.length, false);
  const at = `[data-agent="${CSS.escape(agent.name)}"][data-path="${CSS.escape(block.path)}"]`;
  document.querySelector<HTMLElement>(`.graph ${at}`)?.focus({ preventScroll: true });
}

/** The agent to which a block delegates, if the program has it. */
export function delegateOf(program: OpenProgram, block: Block): Agent | undefined {
  const name = block.options.find((option) => option.name === 'agent')?.value;
  return program.agents.value.find((agent) => agent.name === name);
}

/** Shows an agent: its first block, or its text if it has none. */
export function goToAgent(program: OpenProgram, agent: Agent): void {
  const first = blocksOf(agent).find((block) => block.name === agent.start) ?? blocksOf(agent)[0];
  if (first) goToBlock(program, agent, first);
  else program.reveal(agent.range.offset, agent.range.length, true);
}
