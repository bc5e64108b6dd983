import { programs, programsLoaded, runList } from '../state/live';
import { programLink } from '../state/route';

export function Programs() {
  return (
    <main class="page" id="main" tabIndex={-1}>
      <h1>Programs</h1>
      {programsLoaded.value && programs.value.length === 0 && <p class="empty">This studio was started without programs.</p>}
      <ul class="cards">
        {programs.value.map((program) => (
          <li key={program.name}>
            <a class="card" href={programLink(program.name)} aria-label={program.name}>
              <strong>{program.name}</strong>
              {program.file && <span class="hint file">{program.file}</span>}
            </a>
          </li>
        ))}
      </ul>
      {programs.value.length > 0 && (
        <p class="hint">
          Open a program to see its text and its graph. {runList.value.length} {runList.value.length === 1 ? 'run is' : 'runs are'} in
          the store.
        </p>
      )}
    </main>
  );
}
