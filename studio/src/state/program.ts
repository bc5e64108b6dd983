import { ChangeSet, type Text } from '@codemirror/state';
import { batch, computed, signal } from '@preact/signals';
import { api, blocksOf, hasBlocks, RequestError } from '../api/client';
import type { Agent, Block, ByteRange, Declaration, Draft, Edit, Problem } from '../api/types';
import { converterOf, lineEndsOf, textOf, type LineEnds } from '../editor/bytes';
import { mergeTexts } from '../editor/merge';
import { changeBetween, changesOf, type Change } from '../editor/patches';
import { noteError, onChange, onReconnect } from './live';

const draftPause = 40;
const retriesMax = 3;
/** How long a person has not typed when the dialog about a changed file opens, in milliseconds. */
const idlePause = 1000;

/** The editor, as the program's state needs it. */
export interface EditorPort {
  doc(): Text;
  /** Makes the changes as one step of the history. */
  change(changes: readonly Change[]): void;
  select(from: number, to: number, focus: boolean): void;
}

export interface Selected {
  agent: string;
  path: string;
}

/** What the graph's pane shows. */
export type Drawing = 'blocks' | 'calls' | 'plan';

export type FileState =
  | 'loading'
  | 'unreadable'
  | 'saved'
  | 'saved_with_errors'
  | 'unsaved'
  | 'saving'
  | 'changed_on_disk'
  | 'failed';

export interface OnDisk {
  version: string;
  text: string;
}

/**
 * One open program. The text in the editor is the only state: the graph and the problems are computed from it by the server, and
 * edits of the graph come back as patches of the text.
 */
export class OpenProgram {
  readonly initial = signal<string | null>(null);
  readonly agents = signal<Agent[]>([]);
  readonly calls = signal<Draft['calls'] | null>(null);
  readonly drawn = signal<Drawing>('blocks');
  readonly declarations = signal<Declaration[]>([]);
  readonly problems = signal<Problem[]>([]);
  /** The agents are those of an earlier text, since none can be read in this one. */
  readonly isOutdated = signal(false);
  /** The text that `agents` and `problems` describe. */
  readonly described = signal<Text | null>(null);
  readonly selected = signal<Selected | null>(null);
  /** Whether the form of the agent is open, while no block is selected. */
  readonly showsAgent = signal(false);
  readonly fileState = signal<FileState>('loading');
  readonly fileProblem = signal('');
  /** Why the last edit of the graph was rejected. */
  readonly editProblem = signal('');
  readonly onDisk = signal<OnDisk | null>(null);
  readonly resolving = signal(false);

  /** The function or agent that is selected among the calls. */
  readonly chosenCall = signal<Selected | null>(null);
  /** What the program has to draw. */
  readonly drawings = computed<Drawing[]>(() => {
    const all: Drawing[] = [];
    if (this.agents.value.some(hasBlocks)) all.push('blocks');
    if (this.calls.value && hasBlocks(this.calls.value)) all.push('calls');
    if (/\bpursue\b/.test(this.described.value?.toString() ?? '')) all.push('plan');
    return all;
  });
  /** Which of them is seen: the chosen one, if it is there. */
  readonly shown = computed<Drawing>(() => {
    const all = this.drawings.value;
    return all.includes(this.drawn.value) ? this.drawn.value : (all[0] ?? 'blocks');
  });

  readonly block = computed<Block | null>(() => {
    if (this.isOutdated.value) return null;
    const selected = this.selected.value;
    const agent = this.agents.value.find((one) => one.name === selected?.agent);
    return (agent && blocksOf(agent).find((one) => one.path === selected?.path)) ?? null;
  });

  ends: LineEnds = { separator: '\n', mixed: false };
  private editor: EditorPort | null = null;
  private base: OnDisk = { version: '', text: '' };
  private savedDoc: Text | null = null;
  private savedWithErrors = false;
  private changedWhileSaving = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private busy = false;
  /** What is being made is an edit of the graph. */
  private editing = false;
  private readonly edits: { ops: Edit[]; done: (ok: boolean) => void }[] = [];
  private editedAt = 0;
  private readonly stops: (() => void)[];

  constructor(readonly name: string) {
    this.stops = [
      onChange((change) => {
        if ('program' in change && change.program === this.name) void this.lookAtDisk(change.version);
      }),
      onReconnect(() => void this.catchUp()),
    ];
    void this.load();
  }

  close(): void {
    clearTimeout(this.timer);
    for (const stop of this.stops) stop();
  }

  /** After a lost connection: what could not be read is read again. */
  private async catchUp(): Promise<void> {
    if (this.initial.value === null) return this.load();
    await this.lookAtDisk();
    await this.pump();
  }

  private async load(): Promise<void> {
    this.fileState.value = 'loading';
    try {
      const program = await api.program(this.name);
      this.base = { version: program.version, text: program.text };
      this.ends = lineEndsOf(program.text);
      this.fileState.value = 'saved';
      this.initial.value = program.text;
    } catch (error) {
      this.fail(error, 'unreadable');
    }
  }

  private fail(error: unknown, state: 'unreadable' | 'failed'): void {
    noteError(error);
    this.fileState.value = state;
    this.fileProblem.value = error instanceof Error ? error.message : String(error);
  }

  attach(editor: EditorPort): void {
    this.editor = editor;
    this.savedDoc = editor.doc();
    void this.pump();
  }

  get hasUnsaved(): boolean {
    return this.editor !== null && this.savedDoc !== null && !this.editor.doc().eq(this.savedDoc);
  }

  /** The text in the editor has changed. */
  edited(): void {
    this.editedAt = Date.now();
    this.editProblem.value = '';
    this.showFileState();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.pump(), draftPause);
  }

  private showFileState(): void {
    if (this.fileState.value === 'saving') return;
    if (this.onDisk.value) this.fileState.value = 'changed_on_disk';
    else if (this.hasUnsaved) this.fileState.value = 'unsaved';
    else this.fileState.value = this.savedWithErrors ? 'saved_with_errors' : 'saved';
  }

  /** Sends edits of the graph. The answer is true once they are in the text; otherwise `editProblem` says why not. */
  edit(ops: Edit[]): Promise<boolean> {
    return new Promise((done) => {
      this.edits.push({ ops, done });
      void this.pump();
    });
  }

  /** Sends edits, and answers with the reason if they were rejected: for a form that shows it itself. */
  async tryEdit(ops: Edit[]): Promise<string> {
    if (await this.edit(ops)) return '';
    const reason = this.editProblem.value;
    this.editProblem.value = '';
    return reason;
  }

  /** At most one draft is being made; afterwards the newest text is described. */
  private async pump(): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    try {
      for (;;) {
        const edit = this.edits.shift();
        this.editing = edit !== undefined;
        if (edit) edit.done(await this.makeEdit(edit.ops));
        else if (this.editor && this.described.value !== this.editor.doc()) await this.describe(this.editor.doc());
        else break;
      }
    } catch (error) {
      noteError(error);
      // Tried again with the next change, or when the connection is back.
    } finally {
      this.busy = false;
      this.editing = false;
    }
  }

  private async describe(doc: Text): Promise<void> {
    const draft = await api.draft(this.name, textOf(doc, this.ends));
    if (this.editor?.doc() === doc) this.show(draft, doc);
  }

  private show(draft: Draft, doc: Text): void {
    const isBroken = draft.problems.some((problem) => problem.severity === 'error');
    // While the head of an agent is being written, its graph does not come and go.
    const isOutdated = isBroken && !draft.agents.some(hasBlocks) && this.agents.value.some(hasBlocks);
    batch(() => {
      this.described.value = doc;
      this.isOutdated.value = isOutdated;
      if (!isOutdated) this.agents.value = draft.agents;
      if (!isOutdated) this.declarations.value = draft.declarations;
      if (!isOutdated) this.calls.value = draft.calls;
      this.problems.value = draft.problems;
    });
  }

  private async makeEdit(ops: Edit[]): Promise<boolean> {
    for (let attempt = 0; attempt < retriesMax && this.editor; ++attempt) {
      const doc = this.editor.doc();
      let draft: Draft;
      try {
        draft = await api.draft(this.name, textOf(doc, this.ends), ops);
      } catch (error) {
        noteError(error);
        this.editProblem.value = error instanceof Error ? error.message : String(error);
        return false;
      }
      // The person has typed in the meantime: the patches belong to an older text.
      if (this.editor.doc() !== doc) continue;
      this.editor.change(changesOf(draft.patches, doc, this.ends));
      clearTimeout(this.timer);
      this.show(draft, this.editor.doc());
      return true;
    }
    this.editProblem.value = 'the text has changed in the meantime; try again';
    return false;
  }

  async save(): Promise<void> {
    // Edits of the graph that are being made belong to what is saved.
    if (this.editing || this.edits.length > 0) await this.edit([]);
    if (!this.editor || this.fileState.value === 'saving') return;
    if (this.onDisk.value) {
      this.resolving.value = true;
      return;
    }
    const doc = this.editor.doc();
    const text = textOf(doc, this.ends);
    this.fileState.value = 'saving';
    try {
      const saved = await api.save(this.name, this.base.version, text);
      this.base = { version: saved.version, text };
      this.savedDoc = doc;
      this.savedWithErrors = saved.runs === 'old';
      this.fileState.value = 'saved';
      this.showFileState();
    } catch (error) {
      const { version, text: theirs } = error instanceof RequestError ? error.body : {};
      if (error instanceof RequestError && error.status === 409 && typeof version === 'string' && typeof theirs === 'string') {
        this.fileState.value = 'changed_on_disk';
        this.onDisk.value = { version, text: theirs };
        this.resolving.value = true;
      } else {
        this.fail(error, 'failed');
      }
    }
    if (this.changedWhileSaving) void this.lookAtDisk();
  }

  private async lookAtDisk(version?: string | null): Promise<void> {
    // The change may be the one that is being saved, or one after it.
    this.changedWhileSaving = this.fileState.value === 'saving';
    if (!this.editor || version === this.base.version || this.changedWhileSaving) return;
    try {
      const program = await api.program(this.name);
      if (program.version === this.base.version) return;
      if (this.hasUnsaved) {
        this.onDisk.value = { version: program.version, text: program.text };
        this.showFileState();
        this.resolveWhenIdle();
      } else {
        this.takeText(program.text, program);
      }
    } catch (error) {
      noteError(error);
    }
  }

  private resolveWhenIdle(): void {
    const rest = this.editedAt + idlePause - Date.now();
    if (rest <= 0) this.resolving.value = this.onDisk.value !== null;
    else setTimeout(() => this.resolveWhenIdle(), rest);
  }

  private takeText(text: string, base: OnDisk): void {
    if (!this.editor) return;
    const ends = lineEndsOf(base.text);
    this.ends = ends;
    const normal = (one: string): string => (ends.mixed ? one : one.replace(/\r\n?/g, '\n'));
    const change = changeBetween(this.editor.doc().toString(), normal(text));
    if (change) this.editor.change([change]);
    this.base = { version: base.version, text: base.text };
    this.onDisk.value = null;
    this.resolving.value = false;
    this.savedWithErrors = false;
    if (text === base.text) this.savedDoc = this.editor.doc();
    this.showFileState();
  }

  takeTheirs(): void {
    const theirs = this.onDisk.value;
    if (theirs) this.takeText(theirs.text, theirs);
  }

  /** What both have changed differently is marked in the text. */
  merge(): void {
    const theirs = this.onDisk.value;
    if (!theirs || !this.editor) return;
    const normal = (one: string): string => (this.ends.mixed ? one : one.replace(/\r\n?/g, '\n'));
    const merged = mergeTexts(normal(this.base.text), this.editor.doc().toString(), normal(theirs.text));
    // The saved text is theirs now, which is not what the editor contains.
    this.savedDoc = this.editor.doc().replace(0, this.editor.doc().length, textLike(this.editor.doc(), normal(theirs.text)));
    this.takeText(merged.text, theirs);
  }

  async keepMine(): Promise<void> {
    const theirs = this.onDisk.value;
    if (!theirs) return;
    this.base = theirs;
    this.onDisk.value = null;
    this.resolving.value = false;
    await this.save();
  }

  /** Selects the bytes of the described text in the editor. */
  reveal(offset: number, length: number, focus: boolean): void {
    if (!this.editor || !this.described.value) return;
    const converter = converterOf(this.described.value, this.ends);
    this.editor.select(converter.position(offset), converter.position(offset + length), focus);
  }

  /** The cursor is at this position: the block there becomes the selected one. */
  cursorAt(position: number): void {
    if (!this.editor || this.isOutdated.value || this.described.value !== this.editor.doc()) return;
    const offset = converterOf(this.described.value, this.ends).offset(position);
    const contains = ({ range }: Block): boolean => range.offset <= offset && offset <= range.offset + range.length;
    for (const agent of this.agents.value) {
      const innermost = blocksOf(agent).filter(contains).at(-1);
      if (innermost) {
        const same = this.selected.value?.agent === agent.name && this.selected.value.path === innermost.path;
        if (!same) this.selected.value = { agent: agent.name, path: innermost.path };
        return;
      }
    }
  }

  /** The described text as the server knows it. */
  describedText(): string | null {
    return this.described.value && textOf(this.described.value, this.ends);
  }

  /** The first and the last line of a range in the described text. */
  linesOf({ offset, length }: ByteRange): [first: number, last: number] {
    const doc = this.described.value;
    if (!doc) return [0, 0];
    const converter = converterOf(doc, this.ends);
    return [doc.lineAt(converter.position(offset)).number, doc.lineAt(converter.position(offset + length)).number];
  }

  /** The source text of a range in the described text. */
  source(offset: number, length: number): { text: string; from: number } {
    const doc = this.described.value;
    if (!doc) return { text: '', from: 0 };
    const converter = converterOf(doc, this.ends);
    const from = converter.position(offset);
    return { text: doc.sliceString(from, converter.position(offset + length)), from };
  }

  /** Changes the text as the editor would, if it is still the described one. */
  changeText(change: Change): void {
    if (this.editor && this.described.value === this.editor.doc()) this.editor.change([change]);
  }
}

function textLike(doc: Text, content: string): Text {
  return ChangeSet.of({ from: 0, to: doc.length, insert: content }, doc.length).apply(doc);
}

const open = new Map<string, OpenProgram>();

/** Programs stay open while the page is: unsaved words survive a look at a run. */
export function openProgram(name: string): OpenProgram {
  let found = open.get(name);
  if (!found) {
    found = new OpenProgram(name);
    open.set(name, found);
  }
  return found;
}

export function anyUnsaved(): boolean {
  return [...open.values()].some((program) => program.hasUnsaved);
}
