#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

/// The shortest program that generates an answer with llama.cpp, written like its examples, with default settings and
/// one thread. The embedded model is compared with it.
class BareLoop {
 public:
  explicit BareLoop(const std::filesystem::path& model_file);
  ~BareLoop();

  /// Evaluates a prompt on an empty cache. Returns the time in seconds.
  double read_prompt(std::span<const std::int32_t> prompt);

  struct Written {
    std::vector<std::int32_t> tokens;
    double seconds = 0;
  };
  /// Generates up to `tokens_max` tokens after the prompt, greedily. May be repeated.
  Written write(std::uint32_t tokens_max);

 private:
  struct State;
  std::unique_ptr<State> state_;
};
