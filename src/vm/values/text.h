#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "vm/values/object.h"
#include "vm/values/value.h"

namespace tenon::vm {

/// For a String; computed once and cached.
[[nodiscard]] std::uint32_t code_points(const Value& text);

/// A part of a String with one label.
struct LabelledPiece {
  std::string_view text;
  LabelId label;
};
/// The parts of a String in order; none for an empty String. Valid until the value changes.
[[nodiscard]] std::vector<LabelledPiece> pieces_of(const Value& text);
std::vector<LabelledPiece> pieces_of(Value&&) = delete;

/// Builds texts and records the label of each part.
class TextBuilder {
 public:
  explicit TextBuilder(LabelTable& labels) : labels_(labels) {}

  void append(std::string_view text, LabelId label);
  /// A String with its spans, each raised by `inherited`.
  void append(const Value& text, LabelId inherited = {});
  /// The bytes [from, to) of a String with their spans, raised in the same way. Both must be between code points.
  void append_part(const Value& text, std::size_t from, std::size_t to, LabelId inherited = {});

  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] bool is_too_long() const { return bytes_.size() > text_bytes_max; }
  /// Returns the String; the builder is empty afterwards. It must not be too long.
  [[nodiscard]] Value finish();

  /// For writers that produce bytes themselves: write to `bytes()`, then set their label.
  [[nodiscard]] std::string& bytes() { return bytes_; }
  /// Labels everything that was written since the last call or `append`.
  void mark(LabelId label);

 private:
  LabelTable& labels_;
  std::string bytes_;
  /// Empty while all that is marked has one label, as in most texts.
  std::vector<TextSpan> spans_;
  std::size_t marked_ = 0;  ///< then: so many bytes have the label `uniform_`
  LabelId uniform_;
  LabelId whole_;
};

/// target += piece, in place if there is no other reference to the target. False, without a change, if the result would
/// exceed text_bytes_max.
[[nodiscard]] bool append(Value& target, const Value& piece, LabelTable& labels);
/// The bytes [from, to) of a String with their spans. Both must be between code points.
[[nodiscard]] Value part_of(const Value& text, std::size_t from, std::size_t to, LabelTable& labels);

}  // namespace tenon::vm
