#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "inference/decoding/constraint.h"

struct llama_vocab;

namespace tenon::inference::llama_cpp {

using Token = decoding::Token;

/// A model's vocabulary: text to tokens and back. Borrows llama.cpp's own, which belongs to the loaded model.
class Vocabulary final {
 public:
  explicit Vocabulary(const llama_vocab* vocab);

  /// The tokens of text. Nothing in it can mean a control token: `<|im_end|>` in a message is ten characters. Bytes
  /// that are not UTF-8 become U+FFFD.
  [[nodiscard]] std::vector<Token> tokenize_text(std::string_view text) const;

  /// The tokens of a template's own words, in which the names of control tokens mean those tokens.
  [[nodiscard]] std::vector<Token> tokenize_template(std::string_view text) const;

  /// The bytes of a token; none for a control token.
  [[nodiscard]] std::string_view bytes_of(Token token) const;

  [[nodiscard]] bool is_end(Token token) const;

  /// The token that every prompt begins with, when the model was trained with one.
  [[nodiscard]] std::span<const Token> prompt_begin() const { return prompt_begin_; }

  /// The tokens that may appear in a plain text answer, one bit each: all but the control tokens, and the ends.
  [[nodiscard]] std::span<const std::uint32_t> plain_text_mask() const { return plain_text_mask_; }

  [[nodiscard]] std::size_t size() const { return bytes_.size(); }

  /// The length in bytes of the longest token: a text has at least its own length divided by this in tokens.
  [[nodiscard]] std::size_t token_bytes_max() const { return token_bytes_max_; }

  /// What a ConstraintCompiler needs; it keeps a reference to this vocabulary. Fails when the model has no end token.
  [[nodiscard]] Result<decoding::Vocabulary, decoding::DecodingError> describe_for_decoding() const;

 private:
  enum class Special : bool { AsText, Parsed };
  [[nodiscard]] std::vector<Token> tokenize(std::string_view text, Special special) const;

  const llama_vocab* vocab_;
  std::vector<std::string> bytes_;
  std::vector<Token> ends_;
  std::vector<Token> prompt_begin_;
  std::vector<std::uint32_t> plain_text_mask_;
  std::size_t token_bytes_max_ = 1;
  std::vector<Token> guard_tokens_;  // of `guard_text`, when the tokenizer would put a blank before a text; else empty
};

}  // namespace tenon::inference::llama_cpp
