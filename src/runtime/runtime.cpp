#include "runtime/runtime.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>

#include "base/ensure.h"
#include "base/json_text.h"
#include "inference/answers/schema_writer.h"
#include "vm/context.h"

namespace tenon::runtime {

using effects::EffectKind;
using inference::Answer;
using inference::GenerationId;
using inference::ModelError;
using inference::ModelErrorKind;
using inference::prompting::AnswerDialogue;
using types::FailureKind;

namespace {

/// How long a poll may wait when nothing else is to be done. It is woken earlier by what finishes.
constexpr std::chrono::milliseconds poll_wait{200};
/// Of a failure's call stack, innermost first; a trace has more of them.
constexpr std::size_t shown_calls_max = 16;

FailureKind failure_kind(ModelErrorKind kind) {
  switch (kind) {
    case ModelErrorKind::Cancelled:
      return FailureKind::Cancelled;
    case ModelErrorKind::ContextFull:
    case ModelErrorKind::Unreachable:
    case ModelErrorKind::TimedOut:
    case ModelErrorKind::Rejected:
    case ModelErrorKind::Overloaded:
    case ModelErrorKind::BadReply:
    case ModelErrorKind::ScriptEnded:
      return FailureKind::ModelUnavailable;
  }
  return FailureKind::ModelUnavailable;
}

/// What the process has allocated and not freed, as glibc counts it.
std::uint64_t heap_bytes() {
  const struct mallinfo2 information = ::mallinfo2();
  return information.uordblks + information.hblkhd;
}

void add_usage(vm::Usage& total, effects::Cost& cost, const inference::Usage& usage) {
  ++total.model_calls;
  total.tokens += usage.prompt + usage.generated;
  total.milliseconds += static_cast<std::uint64_t>(usage.milliseconds);
  cost.computed += usage.computed;
  cost.reused += usage.reused;
  cost.generated += usage.generated;
}

void set_usage(effects::Cost& cost, const vm::Usage& usage) {
  cost.model_calls = usage.model_calls;
  cost.tokens = usage.tokens;
  cost.cost_millionths = usage.cost_millionths;
  cost.milliseconds = usage.milliseconds;
}

std::string describe_refusal(journal::AppendRefusal refusal) {
  switch (refusal) {
    case journal::AppendRefusal::UnknownRun:
      return "the store does not know the run any more";
    case journal::AppendRefusal::WrongNumber:
    case journal::AppendRefusal::OldEpoch:
      return "somebody else goes on with the run";
    case journal::AppendRefusal::UnknownReference:
      return "the store does not have a content that the journal refers to";
    case journal::AppendRefusal::TooLarge:
      return fmt::format("what the run wants to record takes more than {} MB", journal::append_bytes_max >> 20U);
  }
  ENSURE(false);
}

inference::GenerationRequest prompt_of(const ProgramImage& image, const RunOptions& options,
                                       const vm::Request& request) {
  const std::string_view text = vm::context_text(request.context);
  inference::GenerationRequest prompt = image.prompts().make_request(
      request.subject, text, vm::context_entry_ends(request.context), options.sampling);
  prompt.timeout = options.generation_timeout;
  return prompt;
}

effects::FailureText to_text(const vm::FailureReport& report) {
  return {report.kind, report.message, report.blame, report.place};
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

std::string describe(const std::vector<Question>& questions) {
  std::string text = "[";
  for (const Question& question : questions) {
    if (text.size() > 1) text += ',';
    text += R"({"wait":)";
    append_json_string(text, question.wait);
    text += R"(,"question":)";
    append_json_string(text, question.text);
    text += R"(,"type":)";
    append_json_string(text, question.type);
    text += R"(,"schema":)" + question.schema;
    if (question.until) text += fmt::format(R"(,"until":{})", *question.until);
    text += '}';
  }
  return text + ']';
}

Runtime::Runtime(World world, RuntimeOptions options)
    : world_(std::move(world)), options_(options), heap_bytes_at_start_(heap_bytes()) {}

Runtime::~Runtime() {
  cancel_all();
}

std::int64_t Runtime::now_ms() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(world_.clock.wall().time_since_epoch()).count();
}

RunId Runtime::start(std::shared_ptr<const ProgramImage> image, std::uint32_t function,
                     std::vector<vm::Argument> arguments, RunOptions options, std::optional<journal::RunName> name) {
  const RunId id{static_cast<std::uint32_t>(runs_.size())};
  Run& run = runs_.emplace_back();
  run.function = function;
  run.title = image->program().functions[function].name;
  const bool is_recorded = world_.store != nullptr && name.has_value();
  if (is_recorded) {
    run.journal = std::make_unique<RunJournal>(std::move(*name), 0, 0);
    run.journal->keep_content(image->bundle(), image->hash());
    effects::Started started;
    started.program = image->hash();
    started.function = run.title;
    started.settings = to_settings(options);
    auto text = write_arguments(*image, function, arguments);
    ENSURE(text.has_value());  // whoever reads arguments keeps to a lower limit
    started.arguments = run.journal->keep(std::move(*text));
    run.journal->add({now_ms(), std::move(started)});
  }
  run.core = std::make_unique<RunCore>(std::move(image), function, std::move(arguments), options.budgets,
                                       is_recorded ? RunCore::Recording::On : RunCore::Recording::Off);
  run.options = std::move(options);
  enqueue(id);
  return id;
}

Result<RunId, RecoveryError> Runtime::resume(const journal::RunName& name, const ImageSource& images, SameModel same) {
  ENSURE(world_.store != nullptr);
  const auto head = world_.store->claim(name);
  if (!head) {
    return failure(RecoveryError{head.error().message, head.error().kind == journal::StoreError::Kind::Missing});
  }
  const bool tells_model = same == SameModel::Yes && world_.model.follows_a_script();
  ReplayedGeneration skip;
  if (tells_model) {
    skip = [this](const ProgramImage& image, const effects::RunSettings& settings, const OpenRequest& open,
                  std::uint64_t asked) {
      const inference::GenerationRequest request = prompt_of(image, to_options(settings), open.request);
      for (std::uint64_t at = 0; at < asked; ++at) world_.model.skip(request);
    };
  }
  auto recovered =
      recover(*world_.store, *head, images, tells_model ? SnapshotUse::Ignore : SnapshotUse::Use, skip);
  if (!recovered) return failure(std::move(recovered.error()));
  const RunId id{static_cast<std::uint32_t>(runs_.size())};
  Run& run = runs_.emplace_back();
  run.title = recovered->started.function;
  run.function = recovered->function;
  run.options = to_options(recovered->started.settings);
  run.core = std::make_unique<RunCore>(std::move(recovered->core));
  run.journal = std::make_unique<RunJournal>(name, head->epoch, head->records);
  run.journal->count(recovered->bytes_since_snapshot);
  run.snapshot_bytes = recovered->snapshot_bytes;
  run.is_at_rest = true;
  if (recovered->ended && recovered->ended->how == effects::Ended::How::Cancelled) {
    run.end = RunCancelled{recovered->ended->failure.message};
  } else if (const auto& end = run.core->end()) {
    // The machine has come to the same end again.
    if (const auto* finished = std::get_if<vm::Finished>(&*end)) run.end = finished->value;
    if (const auto* failed = std::get_if<vm::Failed>(&*end)) run.end = RunFailed{failed->report};
    if (const auto* damaged = std::get_if<vm::Damaged>(&*end)) run.end = RunDamaged{damaged->message, damaged->place};
    if (!recovered->ended) {
      run.end.reset();
      run.is_at_rest = false;  // its end is still to be recorded
      enqueue(id);
    }
    return id;
  }
  if (run.end) return id;
  // What was recorded is performed again, with the same key; what was not has no record yet.
  std::vector<std::string> unrecorded;
  for (const auto& [key, open] : run.core->open()) {
    (open.is_recorded ? run.to_perform : unrecorded).push_back(key);
  }
  std::sort(unrecorded.begin(), unrecorded.end(), [&](const std::string& a, const std::string& b) {
    return run.core->open().at(a).request.id < run.core->open().at(b).request.id;
  });
  open_requests(id, unrecorded);
  enqueue(id);
  return id;
}

const journal::RunName* Runtime::name(RunId run) const {
  return runs_[run.index].journal ? &runs_[run.index].journal->name() : nullptr;
}

void Runtime::enqueue(RunId run) {
  if (runs_[run.index].is_queued || runs_[run.index].is_end_told) return;
  runs_[run.index].is_queued = true;
  ready_.push_back(run);
}

void Runtime::run(const std::atomic<bool>* stop) {
  for (;;) {
    if (stop != nullptr && stop->load(std::memory_order_relaxed)) {
      is_stopping_ = true;
      commit();
      return cancel_all();
    }
    fire_timers();
    if (!ready_.empty()) {
      const RunId next = ready_.front();
      ready_.pop_front();
      step(next);
      if (outgoing_.size() >= options_.appends_per_commit_max) commit();
      // What has arrived in the meantime is looked at now and then, so that busy runs do not starve waiting ones.
      if (!ready_.empty()) continue;
    }
    commit();
    const auto timer = time_to_timer();
    const bool waits_for_timer = timer && (world_.store == nullptr || *timer <= options_.patience);
    if (ready_.empty() && generations_.empty() && calls_.empty() && !waits_for_timer) return;
    auto wait = ready_.empty() ? poll_wait : std::chrono::milliseconds{0};
    if (timer) wait = std::clamp(*timer, std::chrono::milliseconds{0}, wait);
    if (!ready_.empty()) wait = std::chrono::milliseconds{0};
    // One of the two is waited for; a call that ends wakes the model.
    if (!calls_.empty()) world_.extern_caller->poll(generations_.empty() ? wait : std::chrono::milliseconds{0});
    if (!generations_.empty()) world_.model.poll(wait);
    if (generations_.empty() && calls_.empty() && ready_.empty()) world_.clock.sleep(wait);
  }
}

void Runtime::step(RunId id) {
  runs_[id.index].is_queued = false;
  while (advance(id)) {
  }
  settle(id);
}

/// Goes on by one slice or one outcome; false when there is nothing to go on with now.
bool Runtime::advance(RunId id) {
  Run& run = runs_[id.index];
  if (run.end) return false;
  if (run.is_at_rest) {
    if (run.arrived.empty()) return false;
    Arrived next = std::move(run.arrived.front());
    run.arrived.pop_front();
    const OpenRequest* const open = run.core->find(next.key);
    if (open == nullptr) return true;  // its branch has been cancelled
    if (run.journal) record_outcome(run, next, *open);
    run.core->deliver(next.key, std::move(next.outcome));
    run.is_at_rest = false;
  }
  RunCore::Advance advance = run.core->advance(options_.slice_instructions);
  for (const vm::RequestId cancelled : advance.cancelled) cancel_request(id, cancelled);
  if (!advance.is_at_rest) {
    if (is_memory_spent()) {
      fail_memory(id);
    } else {
      enqueue(id);
    }
    return false;
  }
  run.is_at_rest = true;
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
  return true;
}

/// Records new requests, and gives those their outcome for which nobody has to be asked.
void Runtime::open_requests(RunId id, const std::vector<std::string>& keys) {
  Run& run = runs_[id.index];
  for (const std::string& key : keys) {
    OpenRequest& open = *run.core->find(key);
    const vm::Request& request = open.request;
    const EffectKind kind = open.described.kind;
    const bytecode::Program& program = run.core->image()->program();
    if (kind == EffectKind::Sleep) open.wake_at = now_ms() + std::max<std::int64_t>(request.arguments[0].as_integer(), 0);
    if (kind == EffectKind::Ask && program.externs[request.subject].world_call == types::WorldCall::AskWithin) {
      open.wake_at = now_ms() + std::max<std::int64_t>(request.arguments[1].as_integer(), 0);
    }
    if (run.journal) {
      effects::Requested requested;
      requested.key = key;
      requested.kind = kind;
      requested.subject = open.described.subject;
      requested.request = open.described.identity;
      requested.context = open.described.context;
      requested.arguments = run.journal->keep(open.described.arguments);
      if (effects::is_generation(kind)) run.journal->keep_context(request.context);
      if (kind == EffectKind::Ask) requested.form = run.journal->keep(question_of(run, key, open).schema);
      requested.place = run.core->place_of(request);
      requested.wake_at = open.wake_at;
      open.records.push_back(run.journal->add({now_ms(), std::move(requested)}));
      open.is_recorded = true;
    }
    // Nothing leaves with these two: whoever reads a clock twice has done no harm.
    if (kind == EffectKind::Now) {
      arrive(id, key, {vm::Answered{vm::Value::integer(now_ms())}, {}}, {});
    } else if (kind == EffectKind::Random) {
      vm::Outcome outcome{vm::Declined{FailureKind::ToolFailed, "there is no source of random numbers", "random"}, {}};
      if (world_.random_unit) outcome.what = vm::Answered{vm::Value::floating(world_.random_unit())};
      arrive(id, key, std::move(outcome), {});
    } else {
      run.to_perform.push_back(key);
    }
  }
}

void Runtime::record_outcome(Run& run, const Arrived& arrived, const OpenRequest& open) {
  auto form = effects::write_outcome(arrived.outcome, open.request, run.core->image()->program());
  ENSURE(form.has_value());  // `arrive` has seen to it
  effects::Finished finished;
  finished.key = arrived.key;
  finished.value = run.journal->keep(std::move(form->value));
  finished.clause = form->clause;
  finished.failure = std::move(form->failure);
  finished.cost = arrived.cost;
  run.journal->add({now_ms(), std::move(finished)});
}

void Runtime::arrive(RunId id, std::string key, vm::Outcome outcome, effects::Cost cost) {
  Run& run = runs_[id.index];
  if (run.end) return;
  const OpenRequest* const open = run.core->find(key);
  if (open == nullptr) return;  // its branch has been cancelled
  if (run.journal) {
    // What cannot be written down cannot have happened.
    const auto form = effects::write_outcome(outcome, open->request, run.core->image()->program());
    if (!form) {
      outcome.what = vm::Declined{FailureKind::Conversion,
                                  fmt::format("the result of `{}` cannot be recorded: {}", open->described.subject,
                                              form.error().message),
                                  open->described.subject};
    }
  }
  set_usage(cost, outcome.usage);
  run.arrived.push_back({std::move(key), std::move(outcome), std::move(cost)});
  enqueue(id);
}

/// After a step: what is to be durable goes out, or, without a store, is acted upon at once.
void Runtime::settle(RunId id) {
  Run& run = runs_[id.index];
  if (!run.journal) return act(id, std::exchange(run.to_perform, {}));
  RunJournal& journal = *run.journal;
  if (run.is_at_rest && !run.end && run.arrived.empty() &&
      journal.bytes_since_snapshot() > std::max(options_.snapshot_bytes_min, run.snapshot_bytes)) {
    std::string snapshot = run.core->write_snapshot();
    run.snapshot_bytes = snapshot.size();
    journal.set_snapshot(std::move(snapshot));
  }
  if (!journal.has_pending()) return act(id, std::exchange(run.to_perform, {}));
  Outgoing out{id, {}, {}, std::exchange(run.to_perform, {})};
  if (world_.listener != nullptr) out.records = journal.pending();
  out.append = journal.take(summary_of(id));
  outgoing_.push_back(std::move(out));
}

void Runtime::commit() {
  if (outgoing_.empty()) return;
  std::vector<Outgoing> outgoing = std::exchange(outgoing_, {});
  std::vector<journal::Append> appends;
  appends.reserve(outgoing.size());
  for (Outgoing& out : outgoing) appends.push_back(std::move(out.append));
  const auto committed = world_.store->commit(appends);
  for (std::size_t at = 0; at < outgoing.size(); ++at) {
    const Outgoing& out = outgoing[at];
    Run& run = runs_[out.run.index];
    std::string problem;
    if (!committed) {
      problem = committed.error().message;
    } else if ((*committed)[at]) {
      problem = describe_refusal(*(*committed)[at]);
    }
    if (!problem.empty()) {
      if (run.end && std::holds_alternative<RunDetached>(*run.end)) continue;
      cancel_effects(out.run);
      run.end = RunDetached{std::move(problem)};
    } else if (world_.listener != nullptr) {
      world_.listener->on_recorded(out.run, appends[at].first, out.records);
    }
    act(out.run, out.to_perform);
  }
}

/// Everything that this follows from is durable.
void Runtime::act(RunId id, const std::vector<std::string>& to_perform) {
  Run& run = runs_[id.index];
  if (run.end) {
    if (run.is_end_told) return;
    run.is_end_told = true;
    if (world_.listener != nullptr) world_.listener->on_run_ended(id, run.core->machine(), *run.end);
    return;
  }
  if (is_stopping_) return;
  for (const std::string& key : to_perform) perform(id, key);
}

journal::RunSummary Runtime::summary_of(RunId id) const {
  const Run& run = runs_[id.index];
  journal::RunSummary summary;
  summary.title = run.title;
  summary.updated_at = now_ms();
  if (run.end) {
    summary.state = std::holds_alternative<vm::Value>(*run.end)      ? journal::RunState::Done
                    : std::holds_alternative<RunCancelled>(*run.end) ? journal::RunState::Cancelled
                                                                     : journal::RunState::Failed;
    return summary;
  }
  bool waits = run.is_at_rest && run.arrived.empty() && !run.core->open().empty();
  for (const auto& [key, open] : run.core->open()) {
    waits = waits && (open.described.kind == EffectKind::Ask || open.described.kind == EffectKind::Sleep);
    if (open.wake_at && (!summary.wake_at || *open.wake_at < *summary.wake_at)) summary.wake_at = open.wake_at;
  }
  if (!waits) return summary;
  summary.state = journal::RunState::Waiting;
  summary.detail = describe(questions(id));
  return summary;
}

std::vector<Question> Runtime::questions(RunId id) const {
  const Run& run = runs_[id.index];
  std::vector<Question> questions;
  if (run.end) return questions;
  for (const auto& [key, open] : run.core->open()) {
    if (open.described.kind == EffectKind::Ask) questions.push_back(question_of(run, key, open));
  }
  return questions;
}

std::optional<std::int64_t> Runtime::wakes_at(RunId id) const {
  std::optional<std::int64_t> soonest;
  if (runs_[id.index].end) return soonest;
  for (const auto& [key, open] : runs_[id.index].core->open()) {
    if (open.wake_at && (!soonest || *open.wake_at < *soonest)) soonest = open.wake_at;
  }
  return soonest;
}

Question Runtime::question_of(const Run& run, const std::string& key, const OpenRequest& open) const {
  const bytecode::Program& program = run.core->image()->program();
  const types::TypeId type = program.externs[open.request.subject].result;
  return {key, std::string(open.request.arguments[0].as_text()), program.types.describe(type),
          inference::answers::make_schema(program.types, type), open.wake_at};
}

Result<void, AnswerRefusal> Runtime::answer(RunId id, std::string_view wait, std::string_view input) {
  Run& run = runs_[id.index];
  const OpenRequest* const open = run.end ? nullptr : run.core->find(std::string(wait));
  const bool is_answered =
      std::any_of(run.arrived.begin(), run.arrived.end(), [&](const Arrived& arrived) { return arrived.key == wait; });
  if (open == nullptr || open->described.kind != EffectKind::Ask || is_answered) {
    return failure(AnswerRefusal{AnswerRefusal::Kind::NoSuchWait, fmt::format("nothing waits under `{}`", wait)});
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
  arrive(id, std::string(wait), {vm::Answered{std::move(*value)}, {}}, {});
  return {};
}

void Runtime::cancel(RunId id, std::string reason) {
  Run& run = runs_[id.index];
  if (run.end) return;
  cancel_effects(id);
  run.arrived.clear();
  if (run.journal) run.journal->add({now_ms(), effects::CancelWanted{reason}});
  end_run(id, RunCancelled{std::move(reason)});
  enqueue(id);
}

void Runtime::fire_timers() {
  while (!timers_.empty() && timers_.begin()->first <= now_ms()) {
    const Timer timer = std::move(timers_.begin()->second);
    timers_.erase(timers_.begin());
    const Run& run = runs_[timer.run.index];
    const OpenRequest* const open = run.end ? nullptr : run.core->find(timer.key);
    if (open == nullptr) continue;
    if (open->described.kind == EffectKind::Sleep) {
      arrive(timer.run, timer.key, {vm::Answered{vm::Value::unit()}, {}}, {});
    } else {
      vm::Declined late{FailureKind::TimedOut, "nobody has answered in time", "ask_within"};
      arrive(timer.run, timer.key, {std::move(late), {}}, {});
    }
  }
}

std::optional<std::chrono::milliseconds> Runtime::time_to_timer() const {
  if (timers_.empty()) return std::nullopt;
  return std::chrono::milliseconds(std::max<std::int64_t>(timers_.begin()->first - now_ms(), 0));
}

bool Runtime::is_memory_spent() const {
  const std::uint64_t now = heap_bytes();
  return now > heap_bytes_at_start_ && now - heap_bytes_at_start_ > options_.memory_bytes_max;
}

void Runtime::fail_memory(RunId id) {
  const RunCore& core = *runs_[id.index].core;
  vm::FailureReport report;
  report.kind = FailureKind::BudgetSpent;
  report.message = fmt::format("the values of the run take more than {} MB, the most", options_.memory_bytes_max >> 20U);
  report.blame = "memory";
  report.call_stack = core.machine().call_stack();
  if (!report.call_stack.entries.empty()) {
    report.place = core.image()->loaded()->describe(report.call_stack.entries.front().place);
  }
  cancel_effects(id);
  end_run(id, RunFailed{std::move(report)});
}

void Runtime::end_run(RunId id, RunEnd end) {
  Run& run = runs_[id.index];
  if (run.journal) {
    effects::Ended ended;
    if (const auto* value = std::get_if<vm::Value>(&end)) {
      const bytecode::Program& program = run.core->image()->program();
      std::string text;
      const auto written = effects::write_value(*value, program.functions[run.function].result, program.types, text);
      if (written) {
        ended.value = run.journal->keep(std::move(text));
      } else {
        vm::FailureReport report;
        report.kind = FailureKind::Conversion;
        report.message = "the run's value cannot be recorded: " + written.error().message;
        end = RunFailed{std::move(report)};
      }
    }
    if (const auto* failed = std::get_if<RunFailed>(&end)) {
      ended.how = effects::Ended::How::Failed;
      ended.failure = to_text(failed->report);
    } else if (const auto* damaged = std::get_if<RunDamaged>(&end)) {
      ended.how = effects::Ended::How::Failed;
      ended.failure = {FailureKind::Raised, damaged->message, "tenon", damaged->place};
    } else if (const auto* cancelled = std::get_if<RunCancelled>(&end)) {
      ended.how = effects::Ended::How::Cancelled;
      ended.failure = {FailureKind::Cancelled, cancelled->reason, "", ""};
    }
    run.journal->add({now_ms(), std::move(ended)});
  }
  run.end = std::move(end);
}

EffectPlace Runtime::place_of(RunId run, const vm::Request& request) const {
  const RunCore& core = *runs_[run.index].core;
  bytecode::Place place;
  if (request.kind == vm::RequestKind::Extern) {
    const vm::CallStack stack = core.machine().call_stack(request.id);
    if (!stack.entries.empty()) place = stack.entries.front().place;
  } else {
    place = core.image()->program().sites[request.subject].place;
  }
  return {run, request.key, core.machine(), request.id, place};
}

void Runtime::perform(RunId id, const std::string& key) {
  Run& run = runs_[id.index];
  const OpenRequest* const open = run.end ? nullptr : run.core->find(key);
  if (open == nullptr) return;  // cancelled in the meantime
  switch (open->described.kind) {
    case EffectKind::Complete:
    case EffectKind::Fill:
    case EffectKind::Select:
      return perform_generation(id, *open);
    case EffectKind::Extern:
      return perform_extern(id, *open);
    case EffectKind::Ask:
      if (open->wake_at) timers_.emplace(*open->wake_at, Timer{id, key});
      if (!run.journal) ask_person(id, key);
      return;
    case EffectKind::Sleep:
      timers_.emplace(*open->wake_at, Timer{id, key});
      return;
    case EffectKind::Now:
    case EffectKind::Random:
      // Requested before a crash, and not answered.
      if (open->described.kind == EffectKind::Now) {
        return arrive(id, key, {vm::Answered{vm::Value::integer(now_ms())}, {}}, {});
      }
      vm::Outcome outcome{vm::Declined{FailureKind::ToolFailed, "there is no source of random numbers", "random"}, {}};
      if (world_.random_unit) outcome.what = vm::Answered{vm::Value::floating(world_.random_unit())};
      return arrive(id, key, std::move(outcome), {});
  }
}

/// Where there is no store, somebody has to answer now.
void Runtime::ask_person(RunId id, const std::string& key) {
  std::string complaint;
  for (;;) {
    const Run& run = runs_[id.index];
    const Question question = question_of(run, key, *run.core->find(key));
    const auto input = world_.person != nullptr ? world_.person->ask(question, complaint) : std::nullopt;
    if (!input) {
      vm::Declined nobody{FailureKind::ToolFailed,
                          "nobody is there to answer; with `--store FILE` the run waits for `tenon resume`", "ask"};
      return arrive(id, key, {std::move(nobody), {}}, {});
    }
    auto answered = answer(id, key, *input);
    if (answered) return;
    complaint = std::move(answered.error().message);
  }
}

void Runtime::perform_extern(RunId run, const OpenRequest& open) {
  const vm::Request& request = open.request;
  const std::uint64_t id = next_effect_++;
  if (world_.listener != nullptr) {
    world_.listener->on_extern_called(place_of(run, request), request.subject, request.arguments, request.label);
  }
  const Run& owner = runs_[run.index];
  const auto [call, added] = calls_.emplace(id, ExternCall{run, request, world_.clock.monotonic()});
  const auto& externs = owner.core->image()->externs();
  if (world_.extern_caller == nullptr || externs == nullptr) {
    return on_returned(id, failure(tools::ExternError{FailureKind::ToolFailed, "no library gives it", ""}));
  }
  const vm::Request& kept = call->second.request;
  // A hand-over to another thread costs more than most functions take; it is worth it when somebody else could go on
  // meanwhile.
  const auto placement =
      runs_.size() == 1 && generations_.empty() ? tools::Placement::Inline : tools::Placement::Pool;
  std::string key = owner.journal ? owner.journal->name().text + "/" + kept.key : kept.key;
  auto outcome =
      world_.extern_caller->start(id, {externs, kept.subject, kept.arguments, std::move(key)}, placement, *this);
  if (outcome) on_returned(id, std::move(*outcome));
}

void Runtime::perform_generation(RunId run, const OpenRequest& open) {
  const Run& owner = runs_[run.index];
  const inference::prompting::SitePrompts& prompts = owner.core->image()->prompts();
  const vm::Request& request = open.request;
  inference::GenerationRequest prompt = prompt_of(*owner.core->image(), owner.options, request);
  const GenerationId id = next_effect_++;
  Generation& generation =
      generations_
          .emplace(id, Generation{run, request, request.key,
                                  AnswerDialogue(prompts, owner.core->image()->reader(), request.subject,
                                                 std::move(prompt), owner.options.repairs_max),
                                  {}, {}})
          .first->second;
  // The talk goes on where it stood before a crash.
  for (const effects::Attempted& attempt : open.attempts) {
    if (attempt.what != effects::Attempted::What::Unusable) continue;
    Answer answer;
    if (auto said = attempt_text(attempt)) {
      answer.text = std::move(*said);
    } else {
      break;  // what was said is lost, so the model is asked from there on
    }
    static_cast<void>(generation.dialogue.take(answer));
    ++generation.usage.model_calls;
  }
  ask_model(id);
}

std::optional<std::string> Runtime::attempt_text(const effects::Attempted& attempt) const {
  if (!attempt.answer.hash) return attempt.answer.text;
  auto text = world_.store->content(*attempt.answer.hash);
  return text ? std::optional(std::move(*text)) : std::nullopt;
}

void Runtime::ask_model(GenerationId id) {
  Generation& generation = generations_.at(id);
  if (world_.listener != nullptr) {
    world_.listener->on_generation_started(place_of(generation.run, generation.request), generation.dialogue.repairs(),
                                           generation.dialogue.request(), generation.request.label);
  }
  world_.model.start(id, generation.dialogue.request(), *this);
}

void Runtime::on_text(GenerationId id, std::uint32_t attempt, std::string_view piece) {
  const auto found = generations_.find(id);
  if (found == generations_.end() || world_.listener == nullptr) return;
  world_.listener->on_text(found->second.run, attempt, piece);
}

void Runtime::on_finished(GenerationId id, inference::GenerationOutcome outcome) {
  const auto found = generations_.find(id);
  if (found == generations_.end()) return;  // cancelled: nobody waits
  Generation& generation = found->second;
  if (world_.listener != nullptr) {
    world_.listener->on_generation_finished(place_of(generation.run, generation.request), generation.dialogue.repairs(),
                                            outcome);
  }
  vm::Outcome result;
  if (const auto* error = std::get_if<ModelError>(&outcome)) {
    add_usage(generation.usage, generation.cost, error->usage);
    result.what = vm::Declined{failure_kind(error->kind), error->message, std::string(world_.model.name())};
  } else {
    const Answer& answer = std::get<Answer>(outcome);
    add_usage(generation.usage, generation.cost, answer.usage);
    generation.cost.model = answer.model;
    const std::uint32_t attempt = generation.dialogue.repairs();
    AnswerDialogue::Step step = generation.dialogue.take(answer);
    if (std::holds_alternative<AnswerDialogue::AskAgain>(step)) {
      record_attempt(generation, attempt, answer.text);
      return ask_model(id);
    }
    if (const auto* failure = std::get_if<inference::prompting::AnswerFailure>(&step)) {
      result.what = vm::Declined{failure->kind, failure->message, answer.model};
    } else {
      auto& values = std::get<inference::answers::AnswerValues>(step);
      switch (generation.request.kind) {
        case vm::RequestKind::Complete:
          result.what = vm::Answered{std::move(values.values.at(0))};
          break;
        case vm::RequestKind::Fill:
          result.what = vm::Filled{std::move(values.values)};
          break;
        case vm::RequestKind::Select:
          result.what = vm::Chosen{values.clause, std::move(values.values)};
          break;
        case vm::RequestKind::Extern:
          ENSURE(false);
      }
    }
  }
  result.usage = generation.usage;
  const RunId run = generation.run;
  std::string key = std::move(generation.key);
  effects::Cost cost = std::move(generation.cost);
  generations_.erase(found);
  arrive(run, std::move(key), std::move(result), std::move(cost));
}

/// An answer that cannot be used is recorded with the next commit, so that a crash does not give the model more tries.
void Runtime::record_attempt(const Generation& generation, std::uint32_t attempt, const std::string& text) {
  Run& run = runs_[generation.run.index];
  OpenRequest* const open = run.journal ? run.core->find(generation.key) : nullptr;
  if (open == nullptr) return;
  effects::Attempted attempted;
  attempted.key = generation.key;
  attempted.what = effects::Attempted::What::Unusable;
  attempted.attempt = attempt;
  attempted.answer = run.journal->keep(text);
  open->attempts.push_back(attempted);
  open->records.push_back(run.journal->add({now_ms(), std::move(attempted)}));
  enqueue(generation.run);
}

void Runtime::on_returned(tools::CallId id, tools::ExternOutcome outcome) {
  const auto found = calls_.find(id);
  if (found == calls_.end()) return;  // cancelled: nobody waits
  ExternCall call = std::move(found->second);
  calls_.erase(found);
  if (world_.listener != nullptr) {
    world_.listener->on_extern_returned(place_of(call.run, call.request), call.request.subject,
                                        outcome ? *outcome : vm::Value(),
                                        outcome ? std::string_view() : std::string_view(outcome.error().message));
  }
  vm::Outcome result;
  const std::string& name = runs_[call.run.index].core->image()->program().externs[call.request.subject].name;
  if (outcome) {
    result.what = vm::Answered{std::move(*outcome)};
  } else {
    result.what =
        vm::Declined{outcome.error().kind, fmt::format("`{}` failed: {}", name, outcome.error().message), name};
  }
  const auto elapsed = world_.clock.monotonic() - call.started;
  result.usage.milliseconds =
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(elapsed).count());
  arrive(call.run, call.request.key, std::move(result), {});
}

void Runtime::cancel_request(RunId run, vm::RequestId request) {
  for (auto at = generations_.begin(); at != generations_.end(); ++at) {
    if (at->second.run != run || at->second.request.id != request) continue;
    const GenerationId id = at->first;
    generations_.erase(at);
    world_.model.cancel(id);
    return;
  }
  for (auto at = calls_.begin(); at != calls_.end(); ++at) {
    if (at->second.run != run || at->second.request.id != request) continue;
    const tools::CallId id = at->first;
    calls_.erase(at);
    world_.extern_caller->cancel(id);
    return;
  }
}

void Runtime::cancel_effects(RunId run) {
  std::vector<vm::RequestId> requests;
  for (const auto& [id, generation] : generations_) {
    if (generation.run == run) requests.push_back(generation.request.id);
  }
  for (const auto& [id, call] : calls_) {
    if (call.run == run) requests.push_back(call.request.id);
  }
  for (const vm::RequestId request : requests) cancel_request(run, request);
}

void Runtime::cancel_all() {
  const auto generations = std::exchange(generations_, {});
  for (const auto& [id, generation] : generations) world_.model.cancel(id);
  const auto calls = std::exchange(calls_, {});
  for (const auto& [id, call] : calls) world_.extern_caller->cancel(id);
  ready_.clear();
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
