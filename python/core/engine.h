#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/unique_ptr.h>
#include <tenon/tenon.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/options.h"
#include "core/types.h"
#include "core/waiting.h"

// Engines, programs and runs of tenon/tenon.h. Each waits without the interpreter's lock, and so that Ctrl-C is heard.

namespace tenon::python {

namespace nb = nanobind;

class Run {
 public:
  /// `call` is what has started the run, if its value is to be read with `result`.
  Run(tenon_run* run, KeptContext context) : run_(run), context_(std::move(context)) {}
  Run(tenon_run* run, KeptContext context, tenon_call* call, std::shared_ptr<TypeList> types, const Type* result)
      : run_(run), context_(std::move(context)), call_(call), types_(std::move(types)), result_(result) {}
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  [[nodiscard]] std::optional<std::string> name() const;
  [[nodiscard]] std::uint64_t number() const { return tenon_run_number(run_); }
  [[nodiscard]] std::optional<std::string> title() const;
  void prompt(const std::string& input) const;
  void answer(const std::string& wait, const std::string& input) const;
  void cancel(const std::string& reason) const;
  void cancel_turn(const std::string& reason) const;
  /// A `tenon_run_state`; TENON_RUN_RUNNING after the timeout.
  [[nodiscard]] tenon_run_state wait(Timeout timeout) const;
  /// As JSON.
  [[nodiscard]] std::string questions() const;
  [[nodiscard]] std::string prompts() const;
  /// State, value as JSON, message, kind, blame; None before the end.
  [[nodiscard]] nb::object outcome() const;
  /// What a function has returned, in the types of its program. Raises what it has failed with.
  [[nodiscard]] nb::object value() const;
  /// The same for a run that was reported as ended and has no events; does not wait for the engine.
  [[nodiscard]] nb::object ended_value() const;
  [[nodiscard]] nb::object key() const { return context_.key(); }
  [[nodiscard]] bool is_typed() const { return call_ != nullptr; }
  [[nodiscard]] tenon_run* get() const { return run_; }

 private:
  tenon_run* run_;
  KeptContext context_;
  tenon_call* call_ = nullptr;
  std::shared_ptr<TypeList> types_;
  const Type* result_ = nullptr;
};

class Program {
 public:
  Program(tenon_program* program, std::shared_ptr<Dispatcher> dispatcher)
      : program_(program), dispatcher_(std::move(dispatcher)) {}
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  [[nodiscard]] std::string describe() const { return host::take_text(tenon_program_describe(program_)); }
  [[nodiscard]] std::string warnings() const { return host::take_text(tenon_program_warnings(program_)); }
  [[nodiscard]] std::unique_ptr<Run> start_agent(const std::string& agent, std::uint32_t flags) const;
  /// As JSON: the `test` blocks.
  [[nodiscard]] std::string tests() const { return host::take_text(tenon_program_tests(program_)); }
  /// Why a test has failed; empty if it has passed.
  [[nodiscard]] std::string run_test(std::size_t index, bool is_interrupted) const;
  [[nodiscard]] std::string graph(const std::string& form) const;
  [[nodiscard]] tenon_program* get() const { return program_; }
  [[nodiscard]] const Dispatcher& dispatcher() const { return *dispatcher_; }
  [[nodiscard]] KeptContext keep_context(std::uint64_t run) const { return {dispatcher_->contexts(), run}; }

 private:
  tenon_program* program_;
  std::shared_ptr<Dispatcher> dispatcher_;
};

/// A function of a program, to be called with Python's values.
class Function {
 public:
  /// `waiting(run)` makes the exception for a call that asks a person. `before_wait()` is called before each call while
  /// a loop starts the engine's coroutines.
  Function(std::shared_ptr<Program> program, std::string name, std::shared_ptr<TypeList> types,
           const std::vector<std::pair<std::string, std::size_t>>& parameters, std::size_t result, nb::object waiting,
           nb::object before_wait);

  // `arguments` is a tuple, and `named` a dictionary or null.
  [[nodiscard]] nb::object call(nb::handle arguments, nb::handle named) const;
  [[nodiscard]] std::unique_ptr<Run> start(nb::handle arguments, nb::handle named, std::uint32_t flags) const;
  /// Starts a run for an event loop, which does not wait for the engine. `state`: of a run that has stopped already,
  /// and is not reported; TENON_RUN_RUNNING: it is reported by `tenon_next_stops`.
  [[nodiscard]] std::unique_ptr<Run> begin(nb::handle arguments, nb::handle named, tenon_run_state& state);

  [[nodiscard]] const nb::object& waiting() const { return waiting_; }

  /// What makes the objects of its class callable.
  static const PyType_Slot slots[];

 private:
  using Call = std::unique_ptr<tenon_call, host::Free<&tenon_call_free>>;
  /// Raises TypeError for an argument that has the name of no parameter.
  void refuse_unknown(nb::handle named) const;
  [[nodiscard]] Call prepare(nb::handle arguments, nb::handle named) const;

  std::shared_ptr<Program> program_;
  std::string name_;
  std::shared_ptr<TypeList> types_;
  std::vector<Member> parameters_;
  const Type* result_;
  nb::object waiting_;
  nb::object before_wait_;
  // Calls that begin on the engine's thread, because those before have not ended on the loop's, or took long.
  int calls_elsewhere_ = 0;  ///< after the newest call that has begun on the loop's thread
  int elsewhere_left_ = 0;   ///< of these, to come
};

class Engine {
 public:
  explicit Engine(std::shared_ptr<Setup> setup);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  [[nodiscard]] std::shared_ptr<Program> load(const std::string& path, const std::optional<std::string>& text) const;
  /// A program without its externs.
  [[nodiscard]] std::shared_ptr<Program> compile(const std::string& path) const;
  /// The program of a run of the store.
  [[nodiscard]] std::shared_ptr<Program> load_stored(const std::string& run) const;
  [[nodiscard]] std::unique_ptr<Run> resume(const std::string& name, std::uint32_t flags) const;
  /// `program` may be null, here and in `replay`.
  [[nodiscard]] std::unique_ptr<Run> fork(const std::string& name, std::uint64_t at, const Program* program,
                                          std::uint32_t flags) const;
  /// How a replay differs; empty if it does not.
  [[nodiscard]] std::string replay(const std::string& name, const Program* program) const;
  [[nodiscard]] nb::bytes artifacts(const std::string& name, const std::string& form) const;

  /// Starts a call for the event loop: `take_stops` gives its value or its failure to the future. Returns a number for
  /// `abandon`; 0: the future is done already. Does not wait for the engine.
  std::uint64_t begin(Function& function, const nb::tuple& arguments, const nb::dict& named, nb::object future);
  /// Cancels such a call, whose future is not waited for any more.
  void abandon(std::uint64_t number);
  /// Whether a future of such a call is waited for.
  [[nodiscard]] bool is_awaited() const { return !begun_.empty(); }
  /// After `stop`: the futures of the calls that have not ended.
  nb::list give_up();
  /// Completes the futures of the calls that have ended. Returns pairs of number and state of the other runs that have
  /// stopped. Does not wait.
  nb::list take_stops();
  /// The descriptor of what Python is to start, and what starts it.
  [[nodiscard]] int dispatch_descriptor() const { return setup_->dispatcher()->descriptor(); }
  void dispatch() { setup_->dispatch(); }
  void expect_loop(bool has_loop) { setup_->dispatcher()->expect_loop(has_loop); }
  /// Type, JSON and number of the run; None after the timeout, if the given run has ended or waits for input, or if
  /// `release_waits` was called since `releases`, a result of `releases()`.
  [[nodiscard]] nb::object next_event(const Run* run, Timeout timeout, std::uint64_t releases) const;
  /// Raises an exception within a plain function that the engine calls.
  void refuse_use_within() const;
  [[nodiscard]] std::uint64_t releases() const { return releases_; }
  /// Ends the waits of other threads for events.
  void release_waits();
  /// From now on a thread of the engine continues the runs while no other one does.
  void start_thread() const;
  [[nodiscard]] int descriptor() const;
  void stop(double grace) const;

 private:
  struct Begun {
    std::unique_ptr<Run> run;
    nb::object future;
    nb::object waiting;  ///< of the function
  };
  static void complete(Begun begun, tenon_run_state state);
  [[nodiscard]] std::unique_ptr<Run> make_run(tenon_run* run) const;

  tenon_engine* engine_ = nullptr;
  std::shared_ptr<Setup> setup_;
  std::unordered_map<std::uint64_t, Begun> begun_;  ///< by tenon_run_number; with the lock
  std::atomic<std::uint64_t> releases_ = 0;
};

/// The runs of a store, as JSON (tenon_store_runs).
[[nodiscard]] std::string store_runs(const std::string& store, const std::optional<std::string>& state,
                                     const std::optional<std::string>& after, std::size_t limit);

}  // namespace tenon::python
