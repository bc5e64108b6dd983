#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "vm/text.h"
#include "vm/value.h"

namespace tenon::vm {

enum class RenderError : std::uint8_t {
  TooDeep,  ///< nested deeper than value_depth_max
  TooLong,  ///< longer than text_bytes_max
};
/// For the failure's message: `the value is nested more than 10000 deep`.
[[nodiscard]] std::string describe(RenderError error);

/// An f64 as both JSON and texts show it: the shortest digits that read back as the same number, always with a point or
/// an exponent
/// (`1.0`, `0.1`, `-0.0`; an exponent from 1e21 on and below 1e-6, as `1e+21`); `NaN`, `Infinity`, `-Infinity`
/// otherwise.
void append_f64(double value, std::string& out);

/// Stands for a secret wherever a value is shown.
inline constexpr std::string_view shown_secret = "[secret]";

/// Appends compact JSON, strings as make_json_string writes them. Structs are objects in the order of their fields,
/// tuples and lists arrays, maps objects in the order of insertion. None is `null`, Some(x) what x is. A plain case is
/// `"Name"`; one with payload `{"Name":item}`, or `{"Name":[…]}` of several items.
/// `()` is `null`; NaN and the infinities are the strings of their names; a context is the string of its text. On
/// failure `out` holds what was written up to there.
[[nodiscard]] Result<void, RenderError> to_json(const Value& value, const types::TypeTable& types, std::string& out);

/// Appends the value as an injection or a template shows it: a String raw, `()` as nothing, a context as its text,
/// Some(x) as x is shown, the rest as JSON. Each byte carries the label of the part that it shows.
[[nodiscard]] Result<void, RenderError> render(const Value& value, const types::TypeTable& types, LabelTable& labels,
                                               TextBuilder& out);

/// The same as a String.
[[nodiscard]] Result<Value, RenderError> render(const Value& value, const types::TypeTable& types, LabelTable& labels);

/// JSON as a String with its labels: what `to_json()` gives in the language.
[[nodiscard]] Result<Value, RenderError> render_json(const Value& value, const types::TypeTable& types,
                                                     LabelTable& labels);

}  // namespace tenon::vm
