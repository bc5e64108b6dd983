import { useSignal, type ReadonlySignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { api } from '../api/client';
import type { Moment } from '../api/types';
import { noteError } from '../state/live';

export interface Looked {
  record: number;
  moment: Moment | null;
  /** Why it cannot be shown; empty if it can. */
  failure: string;
}

/** While the slider is moved, or the run continues, moments in between are not read. In milliseconds. */
const readPause = 80;

/** The run as it was after a record, once the server has replayed it. One request at a time: the newest record is read next. */
export function useMoment(run: string, record: number | null): ReadonlySignal<Looked | null> {
  const looked = useSignal<Looked | null>(null);
  const wanted = useRef<number | null>(null);
  const busy = useRef(false);
  useEffect(() => {
    wanted.current = record;
    if (record === null) looked.value = null;
    const read = async (): Promise<void> => {
      busy.current = true;
      while (wanted.current !== null && wanted.current !== looked.value?.record) {
        await new Promise((resolve) => setTimeout(resolve, readPause));
        const number: number | null = wanted.current;
        if (number === null) break;
        let found: Looked;
        try {
          found = { record: number, moment: await api.moment(run, number), failure: '' };
        } catch (error) {
          noteError(error);
          found = { record: number, moment: null, failure: error instanceof Error ? error.message : String(error) };
        }
        if (wanted.current !== null) looked.value = found;
      }
      busy.current = false;
    };
    if (record !== null && !busy.current) void read();
  }, [run, record]);
  useEffect(() => () => void (wanted.current = null), []);
  return looked;
}
