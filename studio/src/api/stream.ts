import { checked, headers, RequestError } from './client';
import { parseJson } from './json';

const firstPause = 250;
const longestPause = 8000;
/** The server sends a comment after 15 seconds without an event; after twice that the connection is taken for lost. */
const silenceMax = 32_000;

export interface StreamOptions {
  path: string;
  /** Called with each event, in order. */
  onEvent: (event: unknown) => void;
  /** The connection is there, or lost, and why; it is tried again until `stop`. */
  onConnection?: (connected: boolean, error?: unknown) => void;
  /** The server has nothing more to send, ever. */
  onEnd?: () => void;
}

/** One line of a stream of server-sent events after the other, into `id` and `data`. */
class Parser {
  private rest = '';
  private data: string[] = [];
  id = '';

  constructor(private readonly emit: (data: string) => void) {}

  push(piece: string): void {
    const lines = (this.rest + piece).split(/\r\n|\n|\r/);
    this.rest = lines.pop() ?? '';
    for (const line of lines) this.line(line);
  }

  private line(line: string): void {
    if (line === '') {
      if (this.data.length > 0) this.emit(this.data.join('\n'));
      this.data = [];
    } else if (line.startsWith('data:')) {
      this.data.push(line.slice(line[5] === ' ' ? 6 : 5));
    } else if (line.startsWith('id:')) {
      this.id = line.slice(3).trim();
    }
  }
}

/** Reads a stream of server-sent events and reconnects with the last number. Returns what stops it. */
export function readStream(options: StreamOptions): () => void {
  const stopped = new AbortController();
  let lastId = '';

  /** True if the stream has ended for good. */
  const readOnce = async (): Promise<boolean> => {
    const attempt = new AbortController();
    const stop = (): void => attempt.abort();
    stopped.signal.addEventListener('abort', stop);
    let silence = setTimeout(stop, silenceMax);
    try {
      const more: Record<string, string> = { Accept: 'text/event-stream' };
      if (lastId) more['Last-Event-ID'] = lastId;
      const response = await checked(await fetch(options.path, { headers: headers(more), signal: attempt.signal }));
      options.onConnection?.(true);
      if (response.status === 204 || !response.body) return true;
      const parser = new Parser((data) => options.onEvent(parseJson(data)));
      const decoder = new TextDecoder();
      const reader = response.body.getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return false;
        clearTimeout(silence);
        silence = setTimeout(stop, silenceMax);
        parser.push(decoder.decode(value, { stream: true }));
        if (parser.id) lastId = parser.id;
      }
    } finally {
      clearTimeout(silence);
      attempt.abort();
      stopped.signal.removeEventListener('abort', stop);
    }
  };

  const loop = async (): Promise<void> => {
    let pause = firstPause;
    while (!stopped.signal.aborted) {
      const started = Date.now();
      try {
        if (await readOnce()) return options.onEnd?.();
      } catch (error) {
        if (stopped.signal.aborted) return;
        if (error instanceof RequestError && error.status === 404) return options.onEnd?.();
        options.onConnection?.(false, error);
      }
      pause = Date.now() - started > 5000 ? firstPause : Math.min(pause * 2, longestPause);
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  };
  void loop();
  return () => stopped.abort();
}
