#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/run_core.h"
#include "runtime/scheduling/run_state.h"

/// What a run waits for that only a person or time can give.
namespace tenon::runtime {

/// A question to a person, as the program asks it.
struct PendingInput {
  std::string wait;  ///< its name within the run, for `Runtime::answer`
  std::string text;
  std::string type;                   ///< of the answer, as the program writes it
  std::string schema;                 ///< of the answer: JSON Schema (2020-12)
  std::optional<std::int64_t> until;  ///< milliseconds since 1970
  bool is_secret = false;             ///< the answer holds one
  /// Of `approve`: the value that is to be approved, as JSON, and what it depends on, such as `extern read_inbox`.
  std::optional<std::string> value = std::nullopt;
  std::vector<std::string> sources = {};
  std::string agent;  ///< this and the next: as a request of Ask has them (effects/record.h)
  std::vector<std::string> callers;
};

/// A model or a tool that cannot be reached.
struct PendingRetry {
  std::string effect;  ///< the request's key
  Outage outage;
  std::optional<std::int64_t> next_at;  ///< milliseconds since 1970; nothing: when the run is resumed
};

/// A JSON array, which the store keeps for a run that waits. A question has a member `wait`, a service that cannot
/// be reached has `unavailable` (`model` or `tool`), and a time `timer`.
[[nodiscard]] std::string describe(const std::vector<PendingInput>& questions, const std::vector<PendingRetry>& retries,
                                   const std::vector<std::int64_t>& timers);

/// Answers questions interactively, for runs without a store.
class InteractivePrompter {
 public:
  virtual ~InteractivePrompter() = default;
  /// `complaint`: why the previous answer was refused; empty at first. Returns nothing when there is no answer.
  [[nodiscard]] virtual std::optional<std::string> ask(const PendingInput& question, std::string_view complaint) = 0;
};

/// Why an answer is refused. The run keeps waiting.
struct AnswerRefusal {
  enum class Kind : std::uint8_t { NoSuchWait, TooLate, WrongAnswer, NoKey };
  Kind kind = Kind::NoSuchWait;
  std::string message;
  /// Whether any other answer would be refused too.
  [[nodiscard]] bool is_over() const { return kind == Kind::NoSuchWait || kind == Kind::TooLate; }
};

/// A question of a request of the run: its own, or one about its call.
[[nodiscard]] PendingInput question_of(const Run& run, const OpenRequest& open);
/// The name of the question that is open about a request, PendingInput::wait.
[[nodiscard]] std::string name_of_question(const OpenRequest& open);
/// The questions that the run waits for a person to answer, oldest first.
[[nodiscard]] std::vector<PendingInput> questions_of(const Run& run);
/// The models and tools that cannot be reached and that the run waits for.
[[nodiscard]] std::vector<PendingRetry> retries_of(const Run& run);
/// How many times of one run are listed at most, from the earliest on: a run may sleep in thousands of branches.
inline constexpr std::size_t listed_timers_max = 100;
/// The times that the run waits for by themselves, such as the ends of a `sleep`, and not as the end of a question or
/// as the next attempt to reach a service: milliseconds since 1970, each once, earliest first, `listed_timers_max` at
/// most.
[[nodiscard]] std::vector<std::int64_t> timers_of(const Run& run);
/// When the run's next timer fires, milliseconds since 1970.
[[nodiscard]] std::optional<std::int64_t> wake_time(const Run& run);

/// The outcome of a call that is not made, because its branch was cancelled.
[[nodiscard]] vm::Outcome unmade_call(const OpenRequest& open);

/// A hundred years: the longest wait, whose end is a date that every calendar has.
inline constexpr std::int64_t wait_ms_max = std::int64_t{100} * 365 * 24 * 60 * 60 * 1000;
/// Both in milliseconds; at most `wait_ms_max` later, and not earlier.
[[nodiscard]] std::int64_t time_after(std::int64_t now_ms, std::int64_t milliseconds);
/// When a call that is made now has taken too long, milliseconds since 1970; nothing if it may take any time.
[[nodiscard]] std::optional<std::int64_t> call_deadline(const OpenRequest& open, const bytecode::Program& program,
                                                        std::int64_t now_ms);

}  // namespace tenon::runtime
