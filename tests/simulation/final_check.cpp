#include "tests/simulation/final_check.h"

#include <fmt/format.h>

#include "effects/value_form.h"
#include "journal/open_store.h"
#include "runtime/recovery/asked_questions.h"
#include "runtime/recovery/recovery.h"
#include "vm/values/context.h"

namespace tenon::simulation {
namespace {

using runtime::SnapshotUse;

void check_conversation(const runtime::RecoveredRun& run, journal::Store& store, std::string_view way, Ledger& ledger) {
  const runtime::Conversation& conversation = *run.conversation;
  if (conversation.turns() != ledger.turns_started()) {
    ledger.add_problem(fmt::format("{}: {} turns of {}", way, conversation.turns(), ledger.turns_started()));
  }
  if (!run.turn_ended) return;
  const auto state = runtime::resolve(store, run.head.run, run.turn_ended->state);
  // A newer program has migrated the state since then.
  const bool is_cut_off = run.ended && conversation.taken_program() != nullptr;
  if (!state || (!is_cut_off && conversation.state() != *state)) {
    ledger.add_problem(fmt::format("{}: the agent's state is {} where {} is recorded", way, conversation.state(),
                                   state ? *state : state.error().message));
  }
  if (conversation.declaration().name != run.turn_ended->agent) {
    ledger.add_problem(fmt::format("{}: {} has the next turn where {} is recorded", way,
                                   conversation.declaration().name, run.turn_ended->agent));
  }
  const Hash history =
      vm::context_length(conversation.history()) > 0 ? vm::context_hash(conversation.history()) : Hash{};
  if (history != run.turn_ended->conversation) {
    ledger.add_problem(fmt::format("{}: what was said is another conversation than the recorded one:\n{}", way,
                                   vm::context_text(conversation.history())));
  }
}

void check_end(const runtime::RecoveredRun& run, journal::Store& store, std::string_view way, Ledger& ledger) {
  if (!run.ended) return ledger.add_problem(fmt::format("{}: the run has no end", way));
  if (run.ended->how != effects::Ended::How::Returned) return;
  const auto* finished = run.core->end() ? std::get_if<vm::Finished>(&*run.core->end()) : nullptr;
  if (finished == nullptr) return ledger.add_problem(fmt::format("{}: the machine does not come to its end", way));
  const bytecode::Program& program = run.image->program();
  std::string text;
  static_cast<void>(effects::write_value(finished->value, program.functions[run.function].result, program.types, text));
  const auto recorded = runtime::resolve(store, run.head.run, run.ended->value);
  if (!recorded || text != *recorded) {
    ledger.add_problem(fmt::format("{}: the value is {} where {} is recorded", way, text,
                                   recorded ? *recorded : recorded.error().message));
  }
}

}  // namespace

void check_final(const FinalState& state) {
  Ledger& ledger = state.ledger;
  journal::StoreOptions options;
  options.disk = state.vfs;
  auto store = journal::open_store(state.path, options);
  if (!store) return ledger.add_problem("the store cannot be opened at the end: " + store.error().message);
  auto records = (*store)->journals().read(ledger.run(), 0, SIZE_MAX);
  if (!records && records.error().kind == journal::StoreError::Kind::Missing) records = std::vector<journal::Record>{};
  if (!records) return ledger.add_problem("the records cannot be read at the end: " + records.error().message);
  if (records->size() > ledger.records().size()) ledger.add_problem("there are records that were never published");
  ledger.recover(*records);
  if (!ledger.problems().empty()) return;
  const auto report = (*store)->admin().check();
  if (!report) return ledger.add_problem("the store cannot be checked: " + report.error().message);
  for (const std::string& problem : report->problems) ledger.add_problem("the store's check: " + problem);
  check_journal((*store)->journals(), state.images, ledger);
}

void check_journal(journal::Store& store, const runtime::ImageSource& images, Ledger& ledger) {
  for (const SnapshotUse use : {SnapshotUse::Ignore, SnapshotUse::Use}) {
    const std::string_view way = use == SnapshotUse::Use ? "from the snapshot" : "from the first record";
    const auto head = store.head(ledger.run());
    if (!head) return ledger.add_problem("the run is gone: " + head.error().message);
    const auto run = runtime::recover(store, *head, images, use);
    if (!run) {
      ledger.add_problem(fmt::format("{}: {}", way, run.error().message));
      continue;
    }
    const auto has_asked_several = runtime::has_asked_several(store, ledger.run());
    if (!run->asked || !has_asked_several || *has_asked_several != (*run->asked > 1)) {
      ledger.add_problem(fmt::format("{}: it does not know how many questions were asked", way));
    }
    if (run->conversation) {
      check_conversation(*run, store, way, ledger);
    } else {
      check_end(*run, store, way, ledger);
    }
  }
}

}  // namespace tenon::simulation
