import { signal } from '@preact/signals';

export type Route =
  | { view: 'programs' }
  | { view: 'program'; name: string }
  | { view: 'runs' }
  | { view: 'run'; run: string; record: number | null }
  | { view: 'compare'; run: string; other: string }
  | { view: 'questions' };

function parse(hash: string): Route {
  const [view, name, part, value] = hash.replace(/^#\/?/, '').split('/');
  if (view === 'programs' && name) return { view: 'program', name: decodeURIComponent(name) };
  if (view === 'runs' && name && part === 'with' && value) return { view: 'compare', run: name, other: value };
  if (view === 'runs' && name) {
    const record = part === 'records' ? Number(value) : NaN;
    return { view: 'run', run: name, record: Number.isSafeInteger(record) && record > 0 ? record : null };
  }
  if (view === 'runs' || view === 'questions') return { view };
  return { view: 'programs' };
}

export const route = signal<Route>(parse(location.hash));

addEventListener('hashchange', () => {
  route.value = parse(location.hash);
});

/** Reads the address again: `history.replaceState` fires no event. */
export function readAddress(): void {
  route.value = parse(location.hash);
}

export const programLink = (name: string): string => `#/programs/${encodeURIComponent(name)}`;
export const runLink = (run: string): string => `#/runs/${run}`;
export const recordLink = (run: string, record: number): string => `#/runs/${run}/records/${record}`;
export const compareLink = (run: string, other: string): string => `#/runs/${run}/with/${other}`;

/** Goes to another part of the same screen, which the history does not keep. */
export function replaceAddress(link: string): void {
  history.replaceState(null, '', `${location.pathname}${location.search}${link}`);
  readAddress();
}

export function go(link: string): void {
  location.hash = link;
}
