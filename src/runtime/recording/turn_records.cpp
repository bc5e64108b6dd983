#include "runtime/recording/turn_records.h"

#include <utility>

#include "effects/value_form.h"
#include "runtime/recording/agent_records.h"
#include "vm/values/context.h"

namespace tenon::runtime {

effects::FailureText to_text(const vm::FailureReport& report) {
  return {report.kind, effects::cut_failure_text(report.message), effects::cut_failure_text(report.blame),
          report.place};
}

RunFailed unrecordable(const ProgramImage& image, std::uint32_t function, std::string message) {
  vm::FailureReport report;
  report.place = image.loaded()->describe(image.program().functions[function].place);
  report.kind = types::FailureKind::Conversion;
  report.message = std::move(message);
  return {std::move(report)};
}

std::vector<effects::RecordBody> end_turn(Conversation& conversation, const RunCore& core, TurnOutcome& outcome,
                                          RunJournal& journal) {
  effects::TurnEnded ended;
  ended.turn = conversation.turns();
  const bytecode::Program& program = core.image()->program();
  std::string text;
  if (const auto* const value = std::get_if<vm::Value>(&outcome)) {
    const types::TypeId type = program.functions[conversation.declaration().turn].result;
    if (const auto written = effects::write_value(*value, type, program.types, text); !written) {
      outcome = unrecordable(*core.image(), conversation.declaration().turn,
                             "the turn's value cannot be recorded: " + written.error().message);
      text = {};
    }
  }
  std::optional<Conversation::StateTexts> states;
  if (std::holds_alternative<vm::Value>(outcome)) {
    auto written = conversation.write_states(core);
    if (written) {
      states = std::move(*written);
    } else {
      outcome = unrecordable(*core.image(), conversation.declaration().turn,
                             "the agent's state cannot be recorded: " + written.error().message);
      text = {};
    }
  }
  const vm::Value* const value = std::get_if<vm::Value>(&outcome);
  const auto* const failed = std::get_if<RunFailed>(&outcome);
  if (failed != nullptr) {
    ended.how = effects::Ended::How::Failed;
    ended.failure = to_text(failed->report);
  } else if (const auto* cancelled = std::get_if<RunCancelled>(&outcome)) {
    ended.how = effects::Ended::How::Cancelled;
    ended.failure = {types::FailureKind::Cancelled, cancelled->reason, "", ""};
  }
  const std::string state_before = conversation.state_before();
  conversation.end(core, value, failed == nullptr ? std::nullopt : std::optional(failed->report.kind),
                   std::move(states));
  std::vector<effects::RecordBody> records;
  if (!journal.takes_records()) return records;
  ended.agent = conversation.declaration().name;
  ended.added_entries = conversation.declaration().added_entries;
  std::string changed =
      value == nullptr ? "" : changed_entries(state_before, conversation.state(), ended.added_entries);
  if (!changed.empty()) {
    records.emplace_back(effects::StateChanged{ended.agent, journal.keep_changing(std::move(changed))});
  }
  ended.value = journal.keep(std::move(text));
  ended.state = journal.keep_changing(conversation.state());
  conversation.note_state(ended.state);
  if (vm::context_length(conversation.history()) > 0) {
    ended.conversation = journal.keep_context(conversation.history());
  }
  records.emplace_back(std::move(ended));
  return records;
}

}  // namespace tenon::runtime
