#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "inference/decoding/constraint.h"
#include "inference/llama_cpp/kv_cache.h"
#include "inference/llama_cpp/text_assembler.h"
#include "inference/llama_cpp/vocabulary.h"
#include "inference/model.h"

namespace tenon::inference::llama_cpp {

/// One answer on its way: the path of tokens through the context tree, its text so far, and whether it has ended.
class Generation final {
 public:
  Generation(GenerationId id, GenerationRequest request, GenerationSink& sink,
             std::chrono::steady_clock::time_point started_at);

  /// Starts with a prompt. The text `stop` ends the answer and is not part of it; empty: there is no such text. Prompt
  /// and answer together have at most `path_tokens_max` tokens. Where the constraint allows only one token, it is
  /// appended immediately. Fails when the constraint does.
  [[nodiscard]] Result<void, decoding::DecodingError> prepare(const Vocabulary& vocabulary, std::vector<Token> prompt,
                                                              std::optional<decoding::Constraint> constraint,
                                                              std::string_view stop, std::uint32_t path_tokens_max);
  [[nodiscard]] bool is_prepared() const { return vocabulary_ != nullptr; }

  /// Picks the next token from the logits that follow the path, and appends it with those that it forces.
  /// Fails when the constraint does.
  [[nodiscard]] Result<void, decoding::DecodingError> advance(std::span<const float> logits);

  /// Why the answer has ended; none while it is in progress.
  [[nodiscard]] std::optional<Finish> finish() const { return finish_; }

  /// The text that was added since the last call and that no stop can take back any more.
  [[nodiscard]] std::string take_new_text();
  [[nodiscard]] const std::string& text() const { return text_; }

  /// All tokens: the prompt, then the answer.
  [[nodiscard]] std::span<const Token> path() const { return path_; }
  [[nodiscard]] std::uint32_t prompt_tokens() const { return usage.prompt; }
  /// The length of what the answer's first choice follows: the prompt and what the constraint forced at once.
  [[nodiscard]] std::uint32_t first_choice_at() const { return first_choice_at_; }
  /// Tokens that may still be appended.
  [[nodiscard]] std::uint32_t tokens_left() const;

  const GenerationId id;
  GenerationRequest request;
  GenerationSink* const sink;
  const std::chrono::steady_clock::time_point started_at;
  Usage usage;

  // What the scheduler keeps for it.
  std::optional<SequenceNumber> sequence;  ///< while it is in progress
  std::list<Generation*>::iterator place;  ///< in the queue, while it waits
  bool was_admitted = false;               ///< at least once; it may have had to make room again

 private:
  enum class Origin : bool { Chosen, Forced };
  void append(Token token, Origin origin);
  [[nodiscard]] Result<void, decoding::DecodingError> append_forced();
  void end(Finish finish);

  const Vocabulary* vocabulary_ = nullptr;
  std::optional<decoding::Constraint> constraint_;
  std::string stop_;
  std::vector<Token> path_;
  std::uint32_t path_tokens_max_ = 0;
  std::uint32_t first_choice_at_ = 0;
  TextAssembler assembler_;
  std::string text_;
  std::size_t text_taken_ = 0;
  std::optional<Finish> finish_;
};

}  // namespace tenon::inference::llama_cpp
