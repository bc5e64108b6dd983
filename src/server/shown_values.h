#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "journal/store.h"
#include "json/json.h"
#include "vm/loaded_program.h"

namespace tenon::server {

/// A run's values as chats show them: long ones complete, which events leave out, and arguments with their names. Used
/// by the server's thread.
class ShownValues {
 public:
  /// `program`: the run's; with null, long values have the journal's form. `bytes_max`: limit for a value that its
  /// event leaves out.
  ShownValues(journal::Store& store, journal::RunName run, std::shared_ptr<const vm::LoadedProgram> program,
              std::size_t bytes_max)
      : store_(store), run_(std::move(run)), program_(std::move(program)), bytes_max_(bytes_max) {}

  /// The value of a `turn_end`. The error is a message that says that it is too long.
  [[nodiscard]] Result<Json, std::string> turn_value(const Json& event) const;
  /// The text of a `text` event; the same error.
  [[nodiscard]] Result<std::string, std::string> text(const Json& event) const;
  /// The arguments of a `tool_call`: an object by parameter name; a list where the names are unknown.
  [[nodiscard]] Json arguments(const Json& event) const;

 private:
  [[nodiscard]] Result<std::optional<std::string>, std::string> find_left_out(const Json& value) const;

  journal::Store& store_;
  journal::RunName run_;
  std::shared_ptr<const vm::LoadedProgram> program_;
  std::size_t bytes_max_;
};

/// A value for people: a text as it is, anything else as JSON.
[[nodiscard]] std::string shown(const Json& value);

}  // namespace tenon::server
