import { signal } from '@preact/signals';

/** An action of the page, as the command palette lists it. */
export interface Command {
  name: string;
  /** The key that does the same. */
  key?: string;
  run: () => void;
}

type Source = () => Command[];
const sources = new Set<Source>();

/** Whether the palette is open. */
export const showsCommands = signal(false);

/** Adds what a view can do while it is shown. Returns what ends that. */
export function offerCommands(source: Source): () => void {
  sources.add(source);
  return () => void sources.delete(source);
}

const keyPattern = /^(Ctrl|Shift|Alt|F\d)/;

/** What the buttons of the page do, under the names that they have for assistive technology. */
function buttonCommands(): Command[] {
  return [...document.querySelectorAll<HTMLButtonElement>('main button:not(:disabled):not([role])')]
    .filter((button) => button.checkVisibility() && button.closest('dialog, [hidden]') === null && !button.matches('.problem-item'))
    .map((button) => ({
      name: (button.getAttribute('aria-label') ?? button.textContent).replace(/^[▸▾]/, '').trim(),
      ...(keyPattern.test(button.title) && { key: button.title }),
      run: () => {
        button.focus();
        button.click();
      },
    }))
    .filter((command) => command.name !== '');
}

/** All that can be done now. */
export function listCommands(): Command[] {
  // Those of the view first.
  const all = [...buttonCommands(), ...[...sources].reverse().flatMap((source) => source())];
  const seen = new Set<string>();
  return all.filter(({ name }) => !seen.has(name) && seen.add(name));
}

/** How well a command fits to what was typed; 0 if it does not. All words have to be in its name. */
export function matchOf(name: string, typed: string): number {
  const lower = name.toLowerCase();
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.every((word) => lower.includes(word))) return 0;
  const first = words[0] ?? '';
  if (lower.startsWith(first)) return 3;
  return lower.includes(` ${first}`) ? 2 : 1;
}
