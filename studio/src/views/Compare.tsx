import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { api } from '../api/client';
import type { DifferencePart, DifferenceSide, RunDifference } from '../api/types';
import { noteError, runs } from '../state/live';
import { recordLink, runLink } from '../state/route';
import { Marked } from '../text';
import { markDifferences, textOfSide, titleOf, type Piece } from './difference';
import { StateMark } from './StateMark';

function Text({ pieces }: { pieces: Piece[] | null }) {
  if (!pieces) return <p class="hint">nothing</p>;
  return (
    <pre>
      {pieces.map((piece, index) =>
        piece.differs ? (
          <mark key={index}>
            <Marked text={piece.text} />
          </mark>
        ) : (
          <Marked key={index} text={piece.text} />
        ),
      )}
    </pre>
  );
}

function Side({ run, side, pieces }: { run: string; side: DifferenceSide; pieces: Piece[] | null }) {
  return (
    <div class="side">
      <Text pieces={pieces} />
      {side.record !== undefined && (
        <a href={recordLink(run, side.record)}>
          record {side.record}
          <span class="unseen"> of run {run}</span>
        </a>
      )}
    </div>
  );
}

function Part({ part, runA, runB }: { part: DifferencePart; runA: string; runB: string }) {
  const pieces = useMemo(() => {
    const a = textOfSide(part.a.value);
    const b = textOfSide(part.b.value);
    if (a !== null && b !== null) return markDifferences(a, b);
    const whole = (text: string | null): Piece[] | null => (text === null ? null : [{ text, differs: false }]);
    return { a: whole(a), b: whole(b) };
  }, [part]);
  return (
    <article class="card difference">
      <h3>{titleOf(part)}</h3>
      <p class="hint">
        turn {part.turn}
        {part.at !== undefined && `, call ${part.at}`}
      </p>
      <div class="sides">
        <Side run={runA} side={part.a} pieces={pieces.a} />
        <Side run={runB} side={part.b} pieces={pieces.b} />
      </div>
    </article>
  );
}

function Head({ name }: { name: string }) {
  const run = runs.value.get(name);
  return (
    <div class="side-head">
      <a class="run-name" href={runLink(name)}>
        {name}
      </a>{' '}
      {run?.agent} {run && <StateMark state={run.state} />}
    </div>
  );
}

/** Where two runs part, and what differs, side by side. */
export function Compare({ run, other }: { run: string; other: string }) {
  const difference = useSignal<RunDifference | null>(null);
  const failure = useSignal('');
  useEffect(() => {
    api.compare(run, other).then(
      (found) => (difference.value = found),
      (error: unknown) => {
        noteError(error);
        failure.value = error instanceof Error ? error.message : String(error);
      },
    );
  }, [run, other]);
  const found = difference.value;
  const [first, ...rest] = found?.differences ?? [];
  return (
    <main class="page" id="main" tabIndex={-1}>
      <h1>Difference of two runs</h1>
      <section aria-label="Difference" class="comparison" aria-busy={!found && !failure.value}>
        <div class="sides heads">
          <Head name={run} />
          <Head name={other} />
        </div>
        {failure.value && (
          <p class="field-problem" role="alert">
            {failure.value}
          </p>
        )}
        {!found && !failure.value && <p class="hint">Replaying both runs…</p>}
        {found?.same && <p class="empty">The runs are the same: they got the same input and outcomes, and gave the same value.</p>}
        {found && first && (
          <>
            <h2>Where they part</h2>
            <Part part={first} runA={found.a} runB={found.b} />
            {rest.length > 0 && <h2>What else differs</h2>}
            {rest.map((part, index) => (
              <Part key={index} part={part} runA={found.a} runB={found.b} />
            ))}
            {found.left_out > 0 && <p class="hint">{found.left_out} further differences are not shown.</p>}
          </>
        )}
      </section>
    </main>
  );
}
