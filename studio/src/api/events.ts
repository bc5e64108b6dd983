// Generated from docs/protocol/openapi.json by studio/protocol_types.mjs, which is run again when that has changed. Names are those
// of its schemas: BlockLeftEvent is event.block_left. What each means: docs/protocol/events.md.
import type { Json, Schema } from './values';

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
  /** Of a call that acts: what it depends on, such as `approved` or `extern read_inbox`: a list of texts. Absent for the program's own. */
  sources?: Json;
  /** Of a call that acts: why it may be made: a list of `approved` (by a person), `endorsed`, `narrow` (a narrow answer of a model), `tried` (that nothing has failed before was charged), or `trusted` alone, when it needs none of them. */
  allowed?: Json;
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
  /** The kind of the failure: `Raised`, `Arithmetic`, `Index`, `Conversion`, `ModelRefused`, `ModelCutOff`, `ModelUnusable`, `ModelUnavailable`, `ToolFailed`, `BudgetSpent`, `ContractBroken`, `Cancelled`, `TimedOut`, `ContextFull`, `Untrusted` or `Refused`. */
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
  /** The value that a person is asked to approve. The answer is `yes`, `no`, or another value. */
  value?: Json;
  /** What that value depends on, such as `extern read_inbox`: a list of texts. Empty for the program's own. */
  sources?: Json;
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
  /** The kind of the failure: `Raised`, `Arithmetic`, `Index`, `Conversion`, `ModelRefused`, `ModelCutOff`, `ModelUnusable`, `ModelUnavailable`, `ToolFailed`, `BudgetSpent`, `ContractBroken`, `Cancelled`, `TimedOut`, `ContextFull`, `Untrusted` or `Refused`. */
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

/** A call that acts was refused, or a value that must be trusted, because it depends on what is not. Nothing has left the program, which may handle the failure (`Untrusted`) and continue. */
export interface FlowRefusedEvent {
  /** The number of the event's record in the run's journal, from 1. Numbers ascend and may have gaps. Only `text_delta`, which is provisional, has none. */
  number: number;
  /** The run's name: 26 characters. A conversation with all its agents is one run. */
  run: string;
  /** The agent or function that the event is about. */
  agent: string;
  /** The number of agents above this one: 0 for the agent that the client talks to. */
  depth: number;
  type: 'flow_refused';
  /** When it was recorded. */
  time: number;
  /** The extern that is not called, or the function that takes or returns a value that must be trusted. */
  function: string;
  /** What must be trusted, such as `` `to` of `send_mail` `` or `` whether `send_mail` is called ``. */
  what: string;
  /** What it depends on that is not trusted, such as `extern read_inbox`: a list of texts. */
  sources: Json;
  /** `FILE:LINE:COLUMN` in the program. */
  place: string;
  /** How often this has happened before the run waited; absent for once. */
  times?: number;
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

export type Event = CancelEvent | ResumeWithInputEvent | PromptStartedEvent | TextDeltaEvent | TextEvent | ToolCallEvent | ToolResultEvent | ToolErrorEvent | AgentCallEvent | AgentResultEvent | GenerationStartedEvent | GenerationRetriedEvent | GenerationFinishedEvent | AnswerRefusedEvent | BlockEnteredEvent | BlockLeftEvent | WaitForInputEvent | HandoffEvent | StateChangedEvent | TurnEndEvent | TurnCancelledEvent | TurnFailedEvent | ProgramTakenEvent | ServiceUnavailableEvent | FlowRefusedEvent | UnrecognizedEvent;
