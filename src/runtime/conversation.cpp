#include "runtime/conversation.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ensure.h"
#include "blocks/left_out.h"
#include "bytecode/agents.h"
#include "bytecode/control_regions.h"
#include "runtime/recording/agent_records.h"
#include "runtime/recovery/migration.h"
#include "vm/values/context.h"
#include "vm/values/render.h"

namespace tenon::runtime {

using bytecode::EntryRole;

namespace {

const vm::Source person{vm::SourceKind::Person, ""};

/// Whether the newest entry stands for turns that did not fit.
bool has_left_out_turn(const vm::Value& history) {
  constexpr auto role = EntryRole::Data;  // of no other entry of a conversation
  return vm::context_length(history) > 0 && vm::node_of(history).role == static_cast<std::uint8_t>(role);
}

}  // namespace

std::string Conversation::key_prefix(std::uint64_t turn) {
  return fmt::format("{}/", turn);
}

Conversation::Conversation(std::shared_ptr<const ProgramImage> image, std::uint32_t agent)
    : image_(std::move(image)), agent_(agent), agent_before_(agent), history_(vm::Value::empty_context()) {}

Result<vm::Value, TurnError> Conversation::current_state() const {
  const bytecode::Agent& agent = declaration();
  if (!state_.empty()) {
    auto state = effects::read_value(state_, agent.state, image_->program().types);
    if (!state) return failure(TurnError{"the agent's state: " + state.error().message});
    return std::move(*state);
  }
  auto state = first_state(*image_, agent);
  if (!state) return failure(TurnError{std::move(state.error())});
  return std::move(*state);
}

Result<std::vector<vm::Value>, TurnError> Conversation::read_kept_states() const {
  std::vector<vm::Value> states;
  for (const auto& [name, text] : kept_states_) {
    const auto agent = bytecode::find_agent(image_->program(), name);
    if (!agent) continue;
    auto state = effects::read_value(text, image_->program().agents[*agent].state, image_->program().types);
    if (!state) return failure(TurnError{fmt::format("the state of `{}`: {}", name, state.error().message)});
    states.push_back(std::move(*state));
  }
  return states;
}

std::string Conversation::state_before() const {
  if (agent_ == agent_before_) return state_;
  const auto kept = kept_states_.find(declaration().name);
  return kept == kept_states_.end() ? std::string() : kept->second;
}

Result<std::map<std::string, std::string>, std::string> Conversation::migrate_kept_states(
    const ProgramImage& image) const {
  std::map<std::string, std::string> migrated;
  for (const auto& [name, text] : kept_states_) {
    const auto before = bytecode::find_agent(image_->program(), name);
    const auto agent = bytecode::find_agent(image.program(), name);
    if (!before || !agent) continue;  // it cannot get the turn back
    auto state = migrate(*image_, image_->program().agents[*before], text, image, image.program().agents[*agent]);
    if (!state) return failure(std::move(state.error()));
    migrated.emplace(name, std::move(*state));
  }
  return migrated;
}

Result<vm::Value, TurnError> Conversation::instructions(const vm::Value& state, vm::LabelTable& labels) const {
  const bytecode::Agent& agent = declaration();
  if (agent.instructions == bytecode::no_function) return vm::Value::string({});
  std::vector<vm::Argument> arguments;
  arguments.push_back({vm::Value::empty_context(), std::nullopt});
  auto text = compute(*image_, agent.instructions, std::move(arguments), state, labels, "the agent's instructions");
  if (!text) return failure(TurnError{std::move(text.error())});
  return std::move(*text);
}

bool Conversation::takes_text() const {
  return image_->reader().is_written_raw(bytecode::prompt_type(image_->program(), declaration()));
}

Result<std::unique_ptr<RunCore>, TurnError> Conversation::begin(std::string_view input, const RunOptions& options,
                                                                RunCore::Recording recording) {
  ENSURE(!is_in_turn_);
  const bytecode::Agent& agent = declaration();
  auto value = read_prompt(*image_, agent, input, "the input");
  if (!value) return failure(TurnError{std::move(value.error())});
  auto state = current_state();
  if (!state) return failure(std::move(state.error()));
  auto kept = read_kept_states();
  if (!kept) return failure(std::move(kept.error()));
  vm::LabelTable labels = label_table_;
  if (const auto known = labels_.states.find(agent.name); known != labels_.states.end()) {
    label_state(labels, known->second, *state);
  }
  for (vm::Value& one : *kept) {
    for (const bytecode::Agent& other : image_->program().agents) {
      const auto known = labels_.states.find(other.name);
      if (known != labels_.states.end() && other.state == one.type()) label_state(labels, known->second, one);
    }
  }
  auto instructed = instructions(*state, labels);
  if (!instructed) return failure(std::move(instructed.error()));

  // The instructions are sent first, at any position. Here they follow the conversation, which is the same chain for
  // all turns, so that a journal keeps it once.
  vm::Value context = history_;
  // What does not fit is left out: a conversation that is too long only lacks its newest messages.
  const vm::LabelId count = labels.join(intern(labels, labels_.questions), instructed->label());
  const auto add = [&](vm::Value text, EntryRole role) {
    static_cast<void>(vm::push_entry(context, std::move(text), labels, static_cast<std::uint8_t>(role), count));
  };
  if (!instructed->as_text().empty()) add(std::move(*instructed), EntryRole::Instructions);
  ++turns_;
  is_in_turn_ = true;
  turn_messages_ = {{EntryRole::Person, std::string(input), {}}};
  vm::Value said = vm::Value::string(std::string(input));
  said.set_label(labels.intern(person));
  add(std::move(said), EntryRole::Person);
  const vm::LabelId handoffs = intern(labels, labels_.handoffs);
  std::vector<vm::Argument> arguments;
  arguments.push_back({std::move(context), std::nullopt});
  arguments.push_back({std::move(*value), person});
  auto core = std::make_unique<RunCore>(image_, agent.turn, std::move(arguments), options.budgets, recording,
                                        key_prefix(turns_), std::move(labels));
  core->machine().set_agent_state(std::move(*state));
  core->machine().set_kept_states(std::move(*kept), handoffs);
  return core;
}

/// `labels`: those of the machine that the value comes from.
std::string Conversation::shown(const vm::Value& value, vm::LabelTable labels) const {
  vm::TextBuilder text(labels);
  if (!vm::render(value, image_->program().types, labels, text)) return {};
  return std::string(text.finish().as_text());
}

std::uint32_t Conversation::find_agent(std::string_view name, std::uint32_t otherwise) const {
  return bytecode::find_agent(image_->program(), name).value_or(otherwise);
}

void Conversation::hand_off(std::string_view agent) {
  agent_ = find_agent(agent, agent_);
  if (!is_in_turn_) agent_before_ = agent_;
}

void Conversation::restore_agent_before(std::string_view agent) {
  agent_before_ = find_agent(agent, agent_before_);
}

void Conversation::follow_request(const OpenRequest& open) {
  const bool is_own = open.request.depth == 0;
  if (is_own && open.described.kind == effects::EffectKind::HandedOff) hand_off(open.request.arguments[0].as_text());
}

void Conversation::follow_outcome(const OpenRequest& open, const vm::Outcome& outcome, const vm::LabelTable& labels) {
  const bool is_own = open.request.depth == 0;
  const auto* const answered = std::get_if<vm::ReturnedValue>(&outcome.what);
  if (!is_own || open.described.kind != effects::EffectKind::Ask || answered == nullptr) return;
  add_answer(open.request, sources_of(labels, open.request.label), answered->value);
}

void Conversation::add_answer(const vm::Request& question, Sources asked, const vm::Value& answer) {
  const bytecode::Program& program = image_->program();
  const bool is_approved =
      vm::asks_approval(question, program) && vm::equal(answer, vm::Value::some(question.arguments[0]));
  const bool is_refused = vm::asks_approval(question, program) && vm::equal(answer, vm::Value::none());
  turn_messages_.push_back({EntryRole::Assistant, std::string(vm::asked_by(question, program)), std::move(asked)});
  turn_messages_.push_back({EntryRole::Person, is_approved ? "yes" : is_refused ? "no" : shown(answer, {}), {}});
}

void Conversation::say(const Message& message) {
  if (message.role == EntryRole::Person && !message.sources.empty()) {
    labels_.replies.insert_or_assign(vm::context_length(history_), message.sources);
  }
  if (message.role == EntryRole::Assistant) {
    std::vector<Labels::Answers>& answers = labels_.answers;
    const bool is_new = answers.empty() ? !message.sources.empty() : message.sources != answers.back().sources;
    if (is_new) answers.push_back({vm::context_length(history_), message.sources});
  }
  // What does not fit is left out.
  static_cast<void>(add_entry(history_, message.text, message.role));
}

bool Conversation::add_entry(vm::Value& context, std::string text, EntryRole role) {
  auto entry = vm::Value::try_string(std::move(text));
  if (!entry) return false;
  const std::uint32_t number = vm::context_length(context);
  if (role == EntryRole::Person) {
    vm::LabelId label = label_table_.intern(person);
    const auto reply = labels_.replies.find(number);
    if (reply != labels_.replies.end()) label = label_table_.join(label, intern(label_table_, reply->second));
    entry->set_label(label);
  }
  if (role == EntryRole::Assistant) {
    for (auto answers = labels_.answers.rbegin(); answers != labels_.answers.rend(); ++answers) {
      if (answers->from > number) continue;
      entry->set_label(intern(label_table_, answers->sources));
      break;
    }
  }
  return vm::push_entry(context, std::move(*entry), label_table_, static_cast<std::uint8_t>(role));
}

void Conversation::restore_labels(std::optional<Labels> labels) {
  if (labels) {
    labels_ = std::move(*labels);
    return;
  }
  const Sources unknown = {{vm::SourceKind::Unknown, ""}};
  labels_ = {.answers = {{0, unknown}}};
  if (image_->program().agents.size() > 1) labels_.handoffs = unknown;
  if (std::ranges::any_of(image_->program().externs, bytecode::may_ask)) labels_.questions = unknown;
  for (const bytecode::Agent& agent : image_->program().agents) {
    labels_.states.emplace(agent.name, unknown_sources(image_->program().types, agent.state));
  }
}

Result<Conversation::StateTexts, effects::ValueFormError> Conversation::write_states(const RunCore& core) const {
  const bytecode::Program& program = image_->program();
  StateTexts texts;
  auto written = effects::write_value(core.machine().agent_state(), declaration().state, program.types, texts.state);
  if (!written) return failure(std::move(written.error()));
  const vm::LabelTable& labels = core.machine().labels();
  texts.sources.emplace(declaration().name, sources_of_state(labels, core.machine().agent_state()));
  texts.handoffs = sources_of(labels, core.machine().handoffs());
  for (const vm::Value& kept : core.machine().kept_states()) {
    if (kept.tag() != vm::Tag::Record) continue;
    for (const bytecode::Agent& agent : program.agents) {
      if (agent.state != kept.type()) continue;
      std::string text;
      written = effects::write_value(kept, agent.state, program.types, text);
      if (!written) return failure(std::move(written.error()));
      texts.kept.insert_or_assign(agent.name, std::move(text));
      texts.sources.insert_or_assign(agent.name, sources_of_state(labels, kept));
    }
  }
  return texts;
}

void Conversation::end(const RunCore& core, const vm::Value* value, std::optional<types::FailureKind> failed) {
  std::optional<StateTexts> states;
  if (value != nullptr) {
    if (auto written = write_states(core)) states = std::move(*written);
  }
  end(core, value, failed, std::move(states));
}

void Conversation::end(const RunCore& core, const vm::Value* value, std::optional<types::FailureKind> failed,
                       std::optional<StateTexts> states) {
  ENSURE(is_in_turn_);
  is_in_turn_ = false;
  if (value != nullptr && states) {
    restore_state(std::move(states->state));
    kept_states_ = std::move(states->kept);
    labels_.states = std::move(states->sources);
    labels_.handoffs = std::move(states->handoffs);
  } else {
    agent_ = agent_before_;
  }
  agent_before_ = agent_;
  const Sources questions = sources_of(core.machine().labels(), core.machine().questions());
  labels_.questions = join(labels_.questions, questions);
  for (std::size_t at = 1; at < turn_messages_.size(); ++at) {  // all after the input
    turn_messages_[at].sources = join(turn_messages_[at].sources, questions);
  }
  if (failed == types::FailureKind::ContextFull) {
    if (!has_left_out_turn(history_)) say({EntryRole::Data, std::string(blocks::left_out_entry), {}});
  } else {
    for (const Message& message : turn_messages_) say(message);
  }
  turn_messages_.clear();
  if (value != nullptr) {
    const vm::LabelTable& labels = core.machine().labels();
    say({EntryRole::Assistant, shown(*value, labels), sources_of(labels, *value)});
  }
}

Result<void, TurnError> Conversation::upgrade_program(std::shared_ptr<const ProgramImage> image) {
  ENSURE(!is_in_turn_);
  const auto agent = bytecode::find_agent(image->program(), declaration().name);
  if (!agent) return failure(TurnError{fmt::format("the new program has no agent `{}`", declaration().name)});
  if (!state_.empty()) {
    auto state = migrate(*image_, declaration(), state_, *image, image->program().agents[*agent]);
    if (!state) return failure(TurnError{std::move(state.error())});
    auto kept = migrate_kept_states(*image);
    if (!kept) return failure(TurnError{std::move(kept.error())});
    kept_states_ = std::move(*kept);
    restore_state(std::move(*state));
  }
  migrate_labels(*image);
  image_ = std::move(image);
  agent_ = agent_before_ = *agent;
  is_taken_over_ = true;
  return {};
}

void Conversation::migrate_labels(const ProgramImage& image) {
  std::map<std::string, StateSources> migrated;
  for (const auto& [name, sources] : labels_.states) {
    const auto before = bytecode::find_agent(image_->program(), name);
    const auto agent = bytecode::find_agent(image.program(), name);
    if (!before || !agent) continue;
    const bytecode::Program& old_program = image_->program();
    const bytecode::Program& program = image.program();
    migrated.emplace(name, migrate_sources(sources, old_program.types, old_program.agents[*before].state, program.types,
                                           program.agents[*agent].state));
  }
  labels_.states = std::move(migrated);
}

bool Conversation::restore_program(std::shared_ptr<const ProgramImage> image, std::string_view name) {
  const auto agent = bytecode::find_agent(image->program(), name);
  if (!agent) return false;
  // It was upgraded, so that this has succeeded then.
  kept_states_ = migrate_kept_states(*image).value_or(std::map<std::string, std::string>());
  migrate_labels(*image);
  image_ = std::move(image);
  agent_ = agent_before_ = *agent;
  is_taken_over_ = true;
  return true;
}

void Conversation::restore(std::uint64_t turns, std::string state, std::map<std::string, std::string> kept_states,
                           vm::Value history) {
  turns_ = turns;
  restore_state(std::move(state));
  kept_states_ = std::move(kept_states);
  history_ = std::move(history);
}

void Conversation::restore_turn(std::vector<Message> messages) {
  is_in_turn_ = true;
  turn_messages_ = std::move(messages);
}

}  // namespace tenon::runtime
