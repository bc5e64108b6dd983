#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/sha256.h"
#include "effects/agent_prompt.h"
#include "effects/record.h"
#include "runtime/program_image.h"
#include "types/table/type_table.h"
#include "vm/request.h"

/// What a run did, as the arrays of the interaction algebra (docs/internals/algebra.md): tools, h, q, sigma, r. Values
/// are JSON texts as src/effects/value_form.h writes them.
namespace tenon::algebra {

enum class ToolKind : std::uint8_t { Extern, Function, Agent, Select, Ask, Now, Random, Sleep, Answer, Action };
/// `extern`, `function`, `agent`, `select`, `ask`, `now`, `random`, `sleep`, `answer`: what a model has given for a
/// function that has a contract, refused or not; `action`: one of a `pursue`, chosen by a model.
[[nodiscard]] std::string_view tool_kind_name(ToolKind kind);
[[nodiscard]] std::optional<ToolKind> find_tool_kind(std::string_view name);

/// A column of the matrices: who can be called.
struct Tool {
  ToolKind kind = ToolKind::Extern;
  std::string name;  ///< with its type arguments; of the program's own kinds the kind's name
  friend bool operator==(const Tool&, const Tool&) = default;
};

/// An entry of sigma: which tool a call went to.
struct Choice {
  /// The call's name: its place in the call tree. The calls and parallel blocks of a branch are counted together, from
  /// 0; within a block follow the branch and the call: `2.0.1`. Names order as their numbers do, one after the other.
  std::string at;
  std::uint32_t tool = 0;         ///< index into the tools, from 0
  std::uint32_t alternative = 0;  ///< of a select: how many clauses before the chosen one call the same tool
  friend bool operator==(const Choice&, const Choice&) = default;
};

/// An extern has asked a person before it gave its result, and was called again with the answer.
struct Pause {
  std::string question;
  std::optional<std::string> answer;  ///< none yet
  friend bool operator==(const Pause&, const Pause&) = default;
};

/// An entry of q: what the call was asked.
struct Query {
  std::vector<std::string> arguments;  ///< each a value; empty text where it was not known when the call failed
  std::vector<Hash> contexts;          ///< what the model saw: when it chose or filled the call, then when it completed
  /// The identities of these requests (effects::DescribedRequest): schema and prompt templates too. Not of forms 1
  /// and 2.
  std::vector<Hash> requests;
  std::vector<Pause> pauses;  ///< of an extern
  friend bool operator==(const Query&, const Query&) = default;
};

/// Why there is no value.
struct Failed {
  types::FailureKind kind = types::FailureKind::Raised;
  std::string message;
  std::string blame;
  friend bool operator==(const Failed&, const Failed&) = default;
};
/// The result is not needed any more: another branch had failed, or the run was ended.
struct Discarded {
  friend bool operator==(const Discarded&, const Discarded&) = default;
};
/// There is no result yet: the run has not ended.
struct Pending {
  friend bool operator==(const Pending&, const Pending&) = default;
};
/// An entry of r. The text is a value; after a prompt follows the call of the agent.
using CallResult = std::variant<Pending, std::string, Failed, Discarded, effects::AgentPrompt>;

/// What came from outside and is neither input nor result. Empty unless the run cannot be rebuilt without.
struct Control {
  /// The run or its turn was cancelled, and there was something to clean up.
  struct Cancel {
    std::uint64_t after = 0;  ///< of `order`, how many had come
    std::string reason;
    friend bool operator==(const Cancel&, const Cancel&) = default;
  };
  std::optional<Cancel> cancel;
  std::optional<bytecode::Bounds> bounds;  ///< of the whole run, where they are not the defaults
  std::vector<std::string> order;          ///< names of calls, once for each outcome, in the order in which those came
  std::vector<vm::Usage> usage;            ///< as many as `order`
  bool is_stopped = false;                 ///< the runtime ended the run, not the program: a cancel, spent memory
  bool keeps_state = false;  ///< a failed turn of an older journal: its changes stay, and so does its agent
  friend bool operator==(const Control&, const Control&) = default;
  [[nodiscard]] bool is_empty() const { return *this == Control{}; }
};

/// The forms that artifacts are written in. Their numbers are on record: a form is never changed.
enum class Form : std::uint8_t {
  /// Every column that a program could have, and no emitted text.
  First = 1,
  /// The first one of a conversation whose program was upgraded.
  SeveralPrograms = 2,
  /// The columns of what the program can call; what agents have emitted is part of what a cycle has given.
  Said = 3,
  /// The columns of what a run that begins as this one can call.
  Reachable = 4,
};
inline constexpr Form newest_form = Form::Reachable;

/// An entry of h: what came in and what went out. A run of a function is one cycle, each turn of a conversation is one.
struct Cycle {
  std::string function;   ///< empty in a conversation
  std::string arguments;  ///< of the function: an array of values, null for a fresh Context
  std::string agent;      ///< of a conversation
  std::string input;      ///< of a turn: as it was said
  /// Which program, from 0: one more than in the cycle before where a newer one has taken over.
  std::uint32_t program = 0;
  CallResult result;  ///< never `Discarded`
  /// What agents have emitted on the way, in the order of the program: JSON texts. Not of the first forms.
  std::vector<std::string> said;
  Control control;
  friend bool operator==(const Cycle&, const Cycle&) = default;
};

/// One entry of a context; `parent` is zero in the first.
struct ContextEntry {
  Hash parent;
  std::uint8_t role = 0;
  std::string text;
  friend bool operator==(const ContextEntry&, const ContextEntry&) = default;
};

struct Artifacts {
  Form form = newest_form;
  std::vector<Tool> tools;                 ///< T_1 … T_n
  std::vector<Cycle> h;                    ///< k cycles
  std::vector<Query> q;                    ///< of all cycles, m_1 + … + m_k
  std::vector<std::vector<Choice>> sigma;  ///< k rows of m_i; padding is implied
  std::vector<CallResult> r;               ///< as many as q
  std::map<Hash, ContextEntry> contexts;   ///< all that q refers to, and what these refer to
  friend bool operator==(const Artifacts&, const Artifacts&) = default;
};

/// Where a run has the outcomes in its journal: numbers of records, 0 where there is none.
struct RecordNumbers {
  std::vector<std::uint64_t> calls;   ///< of each call in q: the record of its last outcome
  std::vector<std::uint64_t> cycles;  ///< of each cycle in h: the record of its end
};

/// What the values of a call depend on, as vm::LabelTable::describe names it; empty: the program's own text.
struct CallOrigin {
  std::string arguments;  ///< with what a model saw
  std::string result;     ///< without a failure
};

/// The types of a call's values, in the program that made it.
struct CallTypes {
  const std::vector<types::TypeId>* parameters = nullptr;  ///< null: not known, as is a result without a type
  std::optional<types::TypeId> result = std::nullopt;
};

/// With what the values of a recorded run are shown as people write them, instead of in the form that is on record.
struct ValueTypes {
  /// That `calls` and `cycles` refer to: of each cycle.
  std::vector<std::shared_ptr<const runtime::ProgramImage>> programs;
  std::vector<CallTypes> calls;   ///< of each call in q
  std::vector<CallTypes> cycles;  ///< of each cycle in h
};

/// A run rebuilt: its artifacts, and what happened in the order of the program, each event RFC 8785 JSON
/// (docs/internals/algebra.md).
struct Interaction {
  Artifacts artifacts;
  std::vector<std::string> events;
  // Of a recorded run; empty where it was rebuilt from artifacts alone.
  RecordNumbers records = {};
  std::vector<CallOrigin> origins = {};  ///< of each call in q
  ValueTypes types = {};
  /// Without these three, which say where the run is and how it is shown, not what it did.
  friend bool operator==(const Interaction& left, const Interaction& right) {
    return left.artifacts == right.artifacts && left.events == right.events;
  }
};

struct AlgebraError {
  std::string message;    ///< for people, may have several lines
  std::size_t cycle = 0;  ///< of a run that cannot be rebuilt: where, from 0
};

/// Whether the call named `a` comes before the one named `b`.
[[nodiscard]] bool precedes(std::string_view a, std::string_view b);

}  // namespace tenon::algebra
