import { focusEditor } from '../editor/Editor';
import type { OpenProgram } from '../state/program';
import { Dialog } from './Dialog';

export function ChangedOnDisk({ program }: { program: OpenProgram }) {
  const close = (): void => {
    program.resolving.value = false;
  };
  const then = (action: () => void): void => {
    action();
    focusEditor(program);
  };
  return (
    <Dialog title="Changed on disk" onClose={close}>
      <p>The file of this program has changed, and the text here has unsaved changes.</p>
      <dl class="choices">
        <dt>Merge</dt>
        <dd>Both changes are in the text. What both have changed differently is marked; nothing is saved yet.</dd>
        <dt>Take theirs</dt>
        <dd>The text becomes that of the file. Undo brings your changes back.</dd>
        <dt>Keep mine</dt>
        <dd>Your text is saved over the file.</dd>
      </dl>
      <div class="actions">
        <button type="button" onClick={close}>
          Later
        </button>
        <span class="spacer" />
        <button type="button" onClick={() => void program.keepMine()}>
          Keep mine
        </button>
        <button type="button" onClick={() => then(() => program.takeTheirs())}>
          Take theirs
        </button>
        <button type="button" class="primary" onClick={() => then(() => program.merge())}>
          Merge
        </button>
      </div>
    </Dialog>
  );
}
