import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';

interface Props {
  title: string;
  /** For a program's text, or what a program has computed. */
  wide?: boolean;
  onClose: () => void;
  children: ComponentChildren;
}

/** A modal dialog. The focus is at first on its heading, unless something inside has `autofocus`, and then back where it was. */
export function Dialog({ title, wide, onClose, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      dialog.current?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={wide ? 'wide' : undefined}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <h2 id={id} tabIndex={-1}>
        {title}
      </h2>
      {children}
    </dialog>
  );
}

/** The end of a form in a dialog: what is wrong with it, and its buttons. */
export function DialogEnd({ problem, problemId, submit, disabled, onClose }: {
  problem: string;
  problemId?: string;
  submit: string;
  disabled?: boolean;
  onClose: () => void;
}) {
  return (
    <>
      <p class="field-problem" id={problemId} role="alert">
        {problem}
      </p>
      <div class="actions">
        <span class="spacer" />
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" class="primary" disabled={disabled}>
          {submit}
        </button>
      </div>
    </>
  );
}
