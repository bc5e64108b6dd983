#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "bench/load_program.h"
#include "inference/model.h"

namespace tenon::bench {

/// One side of the comparison. Each job does its calls against the endpoint at `base_url`, whose every answer is
/// `{"ok":true}`, and ends the program when one is not; `start_watch` is called when the warm-up is over.
class Subject {
 public:
  virtual ~Subject() = default;
  using StartWatch = std::function<void()>;

  /// `count` typed calls, one after the other.
  virtual void run_sequence(std::size_t count, const StartWatch& start_watch) = 0;
  /// A conversation that grows by a call and its result per round.
  virtual void run_loop(std::size_t rounds, const StartWatch& start_watch) = 0;
  /// `agents` at once, each doing `calls` calls one after the other.
  virtual void run_many(std::size_t agents, std::size_t calls, const StartWatch& start_watch) = 0;
};

/// The HTTP model alone, without a program around it.
[[nodiscard]] std::unique_ptr<Subject> make_model_subject(const std::string& base_url);

/// Programs of `program_path` (calls.tn) in the runtime, on the same model.
[[nodiscard]] std::unique_ptr<Subject> make_tenon_subject(const std::string& base_url, const std::string& program_path);

/// The model that both use.
[[nodiscard]] std::unique_ptr<inference::Model> open_bench_model(const std::string& base_url);

}  // namespace tenon::bench
