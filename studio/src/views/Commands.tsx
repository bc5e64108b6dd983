import { useSignal } from '@preact/signals';
import { useEffect, useId, useMemo, useRef } from 'preact/hooks';
import { listCommands, matchOf, offerCommands, showsCommands, type Command } from '../state/commands';
import { programs, runList } from '../state/live';
import { go, programLink, runLink } from '../state/route';
import { Dialog } from './Dialog';

/** More are of no use: a longer word finds them. */
const shownMax = 200;

function placesOfStudio(): Command[] {
  return [
    ...[
      { name: 'Programs', link: '#/programs' },
      { name: 'Runs', link: '#/runs' },
      { name: 'Questions', link: '#/questions' },
    ].map(({ name, link }) => ({ name: `Go to ${name}`, run: () => go(link) })),
    ...programs.value.map(({ name }) => ({ name: `Open program ${name}`, run: () => go(programLink(name)) })),
    ...runList.value.map(({ run, agent, state }) => ({ name: `Open run ${run}, ${agent}, ${state}`, run: () => go(runLink(run)) })),
  ];
}

function Palette({ onClose }: { onClose: () => void }) {
  const typed = useSignal('');
  const active = useSignal(0);
  const list = useRef<HTMLUListElement>(null);
  const id = useId();
  const all = useMemo(listCommands, []);
  const found = useMemo(() => {
    const rated = all.map((command) => ({ command, match: matchOf(command.name, typed.value) })).filter(({ match }) => match > 0);
    return rated.sort((a, b) => b.match - a.match).map(({ command }) => command);
  }, [typed.value]);
  const shown = found.slice(0, shownMax);
  const at = Math.min(active.value, shown.length - 1);

  useEffect(() => list.current?.children[at]?.scrollIntoView({ block: 'nearest' }), [at]);
  const run = (command: Command | undefined): void => {
    if (!command) return;
    onClose();
    // After the focus is back where it was.
    setTimeout(command.run);
  };
  const steps: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + 10, PageUp: at - 10 };
  const onKeyDown = (event: KeyboardEvent): void => {
    const next = steps[event.key];
    if (event.key === 'Enter') run(shown[at]);
    else if (next !== undefined) active.value = Math.min(shown.length - 1, Math.max(0, next));
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Commands" onClose={onClose}>
      <input
        autofocus
        role="combobox"
        aria-label="Command"
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={shown.length > 0 ? `${id}-${at}` : undefined}
        aria-autocomplete="list"
        autocomplete="off"
        spellcheck={false}
        placeholder="Type to filter; arrows and Enter choose"
        value={typed.value}
        onInput={(event) => {
          typed.value = event.currentTarget.value;
          active.value = 0;
        }}
        onKeyDown={onKeyDown}
      />
      <ul class="commands" role="listbox" aria-label="Commands" id={`${id}-list`} ref={list}>
        {shown.map((command, index) => (
          <li
            key={command.name}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === at}
            onPointerMove={() => (active.value = index)}
            onClick={() => run(command)}
          >
            <span class="command-name">{command.name}</span>
            {command.key && <kbd>{command.key}</kbd>}
          </li>
        ))}
      </ul>
      <p class="hint" role="status">
        {found.length === 0 ? 'No command has these words.' : `${found.length} ${found.length === 1 ? 'command' : 'commands'}`}
      </p>
    </Dialog>
  );
}

/** The palette with all commands, and the key that opens it. */
export function Commands() {
  useEffect(() => {
    const end = offerCommands(placesOfStudio);
    const onKey = (event: KeyboardEvent): void => {
      if (!(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey || event.key.toLowerCase() !== 'k') return;
      event.preventDefault();
      event.stopPropagation();
      if (!document.querySelector('dialog[open]')) showsCommands.value = true;
    };
    addEventListener('keydown', onKey, { capture: true });
    return () => {
      end();
      removeEventListener('keydown', onKey, { capture: true });
    };
  }, []);
  return showsCommands.value ? <Palette onClose={() => (showsCommands.value = false)} /> : null;
}
