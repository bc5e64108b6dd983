import { isObject, parseJson } from './json';
import type {
  Agent,
  Block,
  Completions,
  Draft,
  Edit,
  ForkEstimate,
  ForkRequest,
  Json,
  Meaning,
  Moment,
  Palette,
  Plans,
  Program,
  ProgramEntry,
  Replayed,
  Run,
  RunDifference,
  RunList,
  RunProgram,
  Saved,
  SitePrompts,
  Startable,
} from './types';

const tokenKey = 'tenon-token';

/**
 * Takes the token out of the page's address, where `tenon studio` puts it, so that neither the history nor a copied address
 * contains it. It is kept for this tab only.
 */
export function takeToken(): void {
  const found = /^#token=([^&]+)$/.exec(location.hash);
  if (!found?.[1]) return;
  sessionStorage.setItem(tokenKey, decodeURIComponent(found[1]));
  history.replaceState(null, '', `${location.pathname}${location.search}#/programs`);
}

export function token(): string | null {
  return sessionStorage.getItem(tokenKey);
}

export function forgetToken(): void {
  sessionStorage.removeItem(tokenKey);
}

export function headers(more: Record<string, string> = {}): Record<string, string> {
  return { Authorization: `Bearer ${token() ?? ''}`, ...more };
}

/** A request that the server has rejected, or that did not reach it (status 0). */
export class RequestError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly body: Record<string, Json>,
  ) {
    super(message);
  }
}

/** Throws if the answer is an error. */
export async function checked(response: Response): Promise<Response> {
  if (response.ok) return response;
  const text = await response.text();
  let body: Record<string, Json> = {};
  try {
    const parsed = parseJson(text);
    if (isObject(parsed)) body = parsed;
  } catch {
    // Not from this server's API: the status says all there is.
  }
  const error = isObject(body['error']) ? body['error'] : {};
  const message = typeof error['message'] === 'string' ? error['message'] : `the server answered ${response.status}`;
  throw new RequestError(response.status, typeof error['code'] === 'string' ? error['code'] : '', message, body);
}

async function send(path: string, init: RequestInit): Promise<unknown> {
  let response: Response;
  try {
    response = await fetch(path, init);
  } catch {
    throw new RequestError(0, 'unreachable', 'the server cannot be reached', {});
  }
  return parseJson(await (await checked(response)).text());
}

const get = (path: string): Promise<unknown> => send(path, { headers: headers({ Accept: 'application/json' }) });
const post = (path: string, body: unknown): Promise<unknown> =>
  send(path, {
    method: 'POST',
    headers: headers({ 'Content-Type': 'application/json' }),
    body: JSON.stringify(body),
  });

const named = (kind: string, name: string): string => `/v1/${kind}/${encodeURIComponent(name)}`;

export const api = {
  async startables(): Promise<Startable[]> {
    return ((await get('/v1/agents')) as { agents: Startable[] }).agents;
  },
  async programs(): Promise<ProgramEntry[]> {
    return ((await get('/v1/programs')) as { programs: ProgramEntry[] }).programs;
  },
  program: async (name: string): Promise<Program> => (await get(named('programs', name))) as Program,
  draft: async (name: string, text: string, ops?: Edit[]): Promise<Draft> =>
    (await post(`${named('programs', name)}/draft`, ops ? { text, ops } : { text })) as Draft,
  save: async (name: string, version: string, text: string): Promise<Saved> =>
    (await post(`${named('programs', name)}/save`, { version, text })) as Saved,
  complete: async (name: string, text: string, offset: number): Promise<Completions> =>
    (await post(`${named('programs', name)}/complete`, { text, offset })) as Completions,
  explain: async (name: string, text: string, offset: number): Promise<Meaning> =>
    (await post(`${named('programs', name)}/explain`, { text, offset })) as Meaning,
  prompts: async (name: string, text: string): Promise<SitePrompts> =>
    (await post(`${named('programs', name)}/prompts`, { text })) as SitePrompts,
  plans: async (name: string, text: string): Promise<Plans> => (await post(`${named('programs', name)}/plans`, { text })) as Plans,
  palette: async (): Promise<Palette> => (await get('/v1/palette')) as Palette,

  async runs(after: string | null): Promise<RunList> {
    return (await get(`/v1/runs?limit=500${after === null ? '' : `&after=${after}`}`)) as RunList;
  },
  run: async (run: string): Promise<Run> => (await get(named('runs', run))) as Run,
  moment: async (run: string, record: number): Promise<Moment> =>
    (await get(`${named('runs', run)}/records/${record}`)) as Moment,
  runProgram: async (run: string): Promise<RunProgram> => (await get(`${named('runs', run)}/program`)) as RunProgram,
  estimate: async (run: string, fork: ForkRequest): Promise<ForkEstimate> =>
    (await post(`${named('runs', run)}/fork`, { ...fork, dry_run: true })) as ForkEstimate,
  fork: async (run: string, fork: ForkRequest): Promise<string> =>
    ((await post(`${named('runs', run)}/fork`, fork)) as { run: string }).run,
  replay: async (run: string): Promise<Replayed> => (await post(`${named('runs', run)}/replay`, {})) as Replayed,
  compare: async (run: string, other: string): Promise<RunDifference> =>
    (await get(`${named('runs', run)}/diff?with=${encodeURIComponent(other)}`)) as RunDifference,
  start: async (body: Record<string, Json>): Promise<string> => ((await post('/v1/runs', body)) as { run: string }).run,
  prompt: (run: string, input: Json): Promise<unknown> => post(`${named('runs', run)}/prompt`, { input }),
  answer: (run: string, wait: string, input: Json): Promise<unknown> =>
    post(`${named('runs', run)}/resume`, { wait, input }),
  retry: (run: string): Promise<unknown> => post(`${named('runs', run)}/resume`, {}),
  cancel: (run: string, conversation: boolean): Promise<unknown> =>
    post(`${named('runs', run)}/cancel`, { reason: 'cancelled in the studio', ...(conversation && { conversation }) }),
};

export function hasBlocks(agent: Agent): boolean {
  return agent.sequences.some((sequence) => sequence.blocks.length > 0);
}

/** All blocks of an agent, outer ones before those that they contain. */
export function blocksOf(agent: Agent): Block[] {
  const found: Block[] = [];
  const visit = (sequences: Agent['sequences']): void => {
    for (const sequence of sequences) {
      for (const block of sequence.blocks) {
        found.push(block);
        visit(block.sequences ?? []);
      }
    }
  };
  visit(agent.sequences);
  return found;
}
