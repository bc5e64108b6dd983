#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "effects/record.h"
#include "engine/engine_error.h"
#include "inference/model.h"
#include "journal/store.h"

namespace tenon::engine {

/// The size of a variable's value that is shown whole.
inline constexpr std::size_t shown_variable_bytes_max = 2'000;

/// A run as it was after one of its records, for a person who looks at what it did. All of it is found by replaying the
/// run's journal, so nothing is recorded for it.
struct Moment {
  /// An entry of the context of a generation.
  struct Entry {
    std::string origin;  ///< of its text, as vm::LabelTable::describe names it: `model, extern fetch`
    std::string role;    ///< `program`, `instructions`, `person`, `assistant`, `requirement` or `refusal`
    std::string text;
  };
  struct Prompt {
    std::string generation;  ///< its key
    std::string label;       ///< the function that is completed or filled
    std::vector<Entry> entries;
    std::vector<inference::Message> messages;  ///< the first request for it, as a model without token masks gets it
    std::string schema;                        ///< of the answer; empty: plain text
    std::optional<effects::Cost> cost;         ///< once it has ended
  };
  struct Variable {
    std::string name;
    std::string value;    ///< plain JSON; of a long one its beginning, and of one that has no JSON nothing
    bool is_cut = false;  ///< there is more than `value`
    std::string origin;   ///< of its text, as in Entry; empty: the program
  };
  /// A state in which a `pursue` is.
  struct PursuitState {
    std::uint32_t action = 0;  ///< that has led to it, from 1 in the order of the text; 0: the initial state
    std::string value;         ///< as in Variable
    bool is_cut = false;
  };
  /// A `pursue` of a call that has begun and not ended.
  struct Pursuit {
    std::string place;                 ///< `LINE:COLUMN`, in the call's file
    std::vector<PursuitState> states;  ///< several with a `width`
  };
  struct Call {
    std::string function;
    std::string place;  ///< `FILE:LINE:COLUMN`
    std::vector<Variable> variables;
    std::vector<Pursuit> pursuits;  ///< the outer ones first
  };

  /// What the agent that has the turn keeps, as plain JSON; empty if it has none.
  struct AgentState {
    std::string state;
    std::string scratchpad;
  };

  std::vector<Call> stack;  ///< innermost first; empty before and after the program runs
  std::string agent;        ///< that has the turn; empty outside of conversations
  AgentState before;        ///< before the record
  AgentState after;
  std::optional<Prompt> prompt;  ///< if the record is that of a generation
};

/// `record`: its number, from 1.
[[nodiscard]] Result<Moment, EngineError> find_moment(journal::Store& store, const journal::RunName& run,
                                                      std::uint64_t record);

}  // namespace tenon::engine
