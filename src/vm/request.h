#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "bytecode/program.h"
#include "types/table/type_table.h"
#include "vm/prompt_kind.h"
#include "vm/values/labels.h"
#include "vm/values/value.h"

namespace tenon::vm {

/// Unique within a run; ascending.
struct RequestId {
  std::uint64_t number = 0;
  friend auto operator<=>(RequestId, RequestId) = default;
};

using bytecode::RequestKind;

/// An effect that the program requests. It is answered with `Machine::resume`.
struct Request {
  RequestId id;
  /// The position of the request in the run, independent of the order of outcomes: ordinals of the branches and of the
  /// request in its branch, such as `3.1.0`. The same program with the same outcomes has the same keys.
  std::string key;
  RequestKind kind = RequestKind::Extern;
  std::uint32_t subject = 0;         ///< Extern: index into Program::externs; otherwise into Program::sites
  std::uint32_t function = 0;        ///< the function that contains it
  std::vector<Value> arguments;      ///< Extern: all. Fill: all, the missing ones (). Select: the sets of
                                     ///< tools. Complete, where the site has a guard: the function's
  Value context;                     ///< Complete, Fill, Select: the enclosing function's own context; () for Extern
  std::uint32_t agent = UINT32_MAX;  ///< the agent of that function: index into Program::agents; none outside of agents
  std::uint32_t depth = 0;           ///< the number of enclosing calls of agents
  LabelId label;                     ///< the join of everything the answerer sees: the context, or the arguments
};

/// Whether a person is asked to approve of a value: of the first argument.
[[nodiscard]] inline bool asks_approval(const Request& request, const bytecode::Program& program) {
  return request.kind == RequestKind::Extern &&
         program.externs[request.subject].builtin_effect == types::BuiltinEffect::Approve;
}
/// What a person is asked by a request that types::asks_person.
[[nodiscard]] inline std::string_view asked_by(const Request& request, const bytecode::Program& program) {
  return request.arguments[types::question_argument(program.externs[request.subject].builtin_effect)].as_text();
}

/// The cost of an effect; charged to the budgets of the request.
struct Usage {
  std::uint64_t model_calls =
      0;  ///< all calls made for the request. The first was charged with the request and is not charged again
  std::uint64_t tokens = 0;
  std::uint64_t cost_millionths = 0;
  std::uint64_t milliseconds = 0;
  friend bool operator==(const Usage&, const Usage&) = default;
};

/// For Extern and Complete: a value of the declared type.
struct ReturnedValue {
  Value value;
};
/// For Fill: the missing arguments in the order of CallShape::holes.
struct FilledArguments {
  std::vector<Value> values;
};
/// For Select: the chosen clause or tool (vm/execution/tool_sets.h: options_of) and its missing arguments.
struct SelectedClause {
  std::uint32_t option = 0;
  std::vector<Value> values;
};
/// For an extern that prompts an agent of the program instead of returning a value.
struct SpawnedTurn {
  std::uint32_t agent = 0;  ///< index into Program::agents
  Value input;              ///< of the input type of its turn
  PromptKind kind = PromptKind::PauseForChild;
};
/// For any request. Message and blame are for people; bytes in them that are not UTF-8 are replaced.
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
  UnknownRequest,  ///< there is no such open request: never made, answered, or cancelled
  WrongShape,      ///< an alternative, a clause or a number of values that the request did not ask for
};

}  // namespace tenon::vm
