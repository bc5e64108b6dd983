#include "runtime/run_core.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ensure.h"
#include "base/wire.h"
#include "runtime/prompts.h"
#include "runtime/recovery/snapshot_fields.h"
#include "runtime/waits/waits.h"
#include "vm/snapshot/snapshot.h"
#include "vm/values/context.h"

namespace tenon::runtime {
namespace {

std::string shown(const effects::DescribedRequest& request) {
  std::string text = fmt::format("{} `{}`", effects::effect_name(request.kind), request.subject);
  if (!request.arguments.empty()) text += " with " + effects::name_secrets(request.arguments);
  if (!request.context.is_zero()) text += ", context " + request.context.hex().substr(0, 12);
  return text + ", request " + request.identity.hex().substr(0, 12);
}

std::string shown(const effects::Requested& request) {
  effects::DescribedRequest described;
  described.kind = request.kind;
  described.subject = request.subject;
  described.arguments = request.arguments.hash ? "(long) " + request.arguments.hash->hex() : request.arguments.text;
  described.context = request.context;
  described.identity = request.request;
  return shown(described) + ", at " + request.place;
}

}  // namespace

std::string refused_answer(const vm::Request& refusal) {
  if (refusal.arguments.size() < 3) return {};
  // The program has the key without the turn's prefix.
  const std::size_t turn_end = refusal.key.find('/');
  std::string key = turn_end == std::string::npos ? std::string() : refusal.key.substr(0, turn_end + 1);
  key += refusal.arguments[2].as_text();
  return key;
}

bool asks_person(const OpenRequest& open) {
  return open.described.kind == effects::EffectKind::Ask || open.question;
}

bool is_waiting(const OpenRequest& open) {
  const bool is_away = open.outage && open.outage->is_waiting;
  return is_away || asks_person(open) || open.described.kind == effects::EffectKind::Sleep;
}

void OpenRequest::end_outage() {
  outage.reset();
  passing_records.clear();
}

void OpenRequest::follow(const effects::Attempted& attempted, std::int64_t time, std::string record_bytes) {
  using What = effects::Attempted::What;
  switch (attempted.what) {
    case What::Unusable:
      end_outage();
      attempts.push_back(attempted);
      records.push_back(std::move(record_bytes));
      return;
    case What::Transport:
      attempts.push_back(attempted);
      break;
    case What::Unavailable:
      while (!attempts.empty() && attempts.back().what == What::Transport) attempts.pop_back();
      passing_records.clear();
      outage = Outage{.service = attempted.service,
                      .is_tool = attempted.is_tool,
                      .reason = attempted.reason,
                      .attempts = attempted.attempt + 1,
                      .since = attempted.since == 0 ? time : attempted.since,
                      .is_waiting = true};
      set_wake(attempted.next_at);
      break;
    case What::Retried:
      if (outage) outage->is_waiting = false;
      set_wake(attempted.next_at);
      break;
  }
  passing_records.push_back(std::move(record_bytes));
}

void OpenRequest::set_wake(std::optional<std::int64_t> time) {
  wake_at = time;
  due.reset();
}

void OpenRequest::begin_wait(std::optional<std::int64_t> time, const Moment& now) {
  set_wake(time);
  if (time) static_cast<void>(due_at(now));
}

std::chrono::nanoseconds OpenRequest::due_at(const Moment& now) {
  if (!due) {
    const std::int64_t time = std::clamp(*wake_at, now.wall_ms - wait_ms_max, now.wall_ms + wait_ms_max);
    due = now.monotonic + std::chrono::milliseconds(time - now.wall_ms);
  }
  return *due;
}

bool is_once(const OpenRequest& open, const bytecode::Program& program) {
  return open.described.kind == effects::EffectKind::Extern &&
         program.externs[open.request.subject].call_options.is_once;
}

RunCore::RunCore(std::shared_ptr<const ProgramImage> image, std::uint32_t function, std::vector<vm::Argument> arguments,
                 const bytecode::Bounds& budgets, Recording recording, std::string key_prefix, vm::LabelTable labels)
    : image_(std::move(image)),
      machine_(image_->loaded(), function, std::move(arguments), budgets, std::move(labels)),
      recording_(recording),
      key_prefix_(std::move(key_prefix)) {}

RunCore::Advance RunCore::advance(std::uint64_t instructions_max) {
  Advance advance;
  for (;;) {
    vm::Step step = machine_.run(instructions_max);
    if (std::holds_alternative<vm::Paused>(step)) return advance;
    advance.is_quiescent = true;
    std::ranges::move(machine_.take_refusals(), std::back_inserter(refusals_));
    for (const vm::RequestId cancelled : machine_.take_cancelled()) {
      advance.cancelled.push_back(cancelled);
      std::erase_if(open_, [&](const auto& entry) {
        if (entry.second.request.id != cancelled) return false;
        arguments_bytes_ -= entry.second.described.arguments.size();
        return true;
      });
    }
    if (!std::holds_alternative<vm::Waiting>(step)) {
      open_.clear();
      arguments_bytes_ = 0;
      end_ = std::move(step);
      advance.end = end_;
      return advance;
    }
    bool has_refused = false;
    for (vm::Request& request : machine_.take_requests()) {
      request.key.insert(0, key_prefix_);
      OpenRequest open;
      if (recording_ == Recording::On) {
        auto described = effects::describe(request, *image_->loaded(), form_of(*image_, request));
        if (described && described->arguments.size() + arguments_bytes_ > effects::recorded_bytes_max) {
          described = failure(effects::ValueFormError{
              effects::too_long_to_record("the arguments of all requests that the run waits for")});
        }
        if (!described) {
          vm::Outcome refused{vm::EffectFailure{types::FailureKind::Conversion,
                                                "the request cannot be recorded: " + described.error().message, ""},
                              {}};
          ENSURE(machine_.resume(request.id, std::move(refused)));
          has_refused = true;
          continue;
        }
        open.described = std::move(*described);
        arguments_bytes_ += open.described.arguments.size();
      } else {
        open.described.kind = effects::kind_of(request, image_->program());
        // A run in memory makes requests that a journal in a store could not have.
        const bool is_emitted = open.described.kind == effects::EffectKind::Emitted;
        if (recording_ == Recording::InMemory || (recording_ == Recording::Emitted && is_emitted)) {
          if (auto content = effects::describe_content(request, *image_->loaded()))
            open.described = std::move(*content);
        }
        arguments_bytes_ += open.described.arguments.size();
      }
      std::string key = request.key;
      open.request = std::move(request);
      advance.opened.push_back(key);
      open_.emplace(std::move(key), std::move(open));
    }
    if (!has_refused) return advance;
  }
}

bool RunCore::cancel(const effects::CancelWanted& wanted) {
  if (cancelled_ || !machine_.cancel(wanted.reason)) return false;
  cancelled_ = wanted;
  return true;
}

std::optional<OpenBlocks::Left> RunCore::follow_blocks(const effects::Requested& requested, std::int64_t time) {
  switch (requested.kind) {
    case effects::EffectKind::BlockEntered:
      blocks_.enter(requested.key, requested.scope.depth, requested.subject, time);
      return std::nullopt;
    case effects::EffectKind::BlockLeft:
      return blocks_.leave(requested.key, requested.scope.depth, requested.subject, time);
    case effects::EffectKind::AgentCalled:
      blocks_.enter(requested.key, requested.scope.depth, OpenBlocks::turn_path, time);
      return std::nullopt;
    case effects::EffectKind::AgentReturned:
      return blocks_.leave(requested.key, requested.scope.depth, OpenBlocks::turn_path, time);
    default:
      return std::nullopt;
  }
}

std::vector<effects::FlowRefused> RunCore::take_refusals() {
  std::vector<effects::FlowRefused> taken;
  for (vm::Refusal& refusal : std::exchange(refusals_, {})) taken.push_back(record_refusal(std::move(refusal)));
  return taken;
}

effects::FlowRefused RunCore::record_refusal(vm::Refusal refusal) const {
  effects::AgentScope scope{{}, refusal.depth};
  if (refusal.agent != UINT32_MAX) scope.agent = image_->program().agents[refusal.agent].name;
  return {std::move(refusal.subject), std::move(refusal.what),
          std::move(refusal.sources), image_->loaded()->describe(refusal.place),
          std::move(scope),           refusal.times};
}

OpenRequest* RunCore::find(const std::string& key) {
  const auto found = open_.find(key);
  return found == open_.end() ? nullptr : &found->second;
}

void RunCore::deliver(const std::string& key, vm::Outcome outcome) {
  const auto found = open_.find(key);
  ENSURE(found != open_.end());
  refusals_.clear();  // what follows is another step; older records do not have them
  const vm::RequestId id = found->second.request.id;
  arguments_bytes_ -= found->second.described.arguments.size();
  open_.erase(found);
  ENSURE(machine_.resume(id, std::move(outcome)));
}

std::string RunCore::place_of(const vm::Request& request) const {
  if (request.kind != vm::RequestKind::Extern) {
    return image_->loaded()->describe(image_->program().sites[request.subject].place);
  }
  const vm::CallStack stack = machine_.call_stack(request.id);
  return stack.entries.empty() ? std::string() : image_->loaded()->describe(stack.entries.front().place);
}

std::string RunCore::write_snapshot() const {
  wire::Writer out;
  out.present_field(snapshot_machine, vm::encode(machine_));
  for (const auto& [key, open] : open_) {
    for (const std::string& record : open.records) out.present_field(snapshot_record, record);
    for (const std::string& record : open.passing_records) out.present_field(snapshot_record, record);
  }
  blocks_.write(out, snapshot_block);
  if (cancelled_) {
    wire::Writer cancelled;
    cancelled.field(1, cancelled_->reason);
    cancelled.field(2, cancelled_->ends_run ? 1U : 0U);
    out.present_field(snapshot_cancelled, cancelled);
  }
  return out.take();
}

Result<RunCore, ReplayError> RunCore::read_snapshot(std::shared_ptr<const ProgramImage> image, std::string_view bytes,
                                                    std::string key_prefix) {
  wire::Reader in(bytes);
  std::optional<RunCore> core;
  while (in.next_field()) {
    if (in.number() == snapshot_machine && !core) {
      auto machine = vm::decode(image->loaded(), in.bytes_value());
      if (!machine) return failure(ReplayError{0, "the snapshot cannot be read: " + machine.error().message});
      core = RunCore(image, std::move(*machine), std::move(key_prefix));
      for (vm::Request& request : core->machine_.pending_requests()) {
        auto described = effects::describe(request, *image->loaded(), form_of(*image, request));
        if (!described) return failure(ReplayError{0, "the snapshot's requests cannot be described"});
        OpenRequest open;
        open.described = std::move(*described);
        core->arguments_bytes_ += open.described.arguments.size();
        std::string key = core->key_prefix_ + request.key;
        request.key = key;
        open.request = std::move(request);
        core->open_.emplace(std::move(key), std::move(open));
      }
      static_cast<void>(core->machine_.take_requests());
    } else if (in.number() == snapshot_record && core) {
      const std::string_view record_bytes = in.bytes_value();
      auto record = effects::decode_record(record_bytes);
      if (!record) return failure(ReplayError{0, "the snapshot cannot be read: " + record.error().message});
      if (auto taken = core->take(0, *record, std::string(record_bytes)); !taken) return failure(taken.error());
    } else if (in.number() == snapshot_block && core) {
      if (!core->blocks_.read(in.bytes_value())) in.reject();
    } else if (in.number() == snapshot_cancelled && core) {
      wire::Reader cancelled(in.bytes_value());
      effects::CancelWanted& wanted = core->cancelled_.emplace();
      while (cancelled.next_field()) {
        if (cancelled.number() == 1) {
          wanted.reason = cancelled.bytes_value();
        } else if (cancelled.number() == 2) {
          wanted.ends_run = cancelled.value_up_to(1) != 0;
        } else {
          cancelled.reject();
        }
      }
      if (!cancelled.is_good()) in.reject();
    } else {
      in.reject();
    }
  }
  if (!in.is_good() || !core) return failure(ReplayError{0, "the snapshot's bytes are not those of a run"});
  return std::move(*core);
}

Result<void, ReplayError> RunCore::take(std::uint64_t number, const effects::Record& record, std::string record_bytes) {
  const auto wrong = [&](std::string message) { return failure(ReplayError{number, std::move(message)}); };
  if (const auto* const requested = std::get_if<effects::Requested>(&record.body)) {
    const auto found = open_.find(requested->key);
    if (found == open_.end() || found->second.is_recorded) {
      return wrong(
          fmt::format("the journal has a request that the program does not make:\n  recorded: {} {}\n"
                      "  the program: nothing at {}",
                      requested->key, shown(*requested), requested->key));
    }
    OpenRequest& open = found->second;
    if (open.described.identity != requested->request) {
      return wrong(
          fmt::format("the program's request differs from the recorded one:\n  recorded: {}\n"
                      "  the program: {}, at {}",
                      shown(*requested), shown(open.described), place_of(open.request)));
    }
    open.is_recorded = true;
    open.set_wake(requested->wake_at);
    open.records.push_back(std::move(record_bytes));
    follow_blocks(*requested, record.time);
    // The store has the context that the record names.
    if (effects::is_generation(open.described.kind)) static_cast<void>(vm::take_unrecorded(open.request.context));
    return {};
  }
  if (const auto* const refused = std::get_if<effects::FlowRefused>(&record.body)) {
    const auto is_recorded = [&](const vm::Refusal& refusal) { return record_refusal(refusal) == *refused; };
    if (const auto known = std::ranges::find_if(refusals_, is_recorded); known != refusals_.end())
      refusals_.erase(known);
    return {};
  }
  // Records between a request and its outcome are written while other branches may run. These may then cancel the
  // request's branch, and a machine that is fed from the journal has reached that point already.
  if (const auto* const attempted = std::get_if<effects::Attempted>(&record.body)) {
    OpenRequest* const open = find(attempted->key);
    if (open == nullptr) return {};
    open->follow(*attempted, record.time, std::move(record_bytes));
    return {};
  }
  if (const auto* const paused = std::get_if<effects::Paused>(&record.body)) {
    OpenRequest* const open = find(paused->key);
    if (open == nullptr) return {};
    open->question = paused->question;
    open->asked = paused->earlier + 1;
    open->is_in_doubt = paused->why == effects::Paused::Why::CutOff;
    open->set_wake(std::nullopt);  // a person may take any time
    open->end_outage();
    open->records.push_back(std::move(record_bytes));
    return {};
  }
  if (const auto* const continued = std::get_if<effects::Continued>(&record.body)) {
    OpenRequest* const open = find(continued->key);
    if (open == nullptr) return {};
    if (!open->question) return wrong("the journal has an outcome that was not requested: " + continued->key);
    open->question.reset();
    open->set_wake(continued->wake_at);
    if (!std::exchange(open->is_in_doubt, false)) {
      open->input = continued->input;
      ++open->pauses;
    }
    open->records.push_back(std::move(record_bytes));
    return {};
  }
  return wrong("unexpected kind of record");
}

Result<void, ReplayError> RunCore::take(std::uint64_t number, const effects::Finished& finished, std::string value) {
  const OpenRequest* const open = find(finished.key);
  if (open == nullptr) {
    return failure(
        ReplayError{number, "the journal has an outcome that the program does not wait for: " + finished.key});
  }
  auto outcome = effects::read_outcome(effects::form_of(finished, std::move(value)), open->request, image_->program());
  if (!outcome) {
    return failure(ReplayError{number, fmt::format("the recorded outcome of {} does not fit the program: {}",
                                                   shown(open->described), outcome.error().message)});
  }
  outcome->usage = effects::usage_of(finished.cost);
  blocks_.add_tokens(finished.key, finished.cost.tokens);
  deliver(finished.key, std::move(*outcome));
  while (!advance(UINT64_MAX).is_quiescent) {
  }
  return {};
}

Result<StartedRun, ReplayError> read_start(const ProgramImage& image, const effects::Started& started,
                                           std::string_view arguments) {
  const bytecode::Program& program = image.program();
  const auto index = find_function(program, started.function);
  if (!index) return failure(ReplayError{1, fmt::format("the program has no function `{}`", started.function)});
  const bytecode::Function& function = program.functions[*index];
  std::vector<types::TypeId> given;
  for (const types::TypeId type : function.parameters) {
    given.push_back(program.types.base(type) == types::TypeTable::context ? types::TypeTable::unit : type);
  }
  auto values = effects::read_values(arguments, given, program.types);
  if (!values) return failure(ReplayError{1, "the run's arguments: " + values.error().message});
  StartedRun run{*index, {}};
  for (std::size_t at = 0; at < values->size(); ++at) {
    if (given[at] == function.parameters[at]) {
      const vm::Source source = started.settings.has_persons_arguments
                                    ? vm::Source{vm::SourceKind::Person, ""}
                                    : vm::Source{vm::SourceKind::Argument, function.parameter_names[at]};
      run.arguments.push_back({std::move((*values)[at]), source});
    } else {
      run.arguments.push_back({vm::Value::empty_context(), std::nullopt});
    }
  }
  return run;
}

}  // namespace tenon::runtime
