#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "vm/values/text.h"
#include "vm/values/value.h"

namespace tenon::vm {

enum class RenderError : std::uint8_t {
  TooDeep,  ///< nested deeper than value_depth_max
  TooLong,  ///< longer than text_bytes_max
};
/// For the failure's message: `the value is nested more than 10000 deep`.
[[nodiscard]] std::string describe(RenderError error);

/// An f64 as JSON and text show it: the shortest digits that read back as the same number, always with a point or an
/// exponent
/// (`1.0`, `0.1`, `-0.0`; an exponent from 1e21 on and below 1e-6, as `1e+21`); `NaN`, `Infinity`, `-Infinity`
/// otherwise.
void append_f64(double value, std::string& out);

/// Replaces a secret where a value is shown.
inline constexpr std::string_view shown_secret = "[secret]";

/// Appends compact JSON, with strings as make_json_string writes them. Structs are objects in field order, tuples and
/// lists arrays, maps objects in insertion order. None is `null`, Some(x) is written as x. A plain case is
/// `"Name"`; a case with a payload is `{"Name":item}`, or `{"Name":[…]}` for several items.
/// `()` is `null`; NaN and the infinities are strings with their names; a context is the string of its text. On
/// failure `out` contains what was written up to that point.
[[nodiscard]] Result<void, RenderError> to_json(const Value& value, const types::TypeTable& types, std::string& out);

/// Appends the value as an injection or a template shows it: a String unchanged, nothing for `()`, a context's text,
/// x for Some(x), the rest as JSON. Each byte has the label of the part that it shows.
[[nodiscard]] Result<void, RenderError> render(const Value& value, const types::TypeTable& types, LabelTable& labels,
                                               TextBuilder& out);

/// The same as a new String.
[[nodiscard]] Result<Value, RenderError> render(const Value& value, const types::TypeTable& types, LabelTable& labels);

/// JSON as a String with its labels: the result of `to_json()` in the language.
[[nodiscard]] Result<Value, RenderError> render_json(const Value& value, const types::TypeTable& types,
                                                     LabelTable& labels);

/// Whether what has a label may be trusted.
using TrustOfLabel = std::function<bool(LabelId)>;

/// The value as `render` shows it, cut into an odd number of texts: at odd positions each String in it that is trusted,
/// and each part that is not, with all that is in it, as a text of its own; at even positions the JSON around them,
/// which may be empty. What is cut, and what is at even positions, only depends on labels and on what is trusted.
[[nodiscard]] Result<std::vector<Value>, RenderError> cut_by_trust(const Value& value, const types::TypeTable& types,
                                                                   LabelTable& labels, const TrustOfLabel& is_trusted);

}  // namespace tenon::vm
