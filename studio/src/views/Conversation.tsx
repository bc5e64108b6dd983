import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Entry, RunFold, Speaker } from '../state/fold';
import { dateOf, Marked, timeOf } from '../text';

const words: Record<Speaker, string> = {
  person: 'Person',
  agent: '',
  question: 'asks',
  answer: 'Answer',
  problem: 'failed',
  note: '',
};

function headOf(entry: Entry): string {
  return [entry.agent, words[entry.speaker]].filter(Boolean).join(' ');
}

interface Props {
  fold: RunFold;
  version: number;
  onEarlier: () => void;
}

export function Conversation({ fold, version, onEarlier }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  const follow = (): void => {
    if (frame.current && atEnd.current) frame.current.scrollTop = frame.current.scrollHeight;
  };
  useLayoutEffect(follow, [version]);
  useLayoutEffect(() => {
    if (!frame.current) return undefined;
    const observer = new ResizeObserver(follow);
    observer.observe(frame.current);
    return () => observer.disconnect();
  }, []);
  return (
    <div
      class="conversation"
      role="log"
      aria-label="Conversation"
      tabIndex={0}
      ref={frame}
      onScroll={(event) => {
        const box = event.currentTarget;
        atEnd.current = box.scrollTop + box.clientHeight >= box.scrollHeight - 30;
      }}
    >
      {fold.earlier > 0 && (
        <p class="earlier">
          <button type="button" onClick={onEarlier}>
            Show what was before
          </button>
        </p>
      )}
      {fold.conversation.map((entry) => (
        <div key={entry.key} class={`entry ${entry.speaker}`}>
          <div class="entry-head">
            <span>{headOf(entry)}</span>
            <time class="hint" dateTime={new Date(entry.time).toISOString()} title={dateOf(entry.time)}>
              {timeOf(entry.time)}
            </time>
          </div>
          <div class="entry-text">
            <Marked text={entry.text} />
          </div>
        </div>
      ))}
      {fold.writing.map((writing) => (
        // Read aloud once it is complete, not piece by piece.
        <div key={writing.generation} class="entry agent provisional" aria-live="off">
          <div class="entry-head">
            <span>{writing.agent} writes…</span>
          </div>
          <div class="entry-text">
            <Marked text={writing.text} />
          </div>
        </div>
      ))}
    </div>
  );
}
