import { blocksOf } from '../api/client';
import type { Agent, Block, Edge, Edit, KindRule, Sequence } from '../api/types';
import { placesOf } from '../graph/navigate';

/** Where a block can be added. */
export interface Gap {
  text: string;
  sequence: Sequence;
  after: Block | null;
  /** The edge that leads through the new block afterwards. */
  edge: Edge | null;
  /** The new block becomes the start of the agent. */
  start: boolean;
}

const keyOf = (edge: Edge): Record<string, string> => ({
  kind: edge.kind,
  ...(edge.label !== undefined && { label: edge.label }),
  ...(edge.on !== undefined && { on: edge.on }),
});

function sequencesOf(agent: Agent): Sequence[] {
  return [...agent.sequences, ...blocksOf(agent).flatMap((block) => block.sequences ?? [])];
}

export function gapsOf(agent: Agent): Gap[] {
  const gaps: Gap[] = [];
  for (const sequence of sequencesOf(agent)) {
    const where = sequence.path === '' ? '' : ` (in ${sequence.path})`;
    if (sequence.path === '' && sequence.blocks.length > 0) {
      gaps.push({ text: `before ${agent.start}`, sequence, after: null, edge: null, start: true });
    }
    for (const block of sequence.blocks) {
      for (const edge of block.edges) {
        const label = edge.kind === 'next' ? '' : `, ${edge.text ?? edge.label ?? edge.kind}`;
        gaps.push({ text: `${block.name} and ${edge.target}${label}${where}`, sequence, after: block, edge, start: false });
      }
      if (!block.edges.some((edge) => edge.kind === 'next' || edge.kind === 'else')) {
        gaps.push({ text: `after ${block.name}${where}`, sequence, after: block, edge: null, start: false });
      }
    }
    if (sequence.blocks.length === 0) gaps.push({ text: `the only one${where}`, sequence, after: null, edge: null, start: false });
  }
  return gaps;
}

export function gapAfter(gaps: Gap[], block: Block): number {
  const found = gaps.findIndex((gap) => gap.after?.path === block.path);
  return Math.max(0, found);
}

/** A start for required options that are texts, which must not be empty; others are left to the person. */
function startOf(option: string, name: string): string | null {
  if (option === 'mode') return 'improve';
  return ['prompt', 'text', 'template'].includes(option) ? JSON.stringify(name.replaceAll('_', ' ')) : null;
}

export function addOps(agent: Agent, gap: Gap, name: string, kind: KindRule, rules: KindRule[]): Edit[] {
  const options = kind.options.flatMap((option) => {
    const value = option.required ? startOf(option.name, name) : null;
    return value === null ? [] : [{ name: option.name, value }];
  });
  const target = gap.start ? agent.start : gap.edge?.target;
  const canGoOn = !kind.parts.includes('else');
  const add: Edit = { op: 'add', agent: agent.name, name, kind: kind.name, sequence: gap.sequence.path };
  if (gap.after) add['after'] = gap.after.name;
  if (options.length > 0) add['options'] = options;
  if (target !== undefined && canGoOn) add['next'] = target;
  const ops = [add];
  const path = gap.sequence.path ? `${gap.sequence.path}/${name}` : name;
  if (target !== undefined && !canGoOn) ops.push({ op: 'connect', agent: agent.name, block: path, kind: 'else', target });
  if (gap.start) ops.push({ op: 'set_start', agent: agent.name, block: name });
  if (gap.after && gap.edge) {
    const key = { agent: agent.name, block: gap.after.path, ...keyOf(gap.edge) };
    // An edge `to` is known by its target: it cannot be redirected in place.
    if (gap.edge.kind === 'to') ops.push({ op: 'disconnect', ...key, target: gap.edge.target });
    ops.push({ op: 'connect', ...key, target: name });
  } else if (gap.after) {
    const rule = rules.find((one) => one.name === gap.after?.kind);
    const edgeKind = rule?.parts.includes('else') ? 'else' : 'next';
    ops.push({ op: 'connect', agent: agent.name, block: gap.after.path, kind: edgeKind, target: name });
  }
  return ops;
}

/** Blocks to which an edge of the block can lead. */
export function targetsFor(agent: Agent, block: Block): Block[] {
  return placesOf(agent).get(block.path)?.sequence.blocks ?? [];
}

export function disconnectOp(agent: Agent, block: Block, edge: Edge): Edit {
  return {
    op: 'disconnect',
    agent: agent.name,
    block: block.path,
    ...keyOf(edge),
    ...(edge.kind === 'to' && { target: edge.target }),
  };
}

export function redirectOps(agent: Agent, block: Block, edge: Edge, target: string): Edit[] {
  const connect: Edit = { op: 'connect', agent: agent.name, block: block.path, ...keyOf(edge), target };
  return edge.kind === 'to' ? [disconnectOp(agent, block, edge), connect] : [connect];
}

/** The place of an edge among those that can change places with it. */
export interface Way {
  position: number;
  count: number;
}

/** The ways of a block in their order: its clauses, and the cases of each `on`. `->` and `else` are always last. */
export function waysOf(block: Block): Map<Edge, Way> {
  const clauses: Edge[][] = [];
  for (const edge of block.edges) {
    if (edge.kind === 'next' || edge.kind === 'else') continue;
    const last = clauses.at(-1);
    if (edge.kind === 'case' && last?.[0]?.kind === 'case' && last[0].on === edge.on) last.push(edge);
    else clauses.push([edge]);
  }
  const ways = new Map<Edge, Way>();
  clauses.forEach((clause, position) => {
    if (clause[0]?.kind !== 'case') {
      for (const edge of clause) ways.set(edge, { position, count: clauses.length });
      return;
    }
    const cases = clause.filter((edge) => edge.label !== 'else');
    cases.forEach((edge, index) => ways.set(edge, { position: index, count: cases.length }));
  });
  return ways;
}

export function moveOp(agent: Agent, block: Block, edge: Edge, position: number): Edit {
  return { ...disconnectOp(agent, block, edge), op: 'move_edge', position };
}

/** Gives an edge another label: another edge, at the same place. */
export function relabelOps(agent: Agent, block: Block, edge: Edge, label: string, way: Way | undefined): Edit[] {
  const connect: Edit = { op: 'connect', agent: agent.name, block: block.path, ...keyOf(edge), label, target: edge.target };
  if (edge.kind === 'to') return [connect];
  const isOnly = edge.kind === 'case' && way?.count === 1 && !block.edges.some((one) => one.on === edge.on && one.label === 'else');
  const ops = isOnly ? [connect, disconnectOp(agent, block, edge)] : [disconnectOp(agent, block, edge), connect];
  return way && !isOnly ? [...ops, moveOp(agent, block, { ...edge, label }, way.position)] : ops;
}

/**
 * Removes a block. The edges that led to it lead where its own edge leads, if it has just one. `next` is the block to look at
 * afterwards.
 */
export function removeOps(agent: Agent, block: Block): { ops: Edit[]; next: Block | null } {
  const siblings = targetsFor(agent, block);
  const only = block.edges.length === 1 ? block.edges[0]?.target : undefined;
  const target = only === block.name ? undefined : only;
  const ops = siblings
    .filter((one) => one !== block)
    .flatMap((one) =>
      one.edges
        .filter((edge) => edge.target === block.name)
        .flatMap((edge) => (target === undefined ? [disconnectOp(agent, one, edge)] : redirectOps(agent, one, edge, target))),
    );
  const at = siblings.indexOf(block);
  return {
    ops: [...ops, { op: 'delete', agent: agent.name, block: block.path }],
    next: siblings[at + 1] ?? siblings[at - 1] ?? null,
  };
}

export const namePattern = /^(?!_$)[A-Za-z_][A-Za-z_0-9]*$/;

export function nameProblem(agent: Agent, name: string, own?: string): string {
  if (name === '') return 'A name is missing.';
  if (!namePattern.test(name)) return 'A name has letters, digits and `_`, and does not begin with a digit.';
  if (name !== own && blocksOf(agent).some((block) => block.name === name)) return `There is already a block \`${name}\`.`;
  return '';
}
