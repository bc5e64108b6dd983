import { useId } from 'preact/hooks';
import type { RecordedEvent } from '../api/types';

interface Props {
  /** The number of the newest record. */
  records: number;
  record: number | null;
  event: RecordedEvent | undefined;
  onRecord: (record: number) => void;
  onFork: () => void;
  onReplay: () => void;
  onCompare: () => void;
}

/** A slider over the records of a run, and what can be done at one of them. */
export function RecordBar({ records, record, event, onRecord, onFork, onReplay, onCompare }: Props) {
  const id = useId();
  const at = record ?? records;
  const what = event ? `, ${event.type}` : '';
  return (
    <div class="record-bar">
      <label for={id}>Record</label>
      <input
        id={id}
        type="range"
        min={1}
        max={Math.max(1, records)}
        value={at}
        disabled={records === 0}
        aria-valuetext={`${at} of ${records}${what}`}
        onInput={(input) => onRecord(Number(input.currentTarget.value))}
      />
      <span class="record-at hint" aria-hidden="true">
        {at} of {records}
      </span>
      <span class="record-actions">
        <button type="button" disabled={records === 0} onClick={onFork}>
          Fork from here
        </button>
        <button type="button" disabled={records === 0} onClick={onReplay}>
          Replay
        </button>
        <button type="button" disabled={records === 0} onClick={onCompare}>
          Compare
        </button>
      </span>
    </div>
  );
}
