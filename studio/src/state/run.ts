import { signal } from '@preact/signals';
import { checked, headers, RequestError } from '../api/client';
import { parseJson } from '../api/json';
import { readStream } from '../api/stream';
import type { RecordedEvent, RunEvent } from '../api/types';
import { RunFold } from './fold';
import { noteError, onChange, readRunAgain } from './live';

/** Tabs that follow a run by a stream of its own; the others read its events when the stream over all runs reports a change. */
const streams = ['tenon-studio-run-1', 'tenon-studio-run-2', 'tenon-studio-run-3'];
/** Events that arrive together are drawn together, in milliseconds: soon if they are few, less often while a long run is read. */
const drawPause = 16;
const longPause = 200;
const many = 100;
const retryPause = 1000;

/** Events that are read at once, from the end of the run on. */
const windowSize = 500;
const laterWindowSize = 1000;
/** So many windows that were read apart from the others are kept. */
const pagesMax = 20;
/** Further events of the newest turn are read without being asked for, up to so many. */
const readAheadMax = 3000;

/** The newest events before a number, and where those before them are. */
interface Window {
  events: RecordedEvent[];
  total: number;
  earlier: string | null;
}

async function readWindow(path: string): Promise<Window> {
  const response = await checked(await fetch(path, { headers: headers({ Accept: 'application/json' }) }));
  const events = parseJson(await response.text()) as RecordedEvent[];
  return {
    events,
    total: Number(response.headers.get('Tenon-Events')),
    earlier: /<([^>]+)>; *rel="prev"/.exec(response.headers.get('Link') ?? '')?.[1] ?? null,
  };
}

/** A run that is shown. */
export class OpenRun {
  readonly fold = new RunFold();
  /** Advances whenever the fold has changed. */
  readonly version = signal(0);
  /** How often the run has taken another program, as far as it was followed. */
  readonly programsTaken = signal(0);
  /** The server knows no run of this name. */
  readonly missing = signal(false);
  private timer: ReturnType<typeof setTimeout> | undefined;
  private closed = false;
  private waiting = 0;
  private drawnAt = 0;
  private stop: () => void = () => undefined;
  private earlierPath: string | null = null;
  private readingEarlier: Promise<void> | null = null;

  constructor(readonly name: string) {
    readRunAgain(name);
    void this.open();
  }

  /** The end of the run comes first, then what follows, and then what is needed of before. */
  private async open(): Promise<void> {
    while (!this.closed) {
      try {
        const window = await readWindow(`/v1/runs/${this.name}/events?before=${Number.MAX_SAFE_INTEGER}&limit=${windowSize}`);
        this.earlierPath = window.earlier;
        this.fold.earlier = window.total - window.events.length;
        for (const event of window.events) this.fold.add(event);
        this.draw();
        break;
      } catch (error) {
        noteError(error);
        if (error instanceof RequestError && error.status === 404) {
          this.missing.value = true;
          return;
        }
        await new Promise((resolve) => setTimeout(resolve, retryPause));
      }
    }
    if (this.closed) return;
    void this.follow();
    while (!this.closed && !this.fold.hasTurn && this.fold.events.length < readAheadMax) {
      const before = this.fold.earlier;
      await this.readEarlier();
      if (this.fold.earlier === before) break;
    }
  }

  /** Events that were read apart from the others, by their position in the run; the pages that were looked at last. */
  readonly apart = new Map<number, RecordedEvent>();
  private readonly pages = new Map<number, Promise<void>>();

  /** Reads the events around a position, without those between them and the others. */
  readAround(position: number): void {
    const page = Math.floor(position / windowSize);
    if (this.pages.has(page)) return;
    this.pages.set(page, this.readPage(page));
    for (const old of this.pages.keys()) {
      if (this.pages.size <= pagesMax) break;
      this.pages.delete(old);
      for (let at = old * windowSize; at < (old + 1) * windowSize; ++at) this.apart.delete(at);
    }
  }

  private async readPage(page: number): Promise<void> {
    const from = page * windowSize;
    try {
      const { events } = await readWindow(`/v1/runs/${this.name}/events?from=${from}&limit=${windowSize}`);
      if (this.closed || !this.pages.has(page)) return;
      events.forEach((event, index) => this.apart.set(from + index, event));
      this.draw();
    } catch (error) {
      this.pages.delete(page);
      noteError(error);
    }
  }

  /** Whether the events just before a record are among those that are there. */
  covers(record: number): boolean {
    const first = this.fold.events[0];
    return this.fold.earlier === 0 || (first !== undefined && first.number <= record);
  }

  /** The newest events up to a record that is not among them. */
  async readUntil(record: number): Promise<RecordedEvent[]> {
    return (await readWindow(`/v1/runs/${this.name}/events?before=${record + 1}&limit=${windowSize}`)).events;
  }

  /** Reads some of the events before those that are there. */
  readEarlier(): Promise<void> {
    this.readingEarlier ??= this.readWindowBefore().finally(() => {
      this.readingEarlier = null;
    });
    return this.readingEarlier;
  }

  private async readWindowBefore(): Promise<void> {
    if (this.earlierPath === null) return;
    try {
      const window = await readWindow(this.earlierPath.replace(/limit=\d+/, `limit=${laterWindowSize}`));
      if (this.closed) return;
      this.earlierPath = window.earlier;
      this.fold.prepend(window.events);
      if (window.earlier === null) this.fold.earlier = 0;
      this.draw();
    } catch (error) {
      noteError(error);
    }
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
    this.stop();
  }

  private receive(event: unknown): void {
    this.fold.add(event as RunEvent);
    if ((event as RunEvent).type === 'program_taken') ++this.programsTaken.value;
    ++this.waiting;
    this.timer ??= setTimeout(() => this.draw(), drawPause);
  }

  private draw(): void {
    const busy = this.waiting > many && Date.now() - this.drawnAt < longPause;
    this.timer = busy ? setTimeout(() => this.draw(), drawPause) : undefined;
    if (busy) return;
    this.waiting = 0;
    this.drawnAt = Date.now();
    ++this.version.value;
  }

  private async follow(): Promise<void> {
    for (const name of streams) {
      const taken = await new Promise<boolean>((resolve) => {
        void navigator.locks.request(name, { ifAvailable: true }, (lock) => {
          resolve(lock !== null);
          if (!lock || this.closed) return undefined;
          return new Promise<void>((release) => this.readAsStream(release));
        });
      });
      if (taken || this.closed) return;
    }
    this.readOnChange();
  }

  private readAsStream(release: () => void): void {
    const stop = readStream({
      path: `/v1/runs/${this.name}/events?after=${this.fold.number}`,
      onEvent: (event) => this.receive(event),
      onConnection: (connected) => {
        if (!connected) this.fold.forgetPieces();
      },
      onEnd: () => {
        this.missing.value = this.fold.number === 0;
        release();
      },
    });
    this.stop = () => {
      stop();
      release();
    };
  }

  private readOnChange(): void {
    let busy = false;
    let again = false;
    const read = async (): Promise<void> => {
      again = busy;
      if (busy) return;
      busy = true;
      try {
        do {
          again = false;
          await this.readList();
        } while (again && !this.closed);
      } catch (error) {
        if (error instanceof RequestError && error.status === 404) this.missing.value = true;
        noteError(error);
      } finally {
        busy = false;
      }
    };
    this.stop = onChange((change) => {
      if ('run' in change && change.run === this.name) void read();
    });
    void read();
  }

  private async readList(): Promise<void> {
    let path: string | undefined = `/v1/runs/${this.name}/events?after=${this.fold.number}`;
    while (path && !this.closed) {
      const response = await checked(await fetch(path, { headers: headers({ Accept: 'application/json' }) }));
      const found = response.status === 204 ? [] : (parseJson(await response.text()) as unknown[]);
      for (const event of found) this.receive(event);
      path = /<([^>]+)>; *rel="next"/.exec(response.headers.get('Link') ?? '')?.[1];
    }
  }
}
