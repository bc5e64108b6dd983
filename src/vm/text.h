#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "vm/object.h"
#include "vm/value.h"

namespace tenon::vm {

/// Of a String; counted once and kept.
[[nodiscard]] std::uint32_t code_points(const Value& text);

/// A piece of a String under one label.
struct LabelledPiece {
  std::string_view text;
  LabelId label;
};
/// The pieces of a String in order; none of an empty one. Valid until the value changes.
[[nodiscard]] std::vector<LabelledPiece> pieces_of(const Value& text);
std::vector<LabelledPiece> pieces_of(Value&&) = delete;

/// Puts texts together and keeps what carries which label.
class TextBuilder {
 public:
  explicit TextBuilder(LabelTable& labels) : labels_(labels) {}

  void append(std::string_view text, LabelId label);
  /// A String with its spans, each raised by `inherited`.
  void append(const Value& text, LabelId inherited = {});
  /// The bytes [from, to) of a String with their spans, raised likewise. Both must lie between code points.
  void append_part(const Value& text, std::size_t from, std::size_t to, LabelId inherited = {});

  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] bool is_too_long() const { return bytes_.size() > text_bytes_max; }
  /// The String; the builder is empty from then on. Must not be too long.
  [[nodiscard]] Value finish();

  /// For writers that produce bytes themselves: write to `bytes()`, then say whose they are.
  [[nodiscard]] std::string& bytes() { return bytes_; }
  /// Labels all that was written since the last call or `append`.
  void mark(LabelId label);

 private:
  LabelTable& labels_;
  std::string bytes_;
  std::vector<TextSpan> spans_;
  LabelId whole_;
};

/// target += piece, in place when nobody else holds the target. False, and nothing done, when it would be longer than
/// text_bytes_max.
[[nodiscard]] bool append(Value& target, const Value& piece, LabelTable& labels);
/// The bytes [from, to) of a String with their spans. Both must lie between code points.
[[nodiscard]] Value part_of(const Value& text, std::size_t from, std::size_t to, LabelTable& labels);

}  // namespace tenon::vm
