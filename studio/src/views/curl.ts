import type { Json, Startable } from '../api/types';

/** A word as a POSIX shell reads it. */
function shellWord(text: string): string {
  return /^[A-Za-z0-9_./:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** The body of a request that starts a run. */
export function startBody(what: Startable, input: Json): Record<string, Json> {
  return what.kind === 'agent' ? { agent: what.name, input } : { fn: what.name, args: input };
}

/** A command that sends the request. The token is not in it: a shell has it in a variable. */
export function curlOf(origin: string, what: Startable, input: Json): string {
  return [
    `curl ${shellWord(`${origin}/v1/runs`)}`,
    '  -H "Authorization: Bearer $TOKEN"',
    "  -H 'Content-Type: application/json'",
    `  -d ${shellWord(JSON.stringify(startBody(what, input)))}`,
  ].join(' \\\n');
}
