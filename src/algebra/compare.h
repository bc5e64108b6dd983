#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algebra/artifacts.h"

namespace tenon::algebra {

/// Calls that are aligned one by one; where more stand between the same beginnings and ends of two runs, those between
/// count as other calls altogether.
inline constexpr std::size_t aligned_calls_max = 2'000;

/// What two runs differ in.
enum class DifferenceKind : std::uint8_t {
  Input,     ///< the function or the arguments with which the run begins
  Choice,    ///< a call that only one of them makes
  Argument,  ///< of the same call
  Context,   ///< an entry that the model saw
  Request,   ///< the schema or the prompt templates of the same call, on the same context
  Pause,     ///< what an extern asked a person meanwhile, or the answer
  Result,    ///< of the same call
  Output,    ///< what the run or the turn came to
  Place,     ///< the same call is elsewhere in the program's order; reported where nothing else differs
  Tools,     ///< what the program could call; reported where nothing else differs
  Control,   ///< what a cycle was bounded by or took; reported where nothing else differs
};
/// `input`, `choice`, `argument`, `context`, `request`, `pause`, `result`, `output`, `place`, `tools`, `control`.
[[nodiscard]] std::string_view difference_name(DifferenceKind kind);

struct Difference {
  DifferenceKind kind = DifferenceKind::Input;
  std::optional<std::size_t> call_a, call_b;  ///< indices into q, from 0; absent where that run has no such call
  std::size_t cycle = 0;                      ///< the turn, from 0
  std::string at;                             ///< the call's name, in the first run that has it
  std::string tool;
  std::size_t index = 0;  ///< of the argument, or of the context's entry from its first one
  std::string a, b;       ///< JSON: what each has there; empty: nothing
};

/// All differences, turn by turn and in the order of the program: the first is where the runs part. Calls are aligned
/// by sigma: a longest common sequence of the tools' names.
[[nodiscard]] std::vector<Difference> compare(const Artifacts& a, const Artifacts& b);

/// For people, a line or more for each; `tenon: ` is not in it.
[[nodiscard]] std::string describe(const Difference& difference);
/// RFC 8785 JSON: `{"differences":[…],"same":false}`.
[[nodiscard]] std::string write_differences(const std::vector<Difference>& differences);

}  // namespace tenon::algebra
