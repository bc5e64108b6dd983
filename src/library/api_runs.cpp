// Runs and calls of tenon/tenon.h.
#include <utility>
#include <vector>

#include "bytecode/agents.h"
#include "engine/arguments.h"
#include "json/json.h"
#include "library/handles.h"

using namespace tenon;
using library::EngineState;
using library::guarded;
using library::milliseconds_of;
using library::report;
using library::report_stopped;
using library::text_or_empty;
using library::view;
using runtime::RunId;

namespace {

tenon_run_state state_of(engine::RunResult::How how) {
  using How = engine::RunResult::How;
  switch (how) {
    case How::Returned:
      return TENON_RETURNED;
    case How::Cancelled:
      return TENON_CANCELLED;
    case How::Detached:
      return TENON_DETACHED;
    case How::Failed:
    case How::Damaged:
      break;
  }
  return TENON_RUN_FAILED;
}

tenon_run_state state_of(const engine::Engine& engine, RunId run) {
  switch (engine.state(run)) {
    case engine::RunState::Asks:
      return TENON_ASKS;
    case engine::RunState::Ready:
      return TENON_READY;
    case engine::RunState::Ended:
      return state_of(engine.result(run)->how);
    case engine::RunState::Running:
      break;
  }
  return TENON_RUNNING;
}

/// Starts a run with `begin`, which gets the engine, and makes its handle.
template <class Begin>
tenon_status start(const std::shared_ptr<EngineState>& state, std::uint32_t flags, tenon_run** run, tenon_error** error,
                   Begin begin) {
  return guarded(*state, error, [&]() -> tenon_status {
    if (state->is_stopped()) return report_stopped(error);
    auto opened = state->open();
    if (!opened) return report(std::move(opened.error()), error);
    return (*opened)->call([&](engine::Engine& used) -> tenon_status {
      used.collect_events((flags & TENON_WITH_EVENTS) != 0);
      Result<RunId, engine::EngineError> begun = begin(used);
      if (!begun) return report(std::move(begun.error()), error);
      const journal::RunName* const name = used.name(*begun);
      *run = new tenon_run{state, *begun, state->add_run(*begun), name == nullptr ? "" : name->text};
      return TENON_OK;
    });
  });
}

/// Does something with a run, which has its engine.
template <class Use>
tenon_status with(tenon_run* run, tenon_error** error, Use use) {
  return guarded(*run->state, error, [&]() -> tenon_status {
    return run->state->engine_or_null()->call([&](engine::Engine& used) -> tenon_status { return use(used); });
  });
}

/// Does something with a run that an engine which was stopped would not do.
template <class Use>
tenon_status change(tenon_run* run, tenon_error** error, Use use) {
  if (run->state->is_stopped()) return report_stopped(error);
  return with(run, error, std::move(use));
}

tenon_status status_of(Result<void, engine::EngineError> done, tenon_error** error) {
  return done ? TENON_OK : report(std::move(done.error()), error);
}

}  // namespace

tenon_status tenon_run_start(tenon_program* program, const char* function, tenon_text arguments, uint32_t flags,
                             tenon_run** run, tenon_error** error) {
  return start(program->state, flags, run, error, [&](engine::Engine& used) {
    return used.start(program->program, text_or_empty(function), view(arguments));
  });
}

tenon_status tenon_run_start_agent(tenon_program* program, const char* agent, uint32_t flags, tenon_run** run,
                                   tenon_error** error) {
  return start(program->state, flags, run, error,
               [&](engine::Engine& used) { return used.start_conversation(program->program, text_or_empty(agent)); });
}

tenon_status tenon_run_resume(tenon_engine* engine, const char* name, uint32_t flags, tenon_run** run,
                              tenon_error** error) {
  return guarded(*engine->state, error, [&]() -> tenon_status {
    auto resumed = engine->state->resume(text_or_empty(name), (flags & TENON_WITH_EVENTS) != 0);
    if (!resumed) return report(std::move(resumed.error()), error);
    const std::uint64_t number =
        engine->state->engine_or_null()->call([&](engine::Engine&) { return engine->state->add_run(*resumed); });
    *run = new tenon_run{engine->state, *resumed, number, text_or_empty(name)};
    return TENON_OK;
  });
}

void tenon_run_free(tenon_run* run) {
  if (run == nullptr) return;
  static_cast<void>(with(run, nullptr, [&](engine::Engine& used) {
    used.let_go(run->id);
    return TENON_OK;
  }));
  delete run;
}

const char* tenon_run_name(const tenon_run* run) {
  return run->name.empty() ? nullptr : run->name.c_str();
}

uint64_t tenon_run_number(const tenon_run* run) {
  return run->number;
}

tenon_status tenon_run_prompt(tenon_run* run, tenon_text input, tenon_error** error) {
  return change(run, error, [&](engine::Engine& used) { return status_of(used.prompt(run->id, view(input)), error); });
}

tenon_status tenon_run_answer(tenon_run* run, const char* wait, tenon_text input, tenon_error** error) {
  return change(run, error, [&](engine::Engine& used) {
    return status_of(used.answer(run->id, text_or_empty(wait), view(input)), error);
  });
}

tenon_status tenon_run_cancel(tenon_run* run, const char* reason, tenon_error** error) {
  return change(run, error, [&](engine::Engine& used) {
    used.cancel(run->id, text_or_empty(reason));
    return TENON_OK;
  });
}

tenon_status tenon_run_cancel_turn(tenon_run* run, const char* reason, tenon_error** error) {
  return change(run, error, [&](engine::Engine& used) {
    used.cancel_turn(run->id, text_or_empty(reason));
    return TENON_OK;
  });
}

tenon_status tenon_run_wait(tenon_run* run, uint64_t timeout, tenon_run_state* state, tenon_error** error) {
  return guarded(*run->state, error, [&]() -> tenon_status {
    tenon_run_state now = TENON_RUNNING;
    const bool is_met = run->state->engine_or_null()->wait(
        [&](engine::Engine& used) {
          now = state_of(used, run->id);
          return now != TENON_RUNNING;
        },
        milliseconds_of(timeout));
    if (state != nullptr) *state = now;
    if (is_met) return TENON_OK;
    return run->state->is_stopped() ? report_stopped(error) : TENON_TIMED_OUT;
  });
}

tenon_status tenon_run_questions(tenon_run* run, tenon_string** questions, tenon_error** error) {
  return with(run, error, [&](engine::Engine& used) -> tenon_status {
    *questions = new tenon_string{runtime::describe(used.questions(run->id), {})};
    return TENON_OK;
  });
}

tenon_status tenon_run_outcome(tenon_run* run, tenon_outcome** outcome, tenon_error** error) {
  return with(run, error, [&](engine::Engine& used) -> tenon_status {
    auto found = used.result(run->id);
    if (!found) found = used.turn_result(run->id);
    if (!found) return TENON_TIMED_OUT;
    const tenon_run_state state = state_of(found->how);
    *outcome = new tenon_outcome{state, std::move(*found)};
    return TENON_OK;
  });
}

tenon_run_state tenon_outcome_state(const tenon_outcome* outcome) {
  return outcome->state;
}

tenon_text tenon_outcome_value(const tenon_outcome* outcome) {
  return view(outcome->result.value);
}

tenon_text tenon_outcome_message(const tenon_outcome* outcome) {
  return view(outcome->result.message);
}

tenon_text tenon_outcome_kind(const tenon_outcome* outcome) {
  return view(outcome->result.kind);
}

tenon_text tenon_outcome_blame(const tenon_outcome* outcome) {
  return view(outcome->result.blame);
}

void tenon_outcome_free(tenon_outcome* outcome) {
  delete outcome;
}

namespace {

/// A call of a function by the host.
struct HostCall {
  HostCall(std::shared_ptr<EngineState> owner, engine::Program of, std::uint32_t index)
      : state(std::move(owner)), program(std::move(of)), function(index), header(refinements(), code()) {
    header.host = this;
  }
  [[nodiscard]] const vm::Refinements& refinements() const { return program.image->loaded()->refinements(); }
  [[nodiscard]] const bytecode::Function& code() const { return program.code().functions[function]; }

  /// The parameters that a caller gives: not those of the type Context.
  [[nodiscard]] std::vector<std::size_t> given_parameters() const {
    std::vector<std::size_t> given;
    for (std::size_t at = 0; at < code().parameters.size(); ++at) {
      if (program.code().types.base(code().parameters[at]) != types::TypeTable::context) given.push_back(at);
    }
    return given;
  }

  const std::shared_ptr<EngineState> state;
  const engine::Program program;
  const std::uint32_t function;
  tools::HeaderCall header;
  const std::vector<std::size_t> parameters = given_parameters();
  std::optional<vm::Value> value;  ///< what the function has returned
  bool is_made = false;
};

HostCall& host_call(tenon_call* call) {
  return *static_cast<HostCall*>(tools::HeaderCall::of(call).host);
}

}  // namespace

tenon_status tenon_call_new(tenon_program* program, const char* function, tenon_call** call, tenon_error** error) {
  return guarded(*program->state, error, [&]() -> tenon_status {
    const auto index = runtime::find_function(program->program.code(), text_or_empty(function));
    if (!index) {
      return report(TENON_USAGE, engine::describe_unknown_function(program->program.code(), text_or_empty(function)),
                    error);
    }
    *call = &(new HostCall(program->state, program->program, *index))->header;
    return TENON_OK;
  });
}

tenon_slot* tenon_call_parameter(tenon_call* call, size_t index) {
  const HostCall& host = host_call(call);
  if (index >= host.parameters.size()) return nullptr;
  return tools::handle_of(tools::HeaderCall::of(call).slots.root(host.parameters[index]));
}

tenon_status tenon_call_make(tenon_call* call, uint64_t timeout, const tenon_value** value, tenon_outcome** outcome,
                             tenon_run** run, tenon_error** error) {
  HostCall& host = host_call(call);
  *value = nullptr;
  return guarded(*host.state, error, [&]() -> tenon_status {
    if (host.state->is_stopped()) return report_stopped(error);
    if (std::exchange(host.is_made, true)) return report(TENON_CONFLICT, "the call was made before", error);
    auto arguments = engine::take_arguments(*host.program.image, host.code(), host.header.slots);
    if (!arguments) return report(TENON_WRONG_INPUT, std::move(arguments.error()), error);
    engine::SharedEngine& engine = *host.state->engine_or_null();
    std::optional<RunId> id;
    tenon_run_state state = TENON_RUNNING;
    // One turn with the engine, from the start to the end, if no other thread uses it.
    static_cast<void>(engine.wait(
        [&](engine::Engine& used) {
          if (!id) {
            used.collect_events(false);
            auto begun = used.start(host.program, host.function, std::move(*arguments));
            if (!begun) return report(std::move(begun.error()), error) != TENON_OK;
            id = *begun;
            return false;
          }
          state = state_of(used, *id);
          if (state == TENON_RETURNED) host.value = used.take_value(*id);
          return state != TENON_RUNNING;
        },
        milliseconds_of(timeout)));
    if (host.value) {
      *value = tools::handle_of(&*host.value);
      return TENON_OK;
    }
    return engine.call([&](engine::Engine& used) -> tenon_status {
      if (!id) return TENON_FAILED;
      if (auto ended = used.result(*id); ended && state != TENON_RUNNING) {
        if (outcome != nullptr) *outcome = new tenon_outcome{state_of(ended->how), std::move(*ended)};
        used.let_go(*id);
        return TENON_OK;
      }
      if (host.state->is_stopped()) {
        used.let_go(*id);
        return report_stopped(error);
      }
      if (run == nullptr) {
        used.cancel(*id, "its caller does not wait any more");
        used.let_go(*id);
        return TENON_TIMED_OUT;
      }
      const journal::RunName* const name = used.name(*id);
      *run = new tenon_run{host.state, *id, host.state->add_run(*id), name == nullptr ? "" : name->text};
      return TENON_TIMED_OUT;
    });
  });
}

tenon_status tenon_call_start(tenon_call* call, uint32_t flags, tenon_run** run, tenon_error** error) {
  HostCall& host = host_call(call);
  if (std::exchange(host.is_made, true)) return report(TENON_CONFLICT, "the call was made before", error);
  auto arguments = engine::take_arguments(*host.program.image, host.code(), host.header.slots);
  if (!arguments) return report(TENON_WRONG_INPUT, std::move(arguments.error()), error);
  return start(host.state, flags, run, error,
               [&](engine::Engine& used) { return used.start(host.program, host.function, std::move(*arguments)); });
}

tenon_status tenon_call_value(tenon_call* call, tenon_run* run, const tenon_value** value, tenon_error** error) {
  HostCall& host = host_call(call);
  return with(run, error, [&](engine::Engine& used) -> tenon_status {
    if (!host.value) host.value = used.copy_value(run->id);
    if (!host.value) return TENON_TIMED_OUT;
    *value = tools::handle_of(&*host.value);
    return TENON_OK;
  });
}

void tenon_call_free(tenon_call* call) {
  if (call != nullptr) delete &host_call(call);
}
