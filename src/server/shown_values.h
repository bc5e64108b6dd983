#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "journal/store.h"
#include "json/json.h"
#include "vm/loaded_program.h"

namespace tenon::server {

/// A run's values as chats show them: plain JSON as `tenon run` prints it, long ones complete. Events have the
/// journal's lossless form (effects/value_form.h) and leave long values out. Used by the server's thread.
class ShownValues {
 public:
  /// `program`: the run's; with null, values stay as the events have them. `bytes_max`: limit for a value that its
  /// event leaves out.
  ShownValues(journal::Store& store, journal::RunName run, std::shared_ptr<const vm::LoadedProgram> program,
              std::size_t bytes_max)
      : store_(store), run_(std::move(run)), program_(std::move(program)), bytes_max_(bytes_max) {}

  /// The value of a `turn_end`. The error is a message that says that it is too long.
  [[nodiscard]] Result<Json, std::string> turn_value(const Json& event) const;
  /// The text of a `text` event; the same error.
  [[nodiscard]] Result<std::string, std::string> text(const Json& event) const;
  /// Entries of the agent's state, from that field of the event.
  [[nodiscard]] Json entries(const Json& event, const char* field) const;
  /// The arguments of a `tool_call`: an object by parameter name; a list where the names are unknown.
  [[nodiscard]] Json arguments(const Json& event) const;
  /// The value of a `tool_result`.
  [[nodiscard]] Json tool_value(const Json& event) const;

 private:
  [[nodiscard]] Json plain(const Json& value, types::TypeId type) const;
  [[nodiscard]] Result<Json, std::string> whole(const Json& value) const;
  [[nodiscard]] const bytecode::Extern* find_extern(const Json& event) const;

  journal::Store& store_;
  journal::RunName run_;
  std::shared_ptr<const vm::LoadedProgram> program_;
  std::size_t bytes_max_;
};

/// A value for people: a text as it is, anything else as JSON.
[[nodiscard]] std::string shown(const Json& value);

}  // namespace tenon::server
