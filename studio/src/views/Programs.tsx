import { useId } from 'preact/hooks';
import type { ProgramEntry } from '../api/types';
import { programs, programsLoaded, runList } from '../state/live';
import { programLink } from '../state/route';

function Card({ program }: { program: ProgramEntry }) {
  const id = useId();
  return (
    <li class="card program-card">
      <h2 id={id}>{program.name}</h2>
      {program.file && <span class="hint">{program.file}</span>}
      <a href={programLink(program.name)} aria-describedby={id}>
        Text and graph
      </a>
    </li>
  );
}

export function Programs() {
  const count = runList.value.length;
  return (
    <main class="page" id="main" tabIndex={-1}>
      <h1>Programs</h1>
      {programsLoaded.value && programs.value.length === 0 && <p class="empty">This studio was started without programs.</p>}
      <ul class="cards">
        {programs.value.map((program) => (
          <Card key={program.name} program={program} />
        ))}
      </ul>
      {programs.value.length > 0 && (
        <p class="hint">
          {count === 0
            ? 'There is no run yet. Open a program, and start one with New run.'
            : `The store contains ${count === 1 ? '1 run' : `${count} runs`}.`}
        </p>
      )}
    </main>
  );
}
