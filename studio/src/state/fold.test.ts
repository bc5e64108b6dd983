import { describe, expect, it } from 'vitest';
import type { RecordedEvent, RunEvent } from '../api/types';
import { foldUntil, RunFold } from './fold';

let number = 0;
const event = (type: RecordedEvent['type'], fields: Record<string, unknown> = {}): RecordedEvent =>
  ({ number: ++number, run: 'r', agent: 'A', depth: 0, time: 0, type, ...fields }) as RecordedEvent;
const piece = (fields: Record<string, unknown>): RunEvent =>
  ({ run: 'r', agent: 'A', depth: 0, time: 0, type: 'text_delta', ...fields }) as RunEvent;

function folded(...events: RunEvent[]): RunFold {
  const fold = new RunFold();
  for (const one of events) fold.add(one);
  return fold;
}
const said = (fold: RunFold): string[] => fold.conversation.map((entry) => `${entry.speaker}: ${entry.text}`);

describe('the conversation', () => {
  it('shows what was emitted once, and the rest of the answer at the end', () => {
    const fold = folded(
      event('prompt_started', { input: 'hello', turn: 1 }),
      event('text', { text: 'one' }),
      event('turn_end', { value: 'one\n\ntwo' }),
      event('prompt_started', { input: 'more', turn: 2 }),
      event('text', { text: 'three' }),
      event('turn_end', { value: 'three' }),
    );
    expect(said(fold)).toEqual(['person: hello', 'agent: one', 'agent: two', 'person: more', 'agent: three']);
  });

  it('shows questions, answers and failures, and leaves out other agents', () => {
    const fold = folded(
      event('prompt_started', { input: ['x', null] }),
      event('prompt_started', { input: 'inner', depth: 1, turn: 1 }),
      event('wait_for_input', { wait: '0', question: 'Sure?', depth: 1 }),
      event('resume_with_input', { wait: '0', input: true, depth: 1 }),
      event('turn_end', { value: 'inner answer', depth: 1 }),
      event('turn_failed', { kind: 'Raised', message: 'no' }),
    );
    expect(said(fold)).toEqual(['person: x', 'question: Sure?', 'answer: true', 'problem: Raised: no']);
  });

  it('says that a function was started without arguments', () => {
    expect(said(folded(event('prompt_started', { input: [null] })))).toEqual(['note: Started without arguments.']);
  });

  it('ignores events that were seen before', () => {
    const again = event('prompt_started', { input: 'hello', turn: 1 });
    expect(said(folded(again, again))).toEqual(['person: hello']);
  });
});

describe('what a model writes', () => {
  it('grows by its pieces until the turn ends', () => {
    const fold = folded(
      piece({ generation: 'g', attempt: 0, offset: 0, text: 'é' }),
      piece({ generation: 'g', attempt: 0, offset: 2, text: 'a' }),
    );
    expect(fold.writing.map((one) => one.text)).toEqual(['éa']);
    fold.add(event('turn_end', { value: 'éa' }));
    expect(fold.writing).toEqual([]);
    expect(said(fold)).toEqual(['agent: éa']);
  });

  it('is void with a higher attempt, and complete once it is recorded, whatever pieces were missed', () => {
    const fold = folded(
      piece({ generation: 'g', attempt: 0, offset: 0, text: 'old' }),
      piece({ generation: 'g', attempt: 1, offset: 0, text: 'new' }),
      piece({ generation: 'g', attempt: 0, offset: 3, text: 'late' }),
    );
    expect(fold.writing.map((one) => one.text)).toEqual(['new']);
    fold.add(piece({ generation: 'g', attempt: 1, offset: 9, text: 'x' }));
    expect(fold.writing.map((one) => one.text)).toEqual(['new…x']);
    fold.add(event('text', { generation: 'g', text: 'new text' }));
    expect(fold.writing.map((one) => one.text)).toEqual(['new text']);
  });
});

describe('the blocks of a run', () => {
  it('are lit from their start to their end, or to the end of the turn', () => {
    const fold = folded(
      event('block_entered', { path: 'both', branch: '' }),
      event('block_entered', { path: 'both/pro/argue', branch: 'pro' }),
      event('block_entered', { path: 'ask', branch: '', agent: 'B', depth: 1 }),
    );
    expect([...fold.running]).toEqual(['A/both', 'A/both/pro/argue', 'B/ask']);
    fold.add(event('block_left', { path: 'both/pro/argue', branch: 'pro' }));
    expect([...fold.running]).toEqual(['A/both', 'B/ask']);
    fold.add(event('turn_cancelled', { agent: 'B', depth: 1 }));
    expect([...fold.running]).toEqual(['A/both']);
    fold.add(event('turn_failed'));
    expect([[...fold.running], [...fold.failed]]).toEqual([[], ['A/both']]);
    expect([...fold.visited]).toEqual(['A/both/pro/argue']);
  });
});

describe('where a run is in its program', () => {
  it('is what it waits for', () => {
    const fold = folded(event('prompt_started', { input: 'hello', turn: 1 }), event('agent_call', { call: '0', place: 'a.tn:3:5' }));
    expect(fold.places).toEqual({ here: [], around: ['a.tn:3:5'] });
    fold.add(event('generation_started', { generation: '1', place: 'a.tn:4:9' }));
    fold.add(event('tool_call', { call: '2', place: 'a.tn:9:5' }));
    expect(fold.places).toEqual({ here: ['a.tn:4:9', 'a.tn:9:5'], around: ['a.tn:3:5'] });
    fold.add(event('generation_finished', { generation: '1' }));
    fold.add(event('tool_error', { call: '2' }));
    fold.add(event('wait_for_input', { wait: '3', question: 'Sure?', place: 'a.tn:10:5' }));
    expect(fold.places.here).toEqual(['a.tn:10:5']);
    fold.add(event('turn_failed', { kind: 'Raised', message: 'no', place: 'a.tn:11:5' }));
    expect([fold.places, fold.failedAt]).toEqual([{ here: [], around: [] }, 'a.tn:11:5']);
    fold.add(event('prompt_started', { input: 'again', turn: 2 }));
    expect(fold.failedAt).toBe(null);
  });

  it('is known for each record, with the times of the blocks', () => {
    const events = [
      event('prompt_started', { input: 'hello', turn: 1 }),
      event('block_entered', { path: 'ask', branch: '', place: 'a.tn:3:5' }),
      event('block_left', { path: 'ask', branch: '', ms: 20, tokens: 7 }),
      event('block_entered', { path: 'ask', branch: '', place: 'a.tn:3:5' }),
    ];
    const [, entered, left, again] = events.map((one) => one.number);
    expect([...foldUntil(events, entered ?? 0).running]).toEqual(['A/ask']);
    expect([...foldUntil(events, left ?? 0).running]).toEqual([]);
    expect(foldUntil(events, again ?? 0).visits.get('A/ask')).toEqual([{ entered, left, ms: 20, tokens: 7 }, { entered: again }]);
  });
});

describe('a long run', () => {
  it('is the same when its earlier events come later', () => {
    const events = [
      event('prompt_started', { input: 'hello', turn: 1 }),
      event('block_entered', { path: 'outer' }),
      event('block_entered', { path: 'inner' }),
      event('text', { text: 'one' }),
    ];
    const fold = new RunFold();
    fold.earlier = 2;
    for (const one of events.slice(2)) fold.add(one);
    fold.add(piece({ generation: '7', attempt: 0, offset: 0, text: 'writes' }));
    expect(fold.hasTurn).toBe(false);
    fold.prepend(events.slice(0, 2));
    const whole = folded(...events);
    expect([fold.earlier, fold.hasTurn, fold.number]).toEqual([0, true, whole.number]);
    expect(fold.events).toEqual(whole.events);
    expect(said(fold)).toEqual(said(whole));
    expect(fold.running).toEqual(new Set(['A/outer', 'A/inner']));
    expect(fold.writing.map((one) => one.text)).toEqual(['writes']);
  });
});
