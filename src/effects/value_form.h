#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/json.h"
#include "types/table/type_table.h"
#include "vm/limits.h"
#include "vm/values/value.h"

/// The encoding of values in the journal and in artifacts: lossless JSON that can be decoded with the types of a
/// changed program. Form 1, which is frozen:
///   i64 a string of decimal digits; i32 a number; f64 a number in the shortest digits that read back as the same
///   (RFC 8785), "NaN", "Infinity", "-Infinity", "-0"; () null; Boolean; String a string; a list or tuple an array;
///   a struct an object in the order of its names' UTF-16 code units; a map an array of [key, value] in its own order;
///   a plain case "Name", one with payload {"Name":[…]}; None null, Some(x) the form of x, or {"some":x} if null could
///   be x itself; Ok(x) {"ok":x}, Err(f) {"err":f}; a Context {"context":"…"}, the hash of its newest node
///   (vm/values/context.h); a secret {"$secret":["origin","sealed bytes in base64"]}, or if it need not be decrypted
///   {"$secret":"origin"}. No other object has a name with a `$`.
/// Labels are not part of it.
namespace tenon::effects {

/// The maximum nesting; a deeper value cannot be recorded.
inline constexpr std::size_t recorded_depth_max = 1'000;
/// The maximum number of parts of a value, counted like its bytes: to read a record takes some fifty bytes of memory
/// for each. A list of the maximum length has fewer.
inline constexpr std::size_t recorded_parts_max = std::size_t{17} << 20U;
static_assert(recorded_parts_max > vm::list_items_max);
/// The maximum size of the text that one record refers to: of a value, of the arguments of a request or of an agent's
/// state; also of the arguments of all requests that a run waits for. A part of a value that occurs in several places
/// is written in each. No more than the store takes (journal::append_bytes_max).
inline constexpr std::size_t recorded_bytes_max = std::size_t{256} << 20U;

struct ValueFormError {
  std::string message;  ///< with the location in the value: `at .items[2].price: …`
};

/// What is written for a secret. Hashes are only computed of `Named`: it depends on where a secret entered, but not on
/// its content, on the run or on the key.
/// `Open` is for the pipe to our own process that calls an extern: a `secret T` is written as a T. It is never stored.
enum class SecretForm : std::uint8_t { Sealed, Named, Open };

/// Appends the value of this type. Fails for a secret that is not encrypted, for a value that is nested too deep or has
/// too many parts, and when `out` would have more than `recorded_bytes_max` bytes: the limits are checked while the
/// value is written, and what is certainly longer is refused after a small part of it. After an error `out` has an
/// incomplete text.
[[nodiscard]] Result<void, ValueFormError> write_value(const vm::Value& value, types::TypeId type,
                                                       const types::TypeTable& types, std::string& out,
                                                       SecretForm secrets = SecretForm::Sealed);

/// `the text would be longer than … bytes (recorded_bytes_max), …`, with a way out. `what`: what is too long.
[[nodiscard]] std::string too_long_to_record(std::string_view what);

/// The first encrypted secret in the text of values.
struct SealPlace {
  std::size_t begin = 0, size = 0;
};
[[nodiscard]] std::optional<SealPlace> find_seal(std::string_view json);

/// The text of values, with each secret in its form `Named`. Any other text is unchanged.
[[nodiscard]] std::string name_secrets(std::string_view json);

/// The inverse, for a secret in either form; only the empty context can be decoded. Reports every mismatch with the
/// type, except that the limits and pattern of a refinement are not checked.
[[nodiscard]] Result<vm::Value, ValueFormError> read_value(std::string_view json, types::TypeId type,
                                                           const types::TypeTable& types,
                                                           SecretForm secrets = SecretForm::Sealed);

/// The same for JSON that was read already.
[[nodiscard]] Result<vm::Value, ValueFormError> convert_value(const Json& json, types::TypeId type,
                                                              const types::TypeTable& types,
                                                              SecretForm secrets = SecretForm::Sealed);

/// The values of an array, one for each type.
[[nodiscard]] Result<std::vector<vm::Value>, ValueFormError> read_values(std::string_view json,
                                                                         std::span<const types::TypeId> types_of,
                                                                         const types::TypeTable& types,
                                                                         SecretForm secrets = SecretForm::Sealed);

}  // namespace tenon::effects
