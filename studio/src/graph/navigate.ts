import { blocksOf } from '../api/client';
import type { Agent, Block, Edge, Sequence } from '../api/types';

export type Direction = 'up' | 'down' | 'left' | 'right';

interface Centre {
  x: number;
  y: number;
}

function centreOf(block: Block): Centre {
  const [x, y] = block.at ?? [0, 0];
  const [width, height] = block.size ?? [0, 0];
  return { x: x + width / 2, y: y + height / 2 };
}

/** Where a block is in its agent. */
export interface Place {
  block: Block;
  sequence: Sequence;
  /** Its position in the sequence. */
  index: number;
  parent: Block | null;
  /** How deep it is nested, from 1. */
  level: number;
}

const indexes = new WeakMap<Agent, Map<string, Place>>();

/** The places of all blocks of an agent by path, outer ones before those that they contain. */
export function placesOf(agent: Agent): ReadonlyMap<string, Place> {
  const known = indexes.get(agent);
  if (known) return known;
  const places = new Map<string, Place>();
  const visit = (sequences: Sequence[], parent: Block | null, level: number): void => {
    for (const sequence of sequences) {
      sequence.blocks.forEach((block, index) => {
        places.set(block.path, { block, sequence, index, parent, level });
        visit(block.sequences ?? [], block, level + 1);
      });
    }
  };
  visit(agent.sequences, null, 1);
  indexes.set(agent, places);
  return places;
}

function nearest(from: Block, blocks: Block[], direction: Direction): Block | null {
  const start = centreOf(from);
  let best: Block | null = null;
  let bestCost = Infinity;
  for (const block of blocks) {
    if (block === from) continue;
    const { x, y } = centreOf(block);
    const [along, across] =
      direction === 'left' || direction === 'right'
        ? [direction === 'left' ? start.x - x : x - start.x, Math.abs(y - start.y)]
        : [direction === 'up' ? start.y - y : y - start.y, Math.abs(x - start.x)];
    const cost = along + 3 * across;
    if (along > 1 && cost < bestCost) [best, bestCost] = [block, cost];
  }
  return best;
}

const targetsOf = (block: Block): string[] => block.edges.map((edge: Edge) => edge.target);

/**
 * Where an arrow key leads: down along the first edge that leads on, up against one, and sideways to the next box. Right enters a
 * block with nested ones, left leaves it.
 */
export function neighbour(agent: Agent, from: Block, direction: Direction): Block | null {
  const place = placesOf(agent).get(from.path);
  const siblings = place?.sequence.blocks ?? [];
  const below = (block: Block): boolean => centreOf(block).y > centreOf(from).y;
  if (direction === 'down') {
    const targets = siblings.filter((block) => block !== from && targetsOf(from).includes(block.name));
    const found = targets.find(below) ?? nearest(from, siblings, 'down') ?? targets[0];
    return found ?? nearest(from, siblings.length > 0 ? blocksOf(agent) : [], 'down');
  }
  if (direction === 'up') {
    const sources = siblings.filter((block) => block !== from && targetsOf(block).includes(from.name));
    const found = sources.find((block) => !below(block)) ?? nearest(from, siblings, 'up');
    return found ?? place?.parent ?? nearest(from, blocksOf(agent), 'up');
  }
  const inLine = siblings.filter((block) => Math.abs(centreOf(block).y - centreOf(from).y) < 100);
  const beside = nearest(from, inLine, direction);
  if (direction === 'right') return from.sequences?.find((inner) => inner.blocks.length > 0)?.blocks[0] ?? beside;
  return beside ?? place?.parent ?? null;
}
