#include "runtime/runtime.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>

#include "base/ensure.h"
#include "inference/answers/schema_writer.h"
#include "runtime/agent_records.h"
#include "runtime/prompts.h"
#include "runtime/resolution.h"
#include "types/type_parts.h"
#include "vm/finally_handlers.h"

namespace tenon::runtime {

using effects::EffectKind;
using types::FailureKind;

namespace {

/// Of a failure's call stack, innermost first; a trace has more of them.
constexpr std::size_t shown_calls_max = 16;

/// What the process has allocated and not freed, as glibc counts it.
std::uint64_t heap_bytes() {
  const struct mallinfo2 information = ::mallinfo2();
  return information.uordblks + information.hblkhd;
}

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
  return RunDamaged{"the recorded run has returned, and the program's has not", ""};
}

/// In memory without a name or a store.
RunJournal make_journal(const RuntimeDependencies& dependencies, std::optional<journal::RunName> name) {
  using Readers = RunJournal::Readers;
  const bool is_read = dependencies.listener != nullptr;
  if (dependencies.store == nullptr || !name) {
    return RunJournal(is_read && dependencies.listener->reads_records() ? Readers::Some : Readers::None);
  }
  return {std::move(*name), 0, 0, is_read ? Readers::Some : Readers::None};
}

RunCore::Recording recording_of(const RunJournal& journal) {
  if (journal.is_stored()) return RunCore::Recording::On;
  return journal.takes_records() ? RunCore::Recording::InMemory : RunCore::Recording::Off;
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

}  // namespace

Runtime::Runtime(RuntimeDependencies dependencies, RuntimeOptions options)
    : dependencies_(std::move(dependencies)),
      options_(options),
      gate_(dependencies_.store, dependencies_.committer),
      budget_ends_([this](std::uint64_t effect) { return generations_.contains(effect) || calls_.contains(effect); }),
      heap_bytes_at_start_(heap_bytes()) {}

Runtime::~Runtime() {
  cancel_all();
}

std::int64_t Runtime::now_ms() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(dependencies_.clock.wall().time_since_epoch()).count();
}

RunId Runtime::start(std::shared_ptr<const ProgramImage> image, std::uint32_t function,
                     std::vector<vm::Argument> arguments, RunOptions options, std::optional<journal::RunName> name) {
  const RunId id = add_run();
  Run& run = runs_[id.index];
  run.function = function;
  run.title = image->program().functions[function].name;
  run.image = image;
  const auto secret_key = prepare_secrets(*image);
  if (!secret_key) run.end = RunDetached{secret_key.error().message, std::nullopt};
  run.journal = make_journal(dependencies_, run.end ? std::nullopt : std::move(name));
  effects::Started started;
  started.program = run.journal.keep_program(*image);
  if (const auto sealed = seal_arguments(run, arguments); !sealed && !run.end) {
    run.journal = make_journal(dependencies_, std::nullopt);
    run.end = RunDetached{sealed.error().message, std::nullopt};
  }
  if (run.journal.takes_records() && !run.end) {
    started.function = run.title;
    started.secret_key = *secret_key;
    started.settings = to_settings(options);
    auto text = write_arguments(*image, function, arguments);
    ENSURE(text.has_value());  // the readers of arguments have a lower limit
    started.arguments = run.journal.keep(std::move(*text));
    run.journal.add({now_ms(), std::move(started)});
  }
  run.core = std::make_unique<RunCore>(std::move(image), function, std::move(arguments), options.budgets,
                                       recording_of(run.journal));
  run.options = std::move(options);
  notify_run_started(id, Resumed::No);
  enqueue(id);
  return id;
}

void Runtime::notify_run_started(RunId id, Resumed resumed) const {
  if (dependencies_.listener == nullptr) return;
  const Run& run = runs_[id.index];
  RunIdentity identity;
  if (run.journal.is_stored()) identity.name = run.journal.name().text;
  identity.title = run.title;
  identity.is_conversation = run.conversation != nullptr;
  identity.is_resumed = resumed == Resumed::Yes;
  if (run.conversation) identity.turn = run.conversation->turns();
  for (const PendingInput& question : questions(id)) identity.waits.push_back(question.wait);
  dependencies_.listener->on_run_started(id, identity);
}

/// Stores the summary of a run that was recovered, if the stored one differs: it was damaged, or the process ended
/// before it was written.
static void refresh_summary(CommitGate& gate, RunId id, Run& run, const journal::RunSummary& stored,
                            journal::RunSummary summary) {
  if (summary.state == stored.state && summary.wake_at == stored.wake_at && summary.detail == stored.detail) return;
  // Without room on the disk the next append writes it.
  PendingBatch out{id, run.journal.last(), {}, {}, PendingBatch::WithoutRoom::Drop};
  out.records.first = run.journal.last() + 1;
  ++run.outgoing;
  gate.add(std::move(out), run.journal.take(std::move(summary)));
}

SnapshotUse snapshot_use(const inference::Model& model, SameModel same) {
  const bool tells_model = same == SameModel::Yes && model.follows_a_script();
  return tells_model ? SnapshotUse::Ignore : SnapshotUse::Use;
}

Result<RunId, RecoveryError> Runtime::resume(const journal::RunName& name, const ImageSource& images, SameModel same) {
  ENSURE(dependencies_.store != nullptr);
  auto head = store().claim(name);
  if (!head) return failure(RecoveryError{head.error().message, head.error().kind});
  LoadedRun loaded(store(), std::move(*head), snapshot_use(dependencies_.model, same));
  auto id = resume(loaded, images);
  // Nothing drives a run that has ended.
  if (id && runs_[id->index].end) flush();
  return id;
}

Result<RunId, RecoveryError> Runtime::resume(LoadedRun& loaded, const ImageSource& images) {
  const journal::RunHead& head = loaded.head();
  const journal::RunName& name = head.run;
  ReplayedGeneration skip;
  if (loaded.snapshot_use() == SnapshotUse::Ignore) {
    skip = [this](const ProgramImage& image, const effects::RunSettings& settings, const OpenRequest& open,
                  std::uint64_t asked) {
      const inference::GenerationRequest request = prompt_of(image, to_options(settings), open.request);
      for (std::uint64_t at = 0; at < asked; ++at) dependencies_.model.skip(request);
    };
  }
  auto recovered = recover(loaded, head, images, loaded.snapshot_use(), skip);
  if (!recovered) return failure(std::move(recovered.error()));
  if (!recovered->ended && !recovered->started.secret_key.empty()) {
    const auto problem = dependencies_.secrets == nullptr ? std::string("there is no key for its secrets") : [&] {
      const auto found = dependencies_.secrets->require(recovered->started.secret_key);
      return found ? std::string() : found.error().message;
    }();
    if (!problem.empty()) return failure(RecoveryError{fmt::format("run {}: {}", name.text, problem)});
  }
  const RunId id = add_run();
  Run& run = runs_[id.index];
  run.title = recovered->started.agent.empty() ? recovered->started.function : recovered->started.agent;
  run.function = recovered->function;
  run.options = to_options(recovered->started.settings);
  run.image = recovered->image;
  run.core = std::move(recovered->core);
  run.conversation = std::move(recovered->conversation);
  run.journal = RunJournal(name, head.epoch, head.records,
                           dependencies_.listener != nullptr ? RunJournal::Readers::Some : RunJournal::Readers::None);
  run.journal.count(recovered->bytes_since_snapshot);
  run.journal.know_start(recovered->started);
  run.snapshot_bytes = recovered->snapshot_bytes;
  run.known = std::move(recovered->known);
  if (run.known) run.known->fill_in([&](effects::StoredText& text) { loaded.fill_in(text); });
  run.stored_records = head.records;
  run.is_quiescent = true;
  if (run.core) loaded.fill_in(*run.core);
  if (recovered->ended) {
    run.end = end_of(run.core.get(), *recovered->ended);
    refresh_summary(gate_, id, run, head.summary, summary_of(id));
    return id;
  }
  notify_run_started(id, Resumed::Yes);
  if (run.conversation && !run.conversation->is_in_turn()) {
    if (run.core && recovered->turn_ended) run.turn_outcome = outcome_of(*run.core, *recovered->turn_ended);
    refresh_summary(gate_, id, run, head.summary, summary_of(id));
    return id;
  }
  if (run.core->end()) {
    // The run or the turn has ended, which is still to be recorded.
    run.is_quiescent = false;
    enqueue(id);
    return id;
  }
  if (skip) {
    for (const auto& [key, open] : run.core->open()) {
      if (effects::is_generation(open.described.kind)) {
        const auto answers = std::count_if(open.attempts.begin(), open.attempts.end(), [](const auto& attempt) {
          return attempt.what == effects::Attempted::What::Unusable;
        });
        skip(*recovered->image, recovered->started.settings, open, static_cast<std::uint64_t>(answers));
      }
    }
  }
  // What was recorded is performed again, with the same key; what was not has no record yet.
  std::vector<std::string> unrecorded;
  std::vector<std::string> in_doubt;
  for (const auto& [key, open] : run.core->open()) {
    if (open.question) continue;  // a person is asked first
    const effects::Finished* const known = run.known ? run.known->find_taken(key) : nullptr;
    if (known != nullptr && give_known(id, open, *known)) continue;
    const bool is_in_progress = open.is_recorded && !is_waiting(open);
    if (is_in_progress && is_once(open, run.image->program())) {
      in_doubt.push_back(key);
      continue;
    }
    (open.is_recorded ? run.to_perform : unrecorded).push_back(key);
  }
  std::sort(unrecorded.begin(), unrecorded.end(), [&](const std::string& a, const std::string& b) {
    return run.core->open().at(a).request.id < run.core->open().at(b).request.id;
  });
  for (const std::string& key : in_doubt) ask_resolution(id, key);
  open_requests(id, unrecorded);
  if (!run.journal.has_pending()) refresh_summary(gate_, id, run, head.summary, summary_of(id));
  enqueue(id);
  return id;
}

RunId Runtime::start_conversation(std::shared_ptr<const ProgramImage> image, std::uint32_t agent, RunOptions options,
                                  std::optional<journal::RunName> name) {
  const RunId id = add_run();
  Run& run = runs_[id.index];
  run.conversation = std::make_unique<Conversation>(image, agent);
  run.title = run.conversation->declaration().name;
  run.function = run.conversation->declaration().turn;
  const auto secret_key = prepare_secrets(*image);
  if (!secret_key) run.end = RunDetached{secret_key.error().message, std::nullopt};
  run.journal = make_journal(dependencies_, run.end ? std::nullopt : std::move(name));
  if (!run.end) {
    effects::Started started;
    started.program = run.journal.keep_program(*image);
    started.agent = run.title;
    started.secret_key = *secret_key;
    started.settings = to_settings(options);
    run.journal.add({now_ms(), std::move(started)});
  }
  run.image = std::move(image);
  run.options = std::move(options);
  run.is_quiescent = true;
  notify_run_started(id, Resumed::No);
  enqueue(id);
  return id;
}

Result<void, PromptRefusal> Runtime::prompt(RunId id, std::string_view input) {
  Run& run = runs_[id.index];
  if (!run.conversation || run.end) {
    return failure(PromptRefusal{PromptRefusal::Kind::NoConversation,
                                 run.end ? "the conversation has ended" : "the run is none of an agent"});
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
  run.journal.add({now_ms(), std::move(started)});
  enqueue(id);
  return {};
}

void Runtime::cancel_turn(RunId id, std::string reason) {
  const Run& run = runs_[id.index];
  if (run.end || !run.conversation || !run.conversation->is_in_turn()) return;
  request_cancel(id, {std::move(reason), false});
}

void Runtime::cancel(RunId id, std::string reason) {
  if (!runs_[id.index].end) request_cancel(id, {std::move(reason), true});
}

/// What is to be cleaned up is known when the run is at rest.
void Runtime::request_cancel(RunId id, effects::CancelWanted wanted) {
  Run& run = runs_[id.index];
  const bool is_under_way = run.core && (!run.conversation || run.conversation->is_in_turn());
  const bool is_wanted_again = run.cancel || (run.core && run.core->cancelled());
  if (is_under_way && !is_wanted_again && vm::has_finally_handlers(run.core->image()->program())) {
    run.cancel = std::move(wanted);
    return enqueue(id);
  }
  if (is_under_way && run.core->cancelled()) wanted.ends_run = wanted.ends_run || run.core->cancelled()->ends_run;
  end_cancelled(id, wanted);
}

/// At once, whatever there is to clean up.
void Runtime::end_cancelled(RunId id, const effects::CancelWanted& wanted) {
  Run& run = runs_[id.index];
  cancel_effects(id);
  run.pending_outcomes.clear();
  run.cancel.reset();
  run.journal.add({now_ms(), wanted});
  if (run.conversation && !wanted.ends_run) {
    end_turn(id, RunCancelled{wanted.reason});
    run.core->open().clear();
    run.is_quiescent = true;
  } else {
    end_run(id, RunCancelled{wanted.reason});
  }
  enqueue(id);
}

/// What a clean-up waits for may have been dropped when the process was interrupted.
void Runtime::perform_again(RunId id) {
  Run& run = runs_[id.index];
  for (const auto& [key, open] : run.core->open()) {
    const bool is_call = open.described.kind == EffectKind::Extern || effects::is_generation(open.described.kind);
    const bool is_planned = std::ranges::find(run.to_perform, key) != run.to_perform.end();
    const bool is_pending = std::ranges::any_of(
        run.pending_outcomes, [&](const PendingOutcome& arrived) { return arrived.key == open.request.key; });
    if (is_call && !is_waiting(open) && !is_planned && !is_pending && !is_under_way(id, open.request.id)) {
      run.to_perform.push_back(key);
    }
  }
}

bool Runtime::is_under_way(RunId id, vm::RequestId request) const {
  const auto is_it = [&](const auto& entry) { return entry.second.run == id && entry.second.request.id == request; };
  return std::ranges::any_of(generations_, is_it) || std::ranges::any_of(calls_, is_it);
}

const journal::RunName* Runtime::name(RunId run) const {
  const RunJournal& journal = runs_[run.index].journal;
  return journal.is_stored() ? &journal.name() : nullptr;
}

void Runtime::enqueue(RunId run) {
  if (runs_[run.index].is_queued || runs_[run.index].is_end_reported) return;
  runs_[run.index].is_queued = true;
  ready_.push_back(run);
}

void Runtime::step(RunId id) {
  runs_[id.index].is_queued = false;
  while (advance(id)) {
  }
  flush_step(id);
}

/// Advances by one slice or one outcome; false when the run has to wait.
bool Runtime::advance(RunId id) {
  Run& run = runs_[id.index];
  if (run.end || !run.core || (run.conversation && !run.conversation->is_in_turn())) return false;
  const bool was_cancelled = run.is_quiescent && run.pending_outcomes.empty() && run.cancel;
  if (was_cancelled) {
    const effects::CancelWanted wanted = *std::exchange(run.cancel, std::nullopt);
    if (!run.core->cancel(wanted)) {
      end_cancelled(id, wanted);
      return false;
    }
    run.journal.add({now_ms(), wanted});
    run.is_quiescent = false;
  } else if (run.is_quiescent) {
    if (run.pending_outcomes.empty()) return false;
    PendingOutcome next = std::move(run.pending_outcomes.front());
    run.pending_outcomes.pop_front();
    const OpenRequest* const open = run.core->find(next.key);
    if (open == nullptr) return true;  // its branch has been cancelled
    if (run.journal.takes_records()) record_outcome(run, next, *open);
    // What a person answers the agent itself is part of the conversation.
    const auto* const answered = std::get_if<vm::ReturnedValue>(&next.outcome.what);
    if (run.conversation && open->described.kind == EffectKind::Ask && open->request.depth == 0 &&
        answered != nullptr) {
      run.conversation->add_answer(open->request.arguments[0].as_text(), answered->value);
    }
    run.core->deliver(next.key, std::move(next.outcome));
    run.is_quiescent = false;
  }
  RunCore::Advance advance = run.core->advance(options_.slice_instructions);
  for (const vm::RequestId cancelled : advance.cancelled) cancel_request(id, cancelled);
  if (!advance.is_quiescent) {
    if (is_memory_spent()) {
      fail_memory(id);
    } else {
      enqueue(id);
    }
    return false;
  }
  run.is_quiescent = true;
  // What has ended by itself is not cancelled any more; a conversation ends after its turn.
  const std::optional<effects::CancelWanted> too_late =
      advance.end ? std::exchange(run.cancel, std::nullopt) : std::nullopt;
  if (advance.end && run.core->cancelled() && !std::holds_alternative<vm::Damaged>(*advance.end)) {
    const effects::CancelWanted& wanted = *run.core->cancelled();
    const bool ends_run = wanted.ends_run || !run.conversation;
    ends_run ? end_run(id, RunCancelled{wanted.reason}) : end_turn(id, RunCancelled{wanted.reason});
    return false;
  }
  if (advance.end && run.conversation) {
    if (auto* finished = std::get_if<vm::Finished>(&*advance.end)) {
      end_turn(id, std::move(finished->value));
    } else if (auto* failed = std::get_if<vm::Failed>(&*advance.end)) {
      end_turn(id, RunFailed{std::move(failed->report)});
    } else {
      auto& damaged = std::get<vm::Damaged>(*advance.end);
      end_run(id, RunDamaged{std::move(damaged.message), std::move(damaged.place)});
    }
    if (too_late && too_late->ends_run && !run.end) end_cancelled(id, *too_late);
    return false;
  }
  if (advance.end) {
    if (auto* finished = std::get_if<vm::Finished>(&*advance.end)) {
      end_run(id, std::move(finished->value));
    } else if (auto* failed = std::get_if<vm::Failed>(&*advance.end)) {
      end_run(id, RunFailed{std::move(failed->report)});
    } else {
      auto& damaged = std::get<vm::Damaged>(*advance.end);
      end_run(id, RunDamaged{std::move(damaged.message), std::move(damaged.place)});
    }
    return false;
  }
  open_requests(id, advance.opened);
  if (was_cancelled && run.outgoing == 0) perform_again(id);
  return true;
}

std::vector<PendingInput> Runtime::questions(RunId id) const {
  const Run& run = runs_[id.index];
  std::vector<PendingInput> questions;
  if (run.end || !run.core) return questions;
  std::map<vm::RequestId, const OpenRequest*> asked;
  for (const auto& [key, open] : run.core->open()) {
    // A question that the runtime has not recorded, because it drains, is asked by the process that resumes the run.
    if (asks_person(open) && open.is_recorded) asked.emplace(open.request.id, &open);
  }
  for (const auto& [request, open] : asked) questions.push_back(question_of(run, open->request.key, *open));
  return questions;
}

std::vector<PendingRetry> Runtime::retries(RunId id) const {
  const Run& run = runs_[id.index];
  std::vector<PendingRetry> retries;
  if (run.end || !run.core) return retries;
  for (const auto& [key, open] : run.core->open()) {
    if (open.outage && open.outage->is_waiting) retries.push_back({key, *open.outage, open.wake_at});
  }
  return retries;
}

std::uint64_t Runtime::known_taken(RunId id) const {
  const Run& run = runs_[id.index];
  return run.known ? run.known->taken() : 0;
}

std::optional<std::int64_t> Runtime::wakes_at(RunId id) const {
  std::optional<std::int64_t> soonest;
  if (runs_[id.index].end || !runs_[id.index].core) return soonest;
  for (const auto& [key, open] : runs_[id.index].core->open()) {
    if (open.wake_at && (!soonest || *open.wake_at < *soonest)) soonest = open.wake_at;
  }
  return soonest;
}

PendingInput Runtime::question_of(const Run& run, const std::string& key, const OpenRequest& open) const {
  const bytecode::Program& program = run.core->image()->program();
  PendingInput question;
  question.wait = key;
  std::uint32_t depth = 0;
  place(run, open.request, question.agent, depth);
  question.callers = callers_of(run.core->machine(), open.request, run.title);
  question.text = open.question ? *open.question : std::string(open.request.arguments[0].as_text());
  if (open.is_in_doubt) {
    question.type = resolution_type(program, open.request.subject);
    question.schema = resolution_schema(program, open.request.subject);
    question.is_secret = types::holds_secret(program.types, program.externs[open.request.subject].result);
    return question;
  }
  const types::TypeId type = open.question ? types::TypeTable::string : program.externs[open.request.subject].result;
  question.type = program.types.describe(type);
  question.schema = inference::answers::make_schema(program.types, type);
  if (!open.question) {
    question.until = open.wake_at;
    question.is_secret = types::holds_secret(program.types, type);
  }
  return question;
}

bool Runtime::takes_raw_answer(RunId id, std::string_view wait) const {
  const Run& run = runs_[id.index];
  if (run.end || !run.core) return false;
  const auto found = run.core->open().find(std::string(wait));
  if (found == run.core->open().end() || found->second.is_in_doubt) return false;
  if (found->second.question) return true;
  const ProgramImage& image = *run.core->image();
  return found->second.described.kind == EffectKind::Ask &&
         image.reader().is_written_raw(image.program().externs[found->second.request.subject].result);
}

Result<void, AnswerRefusal> Runtime::answer(RunId id, std::string_view wait, std::string_view input,
                                            std::optional<journal::Note> note) {
  Run& run = runs_[id.index];
  OpenRequest* const open = run.end || !run.core ? nullptr : run.core->find(std::string(wait));
  const bool is_answered = std::any_of(run.pending_outcomes.begin(), run.pending_outcomes.end(),
                                       [&](const PendingOutcome& arrived) { return arrived.key == wait; });
  if (open != nullptr && open->is_in_doubt) return take_resolution(id, std::string(wait), input, std::move(note));
  if (open != nullptr && open->question) {
    // An extern has asked: it is called again, once the answer is recorded.
    effects::StoredText text = run.journal.keep(std::string(input));
    open->wake_at = extern_wakes_at(*open, run.core->image()->program());
    effects::Continued continued{open->request.key, std::move(text), {}, 0, open->wake_at};
    place(run, open->request, continued.agent, continued.depth);
    open->records.push_back(run.journal.add({now_ms(), std::move(continued)}));
    if (note) run.journal.keep_note(std::move(*note));
    open->question.reset();
    open->input = {std::string(input), std::nullopt};
    ++open->pauses;
    run.to_perform.push_back(open->request.key);
    enqueue(id);
    return {};
  }
  const bool is_asked = open != nullptr && open->described.kind == EffectKind::Ask && !is_answered;
  if (!is_asked) {
    return failure(AnswerRefusal{AnswerRefusal::Kind::NoSuchWait, fmt::format("nothing waits under `{}`", wait)});
  }
  if (open->wake_at && *open->wake_at <= now_ms()) {
    end_wait(id, open->request.key);
    return failure(AnswerRefusal{AnswerRefusal::Kind::TooLate, "the answer comes too late: the time for it is over"});
  }
  const ProgramImage& image = *run.core->image();
  auto value = image.reader().read_argument(image.program().externs[open->request.subject].result, input);
  if (!value) {
    std::string message;
    for (const auto& mismatch : value.error()) {
      if (!message.empty()) message += "; ";
      message += inference::answers::describe(mismatch, "the answer");
    }
    return failure(AnswerRefusal{AnswerRefusal::Kind::WrongAnswer, std::move(message)});
  }
  if (types::holds_secret(image.program().types, image.program().externs[open->request.subject].result)) {
    if (const auto key = prepare_secrets(image); !key) {
      return failure(AnswerRefusal{AnswerRefusal::Kind::NoKey, "a secret cannot be taken: " + key.error().message});
    }
  }
  enqueue_outcome(id, std::string(wait), {vm::ReturnedValue{std::move(*value)}, {}}, {});
  run.pending_outcomes.back().note = std::move(note);
  return {};
}

bool Runtime::is_memory_spent() const {
  const std::uint64_t now = heap_bytes();
  return now > heap_bytes_at_start_ && now - heap_bytes_at_start_ > options_.memory_bytes_max;
}

void Runtime::fail_memory(RunId id) {
  const RunCore& core = *runs_[id.index].core;
  vm::FailureReport report;
  report.kind = FailureKind::BudgetSpent;
  report.message =
      fmt::format("the values of the run take more than {} MB, the most", options_.memory_bytes_max >> 20U);
  report.blame = "memory";
  report.call_stack = core.machine().call_stack();
  if (!report.call_stack.entries.empty()) {
    report.place = core.image()->loaded()->describe(report.call_stack.entries.front().place);
  }
  cancel_effects(id);
  if (!runs_[id.index].conversation) return end_run(id, RunFailed{std::move(report)});
  end_turn(id, RunFailed{std::move(report)});
  runs_[id.index].core->open().clear();
  runs_[id.index].is_quiescent = true;
}

std::string describe_failure(const vm::LoadedProgram& program, const vm::FailureReport& report) {
  std::string text = fmt::format("{}: error: {}\n", report.place, report.message);
  const std::vector<vm::CallStackEntry>& entries = report.call_stack.entries;
  for (std::size_t at = 0; at < entries.size() && at < shown_calls_max; ++at) {
    const bytecode::Function& function = program.program().functions[entries[at].function];
    text += fmt::format("  in `{}`, {}\n", function.name, program.describe(entries[at].place));
  }
  const std::uint64_t shown = std::min<std::uint64_t>(entries.size(), shown_calls_max);
  const std::uint64_t others = entries.size() - shown + report.call_stack.entries_left_out;
  if (others > 0) text += fmt::format("  and {} calls around it\n", others);
  return text;
}

}  // namespace tenon::runtime
