#include "engine/moment.h"

#include <fmt/format.h>

#include "engine/store_access.h"
#include "engine/stored_run.h"
#include "runtime/prompts.h"
#include "runtime/recovery/recovery.h"
#include "vm/values/context.h"
#include "vm/values/render.h"

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

/// Where the text of an entry comes from. The messages of a conversation have roles instead of labels.
std::string origin_of(const vm::Value& entry, bytecode::EntryRole role, const vm::LabelTable& labels) {
  if (entry.label() == vm::LabelTable::program_text) {
    if (role == bytecode::EntryRole::Person) return std::string(vm::source_kind_name(vm::SourceKind::Person));
    if (role == bytecode::EntryRole::Assistant) return std::string(vm::source_kind_name(vm::SourceKind::Model));
  }
  return labels.describe(entry.label());
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
    if (!is_found_ && run.core) describe(run);
    if (!moment_.prompt && !generation_.empty()) look_at_prompt(run, std::nullopt);
    return std::move(moment_);
  }

 private:
  /// `run.newest_record` is that of the next record, whose consequences the machine does not show yet.
  void look(runtime::RecoveredRun& run) {
    if (is_found_ || run.newest_record <= record_ || !run.core) return;
    describe(run);
    is_found_ = true;
  }

  void describe(runtime::RecoveredRun& run) {
    const vm::Machine& machine = run.core->machine();
    const bytecode::Program& program = run.core->image()->program();
    moment_.stack.clear();
    for (const vm::CallStackEntry& call : machine.call_stack().entries) {
      moment_.stack.push_back({program.functions[call.function].name, machine.program().describe(call.place)});
    }
    if (!run.conversation) return;
    const bytecode::Agent& agent = program.agents[run.conversation->agent()];
    moment_.agent = agent.name;
    moment_.state.clear();
    // A state that has no JSON, such as one with a Context, is not shown.
    if (!vm::to_json(machine.agent_state(), program.types, moment_.state) || moment_.state == "null") {
      moment_.state.clear();
    }
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
          {origin_of(entries[at], role, labels), std::string(name_of(role)), std::string(entries[at].as_text())});
    }
    moment_.prompt = std::move(prompt);
  }

  const std::uint64_t record_;
  const std::string generation_;
  Moment moment_;
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
    return failure(EngineError{EngineError::Kind::NotFound,
                               fmt::format("the run has {} records; there is no record {}", head->records, record)});
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
