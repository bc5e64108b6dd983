#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "bytecode/bounds.h"
#include "json/json.h"
#include "server/http_message.h"

/// The fields of requests in the formats of other APIs. Every documented field is in a table: what the server cannot
/// honour is refused by name, so that no client relies on something that is silently ignored.
namespace tenon::server {

struct RequestField {
  enum class Use : std::uint8_t {
    Read,     ///< the server reads it
    Ignored,  ///< may have any value: it does not change the answer
    Neutral,  ///< only values that ask for nothing are accepted
  };
  std::string_view name;
  Use use = Use::Read;
  std::string_view neutral = "[]";  ///< a JSON array; null is always accepted
  std::string_view reason = {};     ///< why another value is refused
};

/// What is wrong with a request's body.
struct FieldProblem {
  int status = 400;
  std::string param;  ///< the field, such as `messages[1].content[0]`
  std::string code;
  std::string message;
};
[[nodiscard]] HttpResponse make_error(const FieldProblem& problem);

/// The first field of the object that is unknown, or has a value that cannot be honoured. `path` precedes the names of
/// the fields in the problem, such as `stream_options.`.
[[nodiscard]] std::optional<FieldProblem> find_field_problem(const Json& body, std::span<const RequestField> fields,
                                                             std::string_view path = {});

/// A member that is true or false; false where it is missing or null.
[[nodiscard]] Result<bool, FieldProblem> read_flag(const Json& body, std::string_view name);
/// A member that is a string; empty where it is missing or null.
[[nodiscard]] Result<std::string, FieldProblem> read_string(const Json& body, std::string_view name);

/// A member that sets budgets, such as `{"calls": 20, "time": "30s"}`, all absent where it is missing or null. A time
/// is a text with a unit or a number of milliseconds.
[[nodiscard]] Result<bytecode::Bounds, FieldProblem> read_budget(const Json& body, std::string_view name);

/// How a format writes messages.
struct MessageFormat {
  std::string_view field;               ///< the list of messages
  std::string_view text_part = "text";  ///< the type of a part of `content` that is a text
  bool has_item_types = false;          ///< an item of the list is a message only if its `type` says so
  /// The request names a conversation of the server: earlier messages are the client's copy of it, and are not read.
  bool has_conversation = false;
  bool ignores_instructions = false;  ///< the protocol's clients send `system` messages that are not for the agent
};
/// The text of the last message of the role `user`: what the client says now. What would be dropped is refused: earlier
/// messages of no conversation, instructions (roles `system` and `developer`), a last message of another role, and
/// content other than text.
[[nodiscard]] Result<std::string, FieldProblem> read_user_text(const Json* messages, const MessageFormat& format);

}  // namespace tenon::server
