import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { now, runList, runs } from '../state/live';
import { compareLink, go } from '../state/route';
import { ageOf } from '../text';
import { Dialog, DialogEnd } from './Dialog';
import { stateWords } from './StateMark';

const shownMax = 200;

/** Chooses the run with which another one is compared: those of the same agent or function come first. */
export function ChooseRun({ run, onClose }: { run: string; onClose: () => void }) {
  const own = runs.value.get(run)?.agent;
  const others = runList.value.filter((one) => one.run !== run);
  const like = others.filter((one) => one.agent === own);
  const chosen = useSignal((like[0] ?? others[0])?.run ?? '');
  const id = useId();
  const groups = [
    { label: `Runs of ${own ?? 'the same'}`, list: like },
    { label: 'Other runs', list: others.filter((one) => one.agent !== own) },
  ];
  const compare = (event: Event): void => {
    event.preventDefault();
    if (chosen.value === '') return;
    onClose();
    go(compareLink(run, chosen.value));
  };
  return (
    <Dialog title="Compare" onClose={onClose}>
      <form noValidate onSubmit={compare}>
        {others.length === 0 ? (
          <p>There is no other run yet.</p>
        ) : (
          <div class="field">
            <label for={id}>With run</label>
            <select id={id} autofocus value={chosen.value} onChange={(event) => (chosen.value = event.currentTarget.value)}>
              {groups
                .filter((group) => group.list.length > 0)
                .map((group) => (
                  <optgroup key={group.label} label={group.label}>
                    {group.list.slice(0, shownMax).map((one) => (
                      <option key={one.run} value={one.run}>
                        {one.agent}, {stateWords[one.state]}, {ageOf(one.created_at, now.value)} ago, {one.run}
                      </option>
                    ))}
                  </optgroup>
                ))}
            </select>
          </div>
        )}
        <DialogEnd problem="" submit="Compare" disabled={chosen.value === ''} onClose={onClose} />
      </form>
    </Dialog>
  );
}
