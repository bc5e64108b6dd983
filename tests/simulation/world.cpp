#include "tests/simulation/world.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/ensure.h"
#include "inference/answers/schema_writer.h"
#include "json/json.h"
#include "tests/simulation/program_maker.h"
#include "vm/values/render.h"

namespace tenon::simulation {

using inference::GenerationId;
using inference::GenerationOutcome;

namespace {

/// The maximum delays of the model and of externs.
constexpr std::uint64_t model_delay_ms_max = 200;
constexpr std::uint64_t extern_delay_ms_max = 40;
/// The delay of a call that hangs: longer than one whose branch was cancelled is waited for.
constexpr std::int64_t hanging_delay_ms = 90'000;
/// The delay before the first retry of a request; doubled for each further one.
constexpr std::int64_t first_backoff_ms = 50;

std::string make_word(Random& random) {
  static constexpr const char* syllables[] = {"ka", "lo", "mi", "ne", "ru", "sa", "te", "vo"};
  std::string word;
  // Now and then a long one, which is stored outside of its record.
  const std::uint64_t count = random.one_in(20) ? 700 : 1 + random.below(4);
  for (std::uint64_t at = 0; at < count; ++at) word += syllables[random.below(std::size(syllables))];
  return word;
}

/// Schemas of the same root share their definitions; these programs do not have any.
nlohmann::ordered_json make_value(const nlohmann::json& schema, Random& random) {
  if (schema.contains("const")) return schema["const"];
  if (schema.contains("enum")) return schema["enum"][random.below(schema["enum"].size())];
  if (schema.contains("anyOf")) return make_value(schema["anyOf"][random.below(schema["anyOf"].size())], random);
  const std::string type = schema.value("type", "null");
  if (type == "string") return make_word(random);
  if (type == "boolean") return random.one_in(2);
  if (type == "null") return nullptr;
  if (type == "integer" || type == "number") {
    const std::int64_t low = std::max<std::int64_t>(schema.value("minimum", std::int64_t{-1'000}), -1'000);
    const std::int64_t high = std::min<std::int64_t>(schema.value("maximum", std::int64_t{1'000}), 1'000);
    return random.between(low, high);
  }
  if (type == "array") {
    auto list = nlohmann::ordered_json::array();
    for (std::uint64_t at = random.below(3); at > 0; --at) list.push_back(make_value(schema["items"], random));
    return list;
  }
  ENSURE(type == "object");
  auto object = nlohmann::ordered_json::object();
  if (!schema.contains("properties")) return object;
  for (const auto& [name, property] : schema["properties"].items()) object[name] = make_value(property, random);
  return object;
}

GenerationOutcome make_generation(const inference::GenerationRequest& request, bool has_errors, Random& random) {
  std::uint64_t length = 0;
  for (const inference::Message& message : request.messages) length += message.text.size();
  inference::Usage usage;
  usage.prompt = usage.computed = static_cast<std::uint32_t>(length / 4 + 1);
  if (has_errors && random.one_in(15)) {
    return inference::ModelError{inference::ModelErrorKind::Overloaded, "too many requests", usage};
  }
  inference::Answer answer;
  if (request.schema == nullptr) {
    answer.text = make_word(random);
  } else if (random.one_in(5)) {
    answer.text = "I would rather not say.";
  } else {
    answer.text = make_json(request.schema->json_schema, random);
  }
  usage.generated = static_cast<std::uint32_t>(answer.text.size() / 4 + 1);
  answer.usage = usage;
  answer.model = "simulated";
  return answer;
}

}  // namespace

std::string make_json(const std::string& schema, Random& random) {
  return make_value(nlohmann::json::parse(schema), random).dump();
}

std::string make_answer(const std::string& schema, Random& random) {
  const auto value = make_value(nlohmann::json::parse(schema), random);
  return value.is_string() ? value.get<std::string>() : value.dump();
}

SimulatedModel::SimulatedModel(const Behaviour& behaviour, std::uint64_t life, SimulatedClock& clock, Moments& moments)
    : behaviour_(behaviour),
      clock_(clock),
      moments_(moments),
      random_(behaviour.seed + 17 * life),
      variation_(behaviour.varies_answers ? life + 1 : 0) {}

void SimulatedModel::start(GenerationId id, inference::GenerationRequest request, inference::GenerationSink& sink) {
  moments_.pass();
  sink_ = &sink;
  std::string text = request.label;
  for (const inference::Message& message : request.messages) text += '\n' + message.text;
  Random random(behaviour_.seed + variation_, text);
  const auto delay = static_cast<std::int64_t>(random.below(model_delay_ms_max));
  Reply reply{make_generation(request, behaviour_.has_errors, random)};
  // An outage is over when the request is repeated.
  if (std::holds_alternative<inference::ModelError>(reply.outcome) && !away_.insert(text).second) {
    Random later(behaviour_.seed + variation_, text);
    reply.outcome = make_generation(request, false, later);
  }
  // Independent of the process: a request that succeeds in one process would succeed in any.
  Random line(behaviour_.seed + 1, text);
  if (behaviour_.has_errors && line.one_in(3)) reply.failures = static_cast<std::uint32_t>(1 + line.below(3));
  reply.failed = request.earlier.count;
  pending_.add(id, clock_.now_ms() + request.earlier.wait.count() + delay, std::move(reply));
}

void SimulatedModel::cancel(GenerationId id) {
  if (!pending_.remove(id)) return;
  sink_->on_finished(id, inference::ModelError{inference::ModelErrorKind::Cancelled, "cancelled", {}});
  if (behaviour_.repeats) sink_->on_finished(id, inference::Answer{"too late", {}, {}, "simulated"});
}

void SimulatedModel::poll(std::chrono::milliseconds wait) {
  moments_.pass();
  const auto id = pending_.next(behaviour_.shuffles, random_);
  if (!id || (!behaviour_.shuffles && pending_.due(*id) > clock_.now_ms() + wait.count())) return clock_.wait(wait);
  clock_.advance_to(behaviour_.shuffles ? clock_.now_ms() + 1 : pending_.due(*id));
  Reply reply = pending_.take(*id);
  if (reply.failed < reply.failures) {
    const std::int64_t backoff = first_backoff_ms << reply.failed;
    const std::uint32_t failed = ++reply.failed;
    pending_.add(*id, clock_.now_ms() + backoff, std::move(reply));
    sink_->on_attempt_failed(*id, failed, "too many requests", std::chrono::milliseconds(backoff));
    moments_.pass();
    return;
  }
  const GenerationOutcome outcome = std::move(reply.outcome);
  if (const auto* answer = std::get_if<inference::Answer>(&outcome)) sink_->on_text(*id, 1, answer->text);
  sink_->on_finished(*id, outcome);
  moments_.pass();
  if (behaviour_.repeats && random_.one_in(3)) {
    sink_->on_finished(*id, inference::Answer{"something else", {}, {}, "simulated"});
  }
}

SimulatedExterns::SimulatedExterns(const Behaviour& behaviour, std::uint64_t life, const bytecode::Program& program,
                                   SimulatedClock& clock, Moments& moments, LedgerOf ledger_of)
    : behaviour_(behaviour),
      program_(program),
      clock_(clock),
      moments_(moments),
      ledger_of_(std::move(ledger_of)),
      random_(behaviour.seed + 31 * life),
      variation_(behaviour.varies_answers ? life + 1 : 0),
      refinements_(program.types),
      reader_(refinements_) {}

tools::ExternOutcome SimulatedExterns::outcome_of(const tools::ExternCall& call, const std::string& arguments,
                                                  Ledger& ledger) {
  const bytecode::Extern& function = program_.externs[call.subject];
  Random outage(behaviour_.seed + 2, call.key);
  if (behaviour_.has_errors && outage.one_in(12) && away_.insert(call.key).second) {
    tools::ExternError error{types::FailureKind::ToolFailed, "no one is there", function.name};
    error.is_unavailable = true;
    return failure(std::move(error));
  }
  if (function.name == "consult") {
    // Asks a person up to twice before it returns the answer.
    Random pauses(behaviour_.seed, arguments);
    const std::uint64_t wanted = pauses.below(3);
    const std::uint64_t had = read_call_key(call.key).answers;
    if (had > 0 && !call.input) ledger.add_problem("an extern is called again without the answer");
    if (had < wanted) return failure(tools::ExternError{{}, "", "", fmt::format("{} {}?", arguments, had)});
  }
  if (function.name == "delegate" || function.name == "pass_on") {
    Random choice(behaviour_.seed, function.name + arguments);
    const bool waits = function.name == "delegate";
    if (!choice.one_in(3)) {
      effects::AgentPrompt prompt{waits ? "Clerk" : "Night", "for " + std::string(call.arguments[0].as_text()),
                                  waits ? vm::PromptKind::PauseForChild : vm::PromptKind::FinishAgent};
      return failure(tools::ExternError{{}, "", "", std::nullopt, std::move(prompt)});
    }
  }
  if (function.name == varying_extern) return call.arguments[0];
  Random random(behaviour_.seed + variation_, function.name + arguments);
  if (function.name == "fragile" && random.one_in(3)) {
    return failure(tools::ExternError{types::FailureKind::ToolFailed, "it broke", function.name});
  }
  const std::string text = make_answer(inference::answers::make_schema(program_.types, function.result), random);
  auto value = reader_.read_argument(function.result, text);
  ENSURE(value.has_value());
  return std::move(*value);
}

std::optional<tools::ExternOutcome> SimulatedExterns::start(tools::CallId id, tools::ExternCall call,
                                                            tools::Placement placement, tools::ExternSink& sink) {
  moments_.pass();
  sink_ = &sink;
  std::string arguments;
  for (const vm::Value& argument : call.arguments) {
    ENSURE(vm::to_json(argument, program_.types, arguments));
    arguments += ',';
  }
  const bytecode::Extern& function = program_.externs[call.subject];
  Ledger& ledger = ledger_of_(read_call_key(call.key).run);
  ledger.call(call.key, function.name + '(' + arguments + ')',
              function.call_options.is_once ? Ledger::Times::Once : Ledger::Times::Any, clock_.now_ms());
  tools::ExternOutcome outcome = outcome_of(call, arguments, ledger);
  if (function.call_options.is_once && outcome) {
    std::string value;
    ENSURE(vm::to_json(*outcome, program_.types, value));
    ledger.give(call.key, std::move(value));
  }
  Random interruption(behaviour_.seed + 3, call.key);
  if (behaviour_.has_errors && outcome && interruption.one_in(12) && away_.insert("done: " + call.key).second) {
    ledger.note_interruption(call.key);
    tools::ExternError error{types::FailureKind::ToolFailed, "it was interrupted", function.name};
    error.is_interrupted = true;
    outcome = failure(std::move(error));
  }
  moments_.pass();  // done, but not yet reported
  if (placement == tools::Placement::Inline) return outcome;
  Random random(behaviour_.seed, call.key);
  auto delay = static_cast<std::int64_t>(random.below(extern_delay_ms_max));
  // A person may have it made again, which should come to an end.
  const bool hangs = function.call_options.is_once && behaviour_.has_errors && random.one_in(6);
  if (hangs && away_.insert("hung: " + call.key).second) delay = hanging_delay_ms;
  pending_.add(id, clock_.now_ms() + delay, std::move(outcome));
  return std::nullopt;
}

void SimulatedExterns::cancel(tools::CallId id) {
  if (!pending_.remove(id)) return;
  sink_->on_returned(id, failure(tools::ExternError{types::FailureKind::Cancelled, "cancelled", ""}));
  if (behaviour_.repeats) sink_->on_returned(id, vm::Value::integer(1));
}

void SimulatedExterns::poll(std::chrono::milliseconds wait) {
  moments_.pass();
  const auto id = pending_.next(behaviour_.shuffles, random_);
  if (!id || (!behaviour_.shuffles && pending_.due(*id) > clock_.now_ms() + wait.count())) return clock_.wait(wait);
  clock_.advance_to(behaviour_.shuffles ? clock_.now_ms() + 1 : pending_.due(*id));
  sink_->on_returned(*id, pending_.take(*id));
  moments_.pass();
  if (behaviour_.repeats && random_.one_in(3)) sink_->on_returned(*id, vm::Value::integer(2));
}

void SimulatedCommitter::begin(std::span<const journal::Append> appends) {
  ENSURE(!wanted_ && !outcome_);
  wanted_ = appends;
}

journal::CommitOutcome SimulatedCommitter::commit() {
  // The process may end inside.
  return store_.commit(*std::exchange(wanted_, std::nullopt));
}

std::optional<journal::CommitOutcome> SimulatedCommitter::take() {
  if (outcome_) return std::exchange(outcome_, std::nullopt);
  if (!wanted_ || random_.one_in(2)) return std::nullopt;
  return commit();
}

journal::CommitOutcome SimulatedCommitter::finish() {
  if (outcome_) return *std::exchange(outcome_, std::nullopt);
  ENSURE(wanted_);
  return commit();
}

void SimulatedCommitter::rest() {
  if (wanted_) outcome_ = commit();
}

}  // namespace tenon::simulation
