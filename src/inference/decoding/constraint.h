#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tenon::inference {
struct TextForm;
}

/// Constrains a model's answer to a JSON Schema, or a text to its refinements, token by token. A small interface to
/// llguidance, whose sources document how it works: an Earley parser over regular-expression derivatives, walked along
/// the trie of the vocabulary.
namespace tenon::inference::decoding {

using Token = std::int32_t;

/// Why a schema or a text's form cannot be enforced, or why a constraint cannot continue. For people.
struct DecodingError {
  std::string message;
};

/// What the masks need to know of a model's vocabulary.
struct Vocabulary {
  /// Each token's bytes. A control token has its name, after one byte 0xFF, so that no text can mean it.
  std::vector<std::string> tokens;
  Token end = 0;                    ///< ends an answer
  std::vector<Token> further_ends;  ///< end one too
  /// A text's tokens as the model knows it from its training, without any control token. Does not throw.
  std::function<std::vector<Token>(std::string_view)> tokenize;
};

/// One answer in progress: which tokens may come next, which must. A value that is cheap to clone (some microseconds),
/// so that a branch can try a continuation.
class Constraint final {
 public:
  Constraint(Constraint&&) noexcept;
  Constraint& operator=(Constraint&&) noexcept;
  Constraint(const Constraint&) = delete;
  Constraint& operator=(const Constraint&) = delete;
  ~Constraint();

  [[nodiscard]] Constraint clone() const;

  /// The tokens that may come next: bit `t % 32` of word `t / 32` is set for token `t`. Valid until the next call.
  /// Fails when the answer is complete, or when the schema's limits of work for one step are reached.
  [[nodiscard]] Result<std::span<const std::uint32_t>, DecodingError> compute_mask();

  /// The tokens that must come next, in the model's usual tokenization; empty if there is a choice. They
  /// are not accepted by this. Fails when the schema's limits of work are reached.
  [[nodiscard]] Result<std::vector<Token>, DecodingError> compute_forced();

  /// Appends tokens. Fails on one that the mask would not allow; the constraint must not be used afterwards.
  [[nodiscard]] Result<void, DecodingError> accept(std::span<const Token> tokens);

  /// Removes the last tokens.
  [[nodiscard]] Result<void, DecodingError> rollback(std::size_t count);

  /// What was accepted satisfies the schema; more may follow.
  [[nodiscard]] bool may_end();

  /// Nothing can follow: the answer is complete, or an end token was accepted. False after a failure.
  [[nodiscard]] bool has_ended() const;

 private:
  friend class ConstraintCompiler;
  struct State;
  explicit Constraint(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

/// Turns JSON Schemas and texts' forms into constraints over one vocabulary. What was compiled is kept (the last
/// `constraints_kept_max`). Not thread-safe.
class ConstraintCompiler final {
 public:
  /// Builds the vocabulary's trie: tens of milliseconds for 50,000 tokens, a second for 260,000.
  /// Fails on a vocabulary that has no end token or no tokens.
  [[nodiscard]] static Result<std::unique_ptr<ConstraintCompiler>, DecodingError> open(Vocabulary vocabulary);

  ConstraintCompiler(const ConstraintCompiler&) = delete;
  ConstraintCompiler& operator=(const ConstraintCompiler&) = delete;
  ~ConstraintCompiler();

  /// A constraint at its beginning. An answer is compact JSON with its properties in the schema's order. Fails, naming
  /// the keyword, on whatever cannot be enforced exactly; a constraint is never looser than its schema. Bare `integer`
  /// and `number` have no bounds but those of JSON, as in JSON Schema: a schema for a machine type must specify them.
  [[nodiscard]] Result<Constraint, DecodingError> compile(std::string_view json_schema);

  /// A constraint at the beginning of a text of this form, which neither begins nor ends with white space. It ends
  /// where the length's maximum is reached. A pattern that llguidance does not support (`\b`, `^` in the
  /// middle) is left out; the rest is enforced. Fails where no text can be of the form.
  [[nodiscard]] Result<Constraint, DecodingError> compile_text(const TextForm& form);

  /// Whether a text's pattern is enforced, and not left out.
  [[nodiscard]] bool supports(std::string_view pattern) const;

  static constexpr std::size_t constraints_kept_max = 256;

 private:
  struct State;
  struct Grammar;
  explicit ConstraintCompiler(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace tenon::inference::decoding
