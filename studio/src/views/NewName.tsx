import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { namePattern } from './places';

interface Props {
  label: string;
  submit: string;
  /** Answers with the reason if the name was rejected. */
  onAdd: (name: string) => Promise<string>;
}

/** A line with a name for something new. */
export function NewName({ label, submit, onAdd }: Props) {
  const name = useSignal('');
  const problem = useSignal('');
  const id = useId();
  const add = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (!namePattern.test(name.value)) {
      problem.value = 'A name has letters, digits and `_`, and does not begin with a digit.';
      return;
    }
    problem.value = await onAdd(name.value);
    if (!problem.value) name.value = '';
  };
  return (
    <form class="new-name" noValidate onSubmit={(event) => void add(event)}>
      <input
        class="code"
        aria-label={label}
        placeholder={label}
        autocomplete="off"
        spellcheck={false}
        value={name.value}
        aria-invalid={problem.value ? true : undefined}
        aria-describedby={`${id}-problem`}
        onInput={(event) => (name.value = event.currentTarget.value.trim())}
      />
      <button type="submit">{submit}</button>
      <span id={`${id}-problem`} class="field-problem" role="alert">
        {problem.value}
      </span>
    </form>
  );
}
