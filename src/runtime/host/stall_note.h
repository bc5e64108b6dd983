#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "journal/store.h"

/// Why a run that has work to do does not continue: the host that had claimed it lacks something, and gave it back.
namespace tenon::runtime {

/// Says so to all processes of the store, until another owner claims the run or `stall_kept` is over. `head`: with the
/// epoch of the host that gives it back. `now_ms`: milliseconds since 1970.
[[nodiscard]] journal::Note make_stall_note(const journal::RunHead& head, std::string_view why, std::int64_t now_ms);
/// What the note says that was made for this epoch of the run; nothing if there is none, or the run has ended.
[[nodiscard]] std::optional<std::string> find_stall(journal::Store& store, const journal::RunHead& head);
/// The same for each of these runs, in one call of the store.
[[nodiscard]] std::vector<std::optional<std::string>> find_stalls(journal::Store& store,
                                                                  std::span<const journal::RunHead> heads);

}  // namespace tenon::runtime
