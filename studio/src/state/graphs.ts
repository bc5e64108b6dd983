import { signal } from '@preact/signals';
import { api, hasBlocks } from '../api/client';
import type { Agent } from '../api/types';
import { noteError, onChange, programs } from './live';

/** The agents of the saved programs that are made of blocks, by the name of the program. */
export const savedAgents = signal<ReadonlyMap<string, Agent[]>>(new Map());
const requested = new Set<string>();

async function load(name: string): Promise<void> {
  requested.add(name);
  try {
    const program = await api.program(name);
    const { agents } = await api.draft(name, program.text);
    const drawn = agents.filter(hasBlocks);
    savedAgents.value = new Map(savedAgents.value).set(name, drawn);
  } catch (error) {
    requested.delete(name);
    noteError(error);
  }
}

onChange((change) => {
  if ('program' in change && requested.has(change.program)) void load(change.program);
});

/** Reads the graphs of all programs that are not known yet. */
export function wantGraphs(): void {
  for (const program of programs.value) if (!requested.has(program.name)) void load(program.name);
}
