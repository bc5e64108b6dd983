#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

/// The shortest program that writes an answer with llama.cpp, as its examples do it, with its default settings and one
/// thread: what the embedded model is measured against.
class BareLoop {
 public:
  explicit BareLoop(const std::filesystem::path& model_file);
  ~BareLoop();

  /// Evaluates a prompt on an empty cache. Gives the seconds that it took.
  double read_prompt(std::span<const std::int32_t> prompt);

  struct Written {
    std::vector<std::int32_t> tokens;
    double seconds = 0;
  };
  /// Writes the likeliest `tokens_max` tokens after the prompt that was read, or fewer when the model ends. May be
  /// repeated.
  Written write(std::uint32_t tokens_max);

 private:
  struct State;
  std::unique_ptr<State> state_;
};
