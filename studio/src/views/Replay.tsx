import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { api } from '../api/client';
import { showValue } from '../api/json';
import type { Replayed } from '../api/types';
import { noteError } from '../state/live';
import { Marked } from '../text';
import { Dialog } from './Dialog';

function wordsOf(replayed: Replayed): string {
  if (!replayed.same) return 'The program does not do again what is recorded.';
  if (!replayed.ended) return 'The program does again what is recorded; it has not ended.';
  return 'The program does again what is recorded, and comes to the same end.';
}

/** Executes the run again from its records, and says whether that gives the same. */
export function Replay({ run, onClose }: { run: string; onClose: () => void }) {
  const replayed = useSignal<Replayed | null>(null);
  const failure = useSignal('');
  useEffect(() => {
    api.replay(run).then(
      (found) => (replayed.value = found),
      (error: unknown) => {
        noteError(error);
        failure.value = error instanceof Error ? error.message : String(error);
      },
    );
  }, [run]);
  const found = replayed.value;
  const detail = found?.difference ?? found?.failure ?? (found?.value === undefined ? undefined : showValue(found.value));
  return (
    <Dialog title="Replay" wide onClose={onClose}>
      <p role="status" aria-label="Result of the replay" class={found?.same === false ? 'field-problem' : undefined}>
        {found ? wordsOf(found) : failure.value ? '' : 'Executing the run again…'}
      </p>
      {detail !== undefined && (
        <pre class="result" tabIndex={0} role="group" aria-label={found?.difference === undefined ? 'Value' : 'What differs'}>
          <Marked text={detail} />
        </pre>
      )}
      <p class="field-problem" role="alert">
        {failure.value}
      </p>
      <div class="actions">
        <span class="spacer" />
        <button type="button" class="primary" autofocus onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
