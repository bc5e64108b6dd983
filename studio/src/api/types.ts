// The parts of the protocol that the studio reads. Fields that it does not use are left out.

/** A value of a program as plain JSON. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

export type RunState = 'running' | 'waiting' | 'idle' | 'done' | 'failed' | 'cancelled' | 'forgotten';

export interface Schema {
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema | boolean>;
  required?: string[];
  items?: Schema | boolean;
  enum?: Json[];
  const?: Json;
  anyOf?: (Schema | boolean)[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
}

/** An agent or a function that can be started. */
export interface Startable {
  name: string;
  kind: 'agent' | 'function';
  description: string;
  input: Schema | boolean;
}

export interface Wait {
  wait: string;
  question: string;
  schema: Schema | boolean;
  /** Milliseconds since 1970, as all times. */
  until?: number;
  agent?: string;
}

export interface Unavailable {
  unavailable: 'model' | 'tool';
  name: string;
  reason: string;
  attempts: number;
  next_at?: number;
}

export interface Run {
  run: string;
  state: RunState;
  agent: string;
  records: number;
  created_at: number;
  updated_at: number;
  waits?: Wait[];
  unavailable?: Unavailable[];
}

export interface RunPage {
  runs: Run[];
  next: string | null;
}

/** An event of a run: the common fields, and those of its type. */
export interface RunEvent {
  number?: number;
  run: string;
  agent: string;
  depth: number;
  type: string;
  time: number;
  [field: string]: unknown;
}

export interface ProgramEntry {
  name: string;
  file?: string;
}

/** A position in a text, in bytes of UTF-8. */
export interface ByteRange {
  offset: number;
  length: number;
}

export type Point = [x: number, y: number];

export type EdgeKind = 'next' | 'when' | 'to' | 'case' | 'else' | 'called';

export interface Edge {
  kind: EdgeKind;
  label?: string;
  on?: string;
  target: string;
  points?: Point[];
  text?: string;
  text_at?: Point;
}

export interface Setting {
  name: string;
  value: string;
}

export interface Block {
  path: string;
  name: string;
  kind: string;
  documentation?: string;
  excerpt?: string;
  range: ByteRange;
  item?: { name: string; type: string; list: string };
  options: Setting[];
  statements?: string;
  edges: Edge[];
  sequences?: Sequence[];
  at?: Point;
  size?: Point;
}

export interface Sequence {
  path: string;
  name: string;
  blocks: Block[];
  at?: Point;
  size?: Point;
  dot?: Point;
  /** From the start dot to the first block. */
  dot_points?: Point[];
}

export interface Agent {
  name: string;
  documentation?: string;
  range: ByteRange;
  start: string;
  next_turn?: string;
  sequences: Sequence[];
  size?: Point;
}

export interface Program {
  name: string;
  version: string;
  text: string;
}

/** Bytes to replace in a text. */
export interface Patch {
  offset: number;
  removed: number;
  inserted: string;
}

export type Severity = 'error' | 'warning' | 'note';

export interface Problem {
  severity: Severity;
  code: string;
  message: string;
  offset: number;
  length: number;
  hints?: string[];
}

export interface Draft {
  version: string;
  patches: Patch[];
  agents: Agent[];
  problems: Problem[];
}

/** An edit of a graph, as in docs/guides/graph.md. */
export interface Edit {
  op: string;
  [field: string]: Json;
}

export interface Saved {
  version: string;
  problems: Problem[];
  runs: 'new' | 'old';
}

export type Part = 'when' | 'to' | 'on' | 'else' | 'called' | 'items' | 'branches';

export interface KindRule {
  name: string;
  meaning: string;
  options: { name: string; required: boolean; meaning: string }[];
  parts: Part[];
  has_statements: boolean;
  is_restartable: boolean;
}

export interface Palette {
  kinds: KindRule[];
}

/** A message of the stream over all runs. */
export type Change =
  | { run: string; state: RunState; agent: string; updated_at: number }
  | { program: string; version: string };

/** An entry of the context of a generation. `origin`: where its text comes from, such as `program` or `model, extern fetch`. */
export interface SeenEntry {
  origin: string;
  role: string;
  text: string;
}

export interface Prompt {
  generation: string;
  label: string;
  entries: SeenEntry[];
  messages: { role: string; text: string }[];
  schema?: Schema;
  tokens?: { computed: number; reused: number; generated: number };
}

/** A run as it was after a record. */
export interface Moment {
  stack: { function: string; place: string }[];
  agent?: string;
  state?: Json;
  prompt?: Prompt;
}
