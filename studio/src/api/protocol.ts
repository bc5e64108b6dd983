// Generated from docs/protocol/openapi.json by studio/protocol_types.mjs, which is run again when that has changed. Names are those
// of its schemas, in its order: what requests and replies contain, then lists of words. Events of a run: events.ts.
import type { Event } from './events';
import type { Json, Schema } from './values';

export interface Error {
  error: {
    message: string;
    type: string;
    param?: string;
    code: string;
  };
}

export type Text = string;

/** A JSON Schema. */
export type JsonSchema = Schema | boolean;

/** An agent or a function that can be started. */
export interface Startable {
  name: string;
  kind: 'agent' | 'function';
  description: string;
  input: JsonSchema;
  output: JsonSchema;
  takes_text: boolean;
}

export interface Agents {
  agents: Startable[];
}

export interface Health {
  status: 'ok';
}

export interface Readiness {
  status: 'ready';
}

export type Document = { [name: string]: Json };

export interface Budget {
  calls?: number;
  tokens?: number;
  instructions?: number;
  depth?: number;
  /** As in 30s, or milliseconds. */
  time?: string | number;
}

export interface Started {
  run: string;
}

export interface Accepted {
  run: string;
  wait?: string;
}

/** A question to a person that is open. */
export interface Wait {
  wait: string;
  question: string;
  /** The type of the answer, as programs write it. */
  type: string;
  schema: JsonSchema;
  /** The deadline, in milliseconds since 1970, as all times. */
  until?: number;
  agent?: string;
  callers?: string[];
  /** What a person is asked to approve. The answer is this value, `yes`, another value, or `null` or `no`. */
  value?: Json;
  /** What that value depends on, such as `extern read_inbox`; empty for the program's own. */
  sources?: string[];
}

/** A model or a tool that cannot be reached. */
export interface Unavailable {
  unavailable: 'model' | 'tool';
  name: string;
  reason: string;
  attempts: number;
  since: number;
  /** Without it, it is not tried again automatically. */
  next_at?: number;
  effect: string;
}

export interface Run {
  run: string;
  state: RunState;
  agent: string;
  /** How many the run's journal has. */
  records: number;
  /** In milliseconds since 1970, as all times. */
  created_at: number;
  updated_at: number;
  wakes_at?: number;
  waits?: Wait[];
  unavailable?: Unavailable[];
  /** When what the run sleeps for ends, earliest first; at most 100 times. */
  timers?: number[];
  /** Why no server continues the run: what those lack that have tried. */
  stalled?: string;
  end?: Event | null;
}

export interface RunList {
  runs: Run[];
  /** The parameter `after` of the next page. */
  next: string | null;
}

export type EventList = Event[];

/** The file of a program has other contents. */
export interface ProgramChange {
  program: string;
  /** Null if the file cannot be read. */
  version: string | null;
}

/** Too many changes have come at once: read everything again. */
export interface MissedChanges {
  missed: true;
}

/** An event of the stream over all runs and programs. */
export type Change = Run | ProgramChange | MissedChanges;

export interface ForkRequest {
  /** A record; by default the last one. */
  at?: number;
  budget?: Budget;
  /** Of the changed program. */
  text?: string | null;
  dry_run?: boolean | null;
}

/** A request of a run, by what it requests and where. */
export interface RequestPlace {
  kind: string;
  name: string;
  place: string;
  /** Of its outcome. */
  record?: number;
}

/** The first request that differs from the record. */
export interface Parting {
  kind: string;
  name: string;
  place: string;
  record?: number;
  recorded?: RequestPlace;
}

/** What a fork would do. Without counts, its text has errors: `problems`. */
export interface ForkEstimate {
  problems: Problem[];
  /** Outcomes that are taken from the record. */
  taken?: number;
  model_requests?: number;
  tool_calls?: number;
  questions?: number;
  requests?: RequestPlace[];
  /** Whether these are all requests until the run ends or waits. */
  complete?: boolean;
  turns_left?: number;
  failure?: string;
  parts?: Parting;
}

export type Fork = Started | ForkEstimate;

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
  what: DifferenceKind;
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

/** The text of the program with which a run continues. */
export interface RunProgram {
  /** Its name among the programs, if it is one of them. */
  program?: string;
  file: string;
  text: string;
}

export interface Report {
  name: string;
  type: string;
  bytes: number;
}

export interface Reports {
  reports: Report[];
}

/** A variable of a call. Of a long value only the start of its text is there: `cut`. */
export interface Variable {
  name: string;
  value?: Json;
  cut?: string;
  /** Where it comes from, with all its parts, if not from the program. */
  origin?: string;
}

/** A state in which a `pursue` is, as the value of Variable. */
export interface PursuitState {
  /** That has led to it, from 1 in the order of the plan's actions; 0: it is the initial one. */
  action: number;
  value?: Json;
  cut?: string;
}

/** A `pursue` that has begun and not ended. */
export interface Pursuit {
  /** LINE:COLUMN in the call's file, as the plan's place has it. */
  place: string;
  /** Several with a `width`. */
  states: PursuitState[];
}

export interface StackCall {
  function: string;
  /** FILE:LINE:COLUMN */
  place: string;
  variables: Variable[];
  pursuits?: Pursuit[];
}

/** An entry of the context of a generation. */
export interface SeenEntry {
  /** Where its text comes from, such as `program` or `model, extern fetch`. */
  origin: string;
  role: 'program' | 'instructions' | 'person' | 'assistant' | 'requirement' | 'refusal';
  text: string;
}

export interface PromptMessage {
  role: MessageRole;
  text: string;
}

export interface TokenCounts {
  computed: number;
  reused: number;
  generated: number;
  forced: number;
}

/** What a model was sent for a generation. */
export interface Prompt {
  generation: string;
  label: string;
  entries: SeenEntry[];
  messages: PromptMessage[];
  schema?: JsonSchema;
  tokens?: TokenCounts;
}

export interface AgentState {
  state?: { [name: string]: Json };
  scratchpad?: { [name: string]: Json };
}

/** A run as it was after a record. */
export interface Moment {
  /** The innermost call first. */
  stack: StackCall[];
  agent?: string;
  state?: { [name: string]: Json };
  scratchpad?: { [name: string]: Json };
  before?: AgentState;
  prompt?: Prompt;
}

/** A part of a text, in bytes of UTF-8. */
export interface ByteRange {
  offset: number;
  length: number;
}

/** x and y, or width and height, in pixels from the upper left corner of the agent. */
export type Point = [number, number];

export interface Edge {
  kind: EdgeKind;
  label?: string;
  on?: string;
  /** The name of a block of the same sequence. */
  target: string;
  /** A curve with vertical ends leads through them. */
  points?: Point[];
  /** The label in one line. */
  text?: string;
  text_at?: Point;
  passage?: Passage;
}

export interface Setting {
  name: string;
  value: string;
}

/** An entry of `state` or `scratchpad`. */
export interface Field {
  name: string;
  type: string;
  value: string;
  documentation?: string;
}

/** What a file or an agent declares. */
export interface Declaration {
  kind: string;
  name: string;
  documentation?: string;
  range: ByteRange;
}

/** What a for_each iterates over. */
export interface Item {
  name: string;
  type: string;
  list: string;
}

export interface Block {
  /** As in the events `block_entered` and `block_left`. */
  path: string;
  name: string;
  kind: string;
  documentation?: string;
  excerpt?: string;
  range: ByteRange;
  item?: Item;
  options: Setting[];
  statements?: string;
  edges: Edge[];
  sequences?: Sequence[];
  at?: Point;
  size?: Point;
}

/** Blocks that are connected by edges. */
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
  /** The first block of a conversation. */
  start: string;
  next_turn?: string;
  state: Field[];
  scratchpad: Field[];
  instructions?: string;
  functions: Declaration[];
  sequences: Sequence[];
  size?: Point;
  /** Of calls that are too many to draw: how many there are. */
  left_out?: number;
}

export interface Graph {
  version: string;
  agents: Agent[];
  declarations: Declaration[];
}

/** An edit of a graph: docs/guides/graph.md says which fields each `op` has. */
export interface Edit {
  op: EditKind;
  agent?: string | null;
  block?: string | null;
  name?: string;
  kind?: string | null;
  sequence?: string | null;
  after?: string | null;
  documentation?: string | null;
  options?: Setting[];
  item?: Item;
  statements?: string | null;
  next?: string | null;
  label?: string | null;
  on?: string | null;
  target?: string | null;
  option?: string;
  value?: string | null;
  mode?: string | null;
  position?: number;
  branch?: string;
  section?: 'state' | 'scratchpad' | null;
  field?: string;
  type?: string | null;
  text?: string | null;
  declaration?: string | null;
  source?: string;
  offset?: number;
  removed?: string;
  inserted?: string;
}

export interface ProgramEntry {
  name: string;
  file: string;
}

export interface Programs {
  programs: ProgramEntry[];
}

export interface Program {
  name: string;
  version: string;
  text: string;
  graph: Graph;
  /** Why the text cannot be edited as a graph. */
  problem?: string;
  inverse?: Edit[];
}

export type Severity = 'error' | 'warning' | 'note';

/** Bytes to replace in a text. */
export interface Patch {
  offset: number;
  /** How many bytes. */
  removed: number;
  inserted: string;
}

export interface ProblemLabel {
  file: string;
  line: number;
  column: number;
  end_line: number;
  end_column: number;
  offset: number;
  length: number;
  text: string;
}

export interface ProblemFix {
  file: string;
  line: number;
  column: number;
  end_line: number;
  end_column: number;
  offset: number;
  length: number;
  replacement: string;
}

/** As `tenon check --json` prints it. One without a place concerns no part of the text. */
export interface Problem {
  code: string;
  severity: Severity;
  message: string;
  file?: string;
  line?: number;
  column?: number;
  end_line?: number;
  end_column?: number;
  /** In bytes of UTF-8, as the length. */
  offset?: number;
  length?: number;
  labels: ProblemLabel[];
  hints: string[];
  fix?: ProblemFix;
}

export interface Draft {
  version: string;
  /** What the edits change in the given text. */
  patches: Patch[];
  agents: Agent[];
  /** What calls what in the file, as an agent whose blocks are functions. */
  calls: Agent;
  declarations: Declaration[];
  problems: Problem[];
}

export interface Saved {
  version: string;
  problems: Problem[];
  /** Whether new runs use this text, or the last one without errors. */
  runs: 'new' | 'old';
}

/** A name that can be written at a place of a text. */
export interface Suggestion {
  label: string;
  kind: NameKind;
  detail?: string;
  documentation?: string;
  /** What is written for it, if not the label. */
  inserted?: string;
}

export interface Completions {
  /** In bytes of UTF-8, as the other places. */
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

/** What would be sent to a model. Data of a run appear as `{{ name }}`. */
export interface SitePrompt {
  kind: string;
  function: string;
  line: number;
  column: number;
  note?: string;
  schema?: JsonSchema;
  /** Forms that the answer can have in other runs. */
  other_forms: number;
  messages: PromptMessage[];
}

export interface SitePrompts {
  /** Then there are no prompts. */
  has_errors: boolean;
  prompts: SitePrompt[];
  tools: string[];
}

/** A condition of a step, and what is known about it in the state before. */
export interface Requirement {
  words: string;
  judged: boolean;
  relation: Relation;
  by: DecidedBy;
  reason?: string;
}

export interface PlanAction {
  name: string;
  takes: string;
  gives: string;
  reachable: boolean;
}

export interface PlanStep {
  from: string;
  to: string;
  passage: Passage;
  by: DecidedBy;
  requirements: Requirement[];
}

export interface MissingAction {
  of: string;
  words: string;
}

/** The states and steps of a `pursue`. A state is `start`, an action, or `goal`. */
export interface Plan {
  place: string;
  goal: string;
  start_type: string;
  goal_type: string;
  actions: PlanAction[];
  edges: PlanStep[];
  dead: string[];
  missing: MissingAction[];
  goal_entailed: boolean;
  range: ByteRange;
  graph: Agent;
}

export interface Plans {
  /** Then there are no plans. */
  has_errors: boolean;
  plans: Plan[];
}

export interface OptionRule {
  name: string;
  required: boolean;
  meaning: string;
}

/** A kind of block. */
export interface KindRule {
  name: string;
  meaning: string;
  options: OptionRule[];
  parts: Part[];
  has_statements: boolean;
  is_restartable: boolean;
}

export interface Palette {
  kinds: KindRule[];
}

export interface Model {
  id: string;
  object: 'model';
  created: number;
  owned_by: string;
}

export interface Models {
  object: 'list';
  data: Model[];
}

export interface OpenWait {
  run: string;
  wait: string;
  schema: JsonSchema;
}

export interface ChatCompletion {
  id: string;
  object: 'chat.completion';
  created: number;
  model: string;
  conversation: string;
  wait?: OpenWait;
  choices: {
    index: number;
    finish_reason: string;
    message: {
      role: 'assistant';
      content: string;
    };
  }[];
  usage: {
    prompt_tokens: number;
    completion_tokens: number;
    total_tokens: number;
  };
}

export interface Response {
  id: string;
  object: 'response';
  created_at: number;
  status: 'in_progress' | 'completed' | 'failed' | 'cancelled';
  model: string;
  background?: boolean;
  previous_response_id?: string | null;
  conversation: {
    id: string;
  };
  wait?: OpenWait;
  error: {
    code: string;
    message: string;
  } | null;
  output: {
    type: 'message';
    role: 'assistant';
    content: {
      type: 'output_text';
      text: string;
    }[];
  }[];
  usage: {
    input_tokens: number;
    output_tokens: number;
    total_tokens: number;
  } | null;
}

export type RunState = 'running' | 'waiting' | 'idle' | 'done' | 'failed' | 'cancelled' | 'forgotten';

export type DifferenceKind = 'input' | 'choice' | 'argument' | 'context' | 'request' | 'pause' | 'result' | 'output' | 'place' | 'tools' | 'control';

export type MessageRole = 'system' | 'user' | 'assistant';

export type EdgeKind = 'next' | 'when' | 'to' | 'case' | 'else' | 'called';

export type EditKind = 'add' | 'connect' | 'disconnect' | 'rename' | 'delete' | 'set_option' | 'set_statements' | 'move' | 'set_start' | 'set_next_turn' | 'add_field' | 'set_field' | 'rename_field' | 'remove_field' | 'set_instructions' | 'set_documentation' | 'add_branch' | 'rename_branch' | 'remove_branch' | 'move_edge' | 'set_item' | 'add_declaration' | 'rename_declaration' | 'remove_declaration' | 'replace';

export type NameKind = 'variable' | 'field' | 'method' | 'function' | 'extern' | 'agent' | 'type' | 'case' | 'module' | 'value' | 'keyword' | 'block' | 'block_kind' | 'option';

export type Passage = 'always' | 'perhaps' | 'undecided' | 'never';

export type Relation = 'open' | 'entails' | 'contradicts';

export type DecidedBy = 'undecided' | 'types' | 'words' | 'checker' | 'model' | 'run';

export type Part = 'when' | 'to' | 'on' | 'else' | 'called' | 'items' | 'branches';
