#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "types/type_table.h"
#include "vm/labels.h"
#include "vm/value.h"

namespace tenon::vm {

/// Unique within a run; counts up.
struct RequestId {
  std::uint64_t number = 0;
  friend auto operator<=>(RequestId, RequestId) = default;
};

enum class RequestKind : std::uint8_t { Extern = 0, Complete = 1, Fill = 2, Select = 3 };

/// What the program wants from the world. It is answered with `Machine::resume`.
struct Request {
  RequestId id;
  /// The request's place among those of the run, whatever the order in which outcomes arrive: ordinals of the branches
  /// and of the request in its branch, as `3.1.0`. The same program on the same outcomes gives the same keys.
  std::string key;
  RequestKind kind = RequestKind::Extern;
  std::uint32_t subject = 0;         ///< Extern: index into Program::externs; otherwise into Program::sites
  std::uint32_t function = 0;        ///< where it stands
  std::vector<Value> arguments;      ///< Extern: all. Fill: all, the missing ones (). Select: the sets of
                                     ///< tools. Complete, where the site has a guard: the function's
  Value context;                     ///< Complete, Fill, Select: the enclosing function's own context; () for Extern
  std::uint32_t agent = UINT32_MAX;  ///< whose function it stands in: index into Program::agents; none outside of one
  std::uint32_t depth = 0;           ///< agents called by agents around it
  LabelId label;                     ///< the join of what the answerer sees: the context, or the arguments
};

/// What an effect used up; charged to the budgets that the request stands in.
struct Usage {
  std::uint64_t model_calls =
      0;  ///< all calls made for the request. The first was charged with the request and is not charged again
  std::uint64_t tokens = 0;
  std::uint64_t cost_millionths = 0;
  std::uint64_t milliseconds = 0;
};

/// Of Extern and Complete: a value of the promised type.
struct ReturnedValue {
  Value value;
};
/// Of Fill: the missing arguments in the order of CallShape::holes.
struct FilledArguments {
  std::vector<Value> values;
};
/// Of Select: the chosen clause or tool (vm/tool_sets.h: options_of) and its missing arguments.
struct SelectedClause {
  std::uint32_t option = 0;
  std::vector<Value> values;
};
/// Of an extern that prompts an agent of the program instead of giving a value.
struct SpawnedTurn {
  enum class Then : std::uint8_t {
    Wait = 0,    ///< the value that the agent's turn ends with is the extern's
    Finish = 1,  ///< the turn in which the extern was called ends, and the agent goes on with it
  };
  std::uint32_t agent = 0;  ///< index into Program::agents
  Value input;              ///< of the type that its turn takes
  Then then = Then::Wait;
};
/// Of any request. Message and blame are for people; bytes in them that are no UTF-8 are replaced.
struct EffectFailure {
  types::FailureKind kind = types::FailureKind::ToolFailed;
  std::string message;
  std::string blame;
};

struct Outcome {
  std::variant<ReturnedValue, FilledArguments, SelectedClause, EffectFailure, SpawnedTurn> what;
  Usage usage;
};

enum class ResumeError : std::uint8_t {
  UnknownRequest,  ///< no such request waits: never made, answered, or cancelled
  WrongShape,      ///< an alternative, a clause or a number of values that the request did not ask for
};

}  // namespace tenon::vm
