import type { RunState } from '../api/types';

export const stateWords: Record<RunState, string> = {
  running: 'running',
  waiting: 'waiting',
  idle: 'idle',
  done: 'ended',
  failed: 'failed',
  cancelled: 'cancelled',
  forgotten: 'forgotten',
};

export function StateMark({ state, status }: { state: RunState; status?: boolean }) {
  return (
    <span class={`state-mark state-${state}`} {...(status && { role: 'status', 'aria-label': 'Run state' })}>
      {stateWords[state]}
    </span>
  );
}
