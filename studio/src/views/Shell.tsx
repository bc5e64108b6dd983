import { useEffect, useRef } from 'preact/hooks';
import { forgetToken, token } from '../api/client';
import { connected, openQuestions, programs, tokenRefused } from '../state/live';
import { programLink, route } from '../state/route';
import { showsCommands } from '../state/commands';
import { openProgram } from '../state/program';
import { ProgramView } from './ProgramView';
import { Commands } from './Commands';
import { Compare } from './Compare';
import { Programs } from './Programs';
import { Questions } from './Questions';
import { Runs } from './Runs';
import { RunView } from './RunView';

function NoToken() {
  return (
    <main class="page narrow" id="main" tabIndex={-1}>
      <h1>{tokenRefused.value ? 'The token is not valid' : 'This page needs a token'}</h1>
      <p>
        Start the studio in a terminal with <code>tenon studio FILE</code>. It prints an address that ends with{' '}
        <code>#token=…</code>: open that address.
      </p>
      {tokenRefused.value && <p>A studio that is started again on the same store keeps its token.</p>}
    </main>
  );
}

function Navigation() {
  const at = route.value;
  const count = openQuestions.value.length;
  const current = (views: string[]): 'page' | undefined => (views.includes(at.view) ? 'page' : undefined);
  return (
    <nav aria-label="Studio">
      <span class="brand" aria-hidden="true">
        Tenon
      </span>
      <ul>
        <li>
          <a href="#/programs" aria-current={at.view === 'programs' ? 'page' : undefined}>
            Programs
          </a>
        </li>
        {programs.value.map((program) => (
          <li key={program.name} class="nav-program">
            <a
              href={programLink(program.name)}
              title={program.file ?? program.name}
              aria-current={at.view === 'program' && at.name === program.name ? 'page' : undefined}
            >
              {program.name}
            </a>
          </li>
        ))}
        <li>
          <a href="#/runs" aria-current={current(['runs', 'run', 'compare'])}>
            Runs
          </a>
        </li>
        <li>
          <a href="#/questions" aria-current={current(['questions'])}>
            Questions
            {count > 0 && (
              <>
                <span class="unseen">, </span>
                <span class="count">{count}</span>
              </>
            )}
          </a>
        </li>
      </ul>
      <button type="button" class="open-commands" onClick={() => (showsCommands.value = true)}>
        Commands <kbd>Ctrl+K</kbd>
      </button>
      <Connection />
    </nav>
  );
}

function Connection() {
  const state = connected.value ? 'connected' : 'lost';
  return (
    <p class={`connection ${state}`}>
      <span role="status" aria-label="Connection">
        {state}
      </span>
      {!connected.value && <span class="hint"> trying again</span>}
    </p>
  );
}

function Content() {
  const at = route.value;
  switch (at.view) {
    case 'program':
      return <ProgramView key={at.name} program={openProgram(at.name)} />;
    case 'runs':
      return <Runs />;
    case 'run':
      return <RunView key={at.run} name={at.run} record={at.record} />;
    case 'compare':
      return <Compare key={`${at.run} ${at.other}`} run={at.run} other={at.other} />;
    case 'questions':
      return <Questions />;
    default:
      return <Programs />;
  }
}

function titleOf(): string {
  const at = route.value;
  const names = { programs: 'Programs', program: '', runs: 'Runs', run: '', compare: 'Difference', questions: 'Questions' };
  const own = at.view === 'program' ? at.name : at.view === 'run' ? `Run ${at.run}` : names[at.view];
  return `${own} · Tenon studio`;
}

export function Shell() {
  const at = route.value;
  // A record is a part of its run's screen.
  const screen = at.view === 'run' ? `run ${at.run}` : JSON.stringify(at);
  const first = useRef(true);
  useEffect(() => {
    document.title = titleOf();
    if (!first.current) document.getElementById('main')?.focus({ preventScroll: true });
    first.current = false;
  }, [screen]);
  useEffect(() => {
    if (tokenRefused.value) forgetToken();
  }, [tokenRefused.value]);
  if (!token() || tokenRefused.value) return <NoToken />;
  return (
    <div class="shell">
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById('main')?.focus();
        }}
      >
        Skip to the content
      </a>
      <Navigation />
      <Content />
      <Commands />
    </div>
  );
}
