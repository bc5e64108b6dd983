import { blocksOf } from '../api/client';
import type { Agent, Edge, Point, Sequence } from '../api/types';
import { memo } from './memo';
import { placesOf } from './navigate';

/** A curve through the points with vertical ends. */
function curve(points: Point[]): string {
  const [first, ...rest] = points;
  if (!first) return '';
  let path = `M${first[0]} ${first[1]}`;
  const last = rest.at(-1);
  const middle = rest[0];
  if (rest.length === 2 && middle && last && first[0] === last[0] && middle[0] > first[0]) {
    const side = middle[0] + 8; // an edge to the block itself
    return `${path} C${side} ${first[1]} ${side} ${last[1]} ${last[0]} ${last[1]}`;
  }
  let before = first;
  for (const point of rest) {
    const y = (before[1] + point[1]) / 2;
    path += ` C${before[0]} ${y} ${point[0]} ${y} ${point[0]} ${point[1]}`;
    before = point;
  }
  return path;
}

const Line = memo(({ path, isNear, passage }: { path: string; isNear: boolean; passage?: string | undefined }) => (
  <path class={`line${isNear ? ' near' : ''}${passage ? ` passage-${passage}` : ''}`} d={path} marker-end={isNear ? 'url(#arrow-near)' : 'url(#arrow)'} />
));

const Label = memo(({ text, x, y }: { text: string; x: number; y: number }) => (
  <text class="line-text" x={x} y={y + 4}>
    {text}
  </text>
));

/** The frame of a named sequence, and its start. */
function Frame({ sequence }: { sequence: Sequence }) {
  const { at, size, dot, dot_points: toFirst } = sequence;
  return (
    <g>
      {sequence.name && at && size && (
        <>
          <rect class="sequence" x={at[0]} y={at[1]} width={size[0]} height={size[1]} rx="8" />
          <text class="sequence-name" x={at[0] + 10} y={at[1] + 16}>
            {sequence.name}
          </text>
        </>
      )}
      {toFirst && <Line path={curve(toFirst)} isNear={false} />}
      {dot && <circle class="dot" cx={dot[0]} cy={dot[1]} r="5" />}
    </g>
  );
}

/** What is drawn under the blocks of an agent. The edges of the selected block are marked. */
export function Lines({ agent, selected }: { agent: Agent; selected: string | null }) {
  const places = placesOf(agent);
  const chosen = selected === null ? undefined : places.get(selected);
  const isNear = (path: string, edge: Edge): boolean =>
    chosen !== undefined &&
    (chosen.block.path === path || (places.get(path)?.sequence === chosen.sequence && edge.target === chosen.block.name));
  const blocks = blocksOf(agent);
  const sequences = [...agent.sequences, ...blocks.flatMap((block) => block.sequences ?? [])];
  return (
    <>
      {sequences.map((sequence) => (
        <Frame key={sequence.path} sequence={sequence} />
      ))}
      {blocks.flatMap(({ path, edges }) =>
        edges.map((edge, index) =>
          edge.points ? <Line key={`${path} ${index}`} path={curve(edge.points)} isNear={isNear(path, edge)} passage={edge.passage} /> : null,
        ),
      )}
      {blocks.flatMap(({ path, edges }) =>
        edges.map((edge, index) =>
          edge.text && edge.text_at ? (
            <Label key={`${path} ${index}`} text={edge.text} x={edge.text_at[0]} y={edge.text_at[1]} />
          ) : null,
        ),
      )}
    </>
  );
}
