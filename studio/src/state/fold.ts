// Folds the events of a run into what the page shows. Pure: no signals, no requests.
import { showValue } from '../api/json';
import type { RunEvent } from '../api/types';

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

interface Standing {
  agent: string;
  path: string;
  depth: number;
}

const text = (event: RunEvent, field: string): string => {
  const value = event[field];
  return typeof value === 'string' ? value : '';
};

const encoder = new TextEncoder();

export class RunFold {
  readonly events: RunEvent[] = [];
  /** Events before these, which were not read. */
  earlier = 0;
  readonly conversation: Entry[] = [];
  /** Blocks that were left, as AGENT/PATH, in this turn. */
  readonly visited = new Set<string>();
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

  /** Adds events in front of the others: what the page shows of them is made anew. */
  prepend(events: readonly RunEvent[]): void {
    const all = [...events, ...this.events];
    const writings = new Map(this.writings);
    this.events.length = 0;
    this.conversation.length = 0;
    this.visited.clear();
    this.standing.clear();
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
    if (event.number === undefined) {
      if (event.type === 'text_delta') this.addPiece(event);
      return;
    }
    if (event.number <= this.last) return;
    this.last = event.number;
    this.events.push(event);
    this.addBlocks(event);
    this.addWords(event);
  }

  private addPiece(event: RunEvent): void {
    const generation = text(event, 'generation');
    const attempt = Number(event['attempt']);
    const offset = Number(event['offset']);
    let writing = this.writings.get(generation);
    if (!writing || attempt > writing.attempt) {
      writing = { generation, agent: event.agent, attempt, text: '', bytes: 0 };
      this.writings.set(generation, writing);
    }
    if (attempt < writing.attempt || offset < writing.bytes) return;
    if (offset > writing.bytes) writing.text += '…';
    writing.text += text(event, 'text');
    writing.bytes = offset + encoder.encode(text(event, 'text')).length;
  }

  private addBlocks(event: RunEvent): void {
    const key = `${event.depth} ${event.agent}/${text(event, 'path')} ${text(event, 'branch')}`;
    switch (event.type) {
      case 'prompt_started':
        if (event.depth === 0) {
          this.visited.clear();
          this.standing.clear();
        }
        break;
      case 'block_entered':
        this.standing.set(key, { agent: event.agent, path: text(event, 'path'), depth: event.depth });
        break;
      case 'block_left':
        this.standing.delete(key);
        this.visited.add(`${event.agent}/${text(event, 'path')}`);
        break;
      case 'turn_end':
      case 'turn_failed':
      case 'turn_cancelled':
        for (const [at, { depth }] of this.standing) if (depth >= event.depth) this.standing.delete(at);
        break;
      case 'handoff':
        for (const [at, one] of this.standing) if (one.depth === event.depth && one.agent === event.agent) this.standing.delete(at);
        break;
    }
  }

  private say(event: RunEvent, speaker: Speaker, words: string): void {
    const agent = speaker === 'person' || speaker === 'answer' ? '' : event.agent;
    this.conversation.push({ key: `${event.number}`, speaker, agent, text: words, time: event.time });
  }

  private addWords(event: RunEvent): void {
    switch (event.type) {
      case 'prompt_started':
        if (event.depth === 0) this.start(event);
        break;
      case 'text':
        this.addText(event);
        break;
      case 'generation_retried':
        this.writings.delete(text(event, 'generation'));
        break;
      case 'generation_finished':
        // A plain text remains until the end of the turn says whether it is the answer.
        if (typeof event['value'] !== 'string') this.writings.delete(text(event, 'generation'));
        break;
      case 'wait_for_input':
        this.say(event, 'question', text(event, 'question'));
        break;
      case 'resume_with_input':
        this.say(event, 'answer', showValue(event['input']));
        break;
      case 'handoff':
        if (event.depth === 0) this.say(event, 'note', `${event.agent} hands off to ${text(event, 'to')}.`);
        break;
      case 'program_taken':
        this.say(event, 'note', 'The conversation continues on another program.');
        break;
      case 'turn_end':
        if (event.depth === 0) this.end(event);
        break;
      case 'turn_failed':
        if (event.depth === 0) this.say(event, 'problem', `${text(event, 'kind')}: ${text(event, 'message')}`);
        break;
      case 'turn_cancelled':
        if (event.depth === 0) this.say(event, 'note', `Cancelled: ${text(event, 'reason') || 'no reason was given'}`);
        break;
    }
    if (event.depth === 0 && ['turn_end', 'turn_failed', 'turn_cancelled'].includes(event.type)) this.writings.clear();
  }

  private start(event: RunEvent): void {
    this.emitted = [];
    const input = event['input'];
    const isFunction = event['turn'] === undefined && Array.isArray(input);
    // A Context among the arguments is null.
    const given = isFunction ? input.filter((one) => one !== null) : [input];
    this.say(event, 'person', given.map(showValue).join('\n'));
  }

  private addText(event: RunEvent): void {
    const generation = text(event, 'generation');
    if (generation === '') {
      if (event.depth > 0) return;
      this.emitted.push(text(event, 'text'));
      this.say(event, 'agent', text(event, 'text'));
      // What was emitted while it was written is not shown twice.
      for (const [at, one] of this.writings) if (one.text === text(event, 'text')) this.writings.delete(at);
      return;
    }
    const known = this.writings.get(generation);
    if (known) this.writings.set(generation, { ...known, text: text(event, 'text') });
  }

  /** The value of a turn repeats what was emitted in it. */
  private end(event: RunEvent): void {
    const value = showValue(event['value'] ?? null);
    const sent = this.emitted.join('\n\n');
    if (this.emitted.length > 0 && value === sent) return;
    const rest = this.emitted.length > 0 && value.startsWith(`${sent}\n\n`) ? value.slice(sent.length + 2) : value;
    if (rest !== 'null' && rest !== '') this.say(event, 'agent', rest);
  }
}
