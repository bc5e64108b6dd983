import { signal, useSignal } from '@preact/signals';
import { Fragment } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { blocksOf } from '../api/client';
import type { Agent, Block, Edge, Point, Sequence } from '../api/types';
import type { Selected } from '../state/program';
import { Marked } from '../text';
import { groupOf, KindIcon } from './kinds';
import { neighbour, placesOf, type Direction, type Place } from './navigate';

const titleHeight = 34;
const agentGap = 28;
const margin = 24;
const zoomMin = 0.1;
const zoomMax = 2;
const firstZoomMin = 0.85;
/** Where the excerpt is in a box. */
const excerptTop = 38;
const excerptLeft = 12;

/** What the graph can do to the program. Absent where it only shows a run. */
export interface GraphActions {
  open: (agent: Agent, block: Block) => void;
  add: (agent: Agent, block: Block) => void;
  connect: (agent: Agent, block: Block) => void;
  remove: (agent: Agent, block: Block) => void;
}

interface Props {
  agents: Agent[];
  selected: Selected | null;
  onSelect: (selected: Selected) => void;
  actions?: GraphActions;
  /** Blocks in which a run is, as AGENT/PATH. */
  running?: ReadonlySet<string>;
  /** Blocks that a run has left. */
  visited?: ReadonlySet<string>;
}

interface View {
  x: number;
  y: number;
  zoom: number;
}

interface Placed {
  agent: Agent;
  y: number;
}

function place(agents: Agent[]): { placed: Placed[]; width: number; height: number } {
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

function sequencesOf(agent: Agent): Sequence[] {
  return [...agent.sequences, ...blocksOf(agent).flatMap((block) => block.sequences ?? [])];
}

function Lines({ agent, selected }: { agent: Agent; selected: string | null }) {
  const chosen = selected === null ? undefined : placesOf(agent).get(selected);
  const beside = chosen?.sequence;
  const drawn = (edge: Edge): edge is Edge & { points: Point[] } => edge.points !== undefined && edge.points.length > 1;
  return (
    <>
      {sequencesOf(agent).map((sequence) => (
        <g key={sequence.path}>
          {sequence.name && sequence.at && sequence.size && (
            <>
              <rect
                class="sequence"
                x={sequence.at[0]}
                y={sequence.at[1]}
                width={sequence.size[0]}
                height={sequence.size[1]}
                rx="8"
              />
              <text class="sequence-name" x={sequence.at[0] + 10} y={sequence.at[1] + 16}>
                {sequence.name}
              </text>
            </>
          )}
          {sequence.dot_points && <path class="line" d={curve(sequence.dot_points)} marker-end="url(#arrow)" />}
          {sequence.dot && <circle class="dot" cx={sequence.dot[0]} cy={sequence.dot[1]} r="5" />}
        </g>
      ))}
      {blocksOf(agent).flatMap((block) =>
        block.edges.filter(drawn).map((edge, index) => {
          const isNear = selected === block.path || (beside?.blocks.includes(block) === true && edge.target === chosen?.block.name);
          return (
            <path
              key={`${block.path} ${index}`}
              class={isNear ? 'line near' : 'line'}
              d={curve(edge.points)}
              marker-end={isNear ? 'url(#arrow-near)' : 'url(#arrow)'}
            />
          );
        }),
      )}
      {blocksOf(agent).flatMap((block) =>
        block.edges.map((edge, index) =>
          edge.text && edge.text_at ? (
            <text key={`${block.path} ${index}`} class="line-text" x={edge.text_at[0]} y={edge.text_at[1] + 4}>
              {edge.text}
            </text>
          ) : null,
        ),
      )}
    </>
  );
}

interface BoxProps {
  place: Place;
  agent: Agent;
  isSelected: boolean;
  isTabStop: boolean;
  isRunning: boolean;
  isVisited: boolean;
}

function classesOf(props: BoxProps): string {
  const { block } = props.place;
  const classes = ['block', `group-${groupOf(block.kind)}`];
  if (block.sequences?.length) classes.push('outer');
  if (props.isSelected) classes.push('selected');
  if (props.isRunning) classes.push('running');
  else if (props.isVisited) classes.push('visited');
  return classes.join(' ');
}

function Box(props: BoxProps) {
  const { agent } = props;
  const { block, level, index, sequence } = props.place;
  const [x, y] = block.at ?? [0, 0];
  const [width, height] = block.size ?? [0, 0];
  const more = block.excerpt ?? block.documentation;
  return (
    <div
      class={classesOf(props)}
      role="treeitem"
      aria-description={more || undefined}
      aria-level={level}
      aria-posinset={index + 1}
      aria-setsize={sequence.blocks.length}
      aria-selected={props.isSelected}
      aria-expanded={block.sequences?.length ? true : undefined}
      aria-current={props.isRunning ? 'step' : undefined}
      tabIndex={props.isTabStop ? 0 : -1}
      data-agent={agent.name}
      data-path={block.path}
      title={block.documentation ? `${block.name}: ${block.documentation}` : block.name}
      style={{ left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px` }}
    >
      <KindIcon kind={block.kind} />
      <span class="block-words">
        <span class="block-name">
          {block.name}
          <span class="unseen">,</span>
        </span>{' '}
        <span class="block-kind">{block.kind}</span>
      </span>
    </div>
  );
}

/** Not part of the box, whose name is what it contains; there it is the description. */
function Excerpt({ block }: { block: Block }) {
  const [left, top] = block.at ?? [0, 0];
  const [width, height] = block.size ?? [0, 0];
  if (!block.excerpt || height < excerptTop + 16) return null;
  return (
    <div
      class="block-excerpt"
      aria-hidden="true"
      style={{ left: `${left + excerptLeft}px`, top: `${top + excerptTop}px`, width: `${width - 2 * excerptLeft + 4}px` }}
    >
      <Marked text={block.excerpt} />
    </div>
  );
}

const arrows: Record<string, Direction> = { ArrowUp: 'up', ArrowDown: 'down', ArrowLeft: 'left', ArrowRight: 'right' };

/** The agents of a program one below the other, which can be moved and zoomed. */
export function GraphView(props: Props) {
  const { agents, selected, running, visited } = props;
  const frame = useRef<HTMLDivElement>(null);
  const view = useMemo(() => signal<View>({ x: margin, y: margin, zoom: 1 }), []);
  const grabbed = useSignal(false);
  const fitted = useRef(false);
  const layout = useMemo(() => place(agents), [agents]);

  const fit = (): void => {
    const box = frame.current;
    if (!box || layout.width === 0) return;
    const room = { width: box.clientWidth - 2 * margin, height: box.clientHeight - 2 * margin };
    const zoom = Math.min(1, Math.max(zoomMin, Math.min(room.width / layout.width, room.height / layout.height)));
    view.value = { zoom, x: (box.clientWidth - layout.width * zoom) / 2, y: margin };
  };

  useLayoutEffect(() => {
    if (fitted.current || layout.width === 0) return;
    fitted.current = true;
    // Small print helps no one: the first sight of a large graph is its upper part.
    const room = (frame.current?.clientWidth ?? 0) - 2 * margin;
    const zoom = Math.min(1, Math.max(firstZoomMin, room / layout.width));
    view.value = { zoom, x: margin + Math.max(0, (room - layout.width * zoom) / 2), y: margin };
  }, [layout]);

  const zoomAt = (x: number, y: number, factor: number): void => {
    const { x: left, y: top, zoom } = view.value;
    const next = Math.min(zoomMax, Math.max(zoomMin, zoom * factor));
    view.value = { zoom: next, x: x - ((x - left) * next) / zoom, y: y - ((y - top) * next) / zoom };
  };
  const zoomMiddle = (factor: number): void => {
    const box = frame.current;
    if (box) zoomAt(box.clientWidth / 2, box.clientHeight / 2, factor);
  };

  /** Moves the graph so that the block can be seen. */
  const bringIntoView = (agentName: string, block: Block): void => {
    const box = frame.current;
    const top = layout.placed.find((one) => one.agent.name === agentName)?.y;
    if (!box || !block.at || !block.size || top === undefined) return;
    const { x, y, zoom } = view.value;
    const shift = (start: number, size: number, room: number): number => {
      if (start < margin) return margin - start;
      const over = Math.min(start + size + margin - room, start - margin);
      return over > 0 ? -over : 0;
    };
    const dx = shift(x + block.at[0] * zoom, block.size[0] * zoom, box.clientWidth);
    // Above the buttons at the bottom.
    const dy = shift(y + (block.at[1] + top + titleHeight) * zoom, Math.min(block.size[1], 80) * zoom, box.clientHeight - 36);
    if (dx !== 0 || dy !== 0) view.value = { zoom, x: x + dx, y: y + dy };
  };

  useEffect(() => {
    const agent = agents.find((one) => one.name === selected?.agent);
    const block = agent && blocksOf(agent).find((one) => one.path === selected?.path);
    if (agent && block) bringIntoView(agent.name, block);
  }, [selected]);

  // A run is followed, unless a person looks at another block.
  const first = running ? [...running].at(-1) : undefined;
  useEffect(() => {
    if (first === undefined || selected) return;
    for (const agent of agents) {
      const block = blocksOf(agent).find((one) => `${agent.name}/${one.path}` === first);
      if (block) bringIntoView(agent.name, block);
    }
  }, [first]);

  const found = (target: EventTarget | null): { agent: Agent; block: Block } | null => {
    const item = target instanceof Element ? target.closest<HTMLElement>('[data-path]') : null;
    const agent = agents.find((one) => one.name === item?.dataset['agent']);
    const block = agent && blocksOf(agent).find((one) => one.path === item?.dataset['path']);
    return agent && block ? { agent, block } : null;
  };

  const moveTo = (agent: Agent, block: Block): void => {
    props.onSelect({ agent: agent.name, path: block.path });
    const items = frame.current?.querySelectorAll<HTMLElement>('[data-path]') ?? [];
    for (const item of items) {
      if (item.dataset['agent'] === agent.name && item.dataset['path'] === block.path) item.focus({ preventScroll: true });
    }
  };

  const onKeyDown = (event: KeyboardEvent): void => {
    const at = found(event.target);
    if (!at || event.ctrlKey || event.metaKey || event.altKey) return;
    const { agent, block } = at;
    const direction = arrows[event.key];
    const all = blocksOf(agent);
    const edge = event.key === 'Home' ? all[0] : event.key === 'End' ? all.at(-1) : undefined;
    const next = direction ? neighbour(agent, block, direction) : edge;
    const action = props.actions && { Enter: 'open', a: 'add', c: 'connect', Delete: 'remove' }[event.key];
    if (!direction && !edge && !action) return;
    event.preventDefault();
    if (next) moveTo(agent, next);
    if (action) {
      props.onSelect({ agent: agent.name, path: block.path });
      props.actions?.[action as keyof GraphActions](agent, block);
    }
  };

  const onPointerDown = (event: PointerEvent): void => {
    const at = found(event.target);
    if (at) {
      moveTo(at.agent, at.block);
      return;
    }
    if (event.button > 1) return;
    const start = { ...view.value, left: event.clientX, top: event.clientY };
    frame.current?.setPointerCapture(event.pointerId);
    grabbed.value = true;
    const move = (next: PointerEvent): void => {
      view.value = { zoom: start.zoom, x: start.x + next.clientX - start.left, y: start.y + next.clientY - start.top };
    };
    const end = (): void => {
      grabbed.value = false;
      frame.current?.removeEventListener('pointermove', move);
      frame.current?.removeEventListener('pointerup', end);
      frame.current?.removeEventListener('pointercancel', end);
    };
    frame.current?.addEventListener('pointermove', move);
    frame.current?.addEventListener('pointerup', end);
    frame.current?.addEventListener('pointercancel', end);
  };

  useEffect(() => {
    const box = frame.current;
    if (!box) return undefined;
    const onWheel = (event: WheelEvent): void => {
      event.preventDefault();
      if (event.ctrlKey || event.metaKey) {
        const { left, top } = box.getBoundingClientRect();
        zoomAt(event.clientX - left, event.clientY - top, Math.exp(-event.deltaY / 300));
      } else {
        const { x, y, zoom } = view.value;
        view.value = { zoom, x: x - event.deltaX, y: y - event.deltaY };
      }
    };
    box.addEventListener('wheel', onWheel, { passive: false });
    return () => box.removeEventListener('wheel', onWheel);
  }, []);

  return (
    <div class="graph">
      <div class={grabbed.value ? 'graph-frame grabbed' : 'graph-frame'} ref={frame} onKeyDown={onKeyDown} onPointerDown={onPointerDown}>
        <Canvas view={view} layout={layout} selected={selected} running={running} visited={visited} />
      </div>
      <div class="graph-tools" role="group" aria-label="Zoom">
        <button type="button" aria-label="Zoom out" onClick={() => zoomMiddle(1 / 1.25)}>
          −
        </button>
        <button type="button" aria-label="Zoom in" onClick={() => zoomMiddle(1.25)}>
          +
        </button>
        <button type="button" onClick={fit}>
          Fit
        </button>
      </div>
    </div>
  );
}

interface CanvasProps {
  view: { value: View };
  layout: { placed: Placed[]; width: number; height: number };
  selected: Selected | null;
  running: ReadonlySet<string> | undefined;
  visited: ReadonlySet<string> | undefined;
}

/** Moving and zooming changes one transform, and draws no block again. */
function Canvas({ view, layout, selected, running, visited }: CanvasProps) {
  const { x, y, zoom } = view.value;
  const content = useMemo(
    () => (
      <>
        <svg class="lines" width={layout.width} height={layout.height} aria-hidden="true">
          <defs>
            {['arrow', 'arrow-near'].map((id) => (
              <marker key={id} id={id} viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
                <path class={id} d="M0 0 L8 4 L0 8 z" />
              </marker>
            ))}
          </defs>
          {layout.placed.map(({ agent, y: top }) => (
            <g key={agent.name} transform={`translate(0 ${top + titleHeight})`}>
              <Lines agent={agent} selected={selected?.agent === agent.name ? selected.path : null} />
            </g>
          ))}
        </svg>
        {layout.placed.map(({ agent, y: top }) => (
          <AgentTree key={agent.name} {...{ agent, selected, running, visited }} y={top} />
        ))}
      </>
    ),
    [layout, selected, running, visited],
  );
  return (
    <div class="canvas" style={{ transform: `translate(${x}px, ${y}px) scale(${zoom})` }}>
      {content}
    </div>
  );
}

type TreeProps = Pick<CanvasProps, 'selected' | 'running' | 'visited'> & { agent: Agent; y: number };

function AgentTree({ agent, y, selected, running, visited }: TreeProps) {
  const places = placesOf(agent);
  const chosen = selected?.agent === agent.name ? selected.path : null;
  const start = [...places.values()].find((one) => one.block.name === agent.start)?.block.path ?? [...places.keys()][0];
  const tabStop = chosen !== null && places.has(chosen) ? chosen : start;
  return (
    <>
      <h2 class="agent-name" style={{ left: '0px', top: `${y}px` }} title={agent.documentation}>
        {agent.name}
      </h2>
      <div
        class="tree"
        role="tree"
        aria-label={`Blocks of ${agent.name}`}
        style={{ top: `${y + titleHeight}px`, width: `${agent.size?.[0] ?? 0}px`, height: `${agent.size?.[1] ?? 0}px` }}
      >
        {[...places.values()].map((place) => {
          const { path } = place.block;
          const key = `${agent.name}/${path}`;
          return (
            <Fragment key={path}>
              <Box
                place={place}
                agent={agent}
                isSelected={path === chosen}
                isTabStop={path === tabStop}
                isRunning={running?.has(key) === true}
                isVisited={visited?.has(key) === true}
              />
              <Excerpt block={place.block} />
            </Fragment>
          );
        })}
      </div>
    </>
  );
}
