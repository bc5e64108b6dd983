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
/// A failure because of a value that cannot be recorded.
[[nodiscard]] RunFailed unrecordable(std::string message);

/// Ends the turn of the conversation, whose machine is `core`. Returns the records of that, whose texts `journal` has;
/// none if it takes no records. `outcome` becomes a failure if its value cannot be recorded.
[[nodiscard]] std::vector<effects::RecordBody> end_turn(Conversation& conversation, const RunCore& core,
                                                        TurnOutcome& outcome, RunJournal& journal);

}  // namespace tenon::runtime
