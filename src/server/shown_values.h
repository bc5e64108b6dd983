#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/result.h"
#include "journal/store.h"
#include "vm/loaded_program.h"

namespace tenon::server {

/// What chats show of a run's values: plain JSON as `tenon run` prints it, and long ones whole. Events have them in the
/// journal's lossless form (effects/value_form.h), and leave long ones out. Used by the server's thread.
class ShownValues {
 public:
  using Json = nlohmann::ordered_json;

  /// `program`: the run's; null: values stay as the events have them. `bytes_max`: of a value that its event leaves
  /// out.
  ShownValues(journal::Store& store, journal::RunName run, std::shared_ptr<const vm::LoadedProgram> program,
              std::size_t bytes_max)
      : store_(store), run_(std::move(run)), program_(std::move(program)), bytes_max_(bytes_max) {}

  /// Of a `turn_end`. The error, for people, says that it is too long.
  [[nodiscard]] Result<Json, std::string> turn_value(const nlohmann::json& event) const;
  /// What a `text` says; the same error.
  [[nodiscard]] Result<std::string, std::string> text(const nlohmann::json& event) const;
  /// Entries of the agent's state, which stand in that field of the event.
  [[nodiscard]] Json entries(const nlohmann::json& event, const char* field) const;
  /// Of a `tool_call`: an object by the names of the parameters; a list where they are not known.
  [[nodiscard]] Json arguments(const nlohmann::json& event) const;
  /// Of a `tool_result`.
  [[nodiscard]] Json tool_value(const nlohmann::json& event) const;

 private:
  [[nodiscard]] Json plain(const nlohmann::json& value, types::TypeId type) const;
  [[nodiscard]] Result<nlohmann::json, std::string> whole(const nlohmann::json& value) const;
  [[nodiscard]] const bytecode::Extern* find_extern(const nlohmann::json& event) const;

  journal::Store& store_;
  journal::RunName run_;
  std::shared_ptr<const vm::LoadedProgram> program_;
  std::size_t bytes_max_;
};

/// What a person reads of a value: a text as it is, the rest as JSON.
[[nodiscard]] std::string shown(const nlohmann::ordered_json& value);

}  // namespace tenon::server
