import { signal } from '@preact/signals';

export type Route =
  | { view: 'programs' }
  | { view: 'program'; name: string }
  | { view: 'runs' }
  | { view: 'run'; run: string }
  | { view: 'questions' };

function parse(hash: string): Route {
  const [view, name] = hash.replace(/^#\/?/, '').split('/');
  if (view === 'programs' && name) return { view: 'program', name: decodeURIComponent(name) };
  if (view === 'runs' && name) return { view: 'run', run: name };
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

export function go(link: string): void {
  location.hash = link;
}
