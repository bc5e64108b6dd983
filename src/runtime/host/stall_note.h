#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "journal/store.h"

/// Why a run that has work to do does not continue: the host that had claimed it lacks something, and gave it back.
namespace tenon::runtime {

/// Says so to all processes of the store, until another owner claims the run or `stall_kept` is over. `head`: with the
/// epoch of the host that gives it back. `now_ms`: milliseconds since 1970.
[[nodiscard]] journal::Note make_stall_note(const journal::RunHead& head, std::string_view why, std::int64_t now_ms);
/// What the note says that was made for this epoch of the run; nothing if there is none.
[[nodiscard]] std::optional<std::string> find_stall(journal::Store& store, const journal::RunHead& head);

}  // namespace tenon::runtime
