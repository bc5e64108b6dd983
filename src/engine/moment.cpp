#include "engine/moment.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/counted.h"
#include "base/utf8.h"
#include "bytecode/pursuit_variables.h"
#include "engine/store_access.h"
#include "engine/stored_run.h"
#include "json/reader.h"
#include "runtime/prompts.h"
#include "runtime/recovery/recovery.h"
#include "vm/values/context.h"
#include "vm/values/render.h"
#include "vm/variables.h"

namespace tenon::engine {
namespace {

std::string_view name_of(bytecode::EntryRole role) {
  using enum bytecode::EntryRole;
  switch (role) {
    case Data:
      return "program";
    case Instructions:
      return "instructions";
    case Person:
      return "person";
    case Assistant:
      return "assistant";
    case Requirement:
      return "requirement";
    case Refusal:
      return "refusal";
  }
  return "program";
}

/// As JSON, cut if it is long: then true.
bool show_value(const vm::Value& value, const vm::Machine& machine, std::string& shown) {
  if (!vm::to_json(value, machine.program().types(), shown)) shown.clear();
  if (shown.size() <= shown_variable_bytes_max) return false;
  shown.resize(cut_utf8(shown, shown_variable_bytes_max).size());
  return true;
}

std::uint32_t action_of(const vm::Value& value) {
  return value.tag() == vm::Tag::Integer ? static_cast<std::uint32_t>(value.as_integer()) : 0;
}

/// Adds what a variable says about a `pursue`; false for a variable of the text.
bool add_pursuit(const vm::Variable& variable, const vm::Machine& machine, std::vector<Moment::Pursuit>& pursuits) {
  const auto add = [&](std::string_view prefix) -> Moment::Pursuit* {
    if (!variable.name.starts_with(prefix)) return nullptr;
    std::string place = variable.name.substr(prefix.size());
    const auto known = std::ranges::find(pursuits, place, &Moment::Pursuit::place);
    return known == pursuits.end() ? &pursuits.emplace_back(Moment::Pursuit{std::move(place), {}}) : &*known;
  };
  if (Moment::Pursuit* const pursuit = add(bytecode::pursuit_value)) {
    pursuit->states.resize(1);
    pursuit->states.front().is_cut = show_value(variable.value, machine, pursuit->states.front().value);
    return true;
  }
  // The names are part of a program that was read from a store: they may name any value.
  if (Moment::Pursuit* const pursuit = add(bytecode::pursuit_action)) {
    pursuit->states.resize(1);
    pursuit->states.front().action = action_of(variable.value);
    return true;
  }
  Moment::Pursuit* const pursuit = add(bytecode::pursuit_states);
  if (pursuit == nullptr) return false;
  if (variable.value.tag() != vm::Tag::List) return true;
  for (const vm::Value& record : variable.value.items()) {
    if (record.tag() != vm::Tag::Record || record.fields().size() < 2) continue;
    Moment::PursuitState& state = pursuit->states.emplace_back();
    state.is_cut = show_value(record.fields()[0], machine, state.value);
    state.action = action_of(record.fields()[1]);
  }
  return true;
}

/// `labels`: those of the machine, to which unions are added.
Moment::Variable show(const vm::Variable& variable, const vm::Machine& machine, vm::LabelTable& labels) {
  Moment::Variable shown{variable.name, {}, false, {}};
  shown.is_cut = show_value(variable.value, machine, shown.value);
  const vm::LabelId label = vm::whole_label(variable.value, labels);
  if (label != vm::LabelTable::program_text) shown.origin = labels.describe(label);
  return shown;
}

/// What the agent of the conversation keeps, as it is now. A state that has no JSON, such as one with a Context, is not
/// shown, nor are entries that the program's text does not have (bytecode::Agent::added_entries).
Moment::AgentState state_of(const runtime::RecoveredRun& run, const bytecode::Agent& agent) {
  std::string text;
  if (!vm::to_json(run.core->machine().agent_state(), run.core->image()->program().types, text)) return {};
  const Json whole = parse_own_json(text);
  if (!whole.is_object()) return {};
  Moment::AgentState shown;
  Json state = Json::object();
  for (const JsonMember& member : whole.members()) {
    const auto added = std::ranges::find(agent.added_entries, member.name);
    if (added == agent.added_entries.end()) {
      state.set(member.name, member.value);
    } else if (added == agent.added_entries.begin()) {
      shown.scratchpad = member.value.dump();
    }
  }
  if (!state.members().empty()) shown.state = state.dump();
  return shown;
}

/// Looks at the run when the replay comes to a record. A record is one of a generation if it has the generation's key.
class Search final : public runtime::RecoveryObserver {
 public:
  Search(std::uint64_t record, std::string generation) : record_(record), generation_(std::move(generation)) {}

  void on_begun(runtime::RecoveredRun& run, const std::string& /*input*/) override { look(run); }
  void on_quiescent(runtime::RecoveredRun& /*run*/) override {}
  void on_outcome(runtime::RecoveredRun& run, const effects::Finished& finished,
                  const std::string& /*value*/) override {
    look(run);
    if (!generation_.empty() && finished.key == generation_) look_at_prompt(run, finished.cost);
  }
  void on_turn_ended(runtime::RecoveredRun& run) override { look(run); }

  /// After the replay.
  [[nodiscard]] Moment take(runtime::RecoveredRun& run) {
    if (run.core && !has_before_) look_before(run);
    if (!is_found_ && run.core) describe(run);
    if (!moment_.prompt && !generation_.empty()) look_at_prompt(run, std::nullopt);
    return std::move(moment_);
  }

 private:
  /// `run.newest_record` is that of the next record, whose consequences the machine does not show yet.
  void look(runtime::RecoveredRun& run) {
    if (is_found_ || run.newest_record < record_ || !run.core) return;
    if (!has_before_) look_before(run);
    if (run.newest_record == record_) return;
    describe(run);
    is_found_ = true;
  }

  void look_before(const runtime::RecoveredRun& run) {
    has_before_ = true;
    if (const bytecode::Agent* const agent = agent_of(run)) moment_.before = state_of(run, *agent);
  }

  [[nodiscard]] static const bytecode::Agent* agent_of(const runtime::RecoveredRun& run) {
    return run.conversation ? &run.core->image()->program().agents[run.conversation->agent()] : nullptr;
  }

  void describe(runtime::RecoveredRun& run) {
    const vm::Machine& machine = run.core->machine();
    const bytecode::Program& program = run.core->image()->program();
    moment_.stack.clear();
    std::vector<std::vector<vm::Variable>> variables = vm::variables_of(machine);
    vm::LabelTable labels = machine.labels();
    for (const vm::CallStackEntry& call : machine.call_stack().entries) {
      moment_.stack.push_back({program.functions[call.function].name, machine.program().describe(call.place), {}, {}});
      Moment::Call& shown = moment_.stack.back();
      const std::size_t at = moment_.stack.size() - 1;
      for (std::size_t index = 0; at < variables.size() && index < variables[at].size(); ++index) {
        const vm::Variable& variable = variables[at][index];
        if (!add_pursuit(variable, machine, shown.pursuits)) shown.variables.push_back(show(variable, machine, labels));
      }
    }
    const bytecode::Agent* const agent = agent_of(run);
    if (agent == nullptr) return;
    moment_.agent = agent->name;
    moment_.after = state_of(run, *agent);
  }

  void look_at_prompt(runtime::RecoveredRun& run, const std::optional<effects::Cost>& cost) {
    const runtime::OpenRequest* const open = run.core ? run.core->find(generation_) : nullptr;
    if (open == nullptr || open->request.kind == vm::RequestKind::Extern) return;
    const inference::GenerationRequest request =
        runtime::prompt_of(*run.core->image(), runtime::to_options(run.started.settings), open->request);
    Moment::Prompt prompt{generation_, request.label, {}, request.messages, {}, cost};
    if (request.schema) prompt.schema = request.schema->json_schema;
    const vm::LabelTable& labels = run.core->machine().labels();
    std::vector<std::uint8_t> roles;
    for (const vm::ContextRun& part : vm::context_runs(open->request.context)) {
      roles.insert(roles.end(), part.entries, part.role);
    }
    const std::vector<vm::Value> entries = vm::context_entries(open->request.context);
    for (std::size_t at = 0; at < entries.size(); ++at) {
      const auto role = static_cast<bytecode::EntryRole>(at < roles.size() ? roles[at] : 0);
      prompt.entries.push_back(
          {labels.describe(entries[at].label()), std::string(name_of(role)), std::string(entries[at].as_text())});
    }
    moment_.prompt = std::move(prompt);
  }

  const std::uint64_t record_;
  const std::string generation_;
  Moment moment_;
  bool has_before_ = false;
  bool is_found_ = false;
};

/// The key of the generation that the record is about; empty if it is about something else.
std::string generation_of(const effects::Record& record) {
  if (const auto* const requested = std::get_if<effects::Requested>(&record.body)) {
    return effects::is_generation(requested->kind) ? requested->key : std::string();
  }
  if (const auto* const finished = std::get_if<effects::Finished>(&record.body)) {
    return effects::is_generation(finished->kind) ? finished->key : std::string();
  }
  return {};
}

}  // namespace

Result<Moment, EngineError> find_moment(journal::Store& store, const journal::RunName& run, std::uint64_t record) {
  const auto head = store.head(run);
  if (!head) return failure(to_error(head.error()));
  if (record == 0 || record > head->records) {
    return failure(EngineError{EngineError::Kind::NotFound, fmt::format("the run has {}; there is no record {}",
                                                                        counted(head->records, "record"), record)});
  }
  const auto read = store.read(run, record - 1, 1);
  if (!read) return failure(to_error(read.error()));
  const auto decoded = read->empty() ? std::nullopt : std::optional(effects::decode_record(read->front().bytes));
  if (!decoded || !*decoded) {
    return failure(EngineError{EngineError::Kind::Failed, fmt::format("record {} cannot be read", record)});
  }
  Search search(record, generation_of(**decoded));
  auto recovered = runtime::recover(store, *head, images_without_externs(), runtime::SnapshotUse::Ignore, {}, &search);
  if (!recovered) return failure(to_error(recovered.error()));
  return search.take(*recovered);
}

}  // namespace tenon::engine
