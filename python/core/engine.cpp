#include "core/engine.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "core/errors.h"
#include "core/gil.h"

namespace tenon::python {
namespace {

/// A call that keeps the event loop for longer is better begun elsewhere.
constexpr std::chrono::microseconds quick_max{200};
constexpr int calls_elsewhere_max = 1'000;

/// After Ctrl-C: ends a run that no thread waits for any more. Its blocks of `finally` are executed while others wait.
void cancel_interrupted(tenon_run* run) {
  without_lock([run] { static_cast<void>(tenon_run_cancel(run, "interrupted", nullptr)); });
}

/// Calls an object of the class Function.
PyObject* call_object(PyObject* self, PyObject* arguments, PyObject* named) noexcept {
  try {
    if (!nb::inst_ready(self)) throw nb::type_error("the function was not initialised");
    return nb::inst_ptr<Function>(self)->call(arguments, named).release().ptr();
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const nb::builtin_exception& error) {
    PyErr_SetString(PyExc_TypeError, error.what());  // prepare throws no others
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

}  // namespace

Run::~Run() {
  free_outside(Freeing::AtOnce, [run = run_, call = call_] {
    tenon_run_free(run);
    tenon_call_free(call);
  });
}

std::optional<std::string> Run::name() const {
  const char* const name = tenon_run_name(run_);
  return name == nullptr ? std::nullopt : std::optional<std::string>(name);
}

std::optional<std::string> Run::title() const {
  const char* const title = tenon_run_title(run_);
  return title == nullptr ? std::nullopt : std::optional<std::string>(title);
}

void Run::prompt(const std::string& input) const {
  context_.renew();
  done([&](tenon_error** error) { return tenon_run_prompt(run_, host::text_of(input), error); });
}

void Run::answer(const std::string& wait, const std::string& input) const {
  context_.renew();
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
  tenon_run_state state = TENON_RUN_RUNNING;
  wait_and_hear_signals(
      timeout,
      [&](std::uint64_t milliseconds, tenon_error** error) {
        return tenon_run_wait(run_, milliseconds, &state, error);
      },
      [run = run_] { tenon_run_interrupt(run); });
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
  return outcome_parts(host::Outcome(found));
}

std::string Run::prompts() const {
  tenon_string* prompts = nullptr;
  done([&](tenon_error** error) { return tenon_run_prompts(run_, &prompts, error); });
  return host::take_text(prompts);
}

nb::object Run::value() const {
  const tenon_value* value = nullptr;
  if (done([&](tenon_error** error) { return tenon_call_value(call_, run_, &value, error); })) {
    nb::object result = read(call_, value, *result_);
    if (tenon_failed(call_)) raise_not_passed();
    return result;
  }
  tenon_outcome* found = nullptr;
  if (!done([&](tenon_error** error) { return tenon_run_outcome(run_, &found, error); })) {
    throw nb::type_error("the run has not ended");
  }
  raise(found, key());
}

nb::object Run::ended_value() const {
  tenon_error* error = nullptr;
  const tenon_value* value = nullptr;
  if (check(tenon_call_value(call_, run_, &value, &error), error)) {
    nb::object result = read(call_, value, *result_);
    if (!tenon_failed(call_)) return result;
  }
  tenon_outcome* found = nullptr;
  if (!check(tenon_run_outcome(run_, &found, &error), error)) raise_not_passed();
  raise(found, key());
}

Program::~Program() {
  free_outside(Freeing::AtOnce, [program = program_] { tenon_program_free(program); });
}

std::unique_ptr<Run> Program::start_agent(const std::string& agent, std::uint32_t flags) const {
  tenon_run* run = nullptr;
  done([&](tenon_error** error) { return tenon_run_start_agent(program_, agent.c_str(), flags, &run, error); });
  return std::make_unique<Run>(run, keep_context(tenon_run_number(run)));
}

std::string Program::run_test(std::size_t index, bool is_interrupted) const {
  tenon_string* problem = nullptr;
  const std::uint32_t flags = is_interrupted ? TENON_TEST_INTERRUPTED : 0;
  done([&](tenon_error** error) { return tenon_program_run_test(program_, index, flags, &problem, error); });
  return host::take_text(problem);
}

std::string Program::graph(const std::string& form) const {
  tenon_string* graph = nullptr;
  done([&](tenon_error** error) { return tenon_program_graph(program_, form.c_str(), &graph, error); });
  return host::take_text(graph);
}

Function::Function(std::shared_ptr<Program> program, std::string name, std::shared_ptr<TypeList> types,
                   const std::vector<std::pair<std::string, std::size_t>>& parameters, std::size_t result,
                   nb::object waiting, nb::object before_wait)
    : program_(std::move(program)),
      name_(std::move(name)),
      types_(std::move(types)),
      result_(&types_->at(result)),
      waiting_(std::move(waiting)),
      before_wait_(std::move(before_wait)) {
  for (const auto& [parameter, type] : parameters) {
    parameters_.push_back({parameter, nb::steal(PyUnicode_InternFromString(parameter.c_str())), &types_->at(type)});
  }
}

void Function::refuse_unknown(nb::handle named) const {
  if (!named.is_valid()) return;
  for (const nb::handle key : nb::borrow<nb::dict>(named).keys()) {
    const bool is_known = std::ranges::any_of(parameters_, [&](const Member& known) { return known.key.equal(key); });
    if (is_known) continue;
    throw nb::type_error((name_ + "() got an unexpected argument '" + shown(key) + "'").c_str());
  }
}

Function::Call Function::prepare(nb::handle arguments, nb::handle named) const {
  if (program_->dispatcher().calls().is_served_here()) raise_used_within();
  const auto given_count = static_cast<std::size_t>(PyTuple_Size(arguments.ptr()));
  if (given_count > parameters_.size()) {
    throw nb::type_error(
        (name_ + "() takes " + std::to_string(parameters_.size()) + " arguments, got " + std::to_string(given_count))
            .c_str());
  }
  const std::size_t named_count = named.is_valid() ? static_cast<std::size_t>(PyDict_Size(named.ptr())) : 0;
  tenon_call* made = nullptr;
  tenon_error* error = nullptr;
  check(tenon_call_new(program_->get(), name_.c_str(), &made, &error), error);
  Call call(made);
  std::size_t used = 0;
  for (std::size_t at = 0; at < parameters_.size(); ++at) {
    const Member& parameter = parameters_[at];
    nb::handle given;
    PyObject* const found = named_count == 0 ? nullptr : PyDict_GetItemWithError(named.ptr(), parameter.key.ptr());
    if (at < given_count) {
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
      refuse_unknown(named);
      throw nb::type_error((name_ + "() missing argument '" + parameter.name + "'").c_str());
    }
    try {
      write(made, tenon_call_parameter(made, at), given, *parameter.type);
    } catch (const WrongValue& wrong) {
      raise_wrong_input("argument `" + parameter.name + "`: " + wrong.what());
    }
  }
  if (used < named_count) refuse_unknown(named);
  return call;
}

nb::object Function::call(nb::handle arguments, nb::handle named) const {
  if (program_->dispatcher().has_loop()) before_wait_();
  Call call = prepare(arguments, named);
  KeptContext context = program_->keep_context(tenon_call_run(call.get()));
  const tenon_value* value = nullptr;
  tenon_outcome* outcome = nullptr;
  tenon_run* started = nullptr;
  const std::uint64_t timeout = hears_signals() ? unwatched_max : TENON_FOREVER;
  const bool has_ended = done(
      [&](tenon_error** error) { return tenon_call_make(call.get(), timeout, &value, &outcome, &started, error); });
  if (outcome != nullptr) raise(outcome, context.key());
  if (has_ended) {
    nb::object result = read(call.get(), value, *result_);
    if (tenon_failed(call.get())) raise_not_passed();
    return result;
  }
  auto run = std::make_unique<Run>(started, std::move(context), call.release(), types_, result_);
  try {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    const tenon_run_state state = run->wait(std::nullopt);
    if (state != TENON_RUN_ASKS) return run->value();
  } catch (...) {
    cancel_interrupted(started);
    throw;
  }
  const nb::object exception = waiting_(nb::cast(std::move(run)));
  PyErr_SetObject(exception.type().ptr(), exception.ptr());
  throw nb::python_error();
}

const PyType_Slot Function::slots[] = {{Py_tp_call, reinterpret_cast<void*>(&call_object)}, {0, nullptr}};

std::unique_ptr<Run> Function::start(nb::handle arguments, nb::handle named, std::uint32_t flags) const {
  Call call = prepare(arguments, named);
  KeptContext context = program_->keep_context(tenon_call_run(call.get()));
  tenon_run* run = nullptr;
  done([&](tenon_error** error) { return tenon_call_start(call.get(), flags, &run, error); });
  return std::make_unique<Run>(run, std::move(context), call.release(), types_, result_);
}

std::unique_ptr<Run> Function::begin(nb::handle arguments, nb::handle named, tenon_run_state& state) {
  Call call = prepare(arguments, named);
  KeptContext context = program_->keep_context(tenon_call_run(call.get()));
  tenon_run* run = nullptr;
  tenon_error* error = nullptr;
  state = TENON_RUN_RUNNING;
  // With the lock: beside a thread that computes, it would take a switch interval of the interpreter to get it back.
  if (elsewhere_left_ > 0) {
    --elsewhere_left_;
    check(tenon_call_start(call.get(), TENON_WITH_STOPS | TENON_START_LATER, &run, &error), error);
  } else {
    const auto begun = std::chrono::steady_clock::now();
    check(tenon_call_begin(call.get(), &run, &state, &error), error);
    const bool was_quick = std::chrono::steady_clock::now() - begun <= quick_max;
    calls_elsewhere_ =
        state != TENON_RUN_RUNNING && was_quick ? 0 : std::clamp(calls_elsewhere_ * 2, 1, calls_elsewhere_max);
    elsewhere_left_ = calls_elsewhere_;
  }
  return std::make_unique<Run>(run, std::move(context), call.release(), types_, result_);
}

Engine::Engine(std::shared_ptr<Setup> setup) : setup_(std::move(setup)) {
  done([&](tenon_error** error) { return tenon_engine_open(setup_->options(), &engine_, error); });
}

Engine::~Engine() {
  free_outside(Freeing::Waiting, [engine = engine_] { tenon_engine_free(engine); });
}

std::shared_ptr<Program> Engine::load(const std::string& path, const std::optional<std::string>& text) const {
  tenon_program* program = nullptr;
  done([&](tenon_error** error) {
    return tenon_program_load(engine_, path.c_str(), text ? text->c_str() : nullptr, &program, error);
  });
  return std::make_shared<Program>(program, setup_->dispatcher());
}

std::shared_ptr<Program> Engine::compile(const std::string& path) const {
  tenon_program* program = nullptr;
  done([&](tenon_error** error) { return tenon_program_compile(engine_, path.c_str(), nullptr, &program, error); });
  return std::make_shared<Program>(program, setup_->dispatcher());
}

std::shared_ptr<Program> Engine::load_stored(const std::string& run) const {
  tenon_program* program = nullptr;
  done([&](tenon_error** error) { return tenon_program_of_run(engine_, run.c_str(), &program, error); });
  return std::make_shared<Program>(program, setup_->dispatcher());
}

std::unique_ptr<Run> Engine::make_run(tenon_run* run) const {
  return std::make_unique<Run>(run, KeptContext(setup_->dispatcher()->contexts(), tenon_run_number(run)));
}

std::unique_ptr<Run> Engine::resume(const std::string& name, std::uint32_t flags) const {
  tenon_run* run = nullptr;
  done([&](tenon_error** error) { return tenon_run_resume(engine_, name.c_str(), flags, &run, error); });
  return make_run(run);
}

std::unique_ptr<Run> Engine::fork(const std::string& name, std::uint64_t at, const Program* program,
                                  std::uint32_t flags) const {
  tenon_run* run = nullptr;
  tenon_program* const changed = program == nullptr ? nullptr : program->get();
  done([&](tenon_error** error) { return tenon_run_fork(engine_, name.c_str(), at, changed, flags, &run, error); });
  return make_run(run);
}

std::string Engine::replay(const std::string& name, const Program* program) const {
  tenon_string* difference = nullptr;
  tenon_program* const changed = program == nullptr ? nullptr : program->get();
  done([&](tenon_error** error) { return tenon_run_replay(engine_, name.c_str(), changed, &difference, error); });
  return host::take_text(difference);
}

nb::bytes Engine::artifacts(const std::string& name, const std::string& form) const {
  tenon_string* made = nullptr;
  done([&](tenon_error** error) { return tenon_run_artifacts(engine_, name.c_str(), form.c_str(), &made, error); });
  const std::string text = host::take_text(made);
  return nb::bytes(text.data(), text.size());
}

std::uint64_t Engine::begin(Function& function, const nb::tuple& arguments, const nb::dict& named, nb::object future) {
  tenon_run_state state = TENON_RUN_RUNNING;
  std::unique_ptr<Run> run = function.begin(arguments, named, state);
  const std::uint64_t number = run->number();
  Begun begun{std::move(run), std::move(future), function.waiting()};
  if (state != TENON_RUN_RUNNING) {
    complete(std::move(begun), state);
    return 0;
  }
  begun_.emplace(number, std::move(begun));
  return number;
}

void Engine::abandon(std::uint64_t number) {
  const auto found = begun_.find(number);
  if (found == begun_.end()) return;
  const Begun begun = std::move(found->second);
  begun_.erase(found);
  without_lock([&] { static_cast<void>(tenon_run_cancel(begun.run->get(), "its caller was cancelled", nullptr)); });
}

nb::list Engine::give_up() {
  nb::list futures;
  for (auto& [number, begun] : std::exchange(begun_, {})) futures.append(begun.future);
  return futures;
}

void Engine::complete(Begun begun, tenon_run_state state) {
  if (nb::cast<bool>(begun.future.attr("done")())) return;
  try {
    if (state == TENON_RUN_ASKS) {
      begun.future.attr("set_exception")(begun.waiting(nb::cast(std::move(begun.run))));
    } else {
      begun.future.attr("set_result")(begun.run->ended_value());
    }
  } catch (nb::python_error& error) {
    begun.future.attr("set_exception")(nb::borrow(error.value()));
  } catch (const std::exception& exception) {
    begun.future.attr("set_exception")(nb::borrow(PyExc_RuntimeError)(exception.what()));
  }
}

nb::list Engine::take_stops() {
  constexpr std::size_t capacity = 256;
  std::array<tenon_stop, capacity> stops;
  std::size_t count = capacity;
  nb::list others;
  while (count == capacity) {
    tenon_error* error = nullptr;
    if (!check(tenon_next_stops(engine_, 0, stops.data(), capacity, &count, &error), error)) break;
    for (std::size_t at = 0; at < count; ++at) {
      const auto found = begun_.find(stops[at].run);
      if (found == begun_.end()) {
        others.append(nb::make_tuple(stops[at].run, stops[at].state));
        continue;
      }
      Begun begun = std::move(found->second);
      begun_.erase(found);
      complete(std::move(begun), stops[at].state);
    }
  }
  return others;
}

nb::object Engine::next_event(const Run* run, Timeout timeout, std::uint64_t releases) const {
  tenon_event* found = nullptr;
  tenon_run* const of = run == nullptr ? nullptr : run->get();
  const bool is_found = wait_and_hear_signals(
      timeout,
      [&](std::uint64_t milliseconds, tenon_error** error) -> tenon_status {
        if (releases_ != releases) return TENON_OK;
        const tenon_status status = tenon_next_event(engine_, of, milliseconds, &found, error);
        if (status != TENON_NOT_YET || of == nullptr) return status;
        if (releases_ != releases) return TENON_OK;
        return tenon_run_wait(of, 0, nullptr, error);  // TENON_OK: there will be none
      },
      [engine = engine_] { tenon_engine_interrupt(engine); });
  if (!is_found || found == nullptr) return nb::none();
  const host::Event event(found);
  return nb::make_tuple(to_str(event.type()), to_str(event.json()), event.run());
}

void Engine::refuse_use_within() const {
  if (setup_->dispatcher()->calls().is_served_here()) raise_used_within();
}

void Engine::release_waits() {
  ++releases_;
  tenon_engine_interrupt(engine_);
}

void Engine::start_thread() const {
  done([&](tenon_error** error) { return tenon_engine_start_thread(engine_, error); });
}

int Engine::descriptor() const {
  int descriptor = -1;
  done([&](tenon_error** error) { return tenon_engine_descriptor(engine_, &descriptor, error); });
  return descriptor;
}

void Engine::stop(double grace) const {
  done([&](tenon_error** error) { return tenon_engine_stop(engine_, milliseconds_of(grace), error); });
}

std::string store_runs(const std::string& store, const std::optional<std::string>& state,
                       const std::optional<std::string>& after, std::size_t limit) {
  const std::unique_ptr<tenon_options, host::Free<&tenon_options_free>> options(tenon_options_new());
  tenon_string* runs = nullptr;
  done([&](tenon_error** error) {
    const tenon_status status = tenon_options_set(options.get(), "store", store.c_str(), error);
    if (status != TENON_OK) return status;
    return tenon_store_runs(options.get(), state ? state->c_str() : nullptr, after ? after->c_str() : nullptr, limit,
                            &runs, error);
  });
  return host::take_text(runs);
}

}  // namespace tenon::python
