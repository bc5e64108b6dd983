import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { showShort } from '../api/json';
import type { RunEvent } from '../api/types';
import { Marked, timeOf } from '../text';
import { MomentView } from './Moment';

const rowHeight = 26;
const around = 10;

/** The fields that every event has are in columns of their own. */
const common = new Set(['number', 'run', 'agent', 'depth', 'type', 'time']);

function summaryOf(event: RunEvent): string {
  return Object.entries(event)
    .filter(([name, value]) => !common.has(name) && value !== '' && name !== 'schema' && !(name === 'block' && 'path' in event))
    .map(([name, value]) => `${name} ${showShort(value, 160)}`)
    .join('  ');
}

interface RowProps {
  event: RunEvent;
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
        {event.number}
      </span>
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
    </div>
  );
}

function Detail({ event, onClose }: { event: RunEvent; onClose: () => void }) {
  return (
    <div class="event-detail" role="region" aria-label={`Event ${event.number}`} tabIndex={0}>
      <button type="button" aria-label="Close" title="Close" onClick={onClose}>
        ×
      </button>
      {event.number !== undefined && <MomentView run={event.run} record={event.number} />}
      <h3>The event</h3>
      <pre>
        <Marked text={JSON.stringify(event, null, 2)} />
      </pre>
    </div>
  );
}

/** The events of a run. Only the rows in sight are in the page; it stays at the end while the end is in sight. */
export function Events({ events, version }: { events: RunEvent[]; version: number }) {
  const frame = useRef<HTMLDivElement>(null);
  const top = useSignal(0);
  const height = useSignal(400);
  const atEnd = useRef(true);
  const current = useSignal(-1);
  const opened = useSignal<RunEvent | null>(null);

  useLayoutEffect(() => {
    const box = frame.current;
    if (!box) return undefined;
    const observer = new ResizeObserver(() => (height.value = box.clientHeight));
    observer.observe(box);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    const box = frame.current;
    if (!box) return;
    if (atEnd.current) box.scrollTop = box.scrollHeight;
    top.value = box.scrollTop;
  }, [version, events.length]);

  const first = Math.max(0, Math.floor(top.value / rowHeight) - around);
  const last = Math.min(events.length, Math.ceil((top.value + height.value) / rowHeight) + around);
  const stop = current.value >= 0 && current.value < events.length ? current.value : events.length - 1;

  const moveTo = (index: number): void => {
    const box = frame.current;
    if (!box || index < 0 || index >= events.length) return;
    current.value = index;
    if (index * rowHeight < box.scrollTop) box.scrollTop = index * rowHeight;
    else if ((index + 1) * rowHeight > box.scrollTop + box.clientHeight) box.scrollTop = (index + 1) * rowHeight - box.clientHeight;
    top.value = box.scrollTop;
    requestAnimationFrame(() => box.querySelector<HTMLElement>(`[aria-rowindex="${index + 1}"]`)?.focus({ preventScroll: true }));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const page = Math.max(1, Math.floor(height.value / rowHeight) - 1);
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page };
    const step = steps[event.key];
    if (step !== undefined) moveTo(Math.min(events.length - 1, Math.max(0, stop + step)));
    else if (event.key === 'Home') moveTo(0);
    else if (event.key === 'End') moveTo(events.length - 1);
    else if (event.key === 'Enter') opened.value = events[stop] ?? null;
    else if (event.key === 'Escape') opened.value = null;
    else return;
    event.preventDefault();
  };

  return (
    <section class="events" aria-labelledby="events-title">
      <h2 id="events-title">
        Events <span class="hint">{events.length}</span>
      </h2>
      <div
        class="event-grid"
        role="grid"
        aria-label="Events"
        aria-rowcount={events.length}
        ref={frame}
        tabIndex={events.length === 0 ? 0 : -1}
        onKeyDown={onKeyDown}
        onScroll={(event) => {
          const box = event.currentTarget;
          top.value = box.scrollTop;
          atEnd.current = box.scrollTop + box.clientHeight >= box.scrollHeight - rowHeight;
        }}
      >
        <div class="event-space" role="presentation" style={{ height: `${events.length * rowHeight}px` }}>
          {events.slice(first, last).map((event, at) => {
            const index = first + at;
            return (
              <Row
                key={event.number}
                event={event}
                index={index}
                isTabStop={index === stop}
                isOpened={opened.value === event}
                onClick={() => {
                  current.value = index;
                  opened.value = opened.value === event ? null : event;
                }}
              />
            );
          })}
        </div>
      </div>
      {opened.value && <Detail event={opened.value} onClose={() => (opened.value = null)} />}
    </section>
  );
}
