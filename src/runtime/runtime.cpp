#include "runtime/runtime.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>

#include "base/ensure.h"
#include "vm/context.h"

namespace tenon::runtime {

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

void add_usage(vm::Usage& total, const inference::Usage& usage) {
  ++total.model_calls;
  total.tokens += usage.prompt + usage.generated;
  total.milliseconds += static_cast<std::uint64_t>(usage.milliseconds);
}

}  // namespace

Runtime::Runtime(std::shared_ptr<const vm::LoadedProgram> program, const inference::prompting::SitePrompts& prompts,
                 World world, RuntimeOptions options)
    : program_(std::move(program)),
      prompts_(prompts),
      reader_(program_->types()),
      world_(world),
      options_(options),
      heap_bytes_at_start_(heap_bytes()) {}

Runtime::~Runtime() {
  cancel_all();
}

RunId Runtime::start(std::uint32_t function, std::vector<vm::Argument> arguments) {
  const RunId id{static_cast<std::uint32_t>(runs_.size())};
  Run& run = runs_.emplace_back();
  run.machine = std::make_unique<vm::Machine>(program_, function, std::move(arguments), options_.budgets);
  enqueue(id);
  return id;
}

void Runtime::enqueue(RunId run) {
  if (runs_[run.index].is_queued || runs_[run.index].end) return;
  runs_[run.index].is_queued = true;
  ready_.push_back(run);
}

void Runtime::run(const std::atomic<bool>* stop) {
  while (!ready_.empty() || !generations_.empty() || !calls_.empty()) {
    if (stop != nullptr && stop->load(std::memory_order_relaxed)) return cancel_all();
    if (!ready_.empty()) {
      const RunId next = ready_.front();
      ready_.pop_front();
      step(next);
      // What has arrived in the meantime is looked at now and then, so that busy runs do not starve waiting ones.
      if (!ready_.empty()) continue;
    }
    // One of the two is waited for; a call that ends wakes the model.
    const auto wait = ready_.empty() ? poll_wait : std::chrono::milliseconds{0};
    if (!calls_.empty()) world_.extern_caller->poll(generations_.empty() ? wait : std::chrono::milliseconds{0});
    if (!generations_.empty()) world_.model.poll(ready_.empty() ? wait : std::chrono::milliseconds{0});
  }
}

void Runtime::step(RunId id) {
  Run& run = runs_[id.index];
  run.is_queued = false;
  if (run.end) return;
  vm::Step step = run.machine->run(options_.slice_instructions);
  for (const vm::RequestId cancelled : run.machine->take_cancelled()) cancel_request(id, cancelled);
  for (vm::Request& request : run.machine->take_requests()) perform(id, std::move(request));
  if (std::holds_alternative<vm::Paused>(step)) {
    if (!is_memory_spent()) return enqueue(id);
    vm::FailureReport report;
    report.kind = FailureKind::BudgetSpent;
    report.message =
        fmt::format("the values of the run take more than {} MB, the most", options_.memory_bytes_max >> 20U);
    report.blame = "memory";
    report.call_stack = runs_[id.index].machine->call_stack();
    if (!report.call_stack.entries.empty()) report.place = program_->describe(report.call_stack.entries.front().place);
    return end_run(id, RunFailed{std::move(report)});
  }
  if (std::holds_alternative<vm::Waiting>(step)) return;
  if (auto* finished = std::get_if<vm::Finished>(&step)) {
    end_run(id, std::move(finished->value));
  } else if (auto* failed = std::get_if<vm::Failed>(&step)) {
    end_run(id, RunFailed{std::move(failed->report)});
  } else {
    auto& damaged = std::get<vm::Damaged>(step);
    end_run(id, RunDamaged{std::move(damaged.message), std::move(damaged.place)});
  }
}

bool Runtime::is_memory_spent() const {
  const std::uint64_t now = heap_bytes();
  return now > heap_bytes_at_start_ && now - heap_bytes_at_start_ > options_.memory_bytes_max;
}

void Runtime::end_run(RunId id, RunEnd end) {
  Run& ended = runs_[id.index];
  ended.end = std::move(end);
  if (world_.listener != nullptr) world_.listener->on_run_ended(id, *ended.machine, *ended.end);
}

EffectPlace Runtime::place_of(RunId run, const vm::Request& request) const {
  const bytecode::Program& program = program_->program();
  const vm::Machine& machine = *runs_[run.index].machine;
  bytecode::Place place;
  if (request.kind == vm::RequestKind::Extern) {
    const vm::CallStack stack = machine.call_stack(request.id);
    if (!stack.entries.empty()) place = stack.entries.front().place;
  } else {
    place = program.sites[request.subject].place;
  }
  return {run, request.key, machine, request.id, place};
}

void Runtime::perform(RunId run, vm::Request request) {
  const std::uint64_t id = next_effect_++;
  if (request.kind == vm::RequestKind::Extern) {
    if (world_.listener != nullptr) {
      world_.listener->on_extern_called(place_of(run, request), request.subject, request.arguments, request.label);
    }
    const auto [call, added] = calls_.emplace(id, ExternCall{run, std::move(request), world_.clock.monotonic()});
    if (world_.extern_caller == nullptr) {
      return on_returned(id, failure(tools::ExternError{FailureKind::ToolFailed, "no library gives it", ""}));
    }
    const vm::Request& kept = call->second.request;
    // A hand-over to another thread costs more than most functions take; it is worth it when somebody else could go on
    // meanwhile.
    const auto placement =
        runs_.size() == 1 && generations_.empty() ? tools::Placement::Inline : tools::Placement::Pool;
    auto outcome = world_.extern_caller->start(id, {world_.extern_table, kept.subject, kept.arguments, kept.key},
                                               placement, *this);
    if (outcome) on_returned(id, std::move(*outcome));
    return;
  }
  const std::string_view text = vm::context_text(request.context);
  inference::GenerationRequest prompt =
      prompts_.make_request(request.subject, text, vm::context_entry_ends(request.context), options_.sampling);
  prompt.timeout = options_.generation_timeout;
  const std::uint32_t site = request.subject;
  generations_.emplace(
      id, Generation{run, std::move(request),
                     AnswerDialogue(prompts_, reader_, site, std::move(prompt), options_.repairs_max), vm::Usage{}});
  ask_model(id);
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
    add_usage(generation.usage, error->usage);
    result.what = vm::Declined{failure_kind(error->kind), error->message, std::string(world_.model.name())};
  } else {
    const Answer& answer = std::get<Answer>(outcome);
    add_usage(generation.usage, answer.usage);
    AnswerDialogue::Step step = generation.dialogue.take(answer);
    if (std::holds_alternative<AnswerDialogue::AskAgain>(step)) return ask_model(id);
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
  const vm::RequestId request = generation.request.id;
  generations_.erase(found);
  resume(run, request, std::move(result));
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
  const std::string& name = program_->program().externs[call.request.subject].name;
  if (outcome) {
    result.what = vm::Answered{std::move(*outcome)};
  } else {
    result.what =
        vm::Declined{outcome.error().kind, fmt::format("`{}` failed: {}", name, outcome.error().message), name};
  }
  const auto elapsed = world_.clock.monotonic() - call.started;
  result.usage.milliseconds =
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(elapsed).count());
  resume(call.run, call.request.id, std::move(result));
}

void Runtime::resume(RunId run, vm::RequestId request, vm::Outcome outcome) {
  const Result<void, vm::ResumeError> resumed = runs_[run.index].machine->resume(request, std::move(outcome));
  ENSURE(resumed || resumed.error() == vm::ResumeError::UnknownRequest);  // its branch may have been cancelled
  enqueue(run);
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
