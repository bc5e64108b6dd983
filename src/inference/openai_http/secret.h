#pragma once

#include <string>
#include <string_view>

namespace tenon::inference {

/// A key that is sent and never shown: it has no way into a stream, a log or an error message but `reveal`.
class Secret {
 public:
  /// Texts shorter than this are placeholders ("none", "ollama") that local servers are given, and are not looked for
  /// in messages: replacing them would spoil the message and hide nothing.
  static constexpr std::size_t scrubbed_length_min = 8;

  Secret() = default;
  explicit Secret(std::string text) : text_(std::move(text)) {}

  [[nodiscard]] bool empty() const { return text_.empty(); }
  /// For the header that carries it, and for nothing else.
  [[nodiscard]] const std::string& reveal() const { return text_; }
  /// `text` with each occurrence of the key replaced by `[key]`.
  [[nodiscard]] std::string scrub(std::string text) const;

 private:
  std::string text_;
};

}  // namespace tenon::inference
