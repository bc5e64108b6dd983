import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import type { Run } from '../api/types';
import { now, runList, runsLoaded } from '../state/live';
import { compareLink, go, runLink } from '../state/route';
import { ageOf, dateOf } from '../text';
import { NewRun } from './NewRun';
import { StateMark, stateWords } from './StateMark';

const shownMax = 500;

function matches(run: Run, words: string, state: string): boolean {
  if (state && stateWords[run.state] !== state) return false;
  const text = `${run.run} ${run.agent} ${stateWords[run.state]}`.toLowerCase();
  return words.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

export function Runs() {
  const words = useSignal('');
  const state = useSignal('');
  const starting = useSignal(false);
  const selected = useSignal<readonly string[]>([]);
  const id = useId();
  const found = runList.value.filter((run) => matches(run, words.value, state.value));
  // The older run is on the left.
  const [one, other] = [...selected.value].sort();
  const compare = (): void => {
    if (one !== undefined && other !== undefined) go(compareLink(one, other));
  };
  /** Of three, the newest two remain selected. */
  const select = (name: string, isSelected: boolean): void => {
    const others = selected.value.filter((run) => run !== name);
    selected.value = isSelected ? [...others.slice(-1), name] : others;
  };
  return (
    <main class="page" id="main" tabIndex={-1}>
      <div class="page-head">
        <h1>Runs</h1>
        <span class="spacer" />
        {selected.value.length > 0 && (
          <>
            <span class="hint">{one === undefined || other === undefined ? 'Select two runs.' : 'Two runs are selected.'}</span>
            <button type="button" disabled={one === undefined || other === undefined} onClick={compare}>
              Compare
            </button>
          </>
        )}
        <button type="button" class="primary" onClick={() => (starting.value = true)}>
          New run
        </button>
      </div>
      <div class="filters">
        <div class="field">
          <label for={`${id}-words`}>Filter</label>
          <input id={`${id}-words`} type="search" value={words.value} onInput={(event) => (words.value = event.currentTarget.value)} />
        </div>
        <div class="field">
          <label for={`${id}-state`}>State</label>
          <select id={`${id}-state`} value={state.value} onChange={(event) => (state.value = event.currentTarget.value)}>
            <option value="">any</option>
            {[...new Set(Object.values(stateWords))].map((word) => (
              <option key={word}>{word}</option>
            ))}
          </select>
        </div>
      </div>
      {runsLoaded.value && runList.value.length === 0 && <p class="empty">There are no runs yet. Start one with “New run”.</p>}
      {runList.value.length > 0 && found.length === 0 && <p class="empty">No run matches the filter.</p>}
      {found.length > 0 && (
        <div class="table-frame" tabIndex={0} role="group" aria-label="List of runs">
          <table aria-label="Runs">
            <thead>
              <tr>
                <td class="select-cell" />
                <th scope="col">Run</th>
                <th scope="col">Agent or function</th>
                <th scope="col">State</th>
                <th scope="col">Started</th>
                <th scope="col">Changed</th>
                <th scope="col" class="number">
                  Records
                </th>
              </tr>
            </thead>
            <tbody>
              {found.slice(0, shownMax).map((run) => (
                <tr key={run.run}>
                  <td class="select-cell">
                    <input
                      type="checkbox"
                      aria-label={`Select ${run.run}`}
                      checked={selected.value.includes(run.run)}
                      onChange={(event) => select(run.run, event.currentTarget.checked)}
                    />
                  </td>
                  <td>
                    <a class="run-name" href={runLink(run.run)}>
                      {run.run}
                    </a>
                  </td>
                  <td>{run.agent}</td>
                  <td>
                    <StateMark state={run.state} />
                  </td>
                  <td title={dateOf(run.created_at)}>{ageOf(run.created_at, now.value)} ago</td>
                  <td title={dateOf(run.updated_at)}>{ageOf(run.updated_at, now.value)} ago</td>
                  <td class="number">{run.records}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {found.length > shownMax && (
        <p class="hint">
          The newest {shownMax} of {found.length} are shown; filter to find older ones.
        </p>
      )}
      {starting.value && <NewRun onClose={() => (starting.value = false)} />}
    </main>
  );
}
