#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algebra/artifacts.h"

namespace tenon::algebra {

/// Maximum number of calls that are aligned one by one; if there are more between the same beginnings and ends of two
/// runs, all of them count as different calls.
inline constexpr std::size_t aligned_calls_max = 2'000;

/// The kind of a difference between two runs.
enum class DifferenceKind : std::uint8_t {
  Input,     ///< the function or the arguments with which the run begins
  Choice,    ///< a call that only one of them makes
  Argument,  ///< of the same call
  Context,   ///< an entry that the model saw
  Request,   ///< the schema or the prompt templates of the same call, on the same context
  Pause,     ///< a question of an extern to a person, or the answer
  Result,    ///< of the same call
  Output,    ///< the result of the run or the turn
  Place,     ///< the same call is at another position in the program's order; only reported if nothing else differs
  Tools,     ///< the tools of the program; only reported if nothing else differs
  Control,   ///< a limit or a cost of a cycle; only reported if nothing else differs
};
/// `input`, `choice`, `argument`, `context`, `request`, `pause`, `result`, `output`, `place`, `tools`, `control`.
[[nodiscard]] std::string_view difference_name(DifferenceKind kind);

struct Difference {
  DifferenceKind kind = DifferenceKind::Input;
  std::optional<std::size_t> call_a, call_b;  ///< indices into q, from 0; absent if that run has no such call
  std::size_t cycle = 0;                      ///< the turn, from 0
  std::string at;                             ///< the call's name, in the first run that has it
  std::string tool;
  std::size_t index = 0;  ///< of the argument, or of the context's entry from its first one
  std::string a, b;       ///< JSON: the value in each run; empty: none
};

/// All differences, turn by turn and in the order of the program: at the first one the runs diverge. Calls are aligned
/// by sigma: a longest common sequence of the tools' names.
[[nodiscard]] std::vector<Difference> compare(const Artifacts& a, const Artifacts& b);
/// The same differences, with the values as people write them: see in_plain_form.
[[nodiscard]] std::vector<Difference> compare_for_people(const Interaction& a, const Interaction& b);

/// For people, one or more lines for each; without `tenon: `.
[[nodiscard]] std::string describe(const Difference& difference);
/// RFC 8785 JSON: `{"differences":[…],"same":false}`.
[[nodiscard]] std::string write_differences(const std::vector<Difference>& differences);

}  // namespace tenon::algebra
