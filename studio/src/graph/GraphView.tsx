import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { blocksOf } from '../api/client';
import type { Agent, Block } from '../api/types';
import type { Selected } from '../state/program';
import { layoutOf, rectangleOf, titleHeight, type Layout } from './layout';
import { Lines } from './Lines';
import { neighbour, placesOf, type Direction } from './navigate';
import { Tree } from './Tree';
import { Viewport } from './viewport';

/** What the graph can do to the program. Absent where it only shows a run. */
export interface GraphActions {
  open: (agent: Agent, block: Block) => void;
  add: (agent: Agent, block: Block) => void;
  connect: (agent: Agent, block: Block) => void;
  remove: (agent: Agent, block: Block) => void;
}

/** Those that the shown graph has: one of calls is only looked at. */
type SomeActions = Partial<GraphActions>;

interface Props {
  agents: Agent[];
  selected: Selected | null;
  onSelect: (selected: Selected) => void;
  actions?: SomeActions;
  /** What is drawn, if not blocks. */
  label?: string;
  /** Further buttons below the graph. */
  tools?: ComponentChildren;
  /** Said above the graph. */
  note?: string;
  /** Blocks in which a run is, as AGENT/PATH. */
  running?: ReadonlySet<string>;
  /** Blocks that a run has left. */
  visited?: ReadonlySet<string>;
  /** What a block took, for a corner of its box: in different lengths, from more to fewer words. */
  figures?: ReadonlyMap<string, string[]>;
  /** Blocks in which a run has failed. */
  failed?: ReadonlySet<string>;
}

interface Found {
  agent: Agent;
  block: Block;
}

function blockAt(agents: Agent[], agentName: string | undefined, path: string | undefined): Found | null {
  const agent = agents.find((one) => one.name === agentName);
  const block = agent && path !== undefined ? placesOf(agent).get(path)?.block : undefined;
  return agent && block ? { agent, block } : null;
}

const arrows: Record<string, Direction> = { ArrowUp: 'up', ArrowDown: 'down', ArrowLeft: 'left', ArrowRight: 'right' };
const keys: Record<string, keyof GraphActions> = { Enter: 'open', a: 'add', c: 'connect', Delete: 'remove' };

/** The block that a key leads to. */
function blockFor(key: string, { agent, block }: Found): Block | null {
  const direction = arrows[key];
  if (direction) return neighbour(agent, block, direction);
  if (key === 'Home') return blocksOf(agent)[0] ?? null;
  if (key === 'End') return blocksOf(agent).at(-1) ?? null;
  return null;
}

/** The agents of a program one below the other, which can be moved and zoomed. */
export function GraphView(props: Props) {
  const { agents, selected, running, visited, actions } = props;
  const frame = useRef<HTMLDivElement>(null);
  const viewport = useMemo(() => new Viewport(), []);
  const layout = useMemo(() => layoutOf(agents), [agents]);

  useLayoutEffect(() => (frame.current ? viewport.attach(frame.current) : undefined), []);
  useLayoutEffect(() => viewport.placeFirst(layout), [layout]);

  const show = (at: Found | null): void => {
    const rectangle = at && rectangleOf(layout, at.agent.name, at.block);
    if (rectangle) viewport.show(rectangle);
  };
  useEffect(() => show(blockAt(agents, selected?.agent, selected?.path)), [selected]);
  // A run is followed, unless a person looks at another block.
  const newest = running ? [...running].at(-1) : undefined;
  useEffect(() => {
    if (newest === undefined || selected) return;
    const agent = agents.find(({ name }) => newest.startsWith(`${name}/`));
    if (agent) show(blockAt(agents, agent.name, newest.slice(agent.name.length + 1)));
  }, [newest]);

  const found = (target: EventTarget | null): Found | null => {
    const item = target instanceof Element ? target.closest<HTMLElement>('[data-path]') : null;
    return item && blockAt(agents, item.dataset['agent'], item.dataset['path']);
  };
  const moveTo = (agent: Agent, block: Block): void => {
    props.onSelect({ agent: agent.name, path: block.path });
    const at = `[data-agent="${CSS.escape(agent.name)}"][data-path="${CSS.escape(block.path)}"]`;
    frame.current?.querySelector<HTMLElement>(at)?.focus({ preventScroll: true });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const at = found(event.target);
    if (!at || event.ctrlKey || event.metaKey || event.altKey) return;
    const next = blockFor(event.key, at);
    const key = keys[event.key];
    const action = key && actions?.[key];
    if (!next && !action && !arrows[event.key]) return;
    event.preventDefault();
    if (next) moveTo(at.agent, next);
    if (action) {
      props.onSelect({ agent: at.agent.name, path: at.block.path });
      action(at.agent, at.block);
    }
  };
  const onPointerDown = (event: PointerEvent): void => {
    const at = found(event.target);
    if (at) moveTo(at.agent, at.block);
    else viewport.grab(event);
  };

  return (
    <div class="graph">
      <div
        class={viewport.grabbed.value ? 'graph-frame grabbed' : 'graph-frame'}
        ref={frame}
        onKeyDown={onKeyDown}
        onPointerDown={onPointerDown}
      >
        <Canvas {...{ viewport, layout, selected, running, visited, label: props.label, figures: props.figures, failed: props.failed }} />
      </div>
      {props.note && (
        <p class="graph-note" role="status">
          {props.note}
        </p>
      )}
      <div class="graph-tools" role="group" aria-label="Zoom">
        <button type="button" aria-label="Zoom out" onClick={() => viewport.zoomBy(1 / 1.25)}>
          −
        </button>
        <button type="button" aria-label="Zoom in" onClick={() => viewport.zoomBy(1.25)}>
          +
        </button>
        <button type="button" onClick={() => viewport.fit(layout)}>
          Fit
        </button>
        {props.tools}
      </div>
    </div>
  );
}

interface CanvasProps {
  label: string | undefined;
  viewport: Viewport;
  layout: Layout;
  selected: Selected | null;
  running: ReadonlySet<string> | undefined;
  visited: ReadonlySet<string> | undefined;
  figures: ReadonlyMap<string, string[]> | undefined;
  failed: ReadonlySet<string> | undefined;
}

/** Moving and zooming changes one transform, and draws no block again. */
function Canvas({ viewport, layout, selected, running, visited, figures, failed, label }: CanvasProps) {
  const { x, y, zoom } = viewport.view.value;
  const chosenIn = (agent: Agent): string | null => (selected?.agent === agent.name ? selected.path : null);
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
              <Lines agent={agent} selected={chosenIn(agent)} />
            </g>
          ))}
        </svg>
        {layout.placed.map(({ agent, y: top }) => (
          <Tree key={agent.name} y={top} chosen={chosenIn(agent)} {...{ agent, label, running, visited, figures, failed }} />
        ))}
      </>
    ),
    [layout, selected, running, visited, figures, failed],
  );
  return (
    <div class="canvas" style={{ transform: `translate(${x}px, ${y}px) scale(${zoom})` }}>
      {content}
    </div>
  );
}
