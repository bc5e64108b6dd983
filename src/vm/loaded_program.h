#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "bytecode/program.h"
#include "vm/json_reader.h"
#include "vm/value.h"

namespace re2 {
class RE2;
}

namespace tenon::vm {

/// Why a program cannot be run: it is damaged, or was made by a faulty compiler.
struct LoadError {
  std::string message;
};

/// What the interpreter needs of a function at a call.
struct Callable {
  const bytecode::Instruction* code = nullptr;
  std::uint32_t register_count = 0;
  std::uint32_t parameter_count = 0;
};

/// A program that has passed the verifier, with what its runs share: constants as values, patterns compiled. Immutable;
/// runs on several threads may share it. Made once per program, not per run.
class LoadedProgram {
 public:
  /// `make_json_reader`: null for programs that read no JSON; one that does is damaged then.
  [[nodiscard]] static Result<std::shared_ptr<const LoadedProgram>, LoadError> load(
      std::shared_ptr<const bytecode::Program> program, JsonReaderMaker* make_json_reader = nullptr);
  ~LoadedProgram();
  LoadedProgram(const LoadedProgram&) = delete;
  LoadedProgram& operator=(const LoadedProgram&) = delete;

  [[nodiscard]] const bytecode::Program& program() const { return *program_; }
  [[nodiscard]] const std::shared_ptr<const bytecode::Program>& shared_program() const { return program_; }
  [[nodiscard]] const types::TypeTable& types() const { return program_->types; }
  [[nodiscard]] const std::vector<Callable>& callables() const { return callables_; }
  [[nodiscard]] const Value& constant(std::uint32_t index) const { return constants_[index]; }
  [[nodiscard]] std::uint32_t constant_count() const { return static_cast<std::uint32_t>(constants_.size()); }
  /// The index of the constant whose object this is, or UINT32_MAX.
  [[nodiscard]] std::uint32_t find_constant(const Object* object) const;
  /// The compiled pattern of a refined type, or null when it has none.
  [[nodiscard]] const re2::RE2* pattern(types::TypeId refined) const;

  /// Null when the program was loaded without one.
  [[nodiscard]] const JsonReader* json_reader() const { return json_reader_.get(); }

  /// Where the instruction comes from.
  [[nodiscard]] bytecode::Place place_of(std::uint32_t function, std::uint32_t pc) const;
  /// `FILE:LINE:COL`
  [[nodiscard]] std::string describe(const bytecode::Place& place) const;

 private:
  explicit LoadedProgram(std::shared_ptr<const bytecode::Program> program) : program_(std::move(program)) {}

  std::shared_ptr<const bytecode::Program> program_;
  std::vector<Callable> callables_;
  std::vector<Value> constants_;
  std::unordered_map<const Object*, std::uint32_t> constant_index_;
  std::unordered_map<std::uint32_t, std::shared_ptr<const re2::RE2>> patterns_;
  std::unique_ptr<const JsonReader> json_reader_;
};

}  // namespace tenon::vm
