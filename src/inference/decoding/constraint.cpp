#include "inference/decoding/constraint.h"

#include <llguidance.h>

#include <algorithm>
#include <array>
#include <list>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/ensure.h"
#include "inference/decoding/text_grammar.h"
#include "inference/model.h"
#include "json/reader.h"

namespace tenon::inference::decoding {
namespace {

struct MatcherDeleter {
  void operator()(LlgMatcher* matcher) const { llg_free_matcher(matcher); }
};
struct TokenizerDeleter {
  void operator()(LlgTokenizer* tokenizer) const { llg_free_tokenizer(tokenizer); }
};
using MatcherPointer = std::unique_ptr<LlgMatcher, MatcherDeleter>;
using TokenizerPointer = std::unique_ptr<LlgTokenizer, TokenizerDeleter>;

/// Forced runs are requested in pieces of this many tokens.
constexpr std::size_t forced_tokens_max = 512;

/// A schema deeper than this is refused before a recursive parser sees it.
constexpr std::size_t schema_depth_max = 100;

DecodingError read_error(LlgMatcher* matcher) {
  const char* message = llg_matcher_get_error(matcher);
  return DecodingError{message == nullptr ? "the answer's constraint failed" : message};
}

std::size_t tokenize_for_llguidance(const void* user_data, const std::uint8_t* bytes, std::size_t size,
                                    std::uint32_t* output, std::size_t output_size) {
  const auto& tokenize = *static_cast<const std::function<std::vector<Token>(std::string_view)>*>(user_data);
  const std::vector<Token> tokens = tokenize({reinterpret_cast<const char*>(bytes), size});
  const std::size_t written = std::min(tokens.size(), output_size);
  std::transform(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(written), output,
                 [](Token token) { return static_cast<std::uint32_t>(token); });
  return tokens.size();
}

/// The schema's text with llguidance's own options set: no white space between tokens of JSON, since a small model can
/// write it forever, and nothing ignored that is not understood. Options that the text itself brings are dropped.
Result<std::string, DecodingError> prepare_schema(std::string_view text) {
  auto schema = parse_json(text, {json_bytes_max, schema_depth_max - 1, json_nodes_max});
  if (!schema && schema.error().kind == JsonErrorKind::TooDeep) {
    return failure(
        DecodingError{"the schema is nested more than " + std::to_string(schema_depth_max) + " levels deep"});
  }
  if (!schema) return failure(DecodingError{"the schema is not JSON"});
  if (schema->is_boolean()) {
    if (!schema->as_boolean()) return failure(DecodingError{"the schema `false` allows no value"});
    schema = Json::object();
  }
  if (!schema->is_object()) return failure(DecodingError{"a schema is an object, `true` or `false`"});
  (*schema)["x-guidance"] =
      Json::object({{"whitespace_flexible", false}, {"lenient", false}, {"coerce_one_of", false}});
  return schema->dump();
}

}  // namespace

struct Constraint::State {
  MatcherPointer matcher;
};

Constraint::Constraint(std::unique_ptr<State> state) : state_(std::move(state)) {}
Constraint::Constraint(Constraint&&) noexcept = default;
Constraint& Constraint::operator=(Constraint&&) noexcept = default;
Constraint::~Constraint() = default;

Constraint Constraint::clone() const {
  auto state = std::make_unique<State>();
  state->matcher.reset(llg_clone_matcher(state_->matcher.get()));
  return Constraint(std::move(state));
}

Result<std::span<const std::uint32_t>, DecodingError> Constraint::compute_mask() {
  LlgMatcher* matcher = state_->matcher.get();
  if (has_ended()) return failure(DecodingError{"the answer is complete"});
  if (llg_matcher_compute_mask(matcher) != 0) return failure(read_error(matcher));
  const std::uint32_t* mask = llg_matcher_get_mask(matcher);
  if (mask == nullptr) return failure(read_error(matcher));
  return std::span(mask, llg_matcher_get_mask_byte_size(matcher) / sizeof(std::uint32_t));
}

Result<std::vector<Token>, DecodingError> Constraint::compute_forced() {
  LlgMatcher* matcher = state_->matcher.get();
  std::array<std::uint32_t, forced_tokens_max> forced{};
  const std::int32_t count = llg_matcher_compute_ff_tokens(matcher, forced.data(), forced.size());
  if (count < 0 || llg_matcher_is_error(matcher)) return failure(read_error(matcher));
  std::vector<Token> tokens;
  for (std::int32_t i = 0; i < count; ++i) {
    tokens.push_back(static_cast<Token>(forced[static_cast<std::size_t>(i)]));
  }
  return tokens;
}

Result<void, DecodingError> Constraint::accept(std::span<const Token> tokens) {
  std::vector<std::uint32_t> words(tokens.size());
  std::transform(tokens.begin(), tokens.end(), words.begin(),
                 [](Token token) { return static_cast<std::uint32_t>(token); });
  if (llg_matcher_consume_tokens(state_->matcher.get(), words.data(), words.size()) != 0) {
    return failure(read_error(state_->matcher.get()));
  }
  return {};
}

Result<void, DecodingError> Constraint::rollback(std::size_t count) {
  if (llg_matcher_rollback(state_->matcher.get(), count) != 0) return failure(read_error(state_->matcher.get()));
  return {};
}

bool Constraint::may_end() {
  return llg_matcher_is_accepting(state_->matcher.get());
}

bool Constraint::has_ended() const {
  const LlgMatcher* matcher = state_->matcher.get();
  return llg_matcher_is_stopped(matcher) && !llg_matcher_is_error(matcher);
}

/// What llguidance compiles.
struct ConstraintCompiler::Grammar {
  const char* kind;  ///< in llguidance's words
  std::string text;
};

struct ConstraintCompiler::State {
  std::function<std::vector<Token>(std::string_view)> tokenize;  // llguidance keeps its address
  TokenizerPointer tokenizer;

  struct Kept {
    std::string key;
    MatcherPointer matcher;
  };
  std::list<Kept> kept;  // the latest used first
  std::unordered_map<std::string_view, std::list<Kept>::iterator> kept_by_key;

  [[nodiscard]] Result<MatcherPointer, DecodingError> make_matcher(const Grammar& grammar) const {
    LlgConstraintInit options{};
    llg_constraint_init_set_defaults(&options, tokenizer.get());
    options.log_stderr_level = 0;
    options.log_buffer_level = 0;
    options.limits.verbose_errors = false;
    MatcherPointer matcher(llg_new_matcher(&options, grammar.kind, grammar.text.c_str()));
    if (llg_matcher_is_error(matcher.get())) return failure(read_error(matcher.get()));
    return matcher;
  }

  /// A constraint at its beginning of what is kept under the key.
  [[nodiscard]] std::optional<MatcherPointer> find_kept(std::string_view key) {
    const auto found = kept_by_key.find(key);
    if (found == kept_by_key.end()) return std::nullopt;
    kept.splice(kept.begin(), kept, found->second);
    return MatcherPointer(llg_clone_matcher(found->second->matcher.get()));
  }

  void keep(std::string key, const MatcherPointer& matcher) {
    kept.push_front({std::move(key), MatcherPointer(llg_clone_matcher(matcher.get()))});
    kept_by_key.emplace(kept.front().key, kept.begin());
    if (kept.size() > constraints_kept_max) {
      kept_by_key.erase(kept.back().key);
      kept.pop_back();
    }
  }
};

ConstraintCompiler::ConstraintCompiler(std::unique_ptr<State> state) : state_(std::move(state)) {}
ConstraintCompiler::~ConstraintCompiler() = default;

Result<std::unique_ptr<ConstraintCompiler>, DecodingError> ConstraintCompiler::open(Vocabulary vocabulary) {
  if (vocabulary.tokens.empty() || vocabulary.end < 0 ||
      static_cast<std::size_t>(vocabulary.end) >= vocabulary.tokens.size()) {
    return failure(DecodingError{"the vocabulary has no end token"});
  }
  auto state = std::make_unique<State>();
  state->tokenize = std::move(vocabulary.tokenize);
  ENSURE(state->tokenize != nullptr);

  std::vector<std::uint32_t> lengths;
  std::string bytes;
  for (const std::string& token : vocabulary.tokens) {
    lengths.push_back(static_cast<std::uint32_t>(token.size()));
    bytes += token;
  }
  std::vector<LlgToken> further_ends;
  for (const Token token : vocabulary.further_ends) further_ends.push_back(static_cast<LlgToken>(token));

  LlgTokenizerInitV2 options{};
  options.struct_size = sizeof(options);
  options.vocab_size = static_cast<std::uint32_t>(vocabulary.tokens.size());
  options.tok_eos = static_cast<LlgToken>(vocabulary.end);
  options.token_lens = lengths.data();
  options.token_bytes = reinterpret_cast<const std::uint8_t*>(bytes.data());
  options.tokenize_assumes_string = true;
  options.tokenize_fn = &tokenize_for_llguidance;
  options.tokenize_user_data = &state->tokenize;
  options.tok_eos_extra = further_ends.data();
  options.tok_eos_extra_count = static_cast<std::uint32_t>(further_ends.size());
  std::array<char, 1024> error{};
  state->tokenizer.reset(llg_new_tokenizer_v2(&options, error.data(), error.size()));
  if (state->tokenizer == nullptr) return failure(DecodingError{error.data()});
  return std::unique_ptr<ConstraintCompiler>(new ConstraintCompiler(std::move(state)));
}

Result<Constraint, DecodingError> ConstraintCompiler::compile(std::string_view json_schema) {
  std::string key = "schema " + std::string(json_schema);
  auto state = std::make_unique<Constraint::State>();
  if (auto kept = state_->find_kept(key)) {
    state->matcher = std::move(*kept);
    return Constraint(std::move(state));
  }
  auto prepared = prepare_schema(json_schema);
  if (!prepared) return failure(prepared.error());
  auto matcher = state_->make_matcher({"json_schema", std::move(*prepared)});
  if (!matcher) return failure(matcher.error());
  state_->keep(std::move(key), *matcher);
  state->matcher = std::move(*matcher);
  return Constraint(std::move(state));
}

Result<Constraint, DecodingError> ConstraintCompiler::compile_text(const TextForm& form) {
  std::string key = "text " + make_text_grammar(form);
  auto state = std::make_unique<Constraint::State>();
  if (auto kept = state_->find_kept(key)) {
    state->matcher = std::move(*kept);
    return Constraint(std::move(state));
  }
  TextForm enforced = form;
  std::erase_if(enforced.patterns, [&](const std::string& pattern) { return !supports(pattern); });
  auto matcher = state_->make_matcher({"lark", make_text_grammar(enforced)});
  if (!matcher) return failure(matcher.error());
  // Patterns and lengths that exclude each other are found out by the first mask.
  const MatcherPointer trial(llg_clone_matcher(matcher->get()));
  if (llg_matcher_compute_mask(trial.get()) != 0) return failure(DecodingError{"no text is of this form"});
  state_->keep(std::move(key), *matcher);
  state->matcher = std::move(*matcher);
  return Constraint(std::move(state));
}

bool ConstraintCompiler::supports(std::string_view pattern) const {
  return state_->make_matcher({"lark", make_pattern_grammar(pattern)}).has_value();
}

}  // namespace tenon::inference::decoding
