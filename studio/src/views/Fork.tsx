import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { api } from '../api/client';
import type { ForkEstimate, RequestPlace, RunProgram } from '../api/types';
import { TextEditor } from '../editor/TextEditor';
import { noteError, readRunAgain } from '../state/live';
import { lineIn } from '../state/place';
import { go, runLink } from '../state/route';
import { Dialog, DialogEnd } from './Dialog';

/** How long a person has not typed when the text is tried, in milliseconds. */
const tryPause = 250;

const kindWords: Record<string, string> = {
  complete: 'model request',
  fill: 'model request',
  select: 'model request',
  extern: 'call',
  ask: 'question',
};

function nameOf(request: RequestPlace): string {
  const name = request.name === '' ? '' : ` “${request.name}”`;
  return `the ${kindWords[request.kind] ?? request.kind}${name} at ${request.place}`;
}

/** Where the new run parts from the recorded one, in words. In the same text it parts where the record ends that it takes. */
function partingOf({ parts }: ForkEstimate, isChanged: boolean): string {
  if (!parts) return 'As far as the records go, the new run requests the same.';
  if (!isChanged) return `What it performs anew begins with ${nameOf(parts)}.`;
  const { recorded } = parts;
  const isAlike = recorded && nameOf(recorded) === nameOf(parts);
  const instead = recorded ? `, where record ${recorded.record} has ${isAlike ? 'another one' : nameOf(recorded)}` : '';
  return `It parts from the record with ${nameOf(parts)}${instead}.`;
}

function Estimate({ estimate, isChanged }: { estimate: ForkEstimate; isChanged: boolean }) {
  const errors = estimate.problems.filter((problem) => problem.severity === 'error');
  if (estimate.taken === undefined) {
    return (
      <ul class="fork-problems" aria-label="Problems of the changed text">
        {errors.map((problem, index) => (
          <li key={index} class="field-problem">
            <code>{problem.code}</code> {problem.message}
          </li>
        ))}
      </ul>
    );
  }
  const left = estimate.turns_left ?? 0;
  return (
    <>
      <ul class="counts">
        <li>taken from the record: {estimate.taken}</li>
        <li>model requests: {estimate.model_requests}</li>
        <li>tool calls: {estimate.tool_calls}</li>
        <li>questions: {estimate.questions}</li>
      </ul>
      <p>
        {partingOf(estimate, isChanged)}
        {estimate.complete === false && ' What follows from outcomes that are not recorded is not counted.'}
        {estimate.failure !== undefined && ` It fails: ${estimate.failure}.`}
        {left > 0 && ` ${left === 1 ? 'One later turn is' : `${left} later turns are`} not part of it.`}
      </p>
    </>
  );
}

interface Props {
  run: string;
  record: number;
  onClose: () => void;
}

/** Starts a run that continues this one from a record on, in a changed text if the person changes it. */
export function Fork({ run, record, onClose }: Props) {
  const program = useSignal<RunProgram | null>(null);
  const line = useSignal<number | null>(null);
  const text = useSignal('');
  const estimate = useSignal<{ of: string; found: ForkEstimate } | null>(null);
  const failure = useSignal('');
  const sending = useSignal(false);
  const tried = useRef(0);

  const changed = (): { text?: string } => (text.value === program.value?.text ? {} : { text: text.value });
  const fail = (error: unknown): void => {
    noteError(error);
    failure.value = error instanceof Error ? error.message : String(error);
  };

  useEffect(() => {
    const open = async (): Promise<void> => {
      const [own, moment] = await Promise.all([api.runProgram(run), api.moment(run, record).catch(() => null)]);
      text.value = own.text;
      line.value = lineIn(own.file, moment?.stack[0]?.place);
      program.value = own;
    };
    open().catch(fail);
  }, []);
  useEffect(() => {
    if (!program.value) return undefined;
    const of = text.value;
    const attempt = ++tried.current;
    const ask = async (): Promise<void> => {
      try {
        const found = await api.estimate(run, { at: record, ...changed() });
        if (attempt !== tried.current) return;
        failure.value = '';
        estimate.value = { of, found };
      } catch (error) {
        if (attempt !== tried.current) return;
        estimate.value = null;
        fail(error);
      }
    };
    const timer = setTimeout(() => void ask(), estimate.value === null ? 0 : tryPause);
    return () => clearTimeout(timer);
  }, [program.value, text.value]);

  const start = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (!program.value || sending.value) return;
    sending.value = true;
    failure.value = '';
    try {
      const started = await api.fork(run, { at: record, ...changed() });
      readRunAgain(started);
      onClose();
      go(runLink(started));
    } catch (error) {
      fail(error);
    } finally {
      sending.value = false;
    }
  };

  const known = estimate.value?.of === text.value ? estimate.value.found : null;
  return (
    <Dialog title="Fork" wide onClose={onClose}>
      <form
        class="fork"
        noValidate
        onSubmit={(event) => void start(event)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && event.ctrlKey) void start(event);
        }}
      >
        <p class="hint">
          A new run takes what is recorded up to record {record}, and performs the rest. The text here is that of the new run alone; the
          file stays as it is.
        </p>
        {program.value && (
          <div class="editor">
            <TextEditor
              text={program.value.text}
              line={line.value}
              problems={{ of: estimate.value?.of ?? '', list: estimate.value?.found.problems ?? [] }}
              onChange={(now) => (text.value = now)}
            />
          </div>
        )}
        <div class="estimate" role="status" aria-label="What the fork does">
          {known ? <Estimate estimate={known} isChanged={text.value !== program.value?.text} /> : !failure.value && <p class="hint">Trying the text…</p>}
        </div>
        <DialogEnd
          problem={failure.value}
          submit="Fork"
          disabled={!program.value || sending.value || (known !== null && known.taken === undefined)}
          onClose={onClose}
        />
      </form>
    </Dialog>
  );
}
