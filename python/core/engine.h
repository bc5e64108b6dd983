#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/unique_ptr.h>
#include <tenon/tenon.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/externs.h"
#include "core/types.h"

// Engines, programs and runs of tenon/tenon.h. Each waits without the interpreter's lock, and so that Ctrl-C is heard.

namespace tenon::python {

namespace nb = nanobind;

/// How long a wait may take, in seconds; None for ever.
using Timeout = std::optional<double>;

class Run {
 public:
  /// `call` is what has started the run, if its value is to be read with `result`.
  explicit Run(tenon_run* run) : run_(run) {}
  Run(tenon_run* run, tenon_call* call, std::shared_ptr<TypeList> types, const Type* result)
      : run_(run), call_(call), types_(std::move(types)), result_(result) {}
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  [[nodiscard]] std::optional<std::string> name() const;
  [[nodiscard]] std::uint64_t number() const { return tenon_run_number(run_); }
  void prompt(const std::string& input) const;
  void answer(const std::string& wait, const std::string& input) const;
  void cancel(const std::string& reason) const;
  void cancel_turn(const std::string& reason) const;
  /// A `tenon_run_state`; TENON_RUNNING after the timeout.
  [[nodiscard]] tenon_run_state wait(Timeout timeout) const;
  /// As JSON.
  [[nodiscard]] std::string questions() const;
  /// State, value as JSON, message, kind, blame; None before the end.
  [[nodiscard]] nb::object outcome() const;
  /// What a function has returned, in the types of its program. Raises what it has failed with.
  [[nodiscard]] nb::object value() const;
  [[nodiscard]] bool is_typed() const { return call_ != nullptr; }
  [[nodiscard]] tenon_run* get() const { return run_; }

 private:
  tenon_run* run_;
  tenon_call* call_ = nullptr;
  std::shared_ptr<TypeList> types_;
  const Type* result_ = nullptr;
};

class Program {
 public:
  explicit Program(tenon_program* program) : program_(program) {}
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  [[nodiscard]] std::string describe() const { return host::take_text(tenon_program_describe(program_)); }
  [[nodiscard]] std::string warnings() const { return host::take_text(tenon_program_warnings(program_)); }
  [[nodiscard]] std::unique_ptr<Run> start_agent(const std::string& agent, bool has_events) const;
  [[nodiscard]] tenon_program* get() const { return program_; }

 private:
  tenon_program* program_;
};

/// A function of a program, to be called with Python's values.
class Function {
 public:
  Function(std::shared_ptr<Program> program, std::string name, std::shared_ptr<TypeList> types,
           const std::vector<std::pair<std::string, std::size_t>>& parameters, std::size_t result);

  [[nodiscard]] nb::object call(const nb::args& arguments, const nb::kwargs& named) const;
  [[nodiscard]] std::unique_ptr<Run> start(const nb::args& arguments, const nb::kwargs& named, bool has_events) const;

 private:
  using Call = std::unique_ptr<tenon_call, host::Free<&tenon_call_free>>;
  [[nodiscard]] Call prepare(const nb::args& arguments, const nb::kwargs& named) const;

  std::shared_ptr<Program> program_;
  std::string name_;
  std::shared_ptr<TypeList> types_;
  std::vector<Member> parameters_;
  const Type* result_;
};

class Engine {
 public:
  Engine(const std::vector<std::pair<std::string, std::string>>& options,
         const std::vector<std::pair<std::string, std::shared_ptr<Extern>>>& externs, const std::string& model_name,
         const nb::object& model);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  [[nodiscard]] std::shared_ptr<Program> load(const std::string& path, const std::optional<std::string>& text) const;
  [[nodiscard]] std::unique_ptr<Run> resume(const std::string& name, bool has_events) const;
  /// Type, JSON and number of the run; None after the timeout.
  [[nodiscard]] nb::object next_event(const Run* run, Timeout timeout) const;
  [[nodiscard]] int descriptor() const;
  void stop(double grace) const;

 private:
  tenon_engine* engine_ = nullptr;
};

/// The thread that hears signals: the main thread's `ident`.
void set_main_thread(unsigned long ident);

}  // namespace tenon::python
