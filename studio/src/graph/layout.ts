import type { Agent, Block } from '../api/types';

/** Above each agent, for its name. In pixels, like all measures of the graph. */
export const titleHeight = 34;
const agentGap = 28;

export interface PlacedAgent {
  agent: Agent;
  /** Where it begins. */
  y: number;
}

export interface Layout {
  placed: PlacedAgent[];
  width: number;
  height: number;
}

/** The agents one below the other. */
export function layoutOf(agents: Agent[]): Layout {
  let y = 0;
  let width = 0;
  const placed = agents.map((agent) => {
    const at = { agent, y };
    y += (agent.size?.[1] ?? 0) + titleHeight + agentGap;
    width = Math.max(width, agent.size?.[0] ?? 0);
    return at;
  });
  return { placed, width, height: Math.max(0, y - agentGap) };
}

export interface Rectangle {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Where a block is drawn. */
export function rectangleOf(layout: Layout, agentName: string, block: Block): Rectangle | null {
  const top = layout.placed.find((one) => one.agent.name === agentName)?.y;
  if (top === undefined || !block.at || !block.size) return null;
  return { x: block.at[0], y: block.at[1] + top + titleHeight, width: block.size[0], height: block.size[1] };
}
