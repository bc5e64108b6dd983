import { now, openQuestions, runsLoaded } from '../state/live';
import { runLink } from '../state/route';
import { ageOf } from '../text';
import { QuestionForm } from './QuestionForm';

export function Questions() {
  const questions = openQuestions.value;
  return (
    <main class="page narrow" id="main" tabIndex={-1}>
      <h1>Questions</h1>
      {runsLoaded.value && questions.length === 0 && (
        <p class="empty">No run is waiting for an answer. Questions of all runs appear here.</p>
      )}
      <ul class="inbox">
        {questions.map(({ run, wait }) => (
          <li key={`${run.run} ${wait.wait}`} class="card">
            <p class="inbox-head">
              <a href={runLink(run.run)} title={run.run}>
                {run.agent}
              </a>
              <span class="hint">
                run …{run.run.slice(-6)}, waiting for {ageOf(run.updated_at, now.value)}
              </span>
            </p>
            <QuestionForm run={run.run} wait={wait} />
          </li>
        ))}
      </ul>
    </main>
  );
}
