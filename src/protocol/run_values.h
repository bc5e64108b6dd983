#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "effects/record.h"
#include "json/json.h"
#include "vm/loaded_program.h"

namespace tenon::protocol {

/// Returns a text that the store has; nothing when it is missing.
using Contents = std::function<std::optional<std::string>(const effects::StoredText& text)>;

/// Writes a run's values as plain JSON: the form that the schemas of its program describe and that arguments have
/// (vm::to_json). The journal has them in a lossless form (effects/value_form.h), which cannot be read without their
/// types: these come from the run's program and from the requests whose outcomes the values are. A value keeps the
/// journal's form if its type is unknown, because the program cannot be read or because the record of the request is
/// not known and the program requests values of several types that the text fits; so does a value with a Context.
class RunValues {
 public:
  /// The program that makes the records that follow; null if it cannot be read.
  void use(std::shared_ptr<const vm::LoadedProgram> program);

  /// Learns from a record what later ones are about; after its own values were written.
  void follow(const effects::Record& record, const Contents& contents);
  /// Whether an earlier record that `follow` has not seen decides how a value of this record is written.
  [[nodiscard]] bool misses_request(const effects::Record& record) const;

  // Each takes and returns a JSON text.

  /// Started::arguments.
  [[nodiscard]] std::string start_arguments(std::string_view function, std::string text) const;
  /// Requested::arguments of the call of an extern, `now`, `random` or `sleep`.
  [[nodiscard]] std::string call_arguments(const effects::Requested& requested, std::string text) const;
  /// Finished::value.
  [[nodiscard]] std::string outcome(const effects::Finished& finished, std::string text) const;
  /// The value of a turn of this agent, or of this function.
  [[nodiscard]] std::string turn_value(std::string_view name, std::string text) const;
  /// An object with entries of the agent's state.
  [[nodiscard]] std::string entries(std::string_view agent, std::string text) const;

  /// TurnStarted::input: a text as it was sent; the input of an agent that takes anything else was sent as JSON.
  [[nodiscard]] Json turn_input(std::string_view agent, const std::string& sent) const;

  // What agents pass to each other is recorded as an injection shows it: a text as it is, anything else as plain JSON.

  /// The input of a turn of this agent.
  [[nodiscard]] Json passed_input(std::string_view agent, const std::string& shown) const;
  /// The value of its turn.
  [[nodiscard]] Json passed_value(std::string_view agent, const std::string& shown) const;

  /// Whether the answer decides what became of an interrupted call: it is JSON then, otherwise a text.
  [[nodiscard]] bool is_decision(const effects::Continued& continued) const;

 private:
  /// Indices into Program::externs or Program::sites: what may have made a request.
  using Makers = std::vector<std::uint32_t>;

  [[nodiscard]] const bytecode::Program& program() const { return program_->program(); }
  [[nodiscard]] Makers makers_of(effects::EffectKind kind, std::string_view subject) const;
  [[nodiscard]] Makers makers_of(const effects::Requested& requested, const Contents& contents) const;
  [[nodiscard]] std::vector<std::vector<types::TypeId>> promised_types(const effects::Finished& finished,
                                                                       const Makers& makers) const;

  std::shared_ptr<const vm::LoadedProgram> program_;
  std::map<std::string, Makers, std::less<>> open_;  ///< by the request's key, until its outcome
  std::map<std::string, bool, std::less<>> asked_;   ///< calls that wait for a person: whether they were interrupted
};

}  // namespace tenon::protocol
