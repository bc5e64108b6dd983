#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "inference/model.h"

namespace tenon::inference {

/// What a scripted model does about one request.
struct ScriptedAnswer {
  /// The answer's text, or the message of the error.
  std::string text;
  /// How the answer ends, or the error that replaces it.
  std::variant<Finish, ModelErrorKind> end = Finish::Complete;
  /// How long the model takes. No time passes: a scripted model's clock jumps (see ScriptedModel).
  std::chrono::milliseconds delay{0};
};

/// The answers for one kind of request. A single answer is repeated; several are used once each, in order, and
/// then the script has ended.
struct ScriptRule {
  std::string label{};                         ///< the request's label; empty: any
  std::vector<std::string> prompt_contains{};  ///< texts that all occur in the prompt
  std::vector<ScriptedAnswer> answers{};
  std::uint32_t line = 0;  ///< where the rule begins in its file, counted from 1; 0: in no file
};

/// A request is answered by the first rule that fits it.
struct Script {
  std::vector<ScriptRule> rules;
};

struct ScriptSyntaxError {
  std::uint32_t line = 1;    ///< counted from 1
  std::uint32_t column = 1;  ///< in bytes, counted from 1
  std::string message;
};

/// Reads a script in the format of docs/guides/scripted_models.md. Entries for the same label and conditions become one
/// rule, at the place of the first.
[[nodiscard]] Result<Script, ScriptSyntaxError> parse_script(std::string_view text);

}  // namespace tenon::inference
