#pragma once

#include "algebra/collector.h"
#include "runtime/conversation.h"

namespace tenon::algebra {

/// The columns of a program's tools among all tools: new ones get the next columns. The tools of a run's first program
/// have the columns that they have in it.
std::vector<std::uint32_t> add_tools(std::vector<Tool>& all, const std::vector<Tool>& tools);

/// Adds the calls of one cycle. `cycle`: its input, control facts and result. `state`: of an agent after
/// its turn, as JSON; empty outside of one, and during the turn.
void append_cycle(Interaction& interaction, const Collector& collector, const CallSites& sites, Cycle cycle,
                  const std::string& state);

/// The result of a run whose machine has reached `end`; `Pending` if it waits.
[[nodiscard]] CallResult result_of(const std::optional<vm::Step>& end, types::TypeId type,
                                   const types::TypeTable& types);

/// Gives an open notification (Collector::find_notification) its outcome, and the conversation what follows from it;
/// `conversation` is null outside of a turn. The machine has not continued yet.
void acknowledge(runtime::RunCore& core, const std::string& key, runtime::Conversation* conversation);

/// Ends the turn with what its machine has come to; null: the runtime has stopped it before.
void end_turn(runtime::Conversation& conversation, const runtime::RunCore& core, const vm::Step* end);

}  // namespace tenon::algebra
