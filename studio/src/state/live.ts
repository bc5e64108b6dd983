// What the server says about all runs and programs, kept up to date by one stream for all tabs of this browser. A browser opens
// at most six connections to a server, so one tab reads the stream and passes its messages on to the others.
import { computed, signal } from '@preact/signals';
import { api, RequestError, token } from '../api/client';
import { readStream } from '../api/stream';
import type { Change, Palette, ProgramEntry, Run, Startable } from '../api/types';

export const connected = signal(true);
export const tokenRefused = signal(false);
export const programs = signal<ProgramEntry[]>([]);
export const programsLoaded = signal(false);
export const palette = signal<Palette>({ kinds: [] });
export const runs = signal<ReadonlyMap<string, Run>>(new Map());
export const runsLoaded = signal(false);
/** A time that advances, for ages and deadlines. In milliseconds. */
export const now = signal(Date.now());
setInterval(() => (now.value = Date.now()), 1000);

/** The newest first: names of runs ascend with time. */
export const runList = computed(() => [...runs.value.values()].sort((a, b) => (a.run < b.run ? 1 : -1)));

export const openQuestions = computed(() =>
  runList.value.flatMap((run) => (run.waits ?? []).map((wait) => ({ run, wait }))),
);

type Listener = (change: Change) => void;
const listeners = new Set<Listener>();
const reconnectListeners = new Set<() => void>();

/** Calls the function with every change. Returns what ends that. */
export function onChange(listener: Listener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Calls the function when the connection is there again: changes may have been missed. */
export function onReconnect(listener: () => void): () => void {
  reconnectListeners.add(listener);
  return () => void reconnectListeners.delete(listener);
}

export function noteError(error: unknown): void {
  if (error instanceof RequestError && error.status === 401) tokenRefused.value = true;
  if (error instanceof RequestError && error.status === 0) connected.value = false;
}

export async function loadRuns(): Promise<void> {
  const found = new Map<string, Run>();
  let after: string | null = null;
  do {
    const page = await api.runs(after);
    for (const run of page.runs) found.set(run.run, run);
    after = page.next;
  } while (after !== null);
  runs.value = found;
  runsLoaded.value = true;
}

// Runs that have changed and are not yet read again. Read one after the other: a run that changes a hundred times a second is
// read as often as the server answers.
const stale = new Set<string>();
let reading = false;
/** The run whose answer is on its way: it may be older than a change that has come meanwhile. */
let beingRead = '';

async function readStale(): Promise<void> {
  if (reading) return;
  reading = true;
  try {
    for (const run of stale) {
      stale.delete(run);
      beingRead = run;
      try {
        const head = await api.run(run);
        runs.value = new Map(runs.value).set(run, head);
      } catch (error) {
        noteError(error);
      }
    }
  } finally {
    reading = false;
    beingRead = '';
  }
}

export function readRunAgain(run: string): void {
  stale.add(run);
  void readStale();
}

function receive(change: Change): void {
  if ('missed' in change) return catchUp();
  if ('run' in change) {
    const known = runs.value.get(change.run);
    if (change.run === beingRead) readRunAgain(change.run);
    // The questions of a run are not in the message.
    if (known && change.state !== 'waiting' && known.state !== 'waiting') {
      const changed = { ...known, state: change.state, updated_at: change.updated_at };
      runs.value = new Map(runs.value).set(change.run, changed);
    } else {
      readRunAgain(change.run);
    }
  }
  for (const listener of listeners) listener(change);
}

type Message = { change: Change } | { connected: boolean } | { missed: true } | { hello: true };

async function loadAll(): Promise<void> {
  const [entries, kinds] = await Promise.all([api.programs(), api.palette(), loadRuns()]);
  programs.value = entries;
  programsLoaded.value = true;
  palette.value = kinds;
}

function setConnected(value: boolean): void {
  const again = value && !connected.value;
  connected.value = value;
  if (again) catchUp();
}

/** Changes may have been missed: everything is read again. */
function catchUp(): void {
  void loadAll().catch(noteError);
  for (const listener of reconnectListeners) listener();
}

export function startLive(): void {
  if (!token()) return;
  const channel = new BroadcastChannel('tenon-studio');
  let leads = false;
  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if ('change' in data) receive(data.change);
    else if ('connected' in data) setConnected(data.connected);
    else if ('missed' in data) catchUp();
    else if (leads) channel.postMessage({ connected: connected.value } satisfies Message);
  };
  channel.postMessage({ hello: true } satisfies Message);
  // Held until the tab is closed; then the next tab takes over. Between the two, changes are missed.
  const lead = (takesOver: boolean): Promise<never> => {
    leads = true;
    let isFirst = true;
    readStream({
      path: '/v1/events',
      onEvent: (event) => {
        receive(event as Change);
        channel.postMessage({ change: event as Change } satisfies Message);
      },
      onConnection: (value, error) => {
        if (error !== undefined) noteError(error);
        setConnected(value);
        channel.postMessage({ connected: value } satisfies Message);
        if (!value || !isFirst) return;
        isFirst = false;
        // From now on nothing is missed; what was there before is read.
        if (takesOver) catchUp();
        else void loadAll().catch(noteError);
        channel.postMessage({ missed: true } satisfies Message);
      },
    });
    return new Promise(() => undefined);
  };
  const lock = 'tenon-studio-stream';
  void navigator.locks.request(lock, { ifAvailable: true }, (held) => held && lead(false)).then((held) => {
    if (held !== null) return;
    void loadAll().catch(noteError);
    void navigator.locks.request(lock, () => lead(true));
  });
}

/** Read for each dialog: a saved program may have other agents. */
export const loadStartables = (): Promise<Startable[]> => api.startables();
