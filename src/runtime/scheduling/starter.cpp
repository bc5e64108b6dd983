#include "runtime/scheduling/starter.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ensure.h"
#include "effects/wait_name.h"
#include "runtime/prompts.h"
#include "runtime/runtime.h"

namespace tenon::runtime {

namespace {

RunFailed failure_of(const RunCore* core, const effects::FailureText& recorded) {
  // The machine that comes to the same failure knows its call stack too.
  if (core != nullptr && core->end()) {
    const auto* const failed = std::get_if<vm::Failed>(&*core->end());
    if (failed != nullptr && failed->report.message == recorded.message) return {failed->report};
  }
  vm::FailureReport report;
  report.kind = recorded.kind;
  report.message = recorded.message;
  report.blame = recorded.blame;
  report.place = recorded.place;
  return {std::move(report)};
}

/// The outcome of a recorded turn.
TurnOutcome outcome_of(const RunCore& core, const effects::TurnEnded& ended) {
  if (ended.how == effects::Ended::How::Cancelled) return RunCancelled{ended.failure.message};
  if (ended.how == effects::Ended::How::Failed) return failure_of(&core, ended.failure);
  return std::get<vm::Finished>(*core.end()).value;  // the recovery has compared them
}

/// The outcome of a recorded run. `core` may be null.
RunEnd end_of(const RunCore* core, const effects::Ended& ended) {
  if (ended.how == effects::Ended::How::Cancelled) return RunCancelled{ended.failure.message};
  const vm::Step* const end = core != nullptr && core->end() ? &*core->end() : nullptr;
  if (end != nullptr && ended.how == effects::Ended::How::Returned) {
    if (const auto* finished = std::get_if<vm::Finished>(end)) return finished->value;
  }
  if (end != nullptr) {
    if (const auto* damaged = std::get_if<vm::Damaged>(end)) return RunDamaged{damaged->message, damaged->place};
  }
  if (ended.how == effects::Ended::How::Failed) return failure_of(core, ended.failure);
  return RunDamaged{"the recorded run returned, but the replay did not", ""};
}

RunCore::Recording recording_of(const RunJournal& journal) {
  if (journal.is_stored()) return RunCore::Recording::On;
  if (journal.takes_records()) return RunCore::Recording::InMemory;
  return journal.takes_request(effects::EffectKind::Emitted) ? RunCore::Recording::Emitted : RunCore::Recording::Off;
}

/// The arguments as Started::arguments has them; nothing when one of them is nested too deep.
std::optional<std::string> write_arguments(const ProgramImage& image, std::uint32_t function,
                                           std::span<const vm::Argument> arguments) {
  const bytecode::Program& program = image.program();
  std::string text = "[";
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    if (at > 0) text += ',';
    if (arguments[at].value.tag() == vm::Tag::Context) {
      text += "null";
      continue;
    }
    const types::TypeId type = program.functions[function].parameters[at];
    if (!effects::write_value(arguments[at].value, type, program.types, text)) return std::nullopt;
  }
  return text + ']';
}

/// The answers to an open request that are recorded and could not be used.
std::uint64_t unusable_answers(const OpenRequest& open) {
  return static_cast<std::uint64_t>(std::ranges::count_if(open.attempts, [](const effects::Attempted& attempt) {
    return attempt.what == effects::Attempted::What::Unusable;
  }));
}

}  // namespace

/// In memory without a name or a store.
RunJournal Starter::make_journal(std::optional<journal::RunName> name) const {
  const bool is_read = dependencies_.listener != nullptr;
  if (dependencies_.store == nullptr || !name) {
    return RunJournal(is_read ? dependencies_.listener->reads_records() : ReadRecords::None);
  }
  const Hash chain = journal::chain_start(*name);
  RunJournal journal(std::move(*name), 0, 0, is_read ? ReadRecords::All : ReadRecords::None);
  if (!options_.pools.is_empty()) journal.follow_chain(chain);
  return journal;
}

RunId Starter::start(std::shared_ptr<const ProgramImage> image, std::uint32_t function,
                     std::vector<vm::Argument> arguments, RunOptions options, std::optional<journal::RunName> name) {
  const RunId id = runs_.add();
  Run& run = runs_[id];
  run.function = function;
  run.title = image->program().functions[function].name;
  run.image = image;
  const auto secret_key = secrets_.prepare(*image);
  if (!secret_key) run.end = RunDetached{secret_key.error().message};
  run.journal = make_journal(run.end ? std::nullopt : std::move(name));
  effects::Started started;
  started.program = run.journal.keep_program(*image);
  if (const auto sealed = secrets_.seal_arguments(run, arguments); !sealed && !run.end) {
    run.journal = make_journal(std::nullopt);
    run.end = RunDetached{sealed.error().message};
  }
  run.journal.keep_pool(options.pool);
  if (run.journal.takes_records() && !run.end) {
    started.function = run.title;
    started.secret_key = *secret_key;
    started.settings = to_settings(options);
    auto text = write_arguments(*image, function, arguments);
    ENSURE(text.has_value());  // the readers of arguments have a lower limit
    started.arguments = run.journal.keep(std::move(*text));
    recorder_.add(run, std::move(started));
  }
  for (vm::Argument& argument : arguments) {
    if (argument.source && options.has_persons_arguments) argument.source = vm::Source{vm::SourceKind::Person, ""};
  }
  run.core = std::make_unique<RunCore>(std::move(image), function, std::move(arguments), options.budgets,
                                       recording_of(run.journal));
  run.options = std::move(options);
  notify_started(id, false);
  runs_.enqueue(id);
  return id;
}

RunId Starter::start_conversation(std::shared_ptr<const ProgramImage> image, std::uint32_t agent, RunOptions options,
                                  std::optional<journal::RunName> name) {
  const RunId id = runs_.add();
  Run& run = runs_[id];
  run.conversation = std::make_unique<Conversation>(image, agent);
  run.title = run.conversation->declaration().name;
  run.function = run.conversation->declaration().turn;
  const auto secret_key = secrets_.prepare(*image);
  if (!secret_key) run.end = RunDetached{secret_key.error().message};
  run.journal = make_journal(run.end ? std::nullopt : std::move(name));
  run.journal.keep_pool(options.pool);
  if (!run.end) {
    effects::Started started;
    started.program = run.journal.keep_program(*image);
    started.agent = run.title;
    started.secret_key = *secret_key;
    started.settings = to_settings(options);
    recorder_.add(run, std::move(started));
  }
  run.image = std::move(image);
  run.options = std::move(options);
  run.is_quiescent = true;
  notify_started(id, false);
  runs_.enqueue(id);
  return id;
}

void Starter::notify_started(RunId id, bool is_resumed) const {
  if (dependencies_.listener == nullptr) return;
  const Run& run = runs_[id];
  RunIdentity identity;
  if (run.journal.is_stored()) identity.name = run.journal.name().text;
  identity.title = run.title;
  identity.is_conversation = run.conversation != nullptr;
  identity.is_resumed = is_resumed;
  if (run.conversation) identity.turn = run.conversation->turns();
  for (const PendingInput& question : questions_of(run))
    identity.waits.emplace_back(effects::key_of_wait(question.wait));
  dependencies_.listener->on_run_started(id, identity);
}

/// Stores the summary of a run that was recovered, if the stored one differs: it was damaged, or the process ended
/// before it was written.
void Starter::refresh_summary(RunId id, const journal::RunSummary& stored) {
  Run& run = runs_[id];
  journal::RunSummary summary = recorder_.summary_of(run);
  if (summary.state == stored.state && summary.wake_at == stored.wake_at && summary.detail == stored.detail) return;
  // Without room on the disk the next append writes it.
  PendingBatch out{id, run.journal.last(), {}, {}, PendingBatch::WithoutRoom::Drop};
  out.records.first = run.journal.last() + 1;
  ++run.outgoing;
  gate_.add(std::move(out), run.journal.take(std::move(summary)));
}

Result<RunId, RecoveryError> Starter::resume(const journal::RunName& name, const ImageSource& images, SameModel same) {
  ENSURE(dependencies_.store != nullptr);
  auto head = claim_run(*gate_.store(), name);
  if (!head) return failure(RecoveryError{head.error().message, head.error().kind});
  LoadedRun loaded(*gate_.store(), std::move(*head), snapshot_use(dependencies_.model, same));
  auto id = resume(loaded, images);
  // Nothing drives a run that has ended.
  if (id && runs_[*id].end) scheduler_.flush();
  return id;
}

Result<RunId, RecoveryError> Starter::resume(LoadedRun& loaded, const ImageSource& images) {
  const journal::RunHead& head = loaded.head();
  ReplayedGeneration skip;
  if (loaded.snapshot_use() == SnapshotUse::Ignore) {
    skip = [this](const ProgramImage& image, const effects::RunSettings& settings, const OpenRequest& open,
                  std::uint64_t asked) {
      const inference::GenerationRequest request = prompt_of(image, to_options(settings), open.request);
      for (std::uint64_t at = 0; at < asked; ++at) dependencies_.model.skip(request);
    };
  }
  ParkedRun* const parked = loaded.parked();
  auto recovered = parked == nullptr ? recover(loaded, head, images, loaded.snapshot_use(), skip)
                                     : recover_further(loaded, head, std::move(parked->run), parked->after, images);
  if (!recovered) return failure(std::move(recovered.error()));
  if (!recovered->ended) {
    if (const auto key = secrets_.require(recovered->started.secret_key); !key) {
      const std::string why = fmt::format("run {}: {}", head.run.text, key.error().message);
      return failure(RecoveryError{.message = why, .is_of_process = true});
    }
  }
  const RunId id = add_recovered(loaded, *recovered);
  Run& run = runs_[id];
  if (recovered->ended) {
    run.end = end_of(run.core.get(), *recovered->ended);
    run.is_end_reported = true;  // by the process in which it has ended
    refresh_summary(id, head.summary);
    return id;
  }
  notify_started(id, true);
  if (run.conversation && !run.conversation->is_in_turn()) {
    if (run.core && recovered->turn_ended) run.turn_outcome = outcome_of(*run.core, *recovered->turn_ended);
    refresh_summary(id, head.summary);
    return id;
  }
  if (run.core->end()) {
    // The run or the turn has ended, which is still to be recorded.
    run.is_quiescent = false;
    runs_.enqueue(id);
    return id;
  }
  for (const auto& [key, open] : run.core->open()) {
    if (!skip || !effects::is_generation(open.described.kind)) continue;
    skip(*recovered->image, recovered->started.settings, open, unusable_answers(open));
  }
  continue_requests(id);
  scheduler_.await_calls(id);
  if (!run.journal.has_pending()) refresh_summary(id, head.summary);
  runs_.enqueue(id);
  return id;
}

RunId Starter::add_recovered(const LoadedRun& loaded, RecoveredRun& recovered) {
  const journal::RunHead& head = loaded.head();
  const RunId id = runs_.add();
  Run& run = runs_[id];
  run.title = recovered.started.agent.empty() ? recovered.started.function : recovered.started.agent;
  run.function = recovered.function;
  run.options = to_options(recovered.started.settings);
  run.image = recovered.image;
  run.core = std::move(recovered.core);
  run.conversation = std::move(recovered.conversation);
  run.journal = RunJournal(head.run, head.epoch, head.records,
                           dependencies_.listener != nullptr ? ReadRecords::All : ReadRecords::None);
  if (!options_.pools.is_empty()) run.journal.follow_chain(head.chain);
  run.journal.count(recovered.bytes_since_snapshot);
  run.journal.know_start(recovered.started);
  run.journal.know_asked(recovered.asked);
  run.journal.know_pieces(std::move(recovered.state_pieces));
  run.snapshot_bytes = recovered.snapshot_bytes;
  run.known = std::move(recovered.known);
  if (run.known) run.known->fill_in([&](effects::StoredText& text) { loaded.fill_in(text); });
  if (run.core) loaded.fill_in(*run.core);
  run.stored_records = head.records;
  run.newest_time = head.summary.updated_at;
  if (run.core) released_timers_.give_back(head.run, *run.core);
  run.is_quiescent = true;
  return id;
}

/// Recorded requests are performed again, with the same key; the others are recorded first.
void Starter::continue_requests(RunId id) {
  Run& run = runs_[id];
  recorder_.add_refusals(run);
  std::vector<std::string> unrecorded;
  std::vector<std::string> in_doubt;
  for (const auto& [key, open] : run.core->open()) {
    if (open.question) continue;  // a person is asked first
    const effects::Finished* const known = run.known ? run.known->find_taken(key) : nullptr;
    if (known != nullptr && requests_.deliver_known(id, open, *known)) continue;
    const bool is_in_progress = open.is_recorded && !is_waiting(open);
    if (is_in_progress && is_once(open, run.image->program())) {
      in_doubt.push_back(key);
      continue;
    }
    if (!open.is_recorded) {
      unrecorded.push_back(key);
    } else if (!requests_.give_instant(id, open)) {
      run.to_perform.push_back(key);
    }
  }
  std::ranges::sort(unrecorded, {}, [&](const std::string& key) { return run.core->open().at(key).request.id; });
  for (const std::string& key : in_doubt) questions_.ask_resolution(id, key);
  scheduler_.open_requests(id, unrecorded);
}

Result<void, PromptRefusal> Starter::prompt(RunId id, std::string_view input) {
  Run& run = runs_[id];
  if (!run.conversation || run.end) {
    return failure(PromptRefusal{PromptRefusal::Kind::NoConversation,
                                 run.end ? "the conversation has ended" : "the run is not a conversation"});
  }
  if (run.conversation->is_in_turn()) {
    return failure(PromptRefusal{PromptRefusal::Kind::InTurn, "a turn of the agent is in progress"});
  }
  auto core = run.conversation->begin(input, run.options, recording_of(run.journal));
  if (!core) return failure(PromptRefusal{PromptRefusal::Kind::WrongInput, std::move(core.error().message)});
  run.core = std::move(*core);
  run.turn_outcome.reset();
  run.is_quiescent = false;
  effects::TurnStarted started;
  started.turn = run.conversation->turns();
  started.agent = run.conversation->declaration().name;
  started.input = run.journal.keep(std::string(input));
  recorder_.add(run, std::move(started));
  runs_.enqueue(id);
  return {};
}

Result<void, PromptRefusal> Starter::upgrade_program(RunId id, std::shared_ptr<const ProgramImage> image,
                                                     std::vector<std::string> libraries) {
  Run& run = runs_[id];
  if (!run.conversation || run.end) {
    return failure(PromptRefusal{
        PromptRefusal::Kind::NoConversation,
        run.end ? "the conversation has ended"
                : "the program of a function's run cannot change; `tenon fork --program` starts another run"});
  }
  if (image->hash() == run.image->hash()) return {};
  if (run.conversation->is_in_turn()) {
    return failure(
        PromptRefusal{PromptRefusal::Kind::InTurn, "the program cannot change during a turn; upgrade it afterwards"});
  }
  auto secret_key = secrets_.prepare(*image);
  if (!secret_key) return failure(PromptRefusal{PromptRefusal::Kind::OtherProgram, secret_key.error().message});
  if (auto taken = run.conversation->upgrade_program(image); !taken) {
    return failure(PromptRefusal{PromptRefusal::Kind::OtherProgram, std::move(taken.error().message)});
  }
  run.image = std::move(image);
  run.function = run.conversation->declaration().turn;
  effects::ProgramTaken taken;
  taken.program = run.journal.keep_program(*run.image);
  taken.agent = run.conversation->declaration().name;
  taken.added_entries = run.conversation->declaration().added_entries;
  taken.state = run.journal.keep_changing(run.conversation->state());
  run.conversation->note_state(taken.state);
  taken.libraries = std::move(libraries);
  taken.secret_key = std::move(*secret_key);
  recorder_.add(run, std::move(taken));
  if (run.journal.is_stored()) run.journal.set_snapshot(write_snapshot(run.conversation.get(), nullptr));
  runs_.enqueue(id);
  return {};
}

}  // namespace tenon::runtime
