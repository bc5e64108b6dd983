#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "types/type_table.h"
#include "vm/value.h"

/// Values as the journal and the artifacts keep them: JSON that says everything of a value and can be read under the
/// types of a program that has changed since. Form 1, which is frozen:
///   i64 a string of decimal digits; i32 a number; f64 a number in the shortest digits that read back as the same
///   (RFC 8785), "NaN", "Infinity", "-Infinity", "-0"; () null; Boolean; String a string; a list or tuple an array;
///   a struct an object in the order of its names' UTF-16 code units; a map an array of [key, value] in its own order;
///   a plain case "Name", one with payload {"Name":[…]}; None null, Some(x) what x is, or {"some":x} where null could
///   be x itself; Ok(x) {"ok":x}, Err(f) {"err":f}; a Context {"context":"…"}, the hash of its newest node
///   (vm/context.h); a secret {"$secret":["origin","sealed bytes in base 64"]}, or where nobody needs to open it
///   {"$secret":"origin"}. No other object has a name with a `$`.
/// Labels are not part of it.
namespace tenon::effects {

/// Nesting that is followed; a deeper value cannot be recorded.
inline constexpr std::size_t recorded_depth_max = 1'000;

struct ValueFormError {
  std::string message;  ///< with the place in the value: `at .items[2].price: …`
};

/// What is written of a secret. A hash is only ever of `Named`: it depends on where a secret came in, and not on what
/// it says, on the run or on the key.
/// `Open` is for the pipe to a process of ours that calls an extern: a `secret T` is written as a T. It is never kept.
enum class SecretForm : std::uint8_t { Sealed, Named, Open };

/// Appends the value, which is of the type. Fails for a secret that was not sealed.
[[nodiscard]] Result<void, ValueFormError> write_value(const vm::Value& value, types::TypeId type,
                                                       const types::TypeTable& types, std::string& out,
                                                       SecretForm secrets = SecretForm::Sealed);

/// The first sealed secret in the text of values.
struct SealPlace {
  std::size_t begin = 0, size = 0;
};
[[nodiscard]] std::optional<SealPlace> find_seal(std::string_view json);

/// The text of values, with each secret in its form `Named`. Any other text is as it was.
[[nodiscard]] std::string name_secrets(std::string_view json);

/// The inverse, of a secret in either form; of contexts only the empty one can be read. Tells of whatever the type does
/// not promise; a refinement's bounds and pattern are not looked at.
[[nodiscard]] Result<vm::Value, ValueFormError> read_value(std::string_view json, types::TypeId type,
                                                           const types::TypeTable& types,
                                                           SecretForm secrets = SecretForm::Sealed);

/// The values of an array, one for each type.
[[nodiscard]] Result<std::vector<vm::Value>, ValueFormError> read_values(std::string_view json,
                                                                         std::span<const types::TypeId> types_of,
                                                                         const types::TypeTable& types,
                                                                         SecretForm secrets = SecretForm::Sealed);

}  // namespace tenon::effects
