#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "inference/llama_cpp/kv_cache.h"
#include "inference/llama_cpp/vocabulary.h"

struct llama_context;
struct llama_model;

namespace tenon::inference::llama_cpp {

enum class Determinism : bool { None, SameBits };

struct EngineOptions {
  std::filesystem::path file;
  std::uint32_t threads = 1;
  std::uint32_t context_tokens =
      0;  ///< of one sequence; 0: what the model was trained for, at most `context_tokens_auto_max`
  std::uint32_t cache_tokens = 0;  ///< of all sequences together, shared ones counted once; 0: as many as one may have
  std::uint32_t sequences = 32;    ///< at most `sequences_max`
  Determinism determinism = Determinism::SameBits;
  /// Receives what llama.cpp logs; empty: the log is discarded. llama.cpp has one log in a process: the engine opened
  /// last owns it.
  std::function<void(std::string_view)> log;

  static constexpr std::uint32_t context_tokens_auto_max = 8192;
  static constexpr std::uint32_t sequences_max = 250;
};

struct EngineError {
  std::string message;
};

/// Reads the header of a GGUF file, and checks that the file has the bytes of all tensors it describes; they are not
/// read. Takes some milliseconds. The message is the end of a sentence whose subject is the file.
[[nodiscard]] Result<void, EngineError> check_tensors(const std::filesystem::path& file);

/// A loaded model with one context of llama.cpp: evaluates rows of tokens for many sequences at once. Not
/// thread-safe.
///
/// With `Determinism::SameBits` a token's logits have the same bits whether its sequence is evaluated alone or next to
/// others, all at once or in parts, from the start or after a cached prefix. This holds on one machine with one build.
/// Prompts are then read a seventh to a quarter slower; answers are written at the same speed.
class Engine final : public KvMemory {
 public:
  /// Fails when the file cannot be read, is not a GGUF model, or is a model that does not write text; the message says
  /// which.
  [[nodiscard]] static Result<std::unique_ptr<Engine>, EngineError> open(const EngineOptions& options);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine() override;

  struct Row {
    SequenceNumber sequence = 0;
    std::uint32_t position = 0;
    Token token = 0;
    enum class Output : bool { None, Logits } output = Output::None;
  };
  /// Evaluates at most `rows_max()` rows; those of one sequence follow its cells without a gap. Fails when llama.cpp
  /// does; then the contents of its memory are unknown.
  [[nodiscard]] Result<void, EngineError> evaluate(std::span<const Row> rows);
  /// The logits that follow a row of the last evaluation which asked for them. Valid until the next evaluation.
  [[nodiscard]] std::span<const float> logits_of(std::size_t row) const;

  void share(SequenceNumber source, SequenceNumber target, std::uint32_t count) override;
  [[nodiscard]] bool truncate(SequenceNumber sequence, std::uint32_t count) override;
  [[nodiscard]] bool is_whole(SequenceNumber sequence, std::uint32_t count) override;
  void bury(SequenceNumber sequence, std::uint32_t first) override;
  void clear() override;

  [[nodiscard]] const Vocabulary& vocabulary() const { return *vocabulary_; }
  [[nodiscard]] std::uint32_t context_tokens() const { return context_tokens_; }
  [[nodiscard]] std::uint32_t rows_max() const { return rows_max_; }
  [[nodiscard]] const KvCacheOptions& cache_options() const { return cache_options_; }
  /// The name in the file's metadata; empty when it has none.
  [[nodiscard]] const std::string& name() const { return name_; }
  /// The chat template in the file; empty when it has none, as base models do.
  [[nodiscard]] const std::string& chat_template() const { return chat_template_; }

 private:
  struct ModelDeleter {
    void operator()(llama_model* model) const;
  };
  struct ContextDeleter {
    void operator()(llama_context* context) const;
  };
  Engine() = default;

  std::unique_ptr<llama_model, ModelDeleter> model_;
  std::unique_ptr<llama_context, ContextDeleter> context_;
  std::unique_ptr<Vocabulary> vocabulary_;
  KvCacheOptions cache_options_;
  std::uint32_t context_tokens_ = 0;
  std::uint32_t rows_max_ = 0;
  SequenceNumber padding_sequence_ = 0;  // has the row that keeps another from being alone, for one evaluation
  SequenceNumber buried_sequence_ = 0;   // has the cells that must not be used again
  bool pads_lone_rows_ = false;
  std::string name_;
  std::string chat_template_;
  struct Batch;
  std::unique_ptr<Batch> batch_;
};

}  // namespace tenon::inference::llama_cpp
