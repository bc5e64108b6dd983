#pragma once

// tenon/tenon.hpp: tenon/tenon.h for C++17, with objects that free themselves and exceptions. Header-only; link with
// libtenon. The guide is docs/guides/library.md, and tenon/tenon.h describes what each function does.
//
//   tenon::host::Options options;
//   options.set("model", "script:answers.txt").add_extern("stock", +[](const std::string& item) { return 12; });
//   tenon::host::Engine engine(options);
//   tenon::host::Program desk = engine.load("desk.tn");
//   tenon::host::Run run = desk.start("order", R"({"item": "tea", "count": 5})");
//   std::cout << run.wait_for_value();

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenon/extern.hpp"
#include "tenon/tenon.h"

namespace tenon::host {
inline namespace v1 {

using Milliseconds = std::chrono::milliseconds;

/// Waits without a limit.
constexpr Milliseconds forever = Milliseconds::max();

/// An error, a warning or a note about a program, as `tenon_problem` has it.
struct Problem {
  std::int32_t severity = TENON_ERROR;
  std::string code, message, path;
  std::uint32_t line = 0, column = 0;
  std::string text;
};

/// Why a function of this header could not do what it was asked to.
class Error : public std::runtime_error {
 public:
  Error(tenon_status status, const std::string& message, std::string json, std::vector<Problem> problems = {})
      : std::runtime_error(message), status_(status), json_(std::move(json)), problems_(std::move(problems)) {}
  /// Of a program, its externs or its manifest.
  [[nodiscard]] const std::vector<Problem>& problems() const { return problems_; }
  [[nodiscard]] tenon_status status() const { return status_; }
  /// As `tenon_error_json`.
  [[nodiscard]] const std::string& json() const { return json_; }

 private:
  tenon_status status_;
  std::string json_;
  std::vector<Problem> problems_;
};

/// A run that has not returned a value: it has failed or was cancelled.
class RunFailure : public std::runtime_error {
 public:
  RunFailure(tenon_run_state state, const std::string& message, std::string kind, std::string blame)
      : std::runtime_error(message), state_(state), kind_(std::move(kind)), blame_(std::move(blame)) {}
  [[nodiscard]] tenon_run_state state() const { return state_; }
  /// The kind of a failure, such as "ToolFailed".
  [[nodiscard]] const std::string& kind() const { return kind_; }
  [[nodiscard]] const std::string& blame() const { return blame_; }

 private:
  tenon_run_state state_;
  std::string kind_;
  std::string blame_;
};

[[nodiscard]] inline tenon_text text_of(std::string_view text) {
  return {text.empty() ? "" : text.data(), text.size()};
}
[[nodiscard]] inline std::string_view view(tenon_text text) {
  return {text.data, text.length};
}
[[nodiscard]] inline std::string string_of(tenon_text text) {
  return std::string(text.data, text.length);
}

/// Frees a handle of tenon/tenon.h.
template <auto Function>
struct Free {
  template <class Handle>
  void operator()(Handle* handle) const {
    Function(handle);
  }
};

struct Same {
  template <class Struct>
  [[nodiscard]] Struct operator()(const Struct& one) const {
    return one;
  }
};

/// What `get` gives at 0, 1 and so on, until there is no more.
template <class Struct, class Get, class Make = Same>
[[nodiscard]] auto list_of(Get get, Make make = {}) {
  std::vector<decltype(make(Struct{}))> list;
  Struct one = {};
  for (one.size = sizeof one; get(list.size(), &one);) list.push_back(make(one));
  return list;
}

[[nodiscard]] inline Problem problem_of(const tenon_problem& problem) {
  return {problem.severity, string_of(problem.code), string_of(problem.message), string_of(problem.path),
          problem.line,     problem.column,          string_of(problem.text)};
}

/// Throws what a function has reported. Returns false after TENON_NOT_YET. `error` is a reference because the
/// function may be called after the arguments of this one are evaluated.
inline bool check(tenon_status status, tenon_error* const& error) {
  if (status == TENON_OK || status == TENON_NOT_YET) return status == TENON_OK;
  const std::unique_ptr<tenon_error, Free<&tenon_error_free>> owned(error);  // NULL: there was no memory for it
  throw Error(status, string_of(tenon_error_message(error)), string_of(tenon_error_json(error)),
              list_of<tenon_problem>(
                  [&](std::size_t at, tenon_problem* to) { return tenon_error_problem(error, at, to); }, problem_of));
}

[[nodiscard]] inline std::uint64_t milliseconds_of(Milliseconds timeout) {
  if (timeout == forever) return TENON_FOREVER;
  return timeout.count() < 0 ? 0 : static_cast<std::uint64_t>(timeout.count());
}

[[nodiscard]] inline std::string take_text(tenon_string* owned) {
  const std::unique_ptr<tenon_string, Free<&tenon_string_free>> string(owned);
  return string_of(tenon_string_text(owned));
}

/// An answer that a model of the host is to give. It is ended once: by `finish`, by `fail`, or, if it is destroyed
/// before, by a failure.
class Generation {
 public:
  explicit Generation(tenon_generation* generation) : generation_(generation) {}
  void add(std::string_view piece) { tenon_generation_add(generation_.get(), text_of(piece)); }
  /// `text` is the whole answer, the pieces included.
  void finish(std::string_view text) { tenon_generation_finish(generation_.release(), text_of(text)); }
  void fail(std::string_view message, tenon_model_failure failure = TENON_MODEL_REJECTED) {
    tenon_generation_fail(generation_.release(), failure, text_of(message));
  }
  [[nodiscard]] bool is_cancelled() const { return tenon_generation_is_cancelled(generation_.get()); }

 private:
  struct FailAbandoned {
    void operator()(tenon_generation* generation) const {
      tenon_generation_fail(generation, TENON_MODEL_REJECTED, tenon_text_of("the model gave no answer"));
    }
  };
  std::unique_ptr<tenon_generation, FailAbandoned> generation_;
};

/// A call of an extern whose result comes later. It is completed when this is destroyed.
class DeferredCall {
 public:
  explicit DeferredCall(tenon_call* call) : call_(call) {}
  [[nodiscard]] tenon_call* get() const { return call_.get(); }
  [[nodiscard]] bool is_cancelled() const { return tenon_is_cancelled(call_.get()); }
  template <class T>
  void finish(const T& result) {
    native::Convert<T>::write(call_.get(), tenon_result(call_.get()), result);
    call_.reset();
  }
  void fail(std::string_view message) {
    tenon_fail_text(call_.get(), message.data(), message.size());
    call_.reset();
  }

 private:
  std::unique_ptr<tenon_call, Free<&tenon_finish>> call_;
};

/// Within a function of the host: its call continues after it has returned. Nothing if the call has failed instead.
[[nodiscard]] inline std::optional<DeferredCall> defer(tenon_call* call) {
  if (!tenon_defer(call)) return std::nullopt;
  return DeferredCall(call);
}

/// What an engine is opened with.
class Options {
 public:
  using Function = std::function<void(tenon_call*)>;
  /// Gets the request as JSON, and keeps the generation until it has the answer.
  using Model = std::function<void(Generation, std::string_view request)>;

  Options() : options_(tenon_options_new()) {}

  Options& set(const char* name, const std::string& value) {
    tenon_error* error = nullptr;
    check(tenon_options_set(options_.get(), name, value.c_str(), &error), error);
    return *this;
  }
  /// The extern `name` with the handles of tenon/extern.h. Exceptions become failures.
  Options& add_extern(const char* name, Function function) {
    tenon_options_add_extern(options_.get(), name, &perform, new Function(std::move(function)), &free_function);
    return *this;
  }
  /// A plain function, with the types that tenon/extern.hpp converts.
  template <class Result, class... Parameters>
  Options& add_extern(const char* name, Result (*function)(Parameters...)) {
    return add_extern(name, Function([function](tenon_call* call) { native::run(call, function); }));
  }
  Options& set_model(const char* name, Model model) {
    static const tenon_model functions = {sizeof(tenon_model), &start_model, nullptr};
    tenon_options_set_model(options_.get(), name, &functions, new Model(std::move(model)), &free_model);
    return *this;
  }
  /// As `tenon_options_set_secret`.
  Options& set_secret(const char* name, const std::string& value) {
    tenon_error* error = nullptr;
    check(tenon_options_set_secret(options_.get(), name, value.c_str(), &error), error);
    return *this;
  }
  /// The command of `tenon_options_set_worker`.
  Options& set_worker(const std::vector<std::string>& command) {
    std::vector<const char*> parts;
    for (const std::string& part : command) parts.push_back(part.c_str());
    parts.push_back(nullptr);
    tenon_options_set_worker(options_.get(), parts.data());
    return *this;
  }
  [[nodiscard]] tenon_options* get() const { return options_.get(); }

 private:
  static void perform(tenon_call* call, void* user) {
    native::Adapter<void>::guarded(call, [&] { (*static_cast<Function*>(user))(call); });
  }
  static void free_function(void* user) { delete static_cast<Function*>(user); }
  static void start_model(void* user, tenon_generation* generation, tenon_text request) {
    // What the function throws is lost; the generation then fails.
    try {
      (*static_cast<Model*>(user))(Generation(generation), view(request));
    } catch (...) {
    }
  }
  static void free_model(void* user) { delete static_cast<Model*>(user); }

  std::unique_ptr<tenon_options, Free<&tenon_options_free>> options_;
};

/// How a run has ended.
class Outcome {
 public:
  explicit Outcome(tenon_outcome* outcome) : outcome_(outcome) {}
  [[nodiscard]] tenon_run_state state() const { return tenon_outcome_state(outcome_.get()); }
  [[nodiscard]] std::string_view value() const { return view(tenon_outcome_value(outcome_.get())); }
  [[nodiscard]] std::string_view message() const { return view(tenon_outcome_message(outcome_.get())); }
  [[nodiscard]] std::string_view kind() const { return view(tenon_outcome_kind(outcome_.get())); }
  [[nodiscard]] std::string_view blame() const { return view(tenon_outcome_blame(outcome_.get())); }

  /// The value, or throws RunFailure.
  [[nodiscard]] std::string_view value_or_throw() const {
    if (state() == TENON_RUN_RETURNED) return value();
    throw RunFailure(state(), std::string(message()), std::string(kind()), std::string(blame()));
  }

 private:
  std::unique_ptr<tenon_outcome, Free<&tenon_outcome_free>> outcome_;
};

class Event {
 public:
  explicit Event(tenon_event* event) : event_(event) {}
  [[nodiscard]] std::string_view type() const { return view(tenon_event_type(event_.get())); }
  [[nodiscard]] std::string_view json() const { return view(tenon_event_json(event_.get())); }
  [[nodiscard]] std::uint64_t run() const { return tenon_event_run(event_.get()); }

 private:
  std::unique_ptr<tenon_event, Free<&tenon_event_free>> event_;
};

/// An open question of a run, as `tenon_question` has it.
struct Question {
  std::string wait, question, type, schema;
  std::int64_t until = -1;
  bool is_secret = false;
};
[[nodiscard]] inline Question question_of(const tenon_question& asked) {
  return {string_of(asked.wait), string_of(asked.question), string_of(asked.type), string_of(asked.schema), asked.until,
          asked.is_secret};
}

class Run {
 public:
  explicit Run(tenon_run* run) : run_(run) {}

  /// Nothing without a store.
  [[nodiscard]] std::optional<std::string> name() const {
    const char* const name = tenon_run_name(run_.get());
    if (name == nullptr) return std::nullopt;
    return name;
  }
  [[nodiscard]] std::uint64_t number() const { return tenon_run_number(run_.get()); }
  /// The name of its function or agent.
  [[nodiscard]] std::string title() const {
    const char* const title = tenon_run_title(run_.get());
    return title == nullptr ? "" : title;
  }

  void prompt(std::string_view input) const {
    tenon_error* error = nullptr;
    check(tenon_run_prompt(run_.get(), text_of(input), &error), error);
  }
  /// `wait` may be empty if the run has only one question.
  void answer(const std::string& wait, std::string_view input) const {
    tenon_error* error = nullptr;
    check(tenon_run_answer(run_.get(), wait.empty() ? nullptr : wait.c_str(), text_of(input), &error), error);
  }
  void cancel(const std::string& reason) const {
    tenon_error* error = nullptr;
    check(tenon_run_cancel(run_.get(), reason.c_str(), &error), error);
  }
  void cancel_turn(const std::string& reason) const {
    tenon_error* error = nullptr;
    check(tenon_run_cancel_turn(run_.get(), reason.c_str(), &error), error);
  }
  /// TENON_RUN_RUNNING if the run does not stop within the timeout.
  tenon_run_state wait(Milliseconds timeout = forever) const {
    tenon_error* error = nullptr;
    tenon_run_state state = TENON_RUN_RUNNING;
    check(tenon_run_wait(run_.get(), milliseconds_of(timeout), &state, &error), error);
    return state;
  }
  /// The value as JSON. Throws RunFailure if the run has none, because it has failed or needs a person.
  [[nodiscard]] std::string wait_for_value() const {
    const tenon_run_state state = wait();
    if (state == TENON_RUN_ASKS) throw RunFailure(state, "the run waits for an answer: " + questions(), {}, {});
    const std::optional<Outcome> ended = outcome();
    if (!ended) throw RunFailure(state, "the conversation waits for a prompt", {}, {});
    return std::string(ended->value_or_throw());
  }
  /// The open questions as JSON.
  [[nodiscard]] std::string questions() const {
    tenon_error* error = nullptr;
    tenon_string* text = nullptr;
    check(tenon_run_questions(run_.get(), &text, &error), error);
    return take_text(text);
  }
  /// The same, as `tenon_question` has them.
  [[nodiscard]] std::vector<Question> open_questions() const {
    tenon_error* error = nullptr;
    tenon_question_list* list = nullptr;
    check(tenon_run_open_questions(run_.get(), &list, &error), error);
    const std::unique_ptr<tenon_question_list, Free<&tenon_question_list_free>> owned(list);
    return list_of<tenon_question>([&](std::size_t at, tenon_question* to) { return tenon_question_at(list, at, to); },
                                   question_of);
  }
  /// What its models were sent and have answered, as JSON.
  [[nodiscard]] std::string prompts() const {
    tenon_error* error = nullptr;
    tenon_string* text = nullptr;
    check(tenon_run_prompts(run_.get(), &text, &error), error);
    return take_text(text);
  }
  /// Of the run or of the newest turn of a conversation; nothing before its end.
  [[nodiscard]] std::optional<Outcome> outcome() const {
    tenon_error* error = nullptr;
    tenon_outcome* outcome = nullptr;
    if (!check(tenon_run_outcome(run_.get(), &outcome, &error), error)) return std::nullopt;
    return Outcome(outcome);
  }
  [[nodiscard]] tenon_run* get() const { return run_.get(); }

 private:
  std::unique_ptr<tenon_run, Free<&tenon_run_free>> run_;
};

/// Whether a run has events.
enum class Events { No, Yes };

[[nodiscard]] inline std::uint32_t flags_of(Events events) {
  return events == Events::Yes ? TENON_WITH_EVENTS : 0;
}

/// Functions, agents, externs and types of a program. The texts are valid as long as this is.
class Description {
 public:
  explicit Description(tenon_description* description) : description_(description) {
    if (description == nullptr) throw std::bad_alloc();
  }
  /// TENON_FUNCTIONS, TENON_AGENTS or TENON_EXTERNS.
  [[nodiscard]] std::vector<tenon_callable> callables(std::int32_t list) const {
    return list_of<tenon_callable>(
        [&](std::size_t at, tenon_callable* to) { return tenon_description_callable(get(), list, at, to); });
  }
  [[nodiscard]] std::vector<tenon_member> parameters(std::int32_t list, std::size_t callable) const {
    return list_of<tenon_member>(
        [&](std::size_t at, tenon_member* to) { return tenon_description_parameter(get(), list, callable, at, to); });
  }
  /// All types; what refers to one has its index here.
  [[nodiscard]] std::vector<tenon_type> types() const {
    return list_of<tenon_type>([&](std::size_t at, tenon_type* to) { return tenon_description_type(get(), at, to); });
  }
  /// Fields of a struct, items of a tuple, cases of an enum, literals of a union.
  [[nodiscard]] std::vector<tenon_member> members(std::size_t type) const {
    return list_of<tenon_member>(
        [&](std::size_t at, tenon_member* to) { return tenon_description_member(get(), type, at, to); });
  }
  [[nodiscard]] const tenon_description* get() const { return description_.get(); }

 private:
  std::unique_ptr<tenon_description, Free<&tenon_description_free>> description_;
};

class Program {
 public:
  explicit Program(tenon_program* program) : program_(program) {}

  /// `arguments` is an object with a member for each parameter.
  [[nodiscard]] Run start(const char* function, std::string_view arguments = "{}", Events events = Events::No) const {
    tenon_error* error = nullptr;
    tenon_run* run = nullptr;
    check(tenon_run_start(program_.get(), function, text_of(arguments), flags_of(events), &run, &error), error);
    return Run(run);
  }
  [[nodiscard]] Run start_agent(const char* agent, Events events = Events::No) const {
    tenon_error* error = nullptr;
    tenon_run* run = nullptr;
    check(tenon_run_start_agent(program_.get(), agent, flags_of(events), &run, &error), error);
    return Run(run);
  }
  /// Calls a function with C++ values, and returns its value: `program.call<double>("total", orders)`. The types are
  /// those that tenon/extern.hpp converts. Throws RunFailure.
  template <class Result = void, class... Arguments>
  Result call(const char* function, const Arguments&... arguments) const;
  /// As JSON.
  [[nodiscard]] std::string describe() const { return take_text(tenon_program_describe(program_.get())); }
  [[nodiscard]] std::string warnings() const { return take_text(tenon_program_warnings(program_.get())); }
  [[nodiscard]] std::vector<Problem> warning_list() const {
    return list_of<tenon_problem>(
        [this](std::size_t at, tenon_problem* to) { return tenon_program_warning(program_.get(), at, to); },
        problem_of);
  }
  [[nodiscard]] Description description() const { return Description(tenon_program_description(program_.get())); }
  /// Its `test` blocks, as JSON.
  [[nodiscard]] std::string tests() const { return take_text(tenon_program_tests(program_.get())); }
  /// Why a test has failed; empty if it has passed.
  [[nodiscard]] std::string run_test(std::size_t index, std::uint32_t flags = 0) const {
    tenon_error* error = nullptr;
    tenon_string* problem = nullptr;
    check(tenon_program_run_test(program_.get(), index, flags, &problem, &error), error);
    return take_text(problem);
  }
  /// Its agents as `svg`, `dot` or `json`.
  [[nodiscard]] std::string graph(const char* form) const {
    tenon_error* error = nullptr;
    tenon_string* graph = nullptr;
    check(tenon_program_graph(program_.get(), form, &graph, &error), error);
    return take_text(graph);
  }
  [[nodiscard]] tenon_program* get() const { return program_.get(); }

 private:
  std::unique_ptr<tenon_program, Free<&tenon_program_free>> program_;
};

class Engine {
 public:
  explicit Engine(const Options& options) {
    tenon_error* error = nullptr;
    tenon_engine* engine = nullptr;
    check(tenon_engine_open(options.get(), &engine, &error), error);
    engine_.reset(engine);
  }

  [[nodiscard]] Program load(const std::string& path) const { return load(path.c_str(), nullptr); }
  [[nodiscard]] Program load_text(const std::string& path, const std::string& text) const {
    return load(path.c_str(), text.c_str());
  }
  /// Without a model and externs, to describe it, run its tests, or draw it.
  [[nodiscard]] Program compile(const std::string& path) const {
    tenon_error* error = nullptr;
    tenon_program* program = nullptr;
    check(tenon_program_compile(engine_.get(), path.c_str(), nullptr, &program, &error), error);
    return Program(program);
  }
  /// The program of a run of the store.
  [[nodiscard]] Program program_of(const std::string& run) const {
    tenon_error* error = nullptr;
    tenon_program* program = nullptr;
    check(tenon_program_of_run(engine_.get(), run.c_str(), &program, &error), error);
    return Program(program);
  }
  /// A run that repeats another one up to a record; with a changed program, or that of the run.
  [[nodiscard]] Run fork(const std::string& name, std::uint64_t at, const Program* changed = nullptr,
                         Events events = Events::No) const {
    tenon_error* error = nullptr;
    tenon_run* run = nullptr;
    tenon_program* const program = changed == nullptr ? nullptr : changed->get();
    check(tenon_run_fork(engine_.get(), name.c_str(), at, program, flags_of(events), &run, &error), error);
    return Run(run);
  }
  /// How a replay differs; empty if it does not.
  [[nodiscard]] std::string replay(const std::string& name, const Program* changed = nullptr) const {
    tenon_error* error = nullptr;
    tenon_string* difference = nullptr;
    tenon_program* const program = changed == nullptr ? nullptr : changed->get();
    check(tenon_run_replay(engine_.get(), name.c_str(), program, &difference, &error), error);
    return take_text(difference);
  }
  /// What a run did: `json`, `npz`, `hash` or `calls`.
  [[nodiscard]] std::string artifacts(const std::string& name, const char* form) const {
    tenon_error* error = nullptr;
    tenon_string* artifacts = nullptr;
    check(tenon_run_artifacts(engine_.get(), name.c_str(), form, &artifacts, &error), error);
    return take_text(artifacts);
  }
  /// The oldest stops of runs with TENON_WITH_STOPS, `count` at most.
  [[nodiscard]] std::vector<tenon_stop> next_stops(std::size_t count, Milliseconds timeout) const {
    tenon_error* error = nullptr;
    std::vector<tenon_stop> stops(count);
    std::size_t taken = 0;
    check(tenon_next_stops(engine_.get(), milliseconds_of(timeout), stops.data(), count, &taken, &error), error);
    stops.resize(taken);
    return stops;
  }
  [[nodiscard]] Run resume(const std::string& name, Events events = Events::No) const {
    tenon_error* error = nullptr;
    tenon_run* run = nullptr;
    check(tenon_run_resume(engine_.get(), name.c_str(), flags_of(events), &run, &error), error);
    return Run(run);
  }
  /// The oldest event of any run.
  [[nodiscard]] std::optional<Event> next_event(Milliseconds timeout) const { return next_event(nullptr, timeout); }
  [[nodiscard]] std::optional<Event> next_event(const Run& run, Milliseconds timeout) const {
    return next_event(run.get(), timeout);
  }
  /// As tenon_engine_interrupt.
  void interrupt() const { tenon_engine_interrupt(engine_.get()); }
  void start_thread() const {
    tenon_error* error = nullptr;
    check(tenon_engine_start_thread(engine_.get(), &error), error);
  }
  [[nodiscard]] int descriptor() const {
    tenon_error* error = nullptr;
    int descriptor = -1;
    check(tenon_engine_descriptor(engine_.get(), &descriptor, &error), error);
    return descriptor;
  }
  void stop(Milliseconds grace) const {
    tenon_error* error = nullptr;
    check(tenon_engine_stop(engine_.get(), milliseconds_of(grace), &error), error);
  }
  [[nodiscard]] tenon_engine* get() const { return engine_.get(); }

 private:
  [[nodiscard]] Program load(const char* path, const char* text) const {
    tenon_error* error = nullptr;
    tenon_program* program = nullptr;
    check(tenon_program_load(engine_.get(), path, text, &program, &error), error);
    return Program(program);
  }
  [[nodiscard]] std::optional<Event> next_event(tenon_run* run, Milliseconds timeout) const {
    tenon_error* error = nullptr;
    tenon_event* event = nullptr;
    if (!check(tenon_next_event(engine_.get(), run, milliseconds_of(timeout), &event, &error), error)) {
      return std::nullopt;
    }
    return Event(event);
  }

  std::unique_ptr<tenon_engine, Free<&tenon_engine_free>> engine_;
};

/// Reads the events of a run of a host.
class Follower {
 public:
  explicit Follower(tenon_follower* follower) : follower_(follower) {}

  enum class State { Event, Nothing, Ended };
  /// `event` is set for State::Event. State::Nothing: there was none within the timeout.
  State next(std::optional<Event>& event, Milliseconds timeout = forever) const {
    tenon_error* error = nullptr;
    tenon_event* found = nullptr;
    if (!check(tenon_follower_next(follower_.get(), milliseconds_of(timeout), &found, &error), error)) {
      return State::Nothing;
    }
    if (found == nullptr) return State::Ended;
    event.emplace(found);
    return State::Event;
  }
  /// As tenon_follower_interrupt.
  void interrupt() const { tenon_follower_interrupt(follower_.get()); }
  /// Of the run after the events that were taken: TENON_RUN_RUNNING while there are more.
  [[nodiscard]] tenon_run_state state() const {
    tenon_error* error = nullptr;
    tenon_run_state state = TENON_RUN_RUNNING;
    check(tenon_follower_state(follower_.get(), &state, &error), error);
    return state;
  }
  [[nodiscard]] int descriptor() const { return tenon_follower_descriptor(follower_.get()); }

 private:
  std::unique_ptr<tenon_follower, Free<&tenon_follower_free>> follower_;
};

/// Thrown when a request had no reply within its timeout. With a key it can be sent again.
class TimedOut : public Error {
 public:
  TimedOut() : Error(TENON_NOT_YET, "there was no reply within the timeout", "{}") {}
};

/// What a request to a host may have besides.
struct RequestOptions {
  std::string key = {};  ///< by which a repetition is recognized; empty: none
  Milliseconds timeout = forever;
};

/// Continues the runs of a store for all its processes; or, as a gateway, leaves requests to the hosts of the store.
/// Texts named as in tenon/tenon.h have the same form.
class Host {
 public:
  enum class Role : tenon_host_role { Host = TENON_HOST, Gateway = TENON_GATEWAY };

  Host(const Options& options, Role role, const std::vector<std::string>& files) {
    std::vector<const char*> paths;
    paths.reserve(files.size());
    for (const std::string& file : files) paths.push_back(file.c_str());
    tenon_error* error = nullptr;
    tenon_host* host = nullptr;
    check(tenon_host_open(options.get(), static_cast<tenon_host_role>(role), paths.data(), paths.size(), &host, &error),
          error);
    host_.reset(host);
  }

  void begin() const {
    tenon_error* error = nullptr;
    check(tenon_host_begin(host_.get(), &error), error);
  }
  void stop(Milliseconds grace) const {
    tenon_error* error = nullptr;
    check(tenon_host_stop(host_.get(), milliseconds_of(grace), &error), error);
  }
  /// The name of the run.
  [[nodiscard]] std::string start(const std::string& name, std::string_view arguments = {},
                                  const RequestOptions& options = {}) const {
    tenon_error* error = nullptr;
    tenon_string* run = nullptr;
    accept(tenon_host_start(host_.get(), name.c_str(), text_of(arguments), options.key.c_str(),
                            milliseconds_of(options.timeout), &run, &error),
           error);
    return take_text(run);
  }
  void prompt(const std::string& run, std::string_view input, const RequestOptions& options = {}) const {
    tenon_error* error = nullptr;
    accept(tenon_host_prompt(host_.get(), run.c_str(), text_of(input), options.key.c_str(),
                             milliseconds_of(options.timeout), &error),
           error);
  }
  /// `wait` may be empty if the run has only one question.
  void answer(const std::string& run, const std::string& wait, std::string_view input,
              const RequestOptions& options = {}) const {
    tenon_error* error = nullptr;
    accept(tenon_host_answer(host_.get(), run.c_str(), wait.empty() ? nullptr : wait.c_str(), text_of(input),
                             options.key.c_str(), milliseconds_of(options.timeout), &error),
           error);
  }
  void cancel(const std::string& run, const std::string& reason, const RequestOptions& options = {}) const {
    tenon_error* error = nullptr;
    accept(tenon_host_cancel(host_.get(), run.c_str(), reason.c_str(), options.key.c_str(),
                             milliseconds_of(options.timeout), &error),
           error);
  }
  void cancel_turn(const std::string& run, const std::string& reason, const RequestOptions& options = {}) const {
    tenon_error* error = nullptr;
    accept(tenon_host_cancel_turn(host_.get(), run.c_str(), reason.c_str(), options.key.c_str(),
                                  milliseconds_of(options.timeout), &error),
           error);
  }
  [[nodiscard]] Follower follow(const std::string& run, std::uint64_t after = 0) const {
    tenon_error* error = nullptr;
    tenon_follower* follower = nullptr;
    check(tenon_host_follow(host_.get(), run.c_str(), after, &follower, &error), error);
    return Follower(follower);
  }
  /// As JSON.
  [[nodiscard]] std::string run(const std::string& name) const {
    tenon_error* error = nullptr;
    tenon_string* state = nullptr;
    check(tenon_host_run(host_.get(), name.c_str(), &state, &error), error);
    return take_text(state);
  }
  /// Of all runs, or of those in a state, as JSON; after the run `after`, `limit` at most.
  [[nodiscard]] std::string runs(const std::string& state = {}, const std::string& after = {},
                                 std::size_t limit = 1000) const {
    tenon_error* error = nullptr;
    tenon_string* runs = nullptr;
    check(tenon_host_runs(host_.get(), state.empty() ? nullptr : state.c_str(), after.empty() ? nullptr : after.c_str(),
                          limit, &runs, &error),
          error);
    return take_text(runs);
  }
  /// Of a run that has ended, or of the newest turn of a conversation that waits for a prompt.
  [[nodiscard]] std::optional<Outcome> outcome(const std::string& run) const {
    tenon_error* error = nullptr;
    tenon_outcome* outcome = nullptr;
    if (!check(tenon_host_outcome(host_.get(), run.c_str(), &outcome, &error), error)) return std::nullopt;
    return Outcome(outcome);
  }
  /// The processes that share the store, as JSON.
  [[nodiscard]] std::string owners() const { return ask(&tenon_host_owners); }
  /// How many runs and requests the store has, as JSON.
  [[nodiscard]] std::string counts() const { return ask(&tenon_host_counts); }
  /// As JSON.
  [[nodiscard]] std::string pools_without_hosts() const { return ask(&tenon_host_pools_without_hosts); }
  /// How many runs that only wait were given up, of `count` at most.
  std::size_t release(std::size_t count, Milliseconds timeout = forever) const {
    tenon_error* error = nullptr;
    std::size_t released = 0;
    accept(tenon_host_release(host_.get(), count, milliseconds_of(timeout), &released, &error), error);
    return released;
  }
  [[nodiscard]] std::string status() const { return take_text(tenon_host_status(host_.get())); }
  [[nodiscard]] std::string describe() const { return take_text(tenon_host_describe(host_.get())); }
  [[nodiscard]] std::string placements() const { return take_text(tenon_host_placements(host_.get())); }
  /// Serves HTTP until the host is stopped. Returns the port.
  std::uint16_t serve(const std::string& address, std::uint16_t port = 0, const std::string& token = {}) const {
    tenon_error* error = nullptr;
    std::uint16_t listening = 0;
    check(tenon_host_serve(host_.get(), address.c_str(), port, token.c_str(), &listening, &error), error);
    return listening;
  }
  [[nodiscard]] tenon_host* get() const { return host_.get(); }

 private:
  static void accept(tenon_status status, tenon_error* const& error) {
    if (!check(status, error)) throw TimedOut();
  }
  [[nodiscard]] std::string ask(tenon_status (*function)(tenon_host*, tenon_string**, tenon_error**)) const {
    tenon_error* error = nullptr;
    tenon_string* text = nullptr;
    check(function(host_.get(), &text, &error), error);
    return take_text(text);
  }

  std::unique_ptr<tenon_host, Free<&tenon_host_free>> host_;
};

template <class Result, class... Arguments>
Result Program::call(const char* function, const Arguments&... arguments) const {
  tenon_error* error = nullptr;
  tenon_call* made = nullptr;
  check(tenon_call_new(program_.get(), function, &made, &error), error);
  const std::unique_ptr<tenon_call, Free<&tenon_call_free>> call(made);
  std::size_t index = 0;
  [[maybe_unused]] const auto parameter = [&] {
    if (tenon_slot* const slot = tenon_call_parameter(made, index++)) return slot;
    throw Error(TENON_USAGE, std::string("`") + function + "` has fewer parameters than arguments were given", "{}");
  };
  (native::Convert<native::Plain<Arguments>>::write(made, parameter(), arguments), ...);
  const tenon_value* value = nullptr;
  tenon_outcome* outcome = nullptr;
  tenon_run* waiting = nullptr;
  const bool has_ended = check(tenon_call_make(made, TENON_FOREVER, &value, &outcome, &waiting, &error), error);
  if (outcome != nullptr) static_cast<void>(Outcome(outcome).value_or_throw());
  if (!has_ended) {
    throw RunFailure(TENON_RUN_ASKS, "the run waits for an answer: " + Run(waiting).questions(), {}, {});
  }
  if constexpr (!std::is_void_v<Result>) {
    Result result = native::Convert<Result>::read(made, value);
    if (tenon_failed(made)) throw Error(TENON_WRONG_INPUT, "the value does not have the expected type", "{}");
    return result;
  }
}

}  // namespace v1
}  // namespace tenon::host
