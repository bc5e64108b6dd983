// Runs and calls of tenon/tenon.h.
#include <exception>
#include <new>
#include <utility>
#include <vector>

#include "bytecode/agents.h"
#include "json/json.h"
#include "library/handles.h"
#include "runtime/arguments.h"

using namespace tenon;
using library::EngineState;
using library::guarded;
using library::milliseconds_of;
using library::report;
using library::report_stopped;
using library::state_of;
using library::text_or_empty;
using library::view;
using runtime::RunId;

namespace {

/// Calls `begin`, and turns exceptions into errors.
template <class Begin>
Result<RunId, engine::EngineError> begin_or_fail(Begin& begin, engine::Engine& used) {
  try {
    return begin(used);
  } catch (const BrokenCondition&) {
    throw;
  } catch (const std::bad_alloc&) {
    return failure(engine::EngineError{engine::EngineError::Kind::Failed, "out of memory"});
  } catch (const std::exception& problem) {
    return failure(engine::EngineError{engine::EngineError::Kind::Failed, problem.what()});
  }
}

/// Begins a run at once, on this thread, if that has to wait for nothing. `*now`: its state if it has stopped then.
template <class Begin>
bool begin_here(EngineState& state, engine::SharedEngine& engine, library::RunSlot& slot, const Begin& begin,
                tenon_run_state* now) {
  if (!state.options().store.path.empty()) return false;
  return engine.call_if_idle([&](engine::Engine& used) {
    begin(used);
    used.step_briefly();
    *now = state.stops().look_for(used, slot);
  });
}

/// Starts a run with `begin`, which gets the engine, and makes its handle. `begin` may be called later, on another
/// thread, and only once. `number`: as for EngineState::make_slot. `now`: as for begin_here; null: always later.
template <class Begin>
tenon_status start(const std::shared_ptr<EngineState>& state, std::uint32_t flags,
                   std::shared_ptr<const vm::LoadedProgram> program, tenon_run** run, tenon_error** error, Begin begin,
                   std::uint64_t number = 0, tenon_run_state* now = nullptr) {
  return guarded(*state, error, [&]() -> tenon_status {
    if (state->is_stopped()) return report_stopped(error);
    auto opened = state->open();
    if (!opened) return report(std::move(opened.error()), error);
    const auto slot = state->make_slot(flags, std::move(program), number);
    if ((flags & TENON_START_LATER) != 0) {
      auto shared = std::make_shared<Begin>(std::move(begin));
      const auto begin_slot = [&owner = *state, slot, shared](engine::Engine& used) {
        if (owner.is_stopped()) {
          owner.stops().add_unstarted(*slot, {engine::EngineError::Kind::Conflict, "the engine was stopped"});
          return;
        }
        used.collect_events((slot->flags & TENON_WITH_EVENTS) != 0);
        Result<RunId, engine::EngineError> begun = begin_or_fail(*shared, used);
        if (begun) {
          owner.begin(slot, used, *begun);
        } else {
          owner.stops().add_unstarted(*slot, std::move(begun.error()));
        }
      };
      if (now == nullptr || !begin_here(*state, **opened, *slot, begin_slot, now)) (*opened)->post(begin_slot);
      *run = new tenon_run{state, slot};
      return TENON_OK;
    }
    return (*opened)->call([&](engine::Engine& used) -> tenon_status {
      if (state->is_stopped()) return report_stopped(error);
      used.collect_events((flags & TENON_WITH_EVENTS) != 0);
      Result<RunId, engine::EngineError> begun = begin(used);
      if (!begun) return report(std::move(begun.error()), error);
      state->begin(slot, used, *begun);
      *run = new tenon_run{state, slot};
      return TENON_OK;
    });
  });
}

/// Does something with a run, and `use_end` with one that its engine does not have any more.
template <class UseEnd, class Use>
tenon_status with(tenon_run* run, tenon_error** error, UseEnd use_end, Use use) {
  return guarded(*run->state, error, [&]() -> tenon_status {
    if (run->slot->has_end) return use_end(run->slot->end);
    return run->state->engine_or_null()->call([&](engine::Engine& used) -> tenon_status {
      if (run->slot->has_end) return use_end(run->slot->end);
      return use(used, run->slot->id);
    });
  });
}

/// Does something with a run that an engine which was stopped would not do.
template <class UseEnd, class Use>
tenon_status change(tenon_run* run, tenon_error** error, UseEnd use_end, Use use) {
  if (run->state->is_stopped()) return report_stopped(error);
  return with(run, error, std::move(use_end), [&](engine::Engine& used, RunId id) -> tenon_status {
    if (run->state->is_stopped()) return report_stopped(error);  // while this thread has waited for the engine
    return use(used, id);
  });
}

tenon_status status_of(Result<void, engine::EngineError> done, tenon_error** error) {
  return done ? TENON_OK : report(std::move(done.error()), error);
}

}  // namespace

tenon_status tenon_run_start(tenon_program* program, const char* function, tenon_text arguments, uint32_t flags,
                             tenon_run** run, tenon_error** error) {
  if (!library::prepare(error, {program}, run)) return TENON_USAGE;
  return library::caught(error, [&] {
    return start(
        program->state, flags, program->program.image->loaded(), run, error,
        [started = program->program, name = std::string(text_or_empty(function)),
         given = std::string(view(arguments))](engine::Engine& used) { return used.start(started, name, given); });
  });
}

tenon_status tenon_run_start_agent(tenon_program* program, const char* agent, uint32_t flags, tenon_run** run,
                                   tenon_error** error) {
  if (!library::prepare(error, {program}, run)) return TENON_USAGE;
  return library::caught(error, [&] {
    return start(program->state, flags, program->program.image->loaded(), run, error,
                 [started = program->program, name = std::string(text_or_empty(agent))](engine::Engine& used) {
                   return used.start_conversation(started, name);
                 });
  });
}

tenon_status tenon_run_resume(tenon_engine* engine, const char* name, uint32_t flags, tenon_run** run,
                              tenon_error** error) {
  if (!library::prepare(error, {engine}, run)) return TENON_USAGE;
  return guarded(*engine->state, error, [&]() -> tenon_status {
    const auto slot = engine->state->make_slot(flags, nullptr);
    auto resumed = engine->state->resume(text_or_empty(name), flags,
                                         [&](engine::Engine& used, RunId id) { engine->state->begin(slot, used, id); });
    if (!resumed) return report(std::move(resumed.error()), error);
    *run = new tenon_run{engine->state, slot};
    return TENON_OK;
  });
}

void tenon_run_free(tenon_run* run) {
  if (run == nullptr) return;
  const bool is_of_parent = run->state->is_of_parent();  // whose threads may hold any lock
  if (!is_of_parent) run->state->stops().forget(*run->slot);
  if (!is_of_parent && !run->slot->has_end) {
    // Not waited for: the engine may be busy, or call the function that frees the run.
    try {
      run->state->engine_or_null()->post([slot = run->slot](engine::Engine& used) {
        slot->is_freed = true;
        if (slot->is_begun && !slot->has_end) used.let_go(slot->id);
      });
    } catch (...) {
      // The engine was given up and has no runs, or there is no memory: nothing can be done.
    }
  }
  delete run;
}

const char* tenon_run_name(const tenon_run* run) {
  return run == nullptr || !run->slot->is_begun || run->slot->name.empty() ? nullptr : run->slot->name.c_str();
}

const char* tenon_run_title(const tenon_run* run) {
  return run == nullptr || !run->slot->is_begun || run->slot->title.empty() ? nullptr : run->slot->title.c_str();
}

uint64_t tenon_run_number(const tenon_run* run) {
  return run == nullptr ? 0 : run->slot->number;
}

namespace {

/// Of what only a run that has not ended can do.
auto conflict(tenon_error** error) {
  return [error](const library::RunEnd&) { return report(TENON_CONFLICT, "the run has ended", error); };
}

tenon_status nothing_to_do(const library::RunEnd& /*end*/) {
  return TENON_OK;
}

}  // namespace

tenon_status tenon_run_prompt(tenon_run* run, tenon_text input, tenon_error** error) {
  if (!library::prepare(error, {run})) return TENON_USAGE;
  return change(run, error, conflict(error),
                [&](engine::Engine& used, RunId id) { return status_of(used.prompt(id, view(input)), error); });
}

tenon_status tenon_run_answer(tenon_run* run, const char* wait, tenon_text input, tenon_error** error) {
  if (!library::prepare(error, {run})) return TENON_USAGE;
  return change(run, error, conflict(error), [&](engine::Engine& used, RunId id) {
    return status_of(used.answer(id, text_or_empty(wait), view(input)), error);
  });
}

tenon_status tenon_run_cancel(tenon_run* run, const char* reason, tenon_error** error) {
  if (!library::prepare(error, {run})) return TENON_USAGE;
  return change(run, error, nothing_to_do, [&](engine::Engine& used, RunId id) {
    used.cancel(id, text_or_empty(reason));
    return TENON_OK;
  });
}

tenon_status tenon_run_cancel_turn(tenon_run* run, const char* reason, tenon_error** error) {
  if (!library::prepare(error, {run})) return TENON_USAGE;
  return change(run, error, nothing_to_do, [&](engine::Engine& used, RunId id) {
    used.cancel_turn(id, text_or_empty(reason));
    return TENON_OK;
  });
}

tenon_status tenon_run_wait(tenon_run* run, uint64_t timeout, tenon_run_state* state, tenon_error** error) {
  if (state != nullptr) *state = {};
  if (!library::prepare(error, {run})) return TENON_USAGE;
  return guarded(*run->state, error, [&]() -> tenon_status {
    tenon_run_state now = TENON_RUN_RUNNING;
    const library::RunSlot& slot = *run->slot;
    const auto look = [&] {
      if (slot.has_end) now = slot.end.state;
      return now != TENON_RUN_RUNNING;
    };
    const bool is_met = look() || run->state->engine_or_null()->wait(
                                      [&](engine::Engine& used) {
                                        if (look()) return true;
                                        if (slot.is_begun) now = state_of(used, slot.id);
                                        return now != TENON_RUN_RUNNING;
                                      },
                                      milliseconds_of(timeout));
    if (state != nullptr) *state = now;
    if (is_met) return TENON_OK;
    return run->state->is_stopped() ? report_stopped(error) : TENON_NOT_YET;
  });
}

void tenon_run_interrupt(tenon_run* run) {
  if (run != nullptr) run->state->interrupt();
}

tenon_status tenon_next_stops(tenon_engine* engine, uint64_t timeout, tenon_stop* stops, size_t capacity, size_t* count,
                              tenon_error** error) {
  if (!library::prepare(error, {engine}, count)) return TENON_USAGE;
  if (stops == nullptr && capacity > 0) return library::report_null(error);
  return guarded(*engine->state, error, [&]() -> tenon_status {
    auto opened = engine->state->open();
    if (!opened) return report(std::move(opened.error()), error);
    library::StopList& list = engine->state->stops();
    (*opened)->clear_descriptor();  // before the look: what comes after it makes the descriptor readable again
    *count = list.take({stops, capacity});
    if (*count > 0) return TENON_OK;
    if (timeout == 0) {
      (*opened)->take_turn();
    } else {
      (*opened)->wait([&](engine::Engine&) { return !list.is_empty(); }, milliseconds_of(timeout));
    }
    *count = list.take({stops, capacity});
    if (*count > 0) return TENON_OK;
    return timeout > 0 && engine->state->is_stopped() ? report_stopped(error) : TENON_NOT_YET;
  });
}

tenon_status tenon_run_questions(tenon_run* run, tenon_string** questions, tenon_error** error) {
  if (!library::prepare(error, {run}, questions)) return TENON_USAGE;
  const auto none = [&](const library::RunEnd&) {
    *questions = new tenon_string{"[]"};
    return TENON_OK;
  };
  return with(run, error, none, [&](engine::Engine& used, RunId id) -> tenon_status {
    *questions = new tenon_string{runtime::describe(used.questions(id), {}, {})};
    return TENON_OK;
  });
}

tenon_status tenon_run_open_questions(tenon_run* run, tenon_question_list** questions, tenon_error** error) {
  if (!library::prepare(error, {run}, questions)) return TENON_USAGE;
  const auto none = [&](const library::RunEnd&) {
    *questions = new tenon_question_list;
    return TENON_OK;
  };
  return with(run, error, none, [&](engine::Engine& used, RunId id) -> tenon_status {
    *questions = new tenon_question_list{used.questions(id)};
    return TENON_OK;
  });
}

bool tenon_question_at(const tenon_question_list* questions, size_t index, tenon_question* question) {
  if (questions == nullptr || index >= questions->questions.size()) return false;
  const tenon::runtime::PendingInput& asked = questions->questions[index];
  tenon_question made = {};
  made.wait = view(asked.wait);
  made.question = view(asked.text);
  made.type = view(asked.type);
  made.schema = view(asked.schema);
  made.until = asked.until.value_or(-1);
  made.is_secret = asked.is_secret;
  return library::give(made, question);
}

void tenon_question_list_free(tenon_question_list* questions) {
  delete questions;
}

tenon_status tenon_run_prompts(tenon_run* run, tenon_string** prompts, tenon_error** error) {
  if (!library::prepare(error, {run}, prompts)) return TENON_USAGE;
  const auto none = [&](const library::RunEnd&) {
    *prompts = new tenon_string{"[]"};
    return TENON_OK;
  };
  return with(run, error, none, [&](engine::Engine&, RunId id) -> tenon_status {
    *prompts = new tenon_string{run->state->prompts().list(id)};
    return TENON_OK;
  });
}

tenon_status tenon_run_outcome(tenon_run* run, tenon_outcome** outcome, tenon_error** error) {
  if (!library::prepare(error, {run}, outcome)) return TENON_USAGE;
  const auto copy_end = [&](const library::RunEnd& end) -> tenon_status {
    if (end.start_error) return report(*end.start_error, error);
    engine::RunResult result;
    if (end.result) {
      result = *end.result;
    } else {
      result = engine::returned(*end.value, *run->slot->program);
    }
    *outcome = new tenon_outcome{end.state, std::move(result)};
    return TENON_OK;
  };
  return with(run, error, copy_end, [&](engine::Engine& used, RunId id) -> tenon_status {
    auto found = used.result(id);
    if (!found) found = used.turn_result(id);
    if (!found) return TENON_NOT_YET;
    const tenon_run_state state = state_of(found->how);
    *outcome = new tenon_outcome{state, std::move(*found)};
    return TENON_OK;
  });
}

tenon_run_state tenon_outcome_state(const tenon_outcome* outcome) {
  return outcome == nullptr ? TENON_RUN_RUNNING : outcome->state;
}

tenon_text tenon_outcome_value(const tenon_outcome* outcome) {
  return library::view_of(outcome, [](const tenon_outcome& one) -> auto& { return one.result.value; });
}

tenon_text tenon_outcome_message(const tenon_outcome* outcome) {
  return library::view_of(outcome, [](const tenon_outcome& one) -> auto& { return one.result.message; });
}

tenon_text tenon_outcome_kind(const tenon_outcome* outcome) {
  return library::view_of(outcome, [](const tenon_outcome& one) -> auto& { return one.result.kind; });
}

tenon_text tenon_outcome_blame(const tenon_outcome* outcome) {
  return library::view_of(outcome, [](const tenon_outcome& one) -> auto& { return one.result.blame; });
}

void tenon_outcome_free(tenon_outcome* outcome) {
  delete outcome;
}

namespace {

/// A call of a function by the host.
struct HostCall {
  HostCall(std::shared_ptr<EngineState> owner, engine::Program of, std::uint32_t index)
      : state(std::move(owner)), program(std::move(of)), function(index), header(refinements(), code()) {
    header.owner = tools::CallOwner::Caller;
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
  const std::uint64_t number = state->reserve_number();  ///< of the run that it will be
  tools::HeaderCall header;
  const std::vector<std::size_t> parameters = given_parameters();
  std::optional<vm::Value> value;  ///< what the function has returned
  bool is_made = false;
};

/// Null for NULL, and for a call of an extern, which tenon_call_new has not made.
HostCall* host_call(tenon_call* call) {
  if (call == nullptr) return nullptr;
  const tools::HeaderCall& header = tools::HeaderCall::of(call);
  return header.owner == tools::CallOwner::Caller ? static_cast<HostCall*>(header.host) : nullptr;
}

tenon_status report_foreign_call(tenon_error** error) {
  return report(TENON_USAGE, "the call is one of an extern, not one of `tenon_call_new`", error);
}

/// Gives a call that tenon_call_new has made to `use`, which returns a status, if its engine may be used.
template <class Use>
tenon_status with_host_call(tenon_call* call, tenon_error** error, const Use& use) {
  HostCall* const host = host_call(call);
  if (host == nullptr) return report_foreign_call(error);
  return guarded(*host->state, error, [&]() -> tenon_status { return use(*host); });
}

/// Opens the engine of a call that is to be started, and takes its arguments, which are left if anything is missing.
Result<std::vector<vm::Argument>, tenon_status> take_arguments(HostCall& host, tenon_error** error) {
  if (host.state->is_stopped()) return failure(report_stopped(error));
  if (host.is_made) return failure(report(TENON_CONFLICT, "the call was made before", error));
  if (auto opened = host.state->open(); !opened) return failure(report(std::move(opened.error()), error));
  auto taken = runtime::take_arguments(*host.program.image, host.code(), host.header.slots);
  if (!taken) return failure(report(TENON_WRONG_INPUT, std::move(taken.error()), error));
  host.is_made = true;
  return std::move(*taken);
}

}  // namespace

tenon_status tenon_call_new(tenon_program* program, const char* function, tenon_call** call, tenon_error** error) {
  if (!library::prepare(error, {program}, call)) return TENON_USAGE;
  return guarded(*program->state, error, [&]() -> tenon_status {
    const auto index = runtime::find_function(program->program.code(), text_or_empty(function));
    if (!index) {
      return report(TENON_USAGE, runtime::describe_unknown_function(program->program.code(), text_or_empty(function)),
                    error);
    }
    *call = &(new HostCall(program->state, program->program, *index))->header;
    return TENON_OK;
  });
}

tenon_slot* tenon_call_parameter(tenon_call* call, size_t index) {
  const HostCall* const host = host_call(call);
  if (host == nullptr || index >= host->parameters.size()) return nullptr;
  return tools::handle_of(tools::HeaderCall::of(call).slots.root(host->parameters[index]));
}

tenon_status tenon_call_make(tenon_call* call, uint64_t timeout, const tenon_value** value, tenon_outcome** outcome,
                             tenon_run** run, tenon_error** error) {
  if (outcome != nullptr) *outcome = {};
  if (run != nullptr) *run = {};
  if (!library::prepare(error, {call}, value)) return TENON_USAGE;
  return with_host_call(call, error, [&](HostCall& host) -> tenon_status {
    auto arguments = take_arguments(host, error);
    if (!arguments) return arguments.error();
    engine::SharedEngine& engine = *host.state->engine_or_null();
    std::optional<RunId> id;
    tenon_status refusal = TENON_FAILED;
    tenon_run_state state = TENON_RUN_RUNNING;
    // One turn with the engine, from the start to the end, if no other thread uses it.
    static_cast<void>(engine.wait(
        [&](engine::Engine& used) {
          if (!id) {
            if (host.state->is_stopped()) {
              refusal = report_stopped(error);
              return true;
            }
            used.collect_events(false);
            auto begun = used.start(host.program, host.function, std::move(*arguments));
            if (!begun) {
              refusal = report(std::move(begun.error()), error);
              return true;
            }
            id = *begun;
            host.state->note_number(*id, host.number);
            return false;
          }
          state = state_of(used, *id);
          if (state == TENON_RUN_RETURNED) host.value = used.take_value(*id);
          return state != TENON_RUN_RUNNING;
        },
        milliseconds_of(timeout)));
    if (host.value) {
      *value = tools::handle_of(&*host.value);
      return TENON_OK;
    }
    return engine.call([&](engine::Engine& used) -> tenon_status {
      if (!id) return refusal;
      if (auto ended = used.result(*id); ended && state != TENON_RUN_RUNNING) {
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
        return TENON_NOT_YET;
      }
      const auto slot = host.state->make_slot(TENON_WITH_STOPS, host.program.image->loaded(), host.number);
      host.state->begin(slot, used, *id);
      *run = new tenon_run{host.state, slot};
      return TENON_NOT_YET;
    });
  });
}

namespace {

/// `now`: as for `start`.
tenon_status start_call(tenon_call* call, std::uint32_t flags, tenon_run_state* now, tenon_run** run,
                        tenon_error** error) {
  return with_host_call(call, error, [&](HostCall& host) -> tenon_status {
    auto arguments = take_arguments(host, error);
    if (!arguments) return arguments.error();
    return start(
        host.state, flags, host.program.image->loaded(), run, error,
        [program = host.program, function = host.function,
         given = std::make_shared<std::vector<vm::Argument>>(std::move(*arguments))](engine::Engine& used) {
          return used.start(program, function, std::move(*given));
        },
        host.number, now);
  });
}

}  // namespace

tenon_status tenon_call_start(tenon_call* call, uint32_t flags, tenon_run** run, tenon_error** error) {
  if (!library::prepare(error, {call}, run)) return TENON_USAGE;
  return start_call(call, flags, nullptr, run, error);
}

tenon_status tenon_call_begin(tenon_call* call, tenon_run** run, tenon_run_state* state, tenon_error** error) {
  if (!library::prepare(error, {call}, run, state)) return TENON_USAGE;
  return start_call(call, TENON_WITH_STOPS | TENON_START_LATER, state, run, error);
}

tenon_status tenon_call_value(tenon_call* call, tenon_run* run, const tenon_value** value, tenon_error** error) {
  if (!library::prepare(error, {call, run}, value)) return TENON_USAGE;
  HostCall* const made = host_call(call);
  if (made == nullptr) return report_foreign_call(error);
  HostCall& host = *made;
  if (run->state != host.state || run->slot->number != host.number) {
    return report(TENON_USAGE, "the run is not one that this call has started", error);
  }
  const auto take = [&](const std::optional<vm::Value>& found) {
    if (!host.value) host.value = found;
    if (!host.value) return TENON_NOT_YET;
    *value = tools::handle_of(&*host.value);
    return TENON_OK;
  };
  const auto take_end = [&](const library::RunEnd& end) -> tenon_status {
    return end.start_error ? report(*end.start_error, error) : take(end.value);
  };
  return with(run, error, take_end, [&](engine::Engine& used, RunId id) -> tenon_status {
    return take(host.value ? host.value : used.copy_value(id));
  });
}

uint64_t tenon_call_run(const tenon_call* call) {
  if (call == nullptr) return 0;
  const tools::HeaderCall& header = *static_cast<const tools::HeaderCall*>(call);
  if (header.owner != tools::CallOwner::Caller) return tools::run_number(call);
  return static_cast<const HostCall*>(header.host)->number;
}

void tenon_call_free(tenon_call* call) {
  delete host_call(call);
}
