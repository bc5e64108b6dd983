#include "inference/llama_cpp/vocabulary.h"

#include <llama.h>
#include <utf8.h>

#include <algorithm>
#include <iterator>

#include "base/ensure.h"

namespace tenon::inference::llama_cpp {
namespace {

// SentencePiece vocabularies may put a blank before every text, also in the middle of a message. A
// control character in front takes that blank, and never joins with what follows; both are cut off again.
constexpr std::string_view guard_text = "\x02";

std::string read_piece(const llama_vocab* vocab, Token token, bool special) {
  std::string piece(64, '\0');
  std::int32_t size =
      llama_token_to_piece(vocab, token, piece.data(), static_cast<std::int32_t>(piece.size()), 0, special);
  if (size < 0) {
    piece.resize(static_cast<std::size_t>(-size));
    size = llama_token_to_piece(vocab, token, piece.data(), static_cast<std::int32_t>(piece.size()), 0, special);
  }
  piece.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
  return piece;
}

}  // namespace

Vocabulary::Vocabulary(const llama_vocab* vocab) : vocab_(vocab) {
  const auto count = static_cast<std::size_t>(llama_vocab_n_tokens(vocab));
  bytes_.reserve(count);
  plain_text_mask_.resize((count + 31) / 32);
  for (std::size_t i = 0; i < count; ++i) {
    const auto token = static_cast<Token>(i);
    const bool end = llama_vocab_is_eog(vocab, token);
    const bool control = llama_vocab_is_control(vocab, token);
    bytes_.push_back(control || end ? std::string() : read_piece(vocab, token, /*special=*/false));
    token_bytes_max_ = std::max(token_bytes_max_, bytes_.back().size());
    if (end) ends_.push_back(token);
    if (end || !bytes_.back().empty()) plain_text_mask_[i / 32] |= 1U << (i % 32);
  }
  const Token begin = llama_vocab_bos(vocab);
  if (llama_vocab_get_add_bos(vocab) && begin != LLAMA_TOKEN_NULL) prompt_begin_.push_back(begin);

  const std::vector<Token> probe = tokenize("a", Special::AsText);
  if (!probe.empty() && bytes_of(probe.front()).starts_with(' ')) guard_tokens_ = tokenize(guard_text, Special::AsText);
}

std::vector<Token> Vocabulary::tokenize(std::string_view text, Special special) const {
  if (text.empty()) return {};
  // A token has a byte at least; SentencePiece may add one in front.
  std::vector<Token> tokens(text.size() + 2);
  const std::int32_t count =
      llama_tokenize(vocab_, text.data(), static_cast<std::int32_t>(text.size()), tokens.data(),
                     static_cast<std::int32_t>(tokens.size()), /*add_special=*/false, special == Special::Parsed);
  if (count < 0) {
    ENSURE(count != INT32_MIN);
    tokens.resize(static_cast<std::size_t>(-count));
    const std::int32_t again =
        llama_tokenize(vocab_, text.data(), static_cast<std::int32_t>(text.size()), tokens.data(),
                       static_cast<std::int32_t>(tokens.size()), /*add_special=*/false, special == Special::Parsed);
    ENSURE(again == -count);
  }
  tokens.resize(static_cast<std::size_t>(std::abs(count)));
  return tokens;
}

std::vector<Token> Vocabulary::tokenize_text(std::string_view text) const {
  std::string sound;
  if (!utf8::is_valid(text.begin(), text.end())) {
    utf8::replace_invalid(text.begin(), text.end(), std::back_inserter(sound));
    text = sound;
  }
  if (guard_tokens_.empty()) return tokenize(text, Special::AsText);
  std::vector<Token> tokens = tokenize(std::string(guard_text).append(text), Special::AsText);
  ENSURE(tokens.size() >= guard_tokens_.size());
  tokens.erase(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(guard_tokens_.size()));
  return tokens;
}

std::vector<Token> Vocabulary::tokenize_template(std::string_view text) const {
  return tokenize(text, Special::Parsed);
}

std::string_view Vocabulary::bytes_of(Token token) const {
  ENSURE(token >= 0 && static_cast<std::size_t>(token) < bytes_.size());
  return bytes_[static_cast<std::size_t>(token)];
}

bool Vocabulary::is_end(Token token) const {
  return std::find(ends_.begin(), ends_.end(), token) != ends_.end();
}

Result<decoding::Vocabulary, decoding::DecodingError> Vocabulary::describe_for_decoding() const {
  if (ends_.empty()) return failure(decoding::DecodingError{"the model's vocabulary has no token that ends an answer"});
  decoding::Vocabulary described;
  described.tokens = bytes_;
  for (std::size_t i = 0; i < described.tokens.size(); ++i) {
    if (!described.tokens[i].empty()) continue;
    const std::string name = read_piece(vocab_, static_cast<Token>(i), /*special=*/true);
    if (!name.empty()) described.tokens[i] = '\xff' + name;
  }
  const Token turn_end = llama_vocab_eot(vocab_);
  described.end = turn_end != LLAMA_TOKEN_NULL && is_end(turn_end) ? turn_end : ends_.front();
  for (const Token token : ends_) {
    if (token != described.end) described.further_ends.push_back(token);
  }
  described.tokenize = [this](std::string_view text) { return tokenize_text(text); };
  return described;
}

}  // namespace tenon::inference::llama_cpp
