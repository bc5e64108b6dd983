import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { showShort } from '../api/json';
import type { RecordedEvent } from '../api/types';
import { Marked, timeOf } from '../text';
import { MomentView } from './Moment';
import type { Looked } from './moments';

const rowHeight = 26;
const around = 10;
/** Events that are no farther from the others are read together with those between. */
const nearMax = 600;

/** The fields that every event has are in columns of their own. */
const common = new Set(['number', 'run', 'agent', 'depth', 'type', 'time']);

function summaryOf(event: RecordedEvent): string {
  return Object.entries(event)
    .filter(([name, value]) => !common.has(name) && value !== '' && name !== 'schema' && !(name === 'block' && 'path' in event))
    .map(([name, value]) => `${name} ${showShort(value, 160)}`)
    .join('  ');
}

interface RowProps {
  /** None while it is being read. */
  event: RecordedEvent | undefined;
  index: number;
  isTabStop: boolean;
  isOpened: boolean;
  onClick: () => void;
}

function Row({ event, index, isTabStop, isOpened, onClick }: RowProps) {
  return (
    <div
      role="row"
      class={isOpened ? 'event-row opened' : 'event-row'}
      aria-rowindex={index + 1}
      tabIndex={isTabStop ? 0 : -1}
      style={{ top: `${index * rowHeight}px` }}
      onClick={onClick}
    >
      <span role="gridcell" class="event-number">
        {event?.number ?? '…'}
      </span>
      {event && (
        <>
          <span role="gridcell" class="event-time">
            {timeOf(event.time)}
          </span>
          <span role="gridcell" class="event-type">
            {event.type}
          </span>
          <span role="gridcell" class="event-agent">
            {event.agent}
          </span>
          <span role="gridcell" class="event-summary">
            <Marked text={summaryOf(event)} />
          </span>
        </>
      )}
    </div>
  );
}

interface DetailProps {
  record: number;
  looked: Looked | null;
  event: RecordedEvent | undefined;
  onClose: () => void;
}

function Detail({ record, looked, event, onClose }: DetailProps) {
  return (
    <div class="event-detail" role="region" aria-label={`Record ${record}`} tabIndex={0}>
      <button type="button" aria-label="Close" title="Close" onClick={onClose}>
        ×
      </button>
      <MomentView record={record} looked={looked} />
      {event && (
        <>
          <h3>The event</h3>
          <pre>
            <Marked text={JSON.stringify(event, null, 2)} />
          </pre>
        </>
      )}
    </div>
  );
}

interface Props {
  /** The run as it was after the record that is shown. */
  looked: Looked | null;
  events: RecordedEvent[];
  /** Events before these, which were not read. */
  earlier: number;
  /** Some of these, by their position. */
  apart: ReadonlyMap<number, RecordedEvent>;
  /** Reads those just before. */
  onEarlier: () => void;
  /** Reads those around a position, which may be far away. */
  onAround: (position: number) => void;
  version: number;
  /** The record that is shown. */
  record: number | null;
  onRecord: (record: number | null) => void;
}

/** The position of the record's event, or of the next one; -1 while it is not there. */
function positionOf(record: number, events: RecordedEvent[], earlier: number, apart: ReadonlyMap<number, RecordedEvent>): number {
  if (events[0] && events[0].number <= record) {
    const found = events.findIndex((event) => event.number >= record);
    return found < 0 ? -1 : earlier + found;
  }
  for (const [at, event] of apart) if (event.number === record) return at;
  return earlier === 0 && events.length > 0 ? 0 : -1;
}

/** The events of a run. Only the rows in sight are in the page; it stays at the end while the end is in sight. */
export function Events({ looked, events, earlier, apart, onEarlier, onAround, version, record, onRecord }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const top = useSignal(0);
  const height = useSignal(400);
  const atEnd = useRef(true);
  const current = useSignal(-1);

  useLayoutEffect(() => {
    const box = frame.current;
    if (!box) return undefined;
    const observer = new ResizeObserver(() => (height.value = box.clientHeight));
    observer.observe(box);
    return () => observer.disconnect();
  }, []);
  const total = earlier + events.length;
  useLayoutEffect(() => {
    const box = frame.current;
    if (!box) return;
    if (atEnd.current) box.scrollTop = box.scrollHeight;
    top.value = box.scrollTop;
  }, [version, total, height.value]);

  const first = Math.max(0, Math.floor(top.value / rowHeight) - around);
  const last = Math.min(total, Math.ceil((top.value + height.value) / rowHeight) + around);
  const stop = current.value >= 0 && current.value < total ? current.value : total - 1;
  // The row of the record that is shown is in sight, until the person looks elsewhere.
  const follows = useRef(false);
  useLayoutEffect(() => {
    follows.current = record !== null;
  }, [record]);
  const shown = record === null ? -1 : positionOf(record, events, earlier, apart);
  useLayoutEffect(() => {
    const box = frame.current;
    if (!box || shown < 0 || !follows.current) return;
    const at = shown * rowHeight;
    const isInSight = at >= box.scrollTop && at + rowHeight <= box.scrollTop + box.clientHeight;
    if (!isInSight) box.scrollTop = Math.max(0, at - box.clientHeight / 2);
    top.value = box.scrollTop;
  }, [record, shown >= 0, height.value]);
  const eventAt = (index: number): RecordedEvent | undefined => (index < earlier ? apart.get(index) : events[index - earlier]);
  // What is in sight and not there: in one piece with the others if it is near, so that the whole run is there bit by bit.
  const isNear = last > earlier - nearMax;
  const missing = Array.from({ length: Math.max(0, Math.min(last, earlier) - first) }, (_, at) => first + at).filter((at) => !apart.has(at));
  useEffect(() => {
    if (missing.length === 0) return;
    if (isNear) return onEarlier();
    for (const at of [missing[0], missing.at(-1)]) if (at !== undefined) onAround(at);
  }, [missing.length > 0, isNear, earlier, missing[0], missing.at(-1)]);

  const moveTo = (index: number): void => {
    const box = frame.current;
    if (!box || index < 0 || index >= total) return;
    current.value = index;
    follows.current = false;
    if (index * rowHeight < box.scrollTop) box.scrollTop = index * rowHeight;
    else if ((index + 1) * rowHeight > box.scrollTop + box.clientHeight) box.scrollTop = (index + 1) * rowHeight - box.clientHeight;
    top.value = box.scrollTop;
    requestAnimationFrame(() => box.querySelector<HTMLElement>(`[aria-rowindex="${index + 1}"]`)?.focus({ preventScroll: true }));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const page = Math.max(1, Math.floor(height.value / rowHeight) - 1);
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page };
    const step = steps[event.key];
    if (step !== undefined) moveTo(Math.min(total - 1, Math.max(0, stop + step)));
    else if (event.key === 'Home') moveTo(0);
    else if (event.key === 'End') moveTo(total - 1);
    else if (event.key === 'Enter') onRecord(eventAt(stop)?.number ?? null);
    else if (event.key === 'Escape') onRecord(null);
    else return;
    event.preventDefault();
  };

  return (
    <section class="events" aria-labelledby="events-title">
      <h2 id="events-title">
        Events <span class="hint">{total}</span>
      </h2>
      <div
        class="event-grid"
        role="grid"
        aria-label="Events"
        aria-rowcount={total}
        ref={frame}
        tabIndex={total === 0 ? 0 : -1}
        onKeyDown={onKeyDown}
        onWheel={() => (follows.current = false)}
        onPointerDown={() => (follows.current = false)}
        onScroll={(event) => {
          const box = event.currentTarget;
          top.value = box.scrollTop;
          atEnd.current = box.scrollTop + box.clientHeight >= box.scrollHeight - rowHeight;
        }}
      >
        <div class="event-space" role="presentation" style={{ height: `${total * rowHeight}px` }}>
          {Array.from({ length: Math.max(0, last - first) }, (_, at) => {
            const index = first + at;
            const event = eventAt(index);
            return (
              <Row
                key={index}
                event={event}
                index={index}
                isTabStop={index === stop}
                isOpened={record !== null && event?.number === record}
                onClick={() => {
                  current.value = index;
                  if (event) onRecord(event.number === record ? null : (event.number ?? null));
                }}
              />
            );
          })}
        </div>
      </div>
      {record !== null && (
        <Detail record={record} looked={looked} event={[...events, ...apart.values()].find((event) => event.number === record)} onClose={() => onRecord(null)} />
      )}
    </section>
  );
}
