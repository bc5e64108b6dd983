// Folds the events of a run into what the page shows. Pure: no signals, no requests.
import { showValue } from '../api/json';
import type {
  BlockEnteredEvent,
  BlockLeftEvent,
  PromptStartedEvent,
  RecordedEvent,
  RunEvent,
  TextDeltaEvent,
  TextEvent,
  TurnEndEvent,
} from '../api/types';

export type Speaker = 'person' | 'agent' | 'question' | 'answer' | 'problem' | 'note';

/** One entry of the conversation. */
export interface Entry {
  key: string;
  speaker: Speaker;
  /** The agent that speaks or asks; empty for a person. */
  agent: string;
  text: string;
  time: number;
}

/** What a model is writing, before it is recorded. */
export interface Writing {
  generation: string;
  agent: string;
  attempt: number;
  /** With `…` in place of pieces that were missed, such as those from before the page was opened. */
  text: string;
  /** Where the next piece starts in the attempt's text. */
  bytes: number;
}

/** One time that a run went through a block. */
export interface Visit {
  /** The records of its start and its end. */
  entered: number;
  left?: number;
  ms?: number;
  tokens?: number;
}

interface Standing {
  agent: string;
  path: string;
  depth: number;
  visit: Visit;
}

/** What a run is doing, and where that is in its program. */
interface Doing {
  agent: string;
  depth: number;
  /** FILE:LINE:COLUMN */
  place: string;
  /** A turn of another agent, in which something else is done. */
  isOuter: boolean;
}

const encoder = new TextEncoder();

const keyOf = ({ depth, agent, path, branch }: BlockEnteredEvent | BlockLeftEvent): string => `${depth} ${agent}/${path} ${branch}`;

export class RunFold {
  readonly events: RecordedEvent[] = [];
  /** Events before these, which were not read. */
  earlier = 0;
  readonly conversation: Entry[] = [];
  /** Blocks that were left, as AGENT/PATH, in this turn. */
  readonly visited = new Set<string>();
  /** The times that this turn went through a block, by AGENT/PATH. */
  readonly visits = new Map<string, Visit[]>();
  /** The blocks in which this turn has failed, as AGENT/PATH. */
  readonly failed = new Set<string>();
  /** Where the turn has failed. */
  failedAt: string | null = null;
  private readonly doing = new Map<string, Doing>();
  private readonly writings = new Map<string, Writing>();
  private readonly standing = new Map<string, Standing>();
  private emitted: string[] = [];
  private last = 0;

  /** The number of the newest recorded event. */
  get number(): number {
    return this.last;
  }

  get writing(): Writing[] {
    return [...this.writings.values()].filter((one) => one.text !== '');
  }

  /** The blocks in which the run is, as AGENT/PATH. */
  get running(): Set<string> {
    return new Set([...this.standing.values()].map((one) => `${one.agent}/${one.path}`));
  }

  /** Where the run is in its program, as far as it waits for something. `around`: calls of agents that contain these places. */
  get places(): { here: string[]; around: string[] } {
    const all = [...this.doing.values()];
    const places = (isOuter: boolean): string[] => [...new Set(all.filter((one) => one.isOuter === isOuter).map((one) => one.place))];
    return { here: places(false), around: places(true) };
  }

  /** Adds events in front of the others: what the page shows of them is made anew. */
  prepend(events: readonly RecordedEvent[]): void {
    const all = [...events, ...this.events];
    const writings = new Map(this.writings);
    this.events.length = 0;
    this.conversation.length = 0;
    this.clearBlocks();
    this.emitted = [];
    this.last = 0;
    for (const event of all) this.add(event);
    this.writings.clear();
    for (const [generation, writing] of writings) this.writings.set(generation, writing);
    this.earlier = Math.max(0, this.earlier - events.length);
  }

  /** Whether the turn in which the run is, or was at last, is here from its start. */
  get hasTurn(): boolean {
    return this.earlier === 0 || this.events.some((event) => event.type === 'prompt_started' && event.depth === 0);
  }

  /** Pieces that were not recorded are lost with a connection. */
  forgetPieces(): void {
    this.writings.clear();
  }

  add(event: RunEvent): void {
    if (event.type === 'text_delta') return this.addPiece(event);
    if (event.number <= this.last) return;
    this.last = event.number;
    this.events.push(event);
    this.addBlocks(event);
    this.addPlaces(event);
    this.addWords(event);
  }

  private clearBlocks(): void {
    this.visited.clear();
    this.standing.clear();
    this.visits.clear();
    this.doing.clear();
    this.failed.clear();
    this.failedAt = null;
  }

  private addPiece({ generation, agent, attempt, offset, text }: TextDeltaEvent): void {
    let writing = this.writings.get(generation);
    if (!writing || attempt > writing.attempt) {
      writing = { generation, agent, attempt, text: '', bytes: 0 };
      this.writings.set(generation, writing);
    }
    if (attempt < writing.attempt || offset < writing.bytes) return;
    if (offset > writing.bytes) writing.text += '…';
    writing.text += text;
    writing.bytes = offset + encoder.encode(text).length;
  }

  private addBlocks(event: RecordedEvent): void {
    switch (event.type) {
      case 'prompt_started':
        if (event.depth === 0) this.clearBlocks();
        break;
      case 'block_entered': {
        const { agent, path, depth } = event;
        const visit: Visit = { entered: event.number };
        const key = `${agent}/${path}`;
        this.visits.set(key, [...(this.visits.get(key) ?? []), visit]);
        this.standing.set(keyOf(event), { agent, path, depth, visit });
        break;
      }
      case 'block_left': {
        const visit = this.standing.get(keyOf(event))?.visit;
        if (visit) Object.assign(visit, { left: event.number, ms: event.ms, tokens: event.tokens });
        this.standing.delete(keyOf(event));
        this.visited.add(`${event.agent}/${event.path}`);
        break;
      }
      case 'turn_end':
      case 'turn_failed':
      case 'turn_cancelled':
        for (const [at, { agent, path, depth }] of this.standing) {
          if (depth < event.depth) continue;
          if (event.type === 'turn_failed') this.failed.add(`${agent}/${path}`);
          this.standing.delete(at);
        }
        break;
      case 'handoff':
        for (const [at, one] of this.standing) if (one.depth === event.depth && one.agent === event.agent) this.standing.delete(at);
        break;
    }
  }

  private addPlaces(event: RecordedEvent): void {
    const { agent, depth } = event;
    const begin = (key: string, place: string | undefined, isOuter = false): void => {
      if (place !== undefined) this.doing.set(key, { agent, depth, place, isOuter });
    };
    switch (event.type) {
      case 'generation_started':
        begin(event.generation, event.place);
        break;
      case 'generation_finished':
        this.doing.delete(event.generation);
        break;
      case 'tool_call':
        begin(event.call, event.place);
        break;
      case 'agent_call':
        begin(event.call, event.place, true);
        break;
      case 'tool_result':
      case 'tool_error':
      case 'agent_result':
        this.doing.delete(event.call);
        break;
      case 'wait_for_input':
        begin(event.wait, event.place);
        break;
      case 'resume_with_input':
        this.doing.delete(event.wait);
        break;
      case 'turn_failed':
        if (depth === 0) this.failedAt = event.place;
        break;
    }
    const endsTurn = event.type === 'turn_end' || event.type === 'turn_failed' || event.type === 'turn_cancelled';
    const handsOff = event.type === 'handoff';
    if (!endsTurn && !handsOff) return;
    for (const [at, one] of this.doing) {
      const isOfTurn = handsOff ? one.depth === depth && one.agent === agent : one.depth >= depth;
      if (isOfTurn) this.doing.delete(at);
    }
  }

  private say(event: RecordedEvent, speaker: Speaker, words: string): void {
    const agent = speaker === 'person' || speaker === 'answer' ? '' : event.agent;
    this.conversation.push({ key: `${event.number}`, speaker, agent, text: words, time: event.time });
  }

  private addWords(event: RecordedEvent): void {
    switch (event.type) {
      case 'prompt_started':
        if (event.depth === 0) this.start(event);
        break;
      case 'text':
        this.addText(event);
        break;
      case 'generation_retried':
        this.writings.delete(event.generation);
        break;
      case 'generation_finished':
        // A plain text remains until the end of the turn says whether it is the answer.
        if (typeof event.value !== 'string') this.writings.delete(event.generation);
        break;
      case 'wait_for_input':
        this.say(event, 'question', event.question);
        break;
      case 'resume_with_input':
        this.say(event, 'answer', showValue(event.input));
        break;
      case 'handoff':
        if (event.depth === 0) this.say(event, 'note', `${event.agent} hands off to ${event.to}.`);
        break;
      case 'program_taken':
        this.say(event, 'note', 'The conversation continues on another program.');
        break;
      case 'turn_end':
        if (event.depth === 0) this.end(event);
        break;
      case 'turn_failed':
        if (event.depth === 0) this.say(event, 'problem', `${event.kind}: ${event.message}`);
        break;
      case 'turn_cancelled':
        if (event.depth === 0) this.say(event, 'note', `Cancelled: ${event.reason || 'no reason was given'}`);
        break;
    }
    if (event.depth === 0 && ['turn_end', 'turn_failed', 'turn_cancelled'].includes(event.type)) this.writings.clear();
  }

  private start(event: PromptStartedEvent): void {
    this.emitted = [];
    const input = event.input;
    const isFunction = event.turn === undefined && Array.isArray(input);
    // A Context among the arguments is null.
    const given = isFunction ? input.filter((one) => one !== null) : [input];
    if (isFunction && given.length === 0) this.say(event, 'note', 'Started without arguments.');
    else this.say(event, 'person', given.map(showValue).join('\n'));
  }

  private addText(event: TextEvent): void {
    const generation = event.generation;
    if (generation === undefined) {
      if (event.depth > 0) return;
      this.emitted.push(event.text);
      this.say(event, 'agent', event.text);
      // What was emitted while it was written is not shown twice.
      for (const [at, one] of this.writings) if (one.text === event.text) this.writings.delete(at);
      return;
    }
    const known = this.writings.get(generation);
    if (known) this.writings.set(generation, { ...known, text: event.text });
  }

  /** The value of a turn repeats what was emitted in it. */
  private end(event: TurnEndEvent): void {
    const value = showValue(event.value ?? null);
    const sent = this.emitted.join('\n\n');
    if (this.emitted.length > 0 && value === sent) return;
    const rest = this.emitted.length > 0 && value.startsWith(`${sent}\n\n`) ? value.slice(sent.length + 2) : value;
    if (rest !== 'null' && rest !== '') this.say(event, 'agent', rest);
  }
}

/** As it was after a record, as far as the events are there. */
export function foldUntil(events: readonly RecordedEvent[], record: number): RunFold {
  const fold = new RunFold();
  for (const event of events) {
    if (event.number > record) break;
    fold.add(event);
  }
  return fold;
}
