#include "protocol/event_types.h"

#include <array>

#include "base/ensure.h"

namespace tenon::protocol {
namespace {

using enum FieldForm;
using enum Presence;

constexpr std::array common = {
    EventField{"number", Integer, Sometimes,
               "The number of the event's record in the run's journal, from 1. Numbers ascend and may have gaps. Only "
               "`text_delta`, which is provisional, has none."},
    EventField{"run", Text, Always, "The run's name: 26 characters. A conversation with all its agents is one run."},
    EventField{"agent", Text, Always, "The agent or function that the event is about."},
    EventField{"depth", Integer, Always,
               "The number of agents above this one: 0 for the agent that the client talks to."},
    EventField{"type", Text, Always, "The name of the event's type."},
    EventField{"time", Time, Always, "When it was recorded."},
};

constexpr EventField call_field{"call", Text, Always,
                                "Identifies the call within the run; its result has the same value."};
constexpr EventField place_field{"place", Text, Always, "`FILE:LINE:COLUMN` in the program."};
constexpr EventField ms_field{"ms", Integer, Always, "The duration in milliseconds."};
constexpr EventField kind_field{"kind", Text, Always,
                                "The kind of the failure: `Raised`, `Arithmetic`, `Index`, `Conversion`, "
                                "`ModelRefused`, `ModelCutOff`, `ModelUnusable`, `ModelUnavailable`, `ToolFailed`, "
                                "`BudgetSpent`, `ContractBroken`, `Cancelled`, `TimedOut`, `ContextFull`, "
                                "`Untrusted` or `Refused`."};
constexpr EventField message_field{"message", Text, Always, "What happened, for people."};
constexpr EventField blame_field{"blame", Text, Always,
                                 "What caused the failure: a tool, a model, a contract. May be empty."};
constexpr EventField generation_field{
    "generation", Text, Always, "Identifies the generation within the run; its other events have the same value."};
constexpr EventField purpose_field{"purpose", Text, Always,
                                   "`complete` (a function's value), `fill` (missing arguments) or `select`."};
constexpr EventField subject_field{"subject", Text, Always,
                                   "The function that is completed or called; empty for `select`."};
constexpr EventField wait_field{"wait", Text, Always, "Identifies the question within the run."};

constexpr std::array prompt = {
    EventField{"input", Value, Always, "The input: a text, or an object with an argument for each parameter."},
};
constexpr std::array cancel = {
    EventField{"reason", Text, Always, "The reason, which is recorded."},
};
constexpr std::array resume_with_input = {
    wait_field,
    EventField{"input", Value, Always, "The answer, a value of the requested type."},
};
constexpr std::array prompt_started = {
    EventField{"input", Value, Always,
               "The input; for a function, the arguments in the order of the parameters, with null for a Context."},
    EventField{"turn", Integer, Sometimes, "For a conversation: the number of the turn, from 1."},
    EventField{"model", Text, Sometimes, "For a function: the model that answers, as it was named to the server."},
    EventField{"program", Text, Sometimes, "For a function: the SHA-256 of the program that it runs on."},
};
constexpr std::array text_delta = {
    generation_field,
    EventField{"attempt", Integer, Always, "Counts from 0. A higher attempt voids all pieces of earlier ones."},
    EventField{"offset", Integer, Always, "Where the piece starts in the attempt's text, in bytes of UTF-8."},
    EventField{"text", Text, Always, "The piece."},
};
constexpr std::array text = {
    EventField{"generation", Text, Sometimes,
               "For a model's answer: the generation, as in the pieces of `text_delta`."},
    EventField{"text", Text, Always, "The complete text; for an answer, the sum of its pieces."},
};
constexpr std::array tool_call = {
    call_field,
    EventField{"tool", Text, Always, "The function that is called; also `now`, `random`, `sleep`."},
    EventField{"arguments", Value, Always, "The arguments in the order of the parameters."},
    EventField{"sources", Value, Sometimes,
               "Of a call that acts: what it depends on, such as `approved` or `extern read_inbox`: a list of texts. "
               "Absent for the program's own."},
    EventField{
        "allowed", Value, Sometimes,
        "Of a call that acts: why it may be made: a list of `approved` (by a person), `endorsed`, `narrow` (a "
        "narrow answer of a model), `tried` (that nothing has failed before was charged), or `trusted` alone, when "
        "it needs none of them."},
    place_field,
    EventField{"until", Time, Sometimes,
               "When the call ends automatically: for `sleep`, and for an extern with a time limit."},
};
constexpr std::array tool_result = {
    call_field,
    EventField{"tool", Text, Always, "As in the call."},
    EventField{"value", Value, Always, "The result; null if the call has prompted an agent instead."},
    EventField{"pause_for_child", Text, Sometimes,
               "The call has prompted this agent and waits for it: the value of its turn, in `agent_result`, is the "
               "call's value."},
    EventField{"finish_agent", Text, Sometimes,
               "The call has ended the turn that made it: this agent continues the turn, as `handoff` shows."},
    ms_field,
};
constexpr std::array tool_error = {
    call_field,  EventField{"tool", Text, Always, "As in the call; `ask_within` if no answer arrived in time."},
    kind_field,  message_field,
    blame_field, ms_field,
};
constexpr std::array agent_call = {
    call_field,
    EventField{"callee", Text, Always, "The agent that is prompted."},
    EventField{"input", Value, Always, "The input of its turn."},
    place_field,
};
constexpr std::array agent_result = {
    call_field,
    EventField{"callee", Text, Always, "The agent whose turn has ended."},
    EventField{"value", Value, Always, "The value of its turn."},
};
constexpr std::array generation_started = {
    generation_field, purpose_field,
    subject_field,    EventField{"schema", Schema, Sometimes, "The form of the answer; absent for plain text."},
    place_field,
};
constexpr std::array generation_retried = {
    generation_field,
    EventField{"attempt", Integer, Always, "The attempt that was unusable; counts from 0 for each reason."},
    EventField{"answer", Text, Sometimes, "The model's answer, if it could not be used."},
    EventField{"reason", Text, Always, "Why the model is asked again, for people. May be empty."},
    EventField{"next_at", Time, Sometimes,
               "The earliest time of the next attempt, if the request is sent again because no answer arrived."},
};
constexpr std::array generation_finished = {
    generation_field,
    purpose_field,
    subject_field,
    EventField{
        "value", Value, Sometimes,
        "For `complete` the value; for `fill` and `select` a list of the missing arguments. Absent after a failure."},
    EventField{"clause", Integer, Sometimes,
               "For `select`: the index of the chosen clause, from 0; each tool of a set counts as one."},
    EventField{"tool", Text, Sometimes, "For `select`: the chosen tool, if it belongs to a set."},
    EventField{"kind", Text, Sometimes, "After a failure: its kind, as in `turn_failed`."},
    EventField{"message", Text, Sometimes, "After a failure: what happened."},
    EventField{"model", Text, Always, "The model's name as reported by the backend; empty if it reported none."},
    EventField{"model_calls", Integer, Always, "The number of model calls, including repairs."},
    EventField{"tokens", Integer, Always, "All tokens that count towards a budget."},
    EventField{"computed", Integer, Always, "Tokens of the prompt that were computed."},
    EventField{"reused", Integer, Always, "Tokens of the prompt that were cached."},
    EventField{"generated", Integer, Always, "Tokens of the answer."},
    ms_field,
};
constexpr std::array answer_refused = {
    call_field,
    generation_field,
    EventField{"function", Text, Always, "The function that declares the contract."},
    EventField{"reasons", Text, Always, "What does not hold, joined by `; `."},
    place_field,
};
constexpr EventField block_field{"block", Text, Always, "The block's name."};
constexpr EventField path_field{"path", Text, Always,
                                "The names of the enclosing blocks, outermost first, and its own, joined by `/`."};
constexpr EventField branch_field{
    "branch", Text, Always,
    "The parallel branch; empty outside of branches. A block is left in the branch in which it was entered."};
constexpr std::array block_entered = {
    block_field,
    path_field,
    branch_field,
    place_field,
};
constexpr std::array block_left = {
    block_field,
    path_field,
    branch_field,
    EventField{"ms", Integer, Sometimes, "The time between the two events, in milliseconds."},
    EventField{"tokens", Integer, Sometimes,
               "The tokens of the model's answers in between, including those of its branches and of agents that it "
               "has called."},
};
constexpr std::array wait_for_input = {
    wait_field,
    EventField{"question", Text, Always, "The question to a person."},
    EventField{"schema", Schema, Always, "The form of the answer."},
    EventField{"callers", Value, Sometimes,
               "The agents that wait for the one that asks, its caller first: a list of `depth` names."},
    EventField{"value", Value, Sometimes,
               "The value that a person is asked to approve. The answer is `yes`, `no`, or another value."},
    EventField{
        "sources", Value, Sometimes,
        "What that value depends on, such as `extern read_inbox`: a list of texts. Empty for the program's own."},
    EventField{"place", Text, Sometimes, "`FILE:LINE:COLUMN` in the program; absent if a tool asks."},
    EventField{"until", Time, Sometimes, "The deadline, after which the question fails with `TimedOut`."},
};
constexpr std::array handoff = {
    EventField{"to", Text, Always, "The agent that continues the turn, at the same depth and for the same caller."},
    EventField{"input", Value, Always, "The input of its turn."},
};
constexpr std::array state_changed = {
    EventField{"entries", Value, Always,
               "An object with the new values of the fields that the turn has changed; after an agent's first turn, "
               "of all fields."},
};
constexpr std::array turn_end = {
    EventField{"value", Value, Always, "The value that the agent or function returned."},
    EventField{"state", Value, Sometimes, "For an agent with state: its state after the turn."},
};
constexpr std::array turn_cancelled = {
    EventField{"reason", Text, Always, "The reason given by the one who cancelled the turn."},
};
constexpr std::array turn_failed = {
    kind_field,
    message_field,
    blame_field,
    place_field,
};

constexpr std::array program_taken = {
    EventField{"program", Text, Always, "The SHA-256 of the new program."},
    EventField{"state", Value, Sometimes, "For an agent with state: its state in that program."},
};

constexpr std::array service_unavailable = {
    EventField{"effect", Text, Always, "The generation or the call that waits, named as in its other events."},
    EventField{"service", Text, Always, "`model` or `tool`."},
    EventField{"name", Text, Always, "The model's name, or the tool's."},
    message_field,
    EventField{"attempt", Integer, Always, "Counts from 0 while the service cannot be reached."},
    EventField{"since", Time, Always, "When it could not be reached for the first time."},
    EventField{"next_at", Time, Sometimes,
               "When it is tried again. Without it the run waits to be resumed: the time for retries is over."},
};

constexpr std::array flow_refused = {
    EventField{"function", Text, Always,
               "The extern that is not called, or the function that takes or returns a value that must be trusted."},
    EventField{"what", Text, Always,
               "What must be trusted, such as `` `to` of `send_mail` `` or `` whether `send_mail` is called ``."},
    EventField{"sources", Value, Always,
               "What it depends on that is not trusted, such as `extern read_inbox`: a list of texts."},
    place_field,
    EventField{"times", Integer, Sometimes, "How often this has happened before the run waited; absent for once."},
};

using enum Direction;
constexpr std::array<EventType, event_kind_count> types = {{
    {EventKind::Prompt, "prompt", Down, "Starts a turn.", prompt},
    {EventKind::Cancel, "cancel", Both, "Requests the cancellation of the turn. `turn_cancelled` follows.", cancel},
    {EventKind::ResumeWithInput, "resume_with_input", Both,
     "Answers a `wait_for_input`. Each wait can be answered once.", resume_with_input},
    {EventKind::PromptStarted, "prompt_started", Up, "A prompt was accepted, and the turn starts.", prompt_started},
    {EventKind::TextDelta, "text_delta", Up,
     "A provisional piece of the answer that the model is writing. Pieces are not recorded: a client that reconnects "
     "does not get them again and has to discard those from the lost connection. A slow reader may miss some, which "
     "the offset reveals. `text` contains the complete text of a plain answer, `generation_finished` every answer.",
     text_delta},
    {EventKind::Text, "text", Up,
     "A recorded text. With a `generation`: a model's plain text answer, which replaces its pieces; answers of other "
     "types are only in `generation_finished`. Without one: a text that the agent emits before its turn ends (`emit`).",
     text},
    {EventKind::ToolCall, "tool_call", Up, "The program calls an extern, or `now`, `random` or `sleep`.", tool_call},
    {EventKind::ToolResult, "tool_result", Up, "The call has returned.", tool_result},
    {EventKind::ToolError, "tool_error", Up, "The call has failed; the program may handle the failure and continue.",
     tool_error},
    {EventKind::AgentCall, "agent_call", Up,
     "An agent prompts another one and waits for the end of its turn. `agent` and `depth` are those of the prompted "
     "agent.",
     agent_call},
    {EventKind::AgentResult, "agent_result", Up, "The prompted agent's turn has ended.", agent_result},
    {EventKind::GenerationStarted, "generation_started", Up, "The model is asked.", generation_started},
    {EventKind::GenerationRetried, "generation_retried", Up, "An attempt was unusable; the model is asked again.",
     generation_retried},
    {EventKind::GenerationFinished, "generation_finished", Up,
     "The model's answer, parsed and checked, or its failure.", generation_finished},
    {EventKind::AnswerRefused, "answer_refused", Up,
     "A model's answer has the right form but violates a contract. The function's strategy determines what follows.",
     answer_refused},
    {EventKind::BlockEntered, "block_entered", Up, "A block of an agent starts.", block_entered},
    {EventKind::BlockLeft, "block_left", Up,
     "A block has ended. A block that ends with a failure or a cancellation may have no such event; the end of the "
     "turn implies it.",
     block_left},
    {EventKind::WaitForInput, "wait_for_input", Up,
     "A person is asked. Everything that depends on the answer waits, for as long as necessary. Answer with "
     "`resume_with_input`.",
     wait_for_input},
    {EventKind::Handoff, "handoff", Up, "The agent hands its turn off to another one.", handoff},
    {EventKind::StateChanged, "state_changed", Up,
     "The turn that is ending has changed the agent's state. A turn that fails or is cancelled changes nothing.",
     state_changed},
    {EventKind::TurnEnd, "turn_end", Up,
     "The turn has ended with a value. This is one of the three ways a turn can end.", turn_end},
    {EventKind::TurnCancelled, "turn_cancelled", Up, "The turn was cancelled.", turn_cancelled},
    {EventKind::TurnFailed, "turn_failed", Up, "An unhandled failure has ended the turn.", turn_failed},
    {EventKind::ProgramTaken, "program_taken", Up,
     "The conversation was upgraded to another program, starting with its next turn.", program_taken},
    {EventKind::ServiceUnavailable, "service_unavailable", Up,
     "A model or a tool cannot be reached. The run waits and tries again; the end of the generation or of the call "
     "shows "
     "that it was reached.",
     service_unavailable},
    {EventKind::FlowRefused, "flow_refused", Up,
     "A call that acts was refused, or a value that must be trusted, because it depends on what is not. Nothing has "
     "left "
     "the program, which may handle the failure (`Untrusted`) and continue.",
     flow_refused},
}};

constexpr bool stand_in_order() {
  for (std::size_t at = 0; at < types.size(); ++at) {
    if (static_cast<std::size_t>(types[at].kind) != at) return false;
  }
  return true;
}
static_assert(stand_in_order());

}  // namespace

std::span<const EventField> common_fields() {
  return common;
}

std::span<const EventType> event_types() {
  return types;
}

const EventType& event_type(EventKind kind) {
  return types[static_cast<std::size_t>(kind)];
}

std::optional<EventKind> find_event_kind(std::string_view name) {
  for (const EventType& type : types) {
    if (type.name == name) return type.kind;
  }
  return std::nullopt;
}

}  // namespace tenon::protocol
