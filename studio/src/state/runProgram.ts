import { effect, signal, untracked, type Signal } from '@preact/signals';
import { api, hasBlocks } from '../api/client';
import type { Agent, Plan, RunProgram } from '../api/types';
import { noteError, onReconnect } from './live';

/** The program with which a run continues, and what is drawn of it. */
export interface ShownProgram extends RunProgram {
  /** Those that are made of blocks. Of a program that is not among the studio's, none is known. */
  agents: Agent[];
  plans: Plan[];
}

async function read(run: string): Promise<ShownProgram> {
  const own = await api.runProgram(run);
  if (own.program === undefined) return { ...own, agents: [], plans: [] };
  const [draft, plans] = await Promise.all([
    api.draft(own.program, own.text),
    /\bpursue\b/.test(own.text) ? api.plans(own.program, own.text) : null,
  ]);
  return { ...own, agents: draft.agents.filter(hasBlocks), plans: plans?.plans ?? [] };
}

/**
 * The run's program. It is read again when a conversation has taken another one, which `taken` counts, and after a lost
 * connection.
 */
export function readProgram(run: string, taken: Signal<number>): { program: Signal<ShownProgram | null>; stop: () => void } {
  const program = signal<ShownProgram | null>(null);
  let newest = 0;
  const readNow = (): void => {
    const number = ++newest;
    read(run).then((found) => {
      if (number === newest) program.value = found;
    }, noteError);
  };
  const stops = [
    effect(() => {
      void taken.value;
      untracked(readNow);
    }),
    onReconnect(() => {
      if (program.peek() === null) readNow();
    }),
  ];
  return { program, stop: () => stops.forEach((stop) => stop()) };
}
