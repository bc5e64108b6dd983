#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "inference/decoding/constraint.h"
#include "inference/llama_cpp/engine.h"
#include "inference/llama_cpp/generation.h"
#include "inference/llama_cpp/kv_cache.h"
#include "inference/llama_cpp/prompt.h"
#include "inference/model.h"

namespace tenon::inference::llama_cpp {

/// Decides which generations are in progress, and evaluates one batch for all of them at a time. First come, first
/// served; a prompt whose beginning is being evaluated for another waits for that. If the memory does not suffice, the
/// newest generation is evicted and continues later, with the same tokens.
class Scheduler final {
 public:
  using Clock = std::chrono::steady_clock;

  /// Borrows engine and tokenizer. `name` is what answers report.
  Scheduler(Engine& engine, PromptTokenizer& tokenizer, std::string name, std::function<Clock::time_point()> now);

  void start(GenerationId id, GenerationRequest request, GenerationSink& sink);
  void cancel(GenerationId id);
  /// Ends what has taken too long, admits what has room, evaluates one batch and appends a token to each answer that it
  /// completes the input of. False when there was nothing to do.
  void step();
  /// Reports to the sinks what happened since the last call. A sink may start and cancel generations meanwhile.
  void report();

  [[nodiscard]] bool is_idle() const { return generations_.empty() && events_.empty(); }
  [[nodiscard]] const KvCache& cache() const { return cache_; }

 private:
  struct Event {
    GenerationSink* sink;
    GenerationId generation;
    std::string text;                            // for on_text, when there is no outcome
    std::unique_ptr<GenerationOutcome> outcome;  // for on_finished
  };

  void end_expired();
  void admit();
  enum class Admission : std::uint8_t { Admitted, Waits, NoRoom, CacheIsWornOut };
  Admission try_admit(Generation& generation);
  /// The constraint of the answer; none if any text is allowed.
  [[nodiscard]] Result<std::optional<decoding::Constraint>, decoding::DecodingError> compile_constraint(
      const GenerationRequest& request);
  /// Tokenizes the prompt and compiles the constraint. False when the generation has ended over it.
  bool prepare(Generation& generation);
  void choose_from_kept_logits();
  void compose(std::vector<Engine::Row>& rows);
  void evaluate(const std::vector<Engine::Row>& rows);
  void make_way();
  void begin_anew();
  void set_aside(Generation& generation);
  void advance(Generation& generation, std::span<const float> logits);
  void fail(Generation& generation, ModelErrorKind kind, std::string message);
  void succeed(Generation& generation);
  void remove(Generation& generation);
  [[nodiscard]] std::uint32_t measure_reserve(const Generation& generation) const;
  [[nodiscard]] std::uint32_t count_pending(const Generation& generation) const;
  [[nodiscard]] Generation* find_by_sequence(SequenceNumber sequence) const;

  Engine& engine_;
  PromptTokenizer& tokenizer_;
  std::string name_;
  std::function<Clock::time_point()> now_;
  KvCache cache_;
  std::unique_ptr<decoding::ConstraintCompiler> constraints_;  // made for the first constraint

  std::unordered_map<GenerationId, std::unique_ptr<Generation>> generations_;
  std::list<Generation*> waiting_;   // in order of arrival
  std::vector<Generation*> active_;  // in order of admission
  std::size_t first_answering_ = 0;  // of those that write answers, the one whose turn is first, so that all get theirs
  Clock::time_point next_deadline_ = Clock::time_point::max();
  std::deque<Event> events_;
  bool reporting_ = false;
};

}  // namespace tenon::inference::llama_cpp
