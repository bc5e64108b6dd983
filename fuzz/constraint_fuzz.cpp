// A schema and the choices of a model that picks any allowed token: a rejection has a message, and a complete answer is
// JSON. The input is the schema's text, a NUL, then a byte for each choice.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "inference/decoding/constraint.h"

namespace {

using tenon::inference::decoding::Constraint;
using tenon::inference::decoding::ConstraintCompiler;
using tenon::inference::decoding::Token;

constexpr Token end_token = 256;
constexpr std::size_t tokens_max = 200;

/// All bytes, and an end-of-text token.
std::unique_ptr<ConstraintCompiler> open_compiler() {
  tenon::inference::decoding::Vocabulary vocabulary;
  for (int byte = 0; byte < 256; ++byte) vocabulary.tokens.emplace_back(1, static_cast<char>(byte));
  vocabulary.tokens.emplace_back("\xff<end>");
  vocabulary.end = end_token;
  vocabulary.tokenize = [](std::string_view text) {
    std::vector<Token> tokens;
    for (const char byte : text) tokens.push_back(static_cast<unsigned char>(byte));
    return tokens;
  };
  auto compiler = ConstraintCompiler::open(std::move(vocabulary));
  ENSURE(compiler.has_value());
  return std::move(*compiler);
}

/// The allowed token that a byte chooses, starting at the byte's token and wrapping around.
Token choose(std::span<const std::uint32_t> mask, std::uint8_t choice) {
  for (Token offset = 0; offset <= end_token; ++offset) {
    const Token token = (choice + offset) % (end_token + 1);
    const auto index = static_cast<std::size_t>(token);
    if (((mask[index / 32] >> (index % 32)) & 1U) != 0) return token;
  }
  return -1;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::unique_ptr<ConstraintCompiler> compiler = open_compiler();
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string_view schema = input.substr(0, input.find('\0'));
  std::string_view choices = input.substr(std::min(schema.size() + 1, input.size()));

  auto compiled = compiler->compile(schema);
  if (!compiled) {
    ENSURE(!compiled.error().message.empty());
    return 0;
  }
  Constraint constraint = std::move(*compiled);
  std::string text;
  while (!constraint.has_ended() && text.size() < tokens_max) {
    auto forced = constraint.compute_forced();
    if (!forced) return 0;  // a limit of the constraint's work was reached
    std::vector<Token> tokens = std::move(*forced);
    if (tokens.empty()) {
      const auto mask = constraint.compute_mask();
      if (!mask) return 0;  // the same limits
      const std::uint8_t choice = choices.empty() ? 0 : static_cast<std::uint8_t>(choices.front());
      if (!choices.empty()) choices.remove_prefix(1);
      const Token token = choose(*mask, choice);
      ENSURE(token >= 0);
      tokens.push_back(token);
    }
    const auto accepted = constraint.accept(tokens);
    if (!accepted) return 0;
    for (const Token token : tokens) {
      if (token != end_token) text += static_cast<char>(token);
    }
  }
  // JSON has numbers like 9e999, which the reader rejects because they do not fit in a double.
  const bool may_overflow = text.find_first_of("eE") != std::string::npos;
  if (constraint.has_ended()) ENSURE(nlohmann::json::accept(text) || may_overflow);
  return 0;
}
