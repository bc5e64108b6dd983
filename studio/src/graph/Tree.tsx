import { Fragment } from 'preact';
import type { Agent, Block } from '../api/types';
import { Marked } from '../text';
import { groupOf, KindIcon } from './kinds';
import { titleHeight } from './layout';
import { memo } from './memo';
import { placesOf } from './navigate';

/** Where the excerpt is in a box. */
const excerptTop = 38;
const excerptLeft = 12;
const excerptHeight = 16;
const figuresTop = 21;
const figuresRight = 8;
const kindLeft = 37;
/** About, of the small print of kinds and figures. */
const characterWidth = 6;

/** Properties are plain values, so that a box is drawn again only if something in it has changed. */
interface BoxProps {
  agent: string;
  path: string;
  name: string;
  kind: string;
  documentation: string;
  excerpt: string;
  figures: string;
  x: number;
  y: number;
  width: number;
  height: number;
  isOuter: boolean;
  level: number;
  index: number;
  count: number;
  isSelected: boolean;
  isTabStop: boolean;
  isRunning: boolean;
  isVisited: boolean;
  isFailed: boolean;
}

function classesOf(props: BoxProps): string {
  const classes = ['block', `group-${groupOf(props.kind)}`];
  if (props.isOuter) classes.push('outer');
  if (props.isSelected) classes.push('selected');
  if (props.isFailed) classes.push('failed');
  else if (props.isRunning) classes.push('running');
  else if (props.isVisited) classes.push('visited');
  return classes.join(' ');
}

const Box = memo((props: BoxProps) => (
  <div
    class={classesOf(props)}
    role="treeitem"
    aria-description={[props.isFailed && 'failed here', props.figures, props.excerpt || props.documentation].filter(Boolean).join('. ') || undefined}
    aria-level={props.level}
    aria-posinset={props.index + 1}
    aria-setsize={props.count}
    aria-selected={props.isSelected}
    aria-expanded={props.isOuter ? true : undefined}
    aria-current={props.isRunning ? 'step' : undefined}
    tabIndex={props.isTabStop ? 0 : -1}
    data-agent={props.agent}
    data-path={props.path}
    title={[props.documentation ? `${props.name}: ${props.documentation}` : props.name, props.figures].filter(Boolean).join('\n')}
    style={{ left: `${props.x}px`, top: `${props.y}px`, width: `${props.width}px`, height: `${props.height}px` }}
  >
    <KindIcon kind={props.kind} />
    <span class="block-words">
      <span class="block-name">
        {props.name}
        <span class="unseen">,</span>
      </span>{' '}
      <span class="block-kind">{props.kind}</span>
    </span>
  </div>
));

/** Not part of the box, whose name is what it contains; there it is the description. */
const Excerpt = memo(({ text, x, y, width }: { text: string; x: number; y: number; width: number }) => (
  <div
    class="block-excerpt"
    aria-hidden="true"
    style={{ left: `${x + excerptLeft}px`, top: `${y + excerptTop}px`, width: `${width - 2 * excerptLeft + 4}px` }}
  >
    <Marked text={text} />
  </div>
));

/** What a run took in the block, beside its kind. */
const Figures = memo(({ text, x, y, width }: { text: string; x: number; y: number; width: number }) =>
  text === '' ? null : (
    <div class="block-figures" aria-hidden="true" style={{ left: `${x}px`, top: `${y + figuresTop}px`, width: `${width - figuresRight}px` }}>
      {text}
    </div>
  ),
);

/** The first of the texts that has room beside the kind of the block. */
function fitting(texts: readonly string[] | undefined, kind: string, width: number): string {
  const room = width - kindLeft - kind.length * characterWidth - 2 * figuresRight;
  return texts?.find((text) => text.length * characterWidth <= room) ?? '';
}

interface TreeProps {
  agent: Agent;
  /** The name of the tree, if it does not show blocks. */
  label: string | undefined;
  y: number;
  /** The path of the selected block. */
  chosen: string | null;
  running: ReadonlySet<string> | undefined;
  visited: ReadonlySet<string> | undefined;
  figures: ReadonlyMap<string, string[]> | undefined;
  failed: ReadonlySet<string> | undefined;
}

function startOf(agent: Agent): string | undefined {
  const blocks: Block[] = agent.sequences.find((sequence) => sequence.path === '')?.blocks ?? [];
  return (blocks.find((block) => block.name === agent.start) ?? blocks[0])?.path ?? [...placesOf(agent).keys()][0];
}

/** The blocks of an agent as a tree of absolutely placed boxes. One of them is a tab stop. */
export function Tree({ agent, label, y, chosen, running, visited, figures, failed }: TreeProps) {
  const places = placesOf(agent);
  const tabStop = chosen !== null && places.has(chosen) ? chosen : startOf(agent);
  const [width, height] = agent.size ?? [0, 0];
  return (
    <>
      <h2 class="agent-name" style={{ left: '0px', top: `${y}px` }} title={agent.documentation}>
        {agent.name}
      </h2>
      <div
        class="tree"
        role="tree"
        aria-label={label ?? `Blocks of ${agent.name}`}
        style={{ top: `${y + titleHeight}px`, width: `${width}px`, height: `${height}px` }}
      >
        {[...places.values()].map(({ block, sequence, index, level }) => {
          const key = `${agent.name}/${block.path}`;
          const [left, top] = block.at ?? [0, 0];
          const [boxWidth, boxHeight] = block.size ?? [0, 0];
          return (
            <Fragment key={block.path}>
              <Box
                agent={agent.name}
                path={block.path}
                name={block.name}
                kind={block.kind}
                documentation={block.documentation ?? ''}
                excerpt={block.excerpt ?? ''}
                figures={figures?.get(key)?.[0] ?? ''}
                x={left}
                y={top}
                width={boxWidth}
                height={boxHeight}
                isOuter={(block.sequences?.length ?? 0) > 0}
                level={level}
                index={index}
                count={sequence.blocks.length}
                isSelected={block.path === chosen}
                isTabStop={block.path === tabStop}
                isRunning={running?.has(key) === true}
                isVisited={visited?.has(key) === true}
                isFailed={failed?.has(key) === true}
              />
              <Figures text={fitting(figures?.get(key), block.kind, boxWidth)} x={left} y={top} width={boxWidth} />
              {block.excerpt && boxHeight >= excerptTop + excerptHeight && (
                <Excerpt text={block.excerpt} x={left} y={top} width={boxWidth} />
              )}
            </Fragment>
          );
        })}
      </div>
    </>
  );
}
