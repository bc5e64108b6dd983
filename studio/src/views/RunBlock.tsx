import type { Block } from '../api/types';
import { groupOf, KindIcon } from '../graph/kinds';
import type { Visit } from '../state/fold';
import { recordLink } from '../state/route';
import { durationOf, Marked, numberOf } from '../text';

/** Further ones of a block are only counted. */
const visitsMax = 20;

export interface Figures {
  times: number;
  ms: number;
  tokens: number;
}

/** What the finished times have taken together. */
export function figuresOf(visits: readonly Visit[]): Figures {
  const sum = (of: (visit: Visit) => number | undefined): number => visits.reduce((all, visit) => all + (of(visit) ?? 0), 0);
  return { times: visits.length, ms: sum((one) => one.ms), tokens: sum((one) => one.tokens) };
}

/** In a few words, from more to fewer of them; none before the block was left for the first time. */
export function shortFigures(visits: readonly Visit[]): string[] {
  if (!visits.some((visit) => visit.left !== undefined)) return [];
  const { times, ms, tokens } = figuresOf(visits);
  const [often, long, much] = [times > 1 ? `${times} ×` : '', durationOf(ms), tokens > 0 ? `${numberOf(tokens)} tok.` : ''];
  return [[often, long, much], [long, much], [long]].map((words) => words.filter(Boolean).join(' · '));
}

interface Props {
  run: string;
  block: Block;
  visits: readonly Visit[];
  onSource: () => void;
  onClose: () => void;
}

/** What a run did in a block, in its newest turn. */
export function RunBlock({ run, block, visits, onSource, onClose }: Props) {
  const { times, ms, tokens } = figuresOf(visits);
  const shown = visits.slice(-visitsMax);
  return (
    <section class={`inspector group-${groupOf(block.kind)}`} aria-label={`Block ${block.name}`}>
      <header class="inspector-head">
        <KindIcon kind={block.kind} />
        <h2>{block.name}</h2>
        <span class="hint">{block.kind}</span>
        <span class="spacer" />
        <button type="button" onClick={onSource}>
          Go to its text
        </button>
        <button type="button" aria-label="Close" title="Close" onClick={onClose}>
          ×
        </button>
      </header>
      {block.documentation && (
        <p class="documentation">
          <Marked text={block.documentation} />
        </p>
      )}
      {times === 0 ? (
        <p class="hint">In this turn, the run has not been in this block.</p>
      ) : (
        <>
          <p class="block-total" role="group" aria-label="Time and tokens">
            <span>{times === 1 ? 'once' : `${numberOf(times)} times`}</span>
            <span>{durationOf(ms)}</span>
            <span>{tokens === 1 ? '1 token' : `${numberOf(tokens)} tokens`}</span>
          </p>
          <table class="visits" aria-label="Times in this block">
            <thead>
              <tr>
                {['From record', 'to', 'Time', 'Tokens'].map((head) => (
                  <th key={head} scope="col">
                    {head}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {shown.map((visit) => (
                <tr key={visit.entered}>
                  <td>
                    <a href={recordLink(run, visit.entered)}>{visit.entered}</a>
                  </td>
                  <td>
                    {visit.left === undefined ? (
                      <span class="hint">not left yet</span>
                    ) : (
                      <a href={recordLink(run, visit.left)}>{visit.left}</a>
                    )}
                  </td>
                  <td>{visit.ms === undefined ? '' : durationOf(visit.ms)}</td>
                  <td>{visit.tokens === undefined ? '' : numberOf(visit.tokens)}</td>
                </tr>
              ))}
            </tbody>
          </table>
          {visits.length > visitsMax && <p class="hint">{visits.length - visitsMax} earlier times are not shown.</p>}
        </>
      )}
    </section>
  );
}
