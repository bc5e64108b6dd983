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
  /** Of a step of a plan: whether it can be taken. */
  passage?: Passage;
}

export type Passage = 'always' | 'perhaps' | 'undecided' | 'never';

export interface Setting {
  name: string;
  value: string;
}

/** An entry of `state` or `scratchpad`. */
export interface Field extends Setting {
  type: string;
  documentation?: string;
}

/** What a file or an agent declares. */
export interface Declaration {
  kind: string;
  name: string;
  documentation?: string;
  range: ByteRange;
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
  state: Field[];
  scratchpad: Field[];
  instructions?: string;
  functions: Declaration[];
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
  /** What calls what in the file, as an agent whose blocks are functions. */
  calls: Agent & { left_out?: number };
  declarations: Declaration[];
  problems: Problem[];
}

/** A name that can be written at a place of a text. */
export interface Suggestion {
  label: string;
  kind: string;
  detail?: string;
  documentation?: string;
  /** What is written for it, if not the label. */
  inserted?: string;
}

export interface Completions {
  from: number;
  to: number;
  /** Whether these are all. */
  complete: boolean;
  suggestions: Suggestion[];
}

/** What the name at a place means; without a title, there is none. */
export interface Meaning {
  from?: number;
  to?: number;
  title?: string;
  documentation?: string;
}

/** What would be sent to a model at a place of a program. Data of a run appear as `{{ name }}`. */
export interface SitePrompt {
  kind: string;
  function: string;
  line: number;
  column: number;
  note?: string;
  messages: { role: string; text: string }[];
  schema?: Schema;
  /** How many other forms the answer can have, which depends on the run. */
  other_forms: number;
}

export interface SitePrompts {
  has_errors: boolean;
  prompts: SitePrompt[];
}

/** A condition of a step, and what is known about it in the state before. */
export interface Requirement {
  words: string;
  judged: boolean;
  relation: string;
  by: string;
  reason?: string;
}

/** The states and steps of a `pursue`. */
export interface Plan {
  place: string;
  goal: string;
  start_type: string;
  goal_type: string;
  actions: { name: string; takes: string; gives: string; reachable: boolean }[];
  edges: { from: string; to: string; passage: Passage; by: string; requirements: Requirement[] }[];
  dead: string[];
  missing: { of: string; words: string }[];
  goal_entailed: boolean;
  range: ByteRange;
  graph: Agent;
}

export interface Plans {
  has_errors: boolean;
  plans: Plan[];
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
  tokens?: { computed: number; reused: number; generated: number; forced: number };
}

/** A variable of a call. Of a long value only the start of its text is there. */
export interface Variable {
  name: string;
  value?: Json;
  cut?: string;
  /** Where its text comes from, if not from the program. */
  origin?: string;
}

export interface StackCall {
  function: string;
  place: string;
  variables?: Variable[];
}

export interface AgentState {
  state?: Json;
  scratchpad?: Json;
}

/** A run as it was after a record. `before`: what that record has changed, as it was. */
export interface Moment extends AgentState {
  stack: StackCall[];
  agent?: string;
  before?: AgentState;
  prompt?: Prompt;
}

/** The text of the program with which a run continues. `program`: its name in the studio, if it has one. */
export interface RunProgram {
  program?: string;
  file: string;
  text: string;
}

export interface ForkRequest {
  at: number;
  /** Of a changed program. */
  text?: string;
}

/** A request of a run, by what it asks and where. */
export interface RequestPlace {
  kind: string;
  name: string;
  place: string;
  record?: number;
}

/** What a fork would do. Without counts, its text has errors: `problems`. */
export interface ForkEstimate {
  problems: Problem[];
  taken?: number;
  model_requests?: number;
  tool_calls?: number;
  questions?: number;
  parts?: RequestPlace & { recorded?: RequestPlace };
  complete?: boolean;
  failure?: string;
  turns_left?: number;
}

export interface Replayed {
  same: boolean;
  ended: boolean;
  difference?: string;
  value?: Json;
  failure?: string;
}

export interface DifferenceSide {
  value?: Json;
  call?: number;
  record?: number;
}

export interface DifferencePart {
  what: string;
  turn: number;
  tool?: string;
  at?: string;
  index?: number;
  a: DifferenceSide;
  b: DifferenceSide;
}

export interface RunDifference {
  a: string;
  b: string;
  same: boolean;
  differences: DifferencePart[];
  /** Further ones, which are only counted. */
  left_out: number;
}
