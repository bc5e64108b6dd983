// Generated from docs/protocol/openapi.json by protocol_types.mjs.
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
  /** Where its text comes from, if not from the program. */
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

/** Requests the cancellation of the turn. `turn_cancelled` follows. */
export interface CancelEvent {
  /** The number of the event's record in the run's journal, from 1. Numbers ascend and may have gaps. Only `text_delta`, which is provisional, has none. */
  number: number;
  /** The run's name: 26 characters. A conversation with all its agents is one run. */
  run: string;
  /** The agent or function that the event is about. */
  agent: string;
  /** The number of agents above this one: 0 for the agent that the client talks to. */
  depth: number;
  type: 'cancel';
  /** When it was recorded. */
  time: number;
  /** The reason, which is recorded. */
  reason: string;
}

/** Answers a `wait_for_input`. Each wait can be answered once. */
export interface ResumeWithInputEvent {
  /** The number of the event's record in the run's journal, from 1. Numbers ascend and may have gaps. Only `text_delta`, which is provisional, has none. */
  number: number;
  /** The run's name: 26 characters. A conversation with all its agents is one run. */
  run: string;
  /** The agent or function that the event is about. */
  agent: string;
  /** The number of agents above this one: 0 for the agent that the client talks to. */
  depth: number;
  type: 'resume_with_input';
  /** When it was recorded. */
  time: number;
  /** Identifies the question within the run. */
  wait: string;
  /** The answer, a value of the requested type. */
  input: Json;
}

/** A prompt was accepted, and the turn starts. */
export interface PromptStartedEvent {
  /** The number of the event's record in the run's journal, from 1. Numbers ascend and may have gaps. Only `text_delta`, which is provisional, has none. */
  number: number;
  /** The run's name: 26 characters. A conversation with all its agents is one run. */
  run: string;
  /** The agent or function that the event is about. */
  agent: string;
  /** The number of agents above this one: 0 for the agent that the client talks to. */
  depth: number;
  type: 'prompt_started';
  /** When it was recorded. */
  time: number;
  /** The input; for a function, the arguments in the order of the parameters, with null for a Context. */
  input: Json;
  /** For a conversation: the number of the turn, from 1. */
  turn?: number;
  /** For a function: the model that answers, as it was named to the server. */
  model?: string;
  /** For a function: the SHA-256 of the program that it runs on. */
  program?: string;
}

/** A provisional piece of the answer that the model is writing. Pieces are not recorded: a client that reconnects does not get them again and has to discard those from the lost connection. A slow reader may miss some, which the offset reveals. `text` contains the complete text of a plain answer, `generation_finished` every answer. */
export interface TextDeltaEvent {
  /** The run's name: 26 characters. A conversation with all its agents is one run. */
  run: string;
  /** The agent or function that the event is about. */
  agent: string;
  /** The number of agents above this one: 0 for the agent that the client talks to. */
  depth: number;
  type: 'text_delta';
  /** When it was recorded. */
  time: number;
  /** Identifies the generation within the run; its other events have the same value. */
  generation: string;
  /** Counts from 0. A higher attempt voids all pieces of earlier ones. */
  attempt: number;
  /** Where the piece starts in the attempt's text, in bytes of UTF-8. */
  offset: number;
  /** The piece. */
  text: string;
}

/** A recorded text. With a `generation`: a model's plain text answer, which replaces its pieces; answers of other types are only in `generation_finished`. Without one: a text that the agent emits before its turn ends (`emit`). */
export interface TextEvent {
  /** The number of the event's record in the run's journal, from 1. Numbers ascend and may have gaps. Only `text_delta`, which is provisional, has none. */
  number: number;
  /** The run's name: 26 characters. A conversation with all its agents is one run. */
  run: string;
  /** The agent or function that the event is about. */
  agent: string;
  /** The number of agents above this one: 0 for the agent that the client talks to. */
  depth: number;
  type: 'text';
  /** When it was recorded. */
  time: number;
  /** For a model's answer: the generation, as in the pieces of `text_delta`. */
  generation?: string;
  /** The complete text; for an answer, the sum of its pieces. */
  text: string;
}

/** The program calls an extern, or `now`, `random` or `sleep`. */
export interface ToolCallEvent {
  /** The number of the event's record in the run's journal, from 1. Numbers ascend and may have gaps. Only `text_delta`, which is provisional, has none. */
  number: number;
  /** The run's name: 26 characters. A conversation with all its agents is one run. */
  run: string;
  /** The agent or function that the event is about. */
  agent: string;
  /** The number of agents above this one: 0 for the agent that the client talks to. */
  depth: number;
  type: 'tool_call';
  /** When it was recorded. */
  time: number;
  /** Identifies the call within the run; its result has the same value. */
  call: string;
  /** The function that is called; also `now`, `random`, `sleep`. */
  tool: string;
  /** The arguments in the order of the parameters. */
  arguments: Json;
  /** `FILE:LINE:COLUMN` in the program. */
  place: string;
  /** When the call ends automatically: for `sleep`, and for an extern with a time limit. */
  until?: number;
}

/** The call has returned. */
export interface ToolResultEvent {
  /** The number of the event's record in the run's journal, from 1. Numbers ascend and may have gaps. Only `text_delta`, which is provisional, has none. */
  number: number;
  /** The run's name: 26 characters. A conversation with all its agents is one run. */
  run: string;
  /** The agent or function that the event is about. */
  agent: string;
  /** The number of agents above this one: 0 for the agent that the client talks to. */
  depth: number;
  type: 'tool_result';
  /** When it was recorded. */
  time: number;
  /** Identifies the call within the run; its result has the same value. */
  call: string;
  /** As in the call. */
  tool: string;
  /** The result; null if the call has prompted an agent instead. */
  value: Json;
  /** The call has prompted this agent and waits for it: the value of its turn, in `agent_result`, is the call's value. */
  pause_for_child?: string;
  /** The call has ended the turn that made it: this agent continues the turn, as `handoff` shows. */
  finish_agent?: string;
  /** The duration in milliseconds. */
  ms: number;
}

/** The call has failed; the program may handle the failure and continue. */
export interface ToolErrorEvent {
  /** The number of the event's record in the run's journal, from 1. Numbers ascend and may have gaps. Only `text_delta`, which is provisional, has none. */
  number: number;
  /** The run's name: 26 characters. A conversation with all its agents is one run. */
  run: string;
  /** The agent or function that the event is about. */
  agent: string;
  /** The number of agents above this one: 0 for the agent that the client talks to. */
  depth: number;
  type: 'tool_error';
  /** When it was recorded. */
  time: number;
  /** Identifies the call within the run; its result has the same value. */
  call: string;
  /** As in the call; `ask_within` if no answer arrived in time. */
  tool: string;
  /** The kind of the failure: `Raised`, `Arithmetic`, `Index`, `Conversion`, `ModelRefused`, `ModelCutOff`, `ModelUnusable`, `ModelUnavailable`, `ToolFailed`, `BudgetSpent`, `ContractBroken`, `Cancelled`, `TimedOut`, `ContextFull` or `Untrusted`. */
  kind: string;
  /** What happened, for people. */
  message: string;
  /** What caused the failure: a tool, a model, a contract. May be empty. */
  blame: string;
  /** The duration in milliseconds. */
  ms: number;
}

/** An agent prompts another one and waits for the end of its turn. `agent` and `depth` are those of the prompted agent. */
export interface AgentCallEvent {
  /** The number of the event's record in the run's journal, from 1. Numbers ascend and may have gaps. Only `text_delta`, which is provisional, has none. */
  number: number;
  /** The run's name: 26 characters. A conversation with all its agents is one run. */
  run: string;
  /** The agent or function that the event is about. */
  agent: string;
  /** The number of agents above this one: 0 for the agent that the client talks to. */
  depth: number;
  type: 'agent_call';
  /** When it was recorded. */
  time: number;
  /** Identifies the call within the run; its result has the same value. */
  call: string;
  /** The agent that is prompted. */
  callee: string;
  /** The input of its turn. */
  input: Json;
  /** `FILE:LINE:COLUMN` in the program. */
  place: string;
}

/** The prompted agent's turn has ended. */
export interface AgentResultEvent {
  /** The number of the event's record in the run's journal, from 1. Numbers ascend and may have gaps. Only `text_delta`, which is provisional, has none. */
  number: number;
  /** The run's name: 26 characters. A conversation with all its agents is one run. */
  run: string;
  /** The agent or function that the event is about. */
  agent: string;
  /** The number of agents above this one: 0 for the agent that the client talks to. */
  depth: number;
  type: 'agent_result';
  /** When it was recorded. */
  time: number;
  /** Identifies the call within the run; its result has the same value. */
  call: string;
  /** The agent whose turn has ended. */
  callee: string;
  /** The value of its turn. */
  value: Json;
}

/** The model is asked. */
export interface GenerationStartedEvent {
  /** The number of the event's record in the run's journal, from 1. Numbers ascend and may have gaps. Only `text_delta`, which is provisional, has none. */
  number: number;
  /** The run's name: 26 characters. A conversation with all its agents is one run. */
  run: string;
  /** The agent or function that the event is about. */
  agent: string;
  /** The number of agents above this one: 0 for the agent that the client talks to. */
  depth: number;
  type: 'generation_started';
  /** When it was recorded. */
  time: number;
  /** Identifies the generation within the run; its other events have the same value. */
  generation: string;
  /** `complete` (a function's value), `fill` (missing arguments) or `select`. */
  purpose: string;
  /** The function that is completed or called; empty for `select`. */
  subject: string;
  /** The form of the answer; absent for plain text. */
  schema?: Schema | boolean;
  /** `FILE:LINE:COLUMN` in the program. */
  place: string;
}

/** An attempt was unusable; the model is asked again. */
export interface GenerationRetriedEvent {
  /** The number of the event's record in the run's journal, from 1. Numbers ascend and may have gaps. Only `text_delta`, which is provisional, has none. */
  number: number;
  /** The run's name: 26 characters. A conversation with all its agents is one run. */
  run: string;
  /** The agent or function that the event is about. */
  agent: string;
  /** The number of agents above this one: 0 for the agent that the client talks to. */
  depth: number;
  type: 'generation_retried';
  /** When it was recorded. */
  time: number;
  /** Identifies the generation within the run; its other events have the same value. */
  generation: string;
  /** The attempt that was unusable; counts from 0 for each reason. */
  attempt: number;
  /** The model's answer, if it could not be used. */
  answer?: string;
  /** Why the model is asked again, for people. May be empty. */
  reason: string;
  /** The earliest time of the next attempt, if the request is sent again because no answer arrived. */
  next_at?: number;
}

/** The model's answer, parsed and checked, or its failure. */
export interface GenerationFinishedEvent {
  /** The number of the event's record in the run's journal, from 1. Numbers ascend and may have gaps. Only `text_delta`, which is provisional, has none. */
  number: number;
  /** The run's name: 26 characters. A conversation with all its agents is one run. */
  run: string;
  /** The agent or function that the event is about. */
  agent: string;
  /** The number of agents above this one: 0 for the agent that the client talks to. */
  depth: number;
  type: 'generation_finished';
  /** When it was recorded. */
  time: number;
  /** Identifies the generation within the run; its other events have the same value. */
  generation: string;
  /** `complete` (a function's value), `fill` (missing arguments) or `select`. */
  purpose: string;
  /** The function that is completed or called; empty for `select`. */
  subject: string;
  /** For `complete` the value; for `fill` and `select` a list of the missing arguments. Absent after a failure. */
  value?: Json;
  /** For `select`: the index of the chosen clause, from 0; each tool of a set counts as one. */
  clause?: number;
  /** For `select`: the chosen tool, if it belongs to a set. */
  tool?: string;
  /** After a failure: its kind, as in `turn_failed`. */
  kind?: string;
  /** After a failure: what happened. */
  message?: string;
  /** The model's name as reported by the backend; empty if it reported none. */
  model: string;
  /** The number of model calls, including repairs. */
  model_calls: number;
  /** All tokens that count towards a budget. */
  tokens: number;
  /** Tokens of the prompt that were computed. */
  computed: number;
  /** Tokens of the prompt that were cached. */
  reused: number;
  /** Tokens of the answer. */
  generated: number;
  /** The duration in milliseconds. */
  ms: number;
}

/** A model's answer has the right form but violates a contract. The function's strategy determines what follows. */
export interface AnswerRefusedEvent {
  /** The number of the event's record in the run's journal, from 1. Numbers ascend and may have gaps. Only `text_delta`, which is provisional, has none. */
  number: number;
  /** The run's name: 26 characters. A conversation with all its agents is one run. */
  run: string;
  /** The agent or function that the event is about. */
  agent: string;
  /** The number of agents above this one: 0 for the agent that the client talks to. */
  depth: number;
  type: 'answer_refused';
  /** When it was recorded. */
  time: number;
  /** Identifies the call within the run; its result has the same value. */
  call: string;
  /** Identifies the generation within the run; its other events have the same value. */
  generation: string;
  /** The function that declares the contract. */
  function: string;
  /** What does not hold, joined by `; `. */
  reasons: string;
  /** `FILE:LINE:COLUMN` in the program. */
  place: string;
}

/** A block of an agent starts. */
export interface BlockEnteredEvent {
  /** The number of the event's record in the run's journal, from 1. Numbers ascend and may have gaps. Only `text_delta`, which is provisional, has none. */
  number: number;
  /** The run's name: 26 characters. A conversation with all its agents is one run. */
  run: string;
  /** The agent or function that the event is about. */
  agent: string;
  /** The number of agents above this one: 0 for the agent that the client talks to. */
  depth: number;
  type: 'block_entered';
  /** When it was recorded. */
  time: number;
  /** The block's name. */
  block: string;
  /** The names of the enclosing blocks, outermost first, and its own, joined by `/`. */
  path: string;
  /** The parallel branch; empty outside of branches. A block is left in the branch in which it was entered. */
  branch: string;
  /** `FILE:LINE:COLUMN` in the program. */
  place: string;
}

/** A block has ended. A block that ends with a failure or a cancellation may have no such event; the end of the turn implies it. */
export interface BlockLeftEvent {
  /** The number of the event's record in the run's journal, from 1. Numbers ascend and may have gaps. Only `text_delta`, which is provisional, has none. */
  number: number;
  /** The run's name: 26 characters. A conversation with all its agents is one run. */
  run: string;
  /** The agent or function that the event is about. */
  agent: string;
  /** The number of agents above this one: 0 for the agent that the client talks to. */
  depth: number;
  type: 'block_left';
  /** When it was recorded. */
  time: number;
  /** The block's name. */
  block: string;
  /** The names of the enclosing blocks, outermost first, and its own, joined by `/`. */
  path: string;
  /** The parallel branch; empty outside of branches. A block is left in the branch in which it was entered. */
  branch: string;
  /** The time between the two events, in milliseconds. */
  ms?: number;
  /** The tokens of the model's answers in between, including those of its branches and of agents that it has called. */
  tokens?: number;
}

/** A person is asked. Everything that depends on the answer waits, for as long as necessary. Answer with `resume_with_input`. */
export interface WaitForInputEvent {
  /** The number of the event's record in the run's journal, from 1. Numbers ascend and may have gaps. Only `text_delta`, which is provisional, has none. */
  number: number;
  /** The run's name: 26 characters. A conversation with all its agents is one run. */
  run: string;
  /** The agent or function that the event is about. */
  agent: string;
  /** The number of agents above this one: 0 for the agent that the client talks to. */
  depth: number;
  type: 'wait_for_input';
  /** When it was recorded. */
  time: number;
  /** Identifies the question within the run. */
  wait: string;
  /** The question to a person. */
  question: string;
  /** The form of the answer. */
  schema: Schema | boolean;
  /** The agents that wait for the one that asks, its caller first: a list of `depth` names. */
  callers?: Json;
  /** `FILE:LINE:COLUMN` in the program; absent if a tool asks. */
  place?: string;
  /** The deadline, after which the question fails with `TimedOut`. */
  until?: number;
}

/** The agent hands its turn off to another one. */
export interface HandoffEvent {
  /** The number of the event's record in the run's journal, from 1. Numbers ascend and may have gaps. Only `text_delta`, which is provisional, has none. */
  number: number;
  /** The run's name: 26 characters. A conversation with all its agents is one run. */
  run: string;
  /** The agent or function that the event is about. */
  agent: string;
  /** The number of agents above this one: 0 for the agent that the client talks to. */
  depth: number;
  type: 'handoff';
  /** When it was recorded. */
  time: number;
  /** The agent that continues the turn, at the same depth and for the same caller. */
  to: string;
  /** The input of its turn. */
  input: Json;
}

/** The turn that is ending has changed the agent's state. A turn that fails or is cancelled changes nothing. */
export interface StateChangedEvent {
  /** The number of the event's record in the run's journal, from 1. Numbers ascend and may have gaps. Only `text_delta`, which is provisional, has none. */
  number: number;
  /** The run's name: 26 characters. A conversation with all its agents is one run. */
  run: string;
  /** The agent or function that the event is about. */
  agent: string;
  /** The number of agents above this one: 0 for the agent that the client talks to. */
  depth: number;
  type: 'state_changed';
  /** When it was recorded. */
  time: number;
  /** An object with the new values of the fields that the turn has changed; after an agent's first turn, of all fields. */
  entries: Json;
}

/** The turn has ended with a value. This is one of the three ways a turn can end. */
export interface TurnEndEvent {
  /** The number of the event's record in the run's journal, from 1. Numbers ascend and may have gaps. Only `text_delta`, which is provisional, has none. */
  number: number;
  /** The run's name: 26 characters. A conversation with all its agents is one run. */
  run: string;
  /** The agent or function that the event is about. */
  agent: string;
  /** The number of agents above this one: 0 for the agent that the client talks to. */
  depth: number;
  type: 'turn_end';
  /** When it was recorded. */
  time: number;
  /** The value that the agent or function returned. */
  value: Json;
  /** For an agent with state: its state after the turn. */
  state?: Json;
}

/** The turn was cancelled. */
export interface TurnCancelledEvent {
  /** The number of the event's record in the run's journal, from 1. Numbers ascend and may have gaps. Only `text_delta`, which is provisional, has none. */
  number: number;
  /** The run's name: 26 characters. A conversation with all its agents is one run. */
  run: string;
  /** The agent or function that the event is about. */
  agent: string;
  /** The number of agents above this one: 0 for the agent that the client talks to. */
  depth: number;
  type: 'turn_cancelled';
  /** When it was recorded. */
  time: number;
  /** The reason given by the one who cancelled the turn. */
  reason: string;
}

/** An unhandled failure has ended the turn. */
export interface TurnFailedEvent {
  /** The number of the event's record in the run's journal, from 1. Numbers ascend and may have gaps. Only `text_delta`, which is provisional, has none. */
  number: number;
  /** The run's name: 26 characters. A conversation with all its agents is one run. */
  run: string;
  /** The agent or function that the event is about. */
  agent: string;
  /** The number of agents above this one: 0 for the agent that the client talks to. */
  depth: number;
  type: 'turn_failed';
  /** When it was recorded. */
  time: number;
  /** The kind of the failure: `Raised`, `Arithmetic`, `Index`, `Conversion`, `ModelRefused`, `ModelCutOff`, `ModelUnusable`, `ModelUnavailable`, `ToolFailed`, `BudgetSpent`, `ContractBroken`, `Cancelled`, `TimedOut`, `ContextFull` or `Untrusted`. */
  kind: string;
  /** What happened, for people. */
  message: string;
  /** What caused the failure: a tool, a model, a contract. May be empty. */
  blame: string;
  /** `FILE:LINE:COLUMN` in the program. */
  place: string;
}

/** The conversation was upgraded to another program, starting with its next turn. */
export interface ProgramTakenEvent {
  /** The number of the event's record in the run's journal, from 1. Numbers ascend and may have gaps. Only `text_delta`, which is provisional, has none. */
  number: number;
  /** The run's name: 26 characters. A conversation with all its agents is one run. */
  run: string;
  /** The agent or function that the event is about. */
  agent: string;
  /** The number of agents above this one: 0 for the agent that the client talks to. */
  depth: number;
  type: 'program_taken';
  /** When it was recorded. */
  time: number;
  /** The SHA-256 of the new program. */
  program: string;
  /** For an agent with state: its state in that program. */
  state?: Json;
}

/** A model or a tool cannot be reached. The run waits and tries again; the end of the generation or of the call shows that it was reached. */
export interface ServiceUnavailableEvent {
  /** The number of the event's record in the run's journal, from 1. Numbers ascend and may have gaps. Only `text_delta`, which is provisional, has none. */
  number: number;
  /** The run's name: 26 characters. A conversation with all its agents is one run. */
  run: string;
  /** The agent or function that the event is about. */
  agent: string;
  /** The number of agents above this one: 0 for the agent that the client talks to. */
  depth: number;
  type: 'service_unavailable';
  /** When it was recorded. */
  time: number;
  /** The generation or the call that waits, named as in its other events. */
  effect: string;
  /** `model` or `tool`. */
  service: string;
  /** The model's name, or the tool's. */
  name: string;
  /** What happened, for people. */
  message: string;
  /** Counts from 0 while the service cannot be reached. */
  attempt: number;
  /** When it could not be reached for the first time. */
  since: number;
  /** When it is tried again. Without it the run waits to be resumed: the time for retries is over. */
  next_at?: number;
}

/** An event of a later version, which a reader ignores. */
export interface UnrecognizedEvent {
  /** The number of the event's record in the run's journal, from 1. Numbers ascend and may have gaps. Only `text_delta`, which is provisional, has none. */
  number?: number;
  /** The run's name: 26 characters. A conversation with all its agents is one run. */
  run: string;
  /** The agent or function that the event is about. */
  agent: string;
  /** The number of agents above this one: 0 for the agent that the client talks to. */
  depth: number;
  type: string;
  /** When it was recorded. */
  time: number;
}

export type Event = CancelEvent | ResumeWithInputEvent | PromptStartedEvent | TextDeltaEvent | TextEvent | ToolCallEvent | ToolResultEvent | ToolErrorEvent | AgentCallEvent | AgentResultEvent | GenerationStartedEvent | GenerationRetriedEvent | GenerationFinishedEvent | AnswerRefusedEvent | BlockEnteredEvent | BlockLeftEvent | WaitForInputEvent | HandoffEvent | StateChangedEvent | TurnEndEvent | TurnCancelledEvent | TurnFailedEvent | ProgramTakenEvent | ServiceUnavailableEvent | UnrecognizedEvent;
