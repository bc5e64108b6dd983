import { describe, expect, it } from 'vitest';
import type { Agent, Block, Edge, KindRule, Schema } from '../api/types';
import { neighbour, placesOf } from '../graph/navigate';
import { hiddenCharacters } from '../text';
import { matchOf } from '../state/commands';
import { curlOf } from './curl';
import { addOps, gapsOf, moveOp, nameProblem, redirectOps, relabelOps, removeOps, waysOf } from './places';
import { enter, readForm } from './schema';

const order: Schema = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    count: { type: 'integer' },
    express: { type: 'boolean' },
    size: { enum: ['small', 'large'] },
    notes: { type: 'array', items: { type: 'string' } },
    remark: { anyOf: [{ type: 'string' }, { type: 'null' }] },
  },
  required: ['name', 'count', 'express', 'size', 'notes', 'remark'],
};

describe('a form', () => {
  it('gives a value of its schema', () => {
    const entered = { '/name': 'Ann', '/count': ' 4 ', '/size': '1', '/notes': '["a"]' };
    expect(readForm(order, entered)).toEqual({
      value: { name: 'Ann', count: 4, express: false, size: 'large', notes: ['a'], remark: null },
    });
  });

  it('shows a value that is to be changed', () => {
    const value = { name: 'Ann', count: 4, express: true, size: 'large', notes: ['a'], remark: null };
    expect(readForm(order, enter(order, value))).toEqual({ value });
    const optional: Schema = { anyOf: [{ type: 'boolean' }, { type: 'null' }] };
    expect(readForm(optional, enter(optional, false))).toEqual({ value: false });
    expect(readForm({ type: 'string' }, enter({ type: 'string' }, 'Ann'))).toEqual({ value: 'Ann' });
  });

  it('names the field whose text is not a value', () => {
    const complete = { '/name': '', '/count': '1', '/size': '0', '/notes': '[]' };
    expect(readForm(order, { ...complete, '/count': '1.5' })).toEqual({ problems: { '/count': 'Expected a whole number.' } });
    expect(readForm(order, { ...complete, '/notes': '[' })).toEqual({ problems: { '/notes': 'Expected JSON.' } });
    expect(readForm(order, { ...complete, '/size': '' })).toEqual({ problems: { '/size': 'A value is missing.' } });
  });

  it('asks for yes or no, and leaves nothing to chance', () => {
    expect(readForm({ type: 'boolean' }, {})).toEqual({ problems: { '': 'Choose yes or no.' } });
    expect(readForm({ type: 'boolean' }, { '': 'false' })).toEqual({ value: false });
    expect(readForm({ anyOf: [{ type: 'boolean' }, { type: 'null' }] }, { '': '0' })).toEqual({ value: true });
    expect(readForm({ anyOf: [{ type: 'boolean' }, { type: 'null' }] }, {})).toEqual({ value: null });
  });

  it('keeps all digits of a number', () => {
    expect(readForm({ type: 'integer' }, { '': '9007199254740993' })).toEqual({ value: '9007199254740993' });
    expect(readForm({ type: 'number' }, { '': '-1.5e3' })).toEqual({ value: -1500 });
  });
});

const block = (name: string, x: number, y: number, edges: Edge[], more: Partial<Block> = {}): Block => ({
  path: name,
  name,
  kind: 'request',
  range: { offset: 0, length: 0 },
  options: [],
  edges,
  at: [x, y],
  size: [100, 50],
  ...more,
});
const next = (target: string): Edge => ({ kind: 'next', target });

const inner = block('step', 20, 320, [], { path: 'each/step' });
const agent: Agent = {
  name: 'Desk',
  range: { offset: 0, length: 0 },
  start: 'sort',
  state: [],
  scratchpad: [],
  functions: [],
  sequences: [
    {
      path: '',
      name: '',
      blocks: [
        block('sort', 100, 0, [{ kind: 'to', label: '"a"', target: 'left' }, { kind: 'else', target: 'right' }], { kind: 'route' }),
        block('left', 0, 100, [next('each')]),
        block('right', 200, 100, [next('sort')]),
        block('each', 0, 250, [], { kind: 'for_each', sequences: [{ path: 'each', name: '', blocks: [inner] }] }),
      ],
    },
  ],
};
const at = (path: string): Block => {
  const found = placesOf(agent).get(path)?.block;
  if (!found) throw new Error(path);
  return found;
};

describe('the arrow keys', () => {
  it('follow edges down and up, and lead to the next box sideways', () => {
    expect(neighbour(agent, at('sort'), 'down')?.name).toBe('left');
    expect(neighbour(agent, at('left'), 'right')?.name).toBe('right');
    expect(neighbour(agent, at('right'), 'left')?.name).toBe('left');
    expect(neighbour(agent, at('right'), 'up')?.name).toBe('sort');
    expect(neighbour(agent, at('left'), 'down')?.name).toBe('each');
  });
  it('enter a block with nested ones, and leave it', () => {
    expect(neighbour(agent, at('each'), 'right')?.path).toBe('each/step');
    expect(neighbour(agent, at('each/step'), 'left')?.path).toBe('each');
    expect(placesOf(agent).get('each/step')?.level).toBe(2);
  });
});

const rules: KindRule[] = [
  {
    name: 'emit', meaning: '', options: [{ name: 'text', required: true, meaning: '' }], parts: [], has_statements: false,
    is_restartable: false,
  },
  { name: 'route', meaning: '', options: [], parts: ['when', 'to', 'on', 'else'], has_statements: false, is_restartable: false },
];
const [emit, route] = rules as [KindRule, KindRule];
const gap = (text: string) => {
  const found = gapsOf(agent).find((one) => one.text === text);
  if (!found) throw new Error(gapsOf(agent).map((one) => one.text).join('; '));
  return found;
};

describe('edits of the graph', () => {
  it('put a block between two others', () => {
    expect(addOps(agent, gap('left and each'), 'say_it', emit, rules)).toEqual([
      {
        op: 'add', agent: 'Desk', name: 'say_it', kind: 'emit', sequence: '', after: 'left',
        options: [{ name: 'text', value: '"say it"' }], next: 'each',
      },
      { op: 'connect', agent: 'Desk', block: 'left', kind: 'next', target: 'say_it' },
    ]);
  });
  it('put a route before the first block', () => {
    expect(addOps(agent, gap('before sort'), 'first', route, rules)).toEqual([
      { op: 'add', agent: 'Desk', name: 'first', kind: 'route', sequence: '' },
      { op: 'connect', agent: 'Desk', block: 'first', kind: 'else', target: 'sort' },
      { op: 'set_start', agent: 'Desk', block: 'first' },
    ]);
  });
  it('redirect an edge that is known by its target by making another', () => {
    expect(redirectOps(agent, at('sort'), at('sort').edges[0] as Edge, 'each')).toEqual([
      { op: 'disconnect', agent: 'Desk', block: 'sort', kind: 'to', label: '"a"', target: 'left' },
      { op: 'connect', agent: 'Desk', block: 'sort', kind: 'to', label: '"a"', target: 'each' },
    ]);
  });
  it('close the gap that a removed block leaves', () => {
    const { ops } = removeOps(agent, at('right'));
    expect(ops).toEqual([
      { op: 'connect', agent: 'Desk', block: 'sort', kind: 'else', target: 'sort' },
      { op: 'delete', agent: 'Desk', block: 'right' },
    ]);
  });
  it('need a name that is free', () => {
    expect(nameProblem(agent, 'left')).toContain('already');
    expect(nameProblem(agent, 'left', 'left')).toBe('');
    expect(nameProblem(agent, '1a')).not.toBe('');
    expect(nameProblem(agent, 'step')).toContain('already');
  });
});

describe('hidden characters', () => {
  it('are found, and visible ones are not', () => {
    expect('a\u202Eb\u200Bc\uFEFFd\u{E0041}'.match(hiddenCharacters)).toEqual(['\u202E', '\u200B', '\uFEFF', '\u{E0041}']);
    expect('plain text\n\té😀 – “”'.match(hiddenCharacters)).toBeNull();
  });
});

describe('the ways of a block', () => {
  const when: Edge = { kind: 'when', label: 'a', target: 'left' };
  const cases = ['1', '2', 'else'].map((label): Edge => ({ kind: 'case', on: 'x', label, target: 'left' }));
  const route = block('route', 0, 0, [when, ...cases, { kind: 'else', target: 'right' }], { kind: 'route' });

  it('are clauses, and the cases of each `on`, without what is always last', () => {
    const ways = waysOf(route);
    expect(ways.get(when)).toEqual({ position: 0, count: 2 });
    expect(cases.map((one) => ways.get(one))).toEqual([{ position: 0, count: 2 }, { position: 1, count: 2 }, undefined]);
    expect(moveOp(agent, route, when, 1)).toEqual({ op: 'move_edge', agent: 'Desk', block: 'route', kind: 'when', label: 'a', position: 1 });
  });

  it('keep their place with another label', () => {
    const second = cases[1] as Edge;
    const ops = relabelOps(agent, route, second, '3', waysOf(route).get(second));
    expect(ops.map((op) => [op.op, op['label'], op['position']])).toEqual([
      ['disconnect', '2', undefined],
      ['connect', '3', undefined],
      ['move_edge', '3', 1],
    ]);
    const chosen: Edge = { kind: 'to', label: '"old"', target: 'left' };
    expect(relabelOps(agent, block('r', 0, 0, [chosen]), chosen, '"new"', { position: 0, count: 1 })).toEqual([
      { op: 'connect', agent: 'Desk', block: 'r', kind: 'to', label: '"new"', target: 'left' },
    ]);
  });
});

describe('a command', () => {
  it('is found by the words of its name', () => {
    expect(matchOf('Go to refund', 'ref go')).toBeGreaterThan(0);
    expect(matchOf('Go to refund', 'go')).toBeGreaterThan(matchOf('Go to refund', 'refund'));
    expect(matchOf('Go to refund', 'refx')).toBe(0);
    expect(matchOf('Save', '')).toBeGreaterThan(0);
  });
});

describe('a run as a command', () => {
  const what = { kind: 'function', description: '', input: true, output: true, takes_text: false } as const;

  it('is one argument of a shell, whatever the input is', () => {
    const command = curlOf('http://127.0.0.1:8088', { ...what, name: 'greet' }, { name: "O'Neil $HOME `x`", times: 1 });
    expect(command.split(' \\\n')).toEqual([
      'curl http://127.0.0.1:8088/v1/runs',
      '  -H "Authorization: Bearer $TOKEN"',
      "  -H 'Content-Type: application/json'",
      `  -d '{"fn":"greet","args":{"name":"O'\\''Neil $HOME \`x\`","times":1}}'`,
    ]);
  });

  it('names an agent with its input', () => {
    expect(curlOf('http://a', { ...what, kind: 'agent', name: 'Desk' }, 'hello')).toContain('{"agent":"Desk","input":"hello"}');
  });
});
