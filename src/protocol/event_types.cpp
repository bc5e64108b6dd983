#include "protocol/event_types.h"

#include <array>

#include "base/ensure.h"

namespace tenon::protocol {
namespace {

using enum FieldForm;
using enum Presence;

constexpr std::array common = {
    EventField{"number", Integer, Sometimes,
               "The event's place in the run's journal: 1 for the first. Numbers ascend and may have gaps. Only "
               "`text_delta`, which is provisional, has none."},
    EventField{"run", Text, Always, "The run's name: 26 characters. A conversation with all its agents is one run."},
    EventField{"agent", Text, Always, "The agent or function that the event is about."},
    EventField{"depth", Integer, Always, "How many agents stand above it: 0 for the one that the client talks to."},
    EventField{"type", Text, Always, "The name of the event's type."},
    EventField{"time", Time, Always, "When it was recorded."},
};

constexpr EventField call_field{"call", Text, Always, "Names the call within the run; its result has the same."};
constexpr EventField place_field{"place", Text, Always, "`FILE:LINE:COLUMN` in the program."};
constexpr EventField ms_field{"ms", Integer, Always, "How long it took, milliseconds."};
constexpr EventField kind_field{"kind", Text, Always,
                                "The kind of the failure: `Raised`, `Arithmetic`, `Index`, `Conversion`, "
                                "`ModelRefused`, `ModelCutOff`, `ModelUnusable`, `ModelUnavailable`, `ToolFailed`, "
                                "`BudgetSpent`, `ContractBroken`, `Cancelled` or `TimedOut`."};
constexpr EventField message_field{"message", Text, Always, "What happened, for people."};
constexpr EventField blame_field{"blame", Text, Always,
                                 "Whose fault it is: a tool, a model, a contract. May be empty."};
constexpr EventField generation_field{"generation", Text, Always,
                                      "Names the generation within the run; its other events have the same."};
constexpr EventField purpose_field{"purpose", Text, Always,
                                   "`complete` (a function's value), `fill` (missing arguments) or `select`."};
constexpr EventField subject_field{"subject", Text, Always,
                                   "The function that is completed or called; empty for a select."};
constexpr EventField wait_field{"wait", Text, Always, "Names the question among those of the run."};

constexpr std::array prompt = {
    EventField{"input", Value, Always, "What is said: a text, or an object with an argument for each parameter."},
};
constexpr std::array cancel = {
    EventField{"reason", Text, Always, "For the record."},
};
constexpr std::array resume_with_input = {
    wait_field,
    EventField{"input", Value, Always, "The answer, a value of the type that was asked for."},
};
constexpr std::array prompt_started = {
    EventField{"input", Value, Always,
               "What was said, as a text; of a function the arguments in the order of the parameters, null for a "
               "Context."},
    EventField{"turn", Integer, Sometimes, "Of a conversation: which turn it is, from 1."},
    EventField{"model", Text, Sometimes, "Of a function: the model that answers, as it was named to the server."},
    EventField{"program", Text, Sometimes, "Of a function: the SHA-256 of the program that it runs on."},
};
constexpr std::array text_delta = {
    generation_field,
    EventField{"attempt", Integer, Always, "Counts from 0. A higher one voids all pieces of those before."},
    EventField{"offset", Integer, Always, "Where the piece begins in the attempt's text, in bytes of UTF-8."},
    EventField{"text", Text, Always, "The piece."},
};
constexpr std::array text = {
    EventField{"generation", Text, Sometimes, "Of a model's answer: the generation, as in the pieces of `text_delta`."},
    EventField{"text", Text, Always, "The words, whole; of an answer, what the pieces have come to."},
};
constexpr std::array tool_call = {
    call_field,
    EventField{"tool", Text, Always, "The function that is called; also `now`, `random`, `sleep`."},
    EventField{"arguments", Value, Always, "The arguments in the order of the parameters."},
    place_field,
    EventField{"until", Time, Sometimes, "When it ends by itself: `sleep`, and an extern that is given a time."},
};
constexpr std::array tool_result = {
    call_field,
    EventField{"tool", Text, Always, "As the call has it."},
    EventField{"value", Value, Always, "What came back; null where the call has prompted an agent instead."},
    EventField{"pause_for_child", Text, Sometimes,
               "The call has prompted this agent, and waits: the end of its turn, in `agent_result`, is the call's "
               "value."},
    EventField{"finish_agent", Text, Sometimes,
               "The call has ended the turn in which it was made: this agent goes on with it, as `handoff` tells."},
    ms_field,
};
constexpr std::array tool_error = {
    call_field,  EventField{"tool", Text, Always, "As the call has it; `ask_within` when nobody answered in time."},
    kind_field,  message_field,
    blame_field, ms_field,
};
constexpr std::array agent_call = {
    call_field,
    EventField{"callee", Text, Always, "The agent that is prompted."},
    EventField{"input", Value, Always, "What it is told."},
    place_field,
};
constexpr std::array agent_result = {
    call_field,
    EventField{"callee", Text, Always, "The agent whose turn has ended."},
    EventField{"value", Value, Always, "The value that its turn ended with."},
};
constexpr std::array generation_started = {
    generation_field, purpose_field,
    subject_field,    EventField{"schema", Schema, Sometimes, "What the answer must look like; plain text has none."},
    place_field,
};
constexpr std::array generation_retried = {
    generation_field,
    EventField{"attempt", Integer, Always, "Which one gave nothing; counts from 0 within its reason."},
    EventField{"answer", Text, Sometimes, "The model's words, if it could not be used."},
    EventField{"reason", Text, Always, "Why the same is asked again, for people. May be empty."},
    EventField{"next_at", Time, Sometimes, "Not before, when the request is sent again because no answer came."},
};
constexpr std::array generation_finished = {
    generation_field,
    purpose_field,
    subject_field,
    EventField{
        "value", Value, Sometimes,
        "Of `complete` the value; of `fill` and `select` a list of the arguments that were missing. None after a "
        "failure."},
    EventField{"clause", Integer, Sometimes,
               "Of `select`: the clause that was chosen, from 0; a set of tools counts as many as it has."},
    EventField{"tool", Text, Sometimes, "Of `select`: the tool that was chosen, where it is one of a set."},
    EventField{"kind", Text, Sometimes, "After a failure: its kind, as in `turn_failed`."},
    EventField{"message", Text, Sometimes, "After a failure: what happened."},
    EventField{"model", Text, Always, "The name that the backend gave; empty when it gave none."},
    EventField{"model_calls", Integer, Always, "How often the model was asked, repairs included."},
    EventField{"tokens", Integer, Always, "All tokens that count towards a budget."},
    EventField{"computed", Integer, Always, "Tokens of the prompt that were computed."},
    EventField{"reused", Integer, Always, "Tokens of the prompt that a cache had."},
    EventField{"generated", Integer, Always, "Tokens of the answer."},
    ms_field,
};
constexpr std::array answer_refused = {
    call_field,
    generation_field,
    EventField{"function", Text, Always, "Whose contract it is."},
    EventField{"reasons", Text, Always, "What does not hold, joined by `; `."},
    place_field,
};
constexpr EventField block_field{"block", Text, Always, "The block's name."};
constexpr EventField path_field{
    "path", Text, Always,
    "The names of the blocks that it stands in, the outermost first, and its own, joined by `/`."};
constexpr EventField branch_field{
    "branch", Text, Always,
    "Which of the branches that run side by side; empty outside of them. A block is left in the branch in which it was "
    "entered."};
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
    EventField{"ms", Integer, Sometimes, "How long it took, by the times of the two events, milliseconds."},
    EventField{"tokens", Integer, Sometimes,
               "Of the model's answers in between, those of its branches and of agents that it has called too."},
};
constexpr std::array wait_for_input = {
    wait_field,
    EventField{"question", Text, Always, "What a person is asked."},
    EventField{"schema", Schema, Always, "What the answer must look like."},
    EventField{
        "callers", Value, Sometimes,
        "The agents that wait for the one that asks, its caller first: a list of names, as many as `depth` says."},
    EventField{"place", Text, Sometimes, "`FILE:LINE:COLUMN` in the program; none where a tool asks."},
    EventField{"until", Time, Sometimes, "After that the question fails with `TimedOut`."},
};
constexpr std::array handoff = {
    EventField{"to", Text, Always, "The agent that goes on with the turn, at the same depth, for the same caller."},
    EventField{"input", Value, Always, "What it is told."},
};
constexpr std::array state_changed = {
    EventField{
        "entries", Value, Always,
        "An object of the entries that have another value than before the turn, with their new values; after the "
        "first turn of an agent all."},
};
constexpr std::array turn_end = {
    EventField{"value", Value, Always, "What the agent or function gave."},
    EventField{"state", Value, Sometimes, "Of an agent with state: its state from now on."},
};
constexpr std::array turn_cancelled = {
    EventField{"reason", Text, Always, "As the one who cancelled it gave it."},
};
constexpr std::array turn_failed = {
    kind_field,
    message_field,
    blame_field,
    place_field,
};

constexpr std::array program_taken = {
    EventField{"program", Text, Always, "The SHA-256 of the program that goes on."},
    EventField{"state", Value, Sometimes, "Of an agent with state: its state in that program."},
};

using enum Direction;
constexpr std::array<EventType, event_kind_count> types = {{
    {EventKind::Prompt, "prompt", Down, "Begins a turn.", prompt},
    {EventKind::Cancel, "cancel", Both, "Somebody wants the turn to end. `turn_cancelled` follows.", cancel},
    {EventKind::ResumeWithInput, "resume_with_input", Both, "The answer to a `wait_for_input`. It is taken once.",
     resume_with_input},
    {EventKind::PromptStarted, "prompt_started", Up, "A prompt was taken: the turn begins.", prompt_started},
    {EventKind::TextDelta, "text_delta", Up,
     "A provisional piece of the answer that the model is writing. Pieces are not recorded: who comes back does not "
     "get "
     "them again, and has to forget those that came over the connection that was lost; a reader that lags may miss "
     "some, which the offset shows. `text` has the whole of a plain text, `generation_finished` every answer.",
     text_delta},
    {EventKind::Text, "text", Up,
     "What is said, recorded. With a `generation`: a model's answer in plain text, which stays, whatever pieces came "
     "before; answers of other types are in `generation_finished` alone. Without one: the agent says something before "
     "its turn ends (`emit`).",
     text},
    {EventKind::ToolCall, "tool_call", Up, "The program calls something outside of it.", tool_call},
    {EventKind::ToolResult, "tool_result", Up, "The call has returned.", tool_result},
    {EventKind::ToolError, "tool_error", Up, "The call has failed; the program may go on all the same.", tool_error},
    {EventKind::AgentCall, "agent_call", Up,
     "An agent prompts another one and waits for the end of its turn. The prompted one's are `agent` and `depth`.",
     agent_call},
    {EventKind::AgentResult, "agent_result", Up, "The prompted agent's turn has ended.", agent_result},
    {EventKind::GenerationStarted, "generation_started", Up, "The model is asked.", generation_started},
    {EventKind::GenerationRetried, "generation_retried", Up, "An attempt gave nothing; the model is asked again.",
     generation_retried},
    {EventKind::GenerationFinished, "generation_finished", Up, "The model's answer, read and checked, or its failure.",
     generation_finished},
    {EventKind::AnswerRefused, "answer_refused", Up,
     "A contract does not hold of what a model has given, though its form is right. The function's strategy says what "
     "follows.",
     answer_refused},
    {EventKind::BlockEntered, "block_entered", Up, "A block of an agent begins.", block_entered},
    {EventKind::BlockLeft, "block_left", Up,
     "A block has ended. One that a failure ends, or a cancel, may not be left: the turn's end stands for that.",
     block_left},
    {EventKind::WaitForInput, "wait_for_input", Up,
     "A person is asked; what depends on the answer waits, however long. Answered with `resume_with_input`.",
     wait_for_input},
    {EventKind::Handoff, "handoff", Up, "The agent gives its turn to another one.", handoff},
    {EventKind::StateChanged, "state_changed", Up,
     "The turn that ends now has changed the agent's state. A turn that fails or is cancelled changes nothing.",
     state_changed},
    {EventKind::TurnEnd, "turn_end", Up, "The turn has ended with a value. One of three ends that a turn can have.",
     turn_end},
    {EventKind::TurnCancelled, "turn_cancelled", Up, "The turn was cancelled.", turn_cancelled},
    {EventKind::TurnFailed, "turn_failed", Up, "A failure that nobody handled has ended the turn.", turn_failed},
    {EventKind::ProgramTaken, "program_taken", Up,
     "Another program goes on with the conversation, from its next turn on.", program_taken},
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
