#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace tenon::journal {

/// As many runs are named where several have the same damage.
inline constexpr std::size_t runs_shown_max = 5;

/// `runs A, B and 3 more`. `names`: the first of them, ordered, at least one; `count`: of all. At most `shown_max` are
/// named.
[[nodiscard]] std::string list_runs(std::span<const std::string> names, std::size_t count,
                                    std::size_t shown_max = runs_shown_max);

/// The beginning of a message about something that these runs have: `runs A, B and 3 more, `. `names`: the first of
/// them, ordered; `count`: of all. Empty if there are none.
[[nodiscard]] std::string describe_runs(std::span<const std::string> names, std::size_t count);

}  // namespace tenon::journal
