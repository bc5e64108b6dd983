#pragma once

#include <string>
#include <vector>

#include "effects/record.h"
#include "runtime/conversation.h"
#include "runtime/events.h"
#include "runtime/recording/run_journal.h"
#include "runtime/run_core.h"

/// What the journal records of the end of a turn, and of a failure.
namespace tenon::runtime {

[[nodiscard]] effects::FailureText to_text(const vm::FailureReport& report);
/// The failure of a run or turn of this function whose value or state cannot be recorded. Its place is the function's.
[[nodiscard]] RunFailed unrecordable(const ProgramImage& image, std::uint32_t function, std::string message);

/// Ends the turn of the conversation, whose machine is `core`. Returns the records of that, whose texts `journal` has;
/// none if it takes no records. `outcome` becomes a failure if its value or the agent's state cannot be recorded.
[[nodiscard]] std::vector<effects::RecordBody> end_turn(Conversation& conversation, const RunCore& core,
                                                        TurnOutcome& outcome, RunJournal& journal);

}  // namespace tenon::runtime
