#include "core/engine.h"

#include <algorithm>
#include <chrono>
#include <functional>

#include "core/errors.h"
#include "core/gil.h"
#include "core/model.h"

namespace tenon::python {
namespace {

using Clock = std::chrono::steady_clock;

/// How long the main thread waits before it looks for signals, in milliseconds.
constexpr std::uint64_t signal_period = 50;

unsigned long main_thread = 0;

bool hears_signals() {
  return PyThread_get_thread_ident() == main_thread;
}

std::uint64_t milliseconds_of(Timeout timeout) {
  if (!timeout || *timeout > 1e12) return TENON_FOREVER;
  return *timeout <= 0 ? 0 : static_cast<std::uint64_t>(*timeout * 1000);
}

/// Waits with `wait(milliseconds, &error)`, in pieces where signals are heard. Returns false after the timeout.
template <class Wait>
bool wait_in_pieces(Timeout timeout, Wait wait) {
  const std::uint64_t whole = milliseconds_of(timeout);
  const Clock::time_point start = Clock::now();
  for (;;) {
    std::uint64_t left = whole;
    if (whole != TENON_FOREVER) {
      const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start).count();
      left = whole - std::min(whole, static_cast<std::uint64_t>(passed));
    }
    const bool is_last = !hears_signals() || left <= signal_period;
    tenon_error* error = nullptr;
    const tenon_status status = without_lock([&] { return wait(is_last ? left : signal_period, &error); });
    if (check(status, error)) return true;
    if (hears_signals() && PyErr_CheckSignals() != 0) throw nb::python_error();
    if (is_last) return false;
  }
}

/// Calls a function of tenon/tenon.h without the lock, and raises its error.
bool done(const std::function<tenon_status(tenon_error**)>& function) {
  tenon_error* error = nullptr;
  const tenon_status status = without_lock([&] { return function(&error); });
  return check(status, error);
}

nb::str text(std::string_view view) {
  return nb::str(view.data(), view.size());
}

/// After Ctrl-C: ends a run that no thread waits for any more. Its blocks of `finally` are executed while others wait.
void cancel_interrupted(tenon_run* run) {
  without_lock([run] { static_cast<void>(tenon_run_cancel(run, "interrupted", nullptr)); });
}

}  // namespace

void set_main_thread(unsigned long ident) {
  main_thread = ident;
}

Run::~Run() {
  free_outside([run = run_, call = call_] {
    tenon_run_free(run);
    tenon_call_free(call);
  });
}

std::optional<std::string> Run::name() const {
  const char* const name = tenon_run_name(run_);
  return name == nullptr ? std::nullopt : std::optional<std::string>(name);
}

void Run::prompt(const std::string& input) const {
  done([&](tenon_error** error) { return tenon_run_prompt(run_, host::text_of(input), error); });
}

void Run::answer(const std::string& wait, const std::string& input) const {
  done([&](tenon_error** error) {
    return tenon_run_answer(run_, wait.empty() ? nullptr : wait.c_str(), host::text_of(input), error);
  });
}

void Run::cancel(const std::string& reason) const {
  done([&](tenon_error** error) { return tenon_run_cancel(run_, reason.c_str(), error); });
}

void Run::cancel_turn(const std::string& reason) const {
  done([&](tenon_error** error) { return tenon_run_cancel_turn(run_, reason.c_str(), error); });
}

tenon_run_state Run::wait(Timeout timeout) const {
  tenon_run_state state = TENON_RUNNING;
  wait_in_pieces(timeout, [&](std::uint64_t milliseconds, tenon_error** error) {
    return tenon_run_wait(run_, milliseconds, &state, error);
  });
  return state;
}

std::string Run::questions() const {
  tenon_string* questions = nullptr;
  done([&](tenon_error** error) { return tenon_run_questions(run_, &questions, error); });
  return host::take_text(questions);
}

nb::object Run::outcome() const {
  tenon_outcome* found = nullptr;
  if (!done([&](tenon_error** error) { return tenon_run_outcome(run_, &found, error); })) return nb::none();
  const host::Outcome outcome(found);
  return nb::make_tuple(outcome.state(), text(outcome.value()), text(outcome.message()), text(outcome.kind()),
                        text(outcome.blame()));
}

nb::object Run::value() const {
  const tenon_value* value = nullptr;
  if (done([&](tenon_error** error) { return tenon_call_value(call_, run_, &value, error); })) {
    nb::object result = read(call_, value, *result_);
    if (tenon_failed(call_)) throw nb::type_error("the value cannot be passed to Python");
    return result;
  }
  tenon_outcome* found = nullptr;
  if (!done([&](tenon_error** error) { return tenon_run_outcome(run_, &found, error); })) {
    throw nb::type_error("the run has not ended");
  }
  raise(found);
}

Program::~Program() {
  free_outside([program = program_] { tenon_program_free(program); });
}

std::unique_ptr<Run> Program::start_agent(const std::string& agent, bool has_events) const {
  tenon_run* run = nullptr;
  done([&](tenon_error** error) {
    return tenon_run_start_agent(program_, agent.c_str(), has_events ? TENON_WITH_EVENTS : 0, &run, error);
  });
  return std::make_unique<Run>(run);
}

Function::Function(std::shared_ptr<Program> program, std::string name, std::shared_ptr<TypeList> types,
                   const std::vector<std::pair<std::string, std::size_t>>& parameters, std::size_t result)
    : program_(std::move(program)), name_(std::move(name)), types_(std::move(types)), result_(&types_->at(result)) {
  for (const auto& [parameter, type] : parameters) {
    parameters_.push_back({parameter, nb::steal(PyUnicode_InternFromString(parameter.c_str())), &types_->at(type)});
  }
}

Function::Call Function::prepare(const nb::args& arguments, const nb::kwargs& named) const {
  if (arguments.size() > parameters_.size()) {
    throw nb::type_error((name_ + "() takes " + std::to_string(parameters_.size()) + " arguments, got " +
                          std::to_string(arguments.size()))
                             .c_str());
  }
  tenon_call* made = nullptr;
  done([&](tenon_error** error) { return tenon_call_new(program_->get(), name_.c_str(), &made, error); });
  Call call(made);
  std::size_t used = 0;
  for (std::size_t at = 0; at < parameters_.size(); ++at) {
    const Member& parameter = parameters_[at];
    nb::handle given;
    PyObject* const found = PyDict_GetItemWithError(named.ptr(), parameter.key.ptr());
    if (at < arguments.size()) {
      if (found != nullptr) {
        throw nb::type_error((name_ + "() got multiple values for argument '" + parameter.name + "'").c_str());
      }
      given = PyTuple_GetItem(arguments.ptr(), static_cast<Py_ssize_t>(at));
    } else if (found != nullptr) {
      ++used;
      given = found;
    } else if (parameter.type->kind == TypeKind::Option) {
      continue;  // None
    } else {
      throw nb::type_error((name_ + "() missing argument '" + parameter.name + "'").c_str());
    }
    write(made, tenon_call_parameter(made, at), given, *parameter.type);
  }
  if (used == named.size()) return call;
  for (const nb::handle key : named.keys()) {
    const bool is_known =
        std::ranges::any_of(parameters_, [&](const Member& known) { return known.key.equal(key); });
    if (is_known) continue;
    const std::string unknown = nb::cast<std::string>(nb::str(key));
    throw nb::type_error((name_ + "() got an unexpected argument '" + unknown + "'").c_str());
  }
  return call;
}

nb::object Function::call(const nb::args& arguments, const nb::kwargs& named) const {
  Call call = prepare(arguments, named);
  const tenon_value* value = nullptr;
  tenon_outcome* outcome = nullptr;
  tenon_run* started = nullptr;
  const std::uint64_t timeout = hears_signals() ? signal_period : TENON_FOREVER;
  const bool has_ended = done([&](tenon_error** error) {
    return tenon_call_make(call.get(), timeout, &value, &outcome, &started, error);
  });
  if (outcome != nullptr) raise(outcome);
  if (has_ended) {
    nb::object result = read(call.get(), value, *result_);
    if (tenon_failed(call.get())) throw nb::type_error("the value cannot be passed to Python");
    return result;
  }
  auto run = std::make_unique<Run>(started, call.release(), types_, result_);
  try {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    const tenon_run_state state = run->wait(std::nullopt);
    if (state != TENON_ASKS) return run->value();
  } catch (...) {
    cancel_interrupted(started);
    throw;
  }
  const nb::object waiting = nb::module_::import_("tenon._errors").attr("waiting");
  const nb::object exception = waiting(nb::cast(std::move(run)));
  PyErr_SetObject(exception.type().ptr(), exception.ptr());
  throw nb::python_error();
}

std::unique_ptr<Run> Function::start(const nb::args& arguments, const nb::kwargs& named, bool has_events) const {
  Call call = prepare(arguments, named);
  tenon_run* run = nullptr;
  done([&](tenon_error** error) {
    return tenon_call_start(call.get(), has_events ? TENON_WITH_EVENTS : 0, &run, error);
  });
  return std::make_unique<Run>(run, call.release(), types_, result_);
}

Engine::Engine(const std::vector<std::pair<std::string, std::string>>& options,
               const std::vector<std::pair<std::string, std::shared_ptr<Extern>>>& externs,
               const std::string& model_name, const nb::object& model) {
  const std::unique_ptr<tenon_options, host::Free<&tenon_options_free>> made(tenon_options_new());
  for (const auto& [name, value] : options) {
    done([&](tenon_error** error) { return tenon_options_set(made.get(), name.c_str(), value.c_str(), error); });
  }
  for (const auto& [name, added] : externs) add_extern(made.get(), name, added);
  if (!model.is_none()) set_model(made.get(), model_name, model);
  done([&](tenon_error** error) { return tenon_engine_open(made.get(), &engine_, error); });
}

Engine::~Engine() {
  free_outside([engine = engine_] { tenon_engine_free(engine); });
}

std::shared_ptr<Program> Engine::load(const std::string& path, const std::optional<std::string>& text) const {
  tenon_program* program = nullptr;
  done([&](tenon_error** error) {
    return tenon_program_load(engine_, path.c_str(), text ? text->c_str() : nullptr, &program, error);
  });
  return std::make_shared<Program>(program);
}

std::unique_ptr<Run> Engine::resume(const std::string& name, bool has_events) const {
  tenon_run* run = nullptr;
  done([&](tenon_error** error) {
    return tenon_run_resume(engine_, name.c_str(), has_events ? TENON_WITH_EVENTS : 0, &run, error);
  });
  return std::make_unique<Run>(run);
}

nb::object Engine::next_event(const Run* run, Timeout timeout) const {
  tenon_event* found = nullptr;
  tenon_run* const of = run == nullptr ? nullptr : run->get();
  const bool is_found = wait_in_pieces(timeout, [&](std::uint64_t milliseconds, tenon_error** error) {
    return tenon_next_event(engine_, of, milliseconds, &found, error);
  });
  if (!is_found) return nb::none();
  const host::Event event(found);
  return nb::make_tuple(text(event.type()), text(event.json()), event.run());
}

int Engine::descriptor() const {
  int descriptor = -1;
  done([&](tenon_error** error) { return tenon_engine_descriptor(engine_, &descriptor, error); });
  return descriptor;
}

void Engine::stop(double grace) const {
  done([&](tenon_error** error) { return tenon_engine_stop(engine_, milliseconds_of(grace), error); });
}

}  // namespace tenon::python
