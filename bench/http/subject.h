#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "bench/load_program.h"
#include "inference/model.h"

namespace tenon::bench {

/// One side of the comparison. Each job calls the endpoint at `base_url`, whose answers are all `{"ok":true}`, and
/// exits if one is not. It calls `start_watch` after the warm-up.
class Subject {
 public:
  virtual ~Subject() = default;
  using StartWatch = std::function<void()>;

  /// `count` typed calls, one after the other.
  virtual void run_sequence(std::size_t count, const StartWatch& start_watch) = 0;
  /// A conversation that grows by a call and its result in each round.
  virtual void run_loop(std::size_t rounds, const StartWatch& start_watch) = 0;
  /// `agents` at once, each making `calls` calls one after the other.
  virtual void run_many(std::size_t agents, std::size_t calls, const StartWatch& start_watch) = 0;
};

/// The HTTP model alone, without a program.
[[nodiscard]] std::unique_ptr<Subject> make_model_subject(const std::string& base_url);

/// The functions of `program_path` (calls.tn) in the runtime, with the same model.
[[nodiscard]] std::unique_ptr<Subject> make_tenon_subject(const std::string& base_url, const std::string& program_path);

/// The model that both subjects use.
[[nodiscard]] std::unique_ptr<inference::Model> open_bench_model(const std::string& base_url);

}  // namespace tenon::bench
