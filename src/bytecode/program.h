#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "bytecode/bounds.h"
#include "bytecode/instructions.h"
#include "json/message_version.h"
#include "types/extern_calls.h"
#include "types/table/type_table.h"

namespace tenon::bytecode {

/// The version of the encoding. Raised when its meaning changes; programs of older versions can always be read.
inline constexpr std::uint32_t program_format = 1;

inline constexpr std::uint32_t registers_per_function_max = 65'000;

using Constant = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

/// A place in a source file. Line and column count from 1; columns are code points.
struct Place {
  std::uint32_t file = 0;  ///< index into Program::sources
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  friend bool operator==(const Place&, const Place&) = default;
};

/// While `begin <= pc < end`, a failure continues at `target` with the Failure in register `failure`.
/// Handlers are in order, the innermost first.
struct Handler {
  std::uint32_t begin = 0, end = 0, target = 0;
  std::uint16_t failure = 0;
  std::uint16_t budget_depth = 0;  ///< how many budgets of this frame are open at the handler
  friend bool operator==(const Handler&, const Handler&) = default;
};

/// The block of a `finally`. While `begin <= pc <= block`, a failure, and the end of a cancelled run, continue at
/// `block`, which is a BeginCleanup, with what it was in register `kept`; `kept` holds () when control comes there by
/// itself. The block ends at `end`, which is its EndCleanup: what fails in between replaces nothing that is kept. The
/// innermost is first.
///
/// A `shield` block has one too, with `begin == block`, which loads () into `kept`, and `end`, its EndShield: nothing
/// continues there, and `kept` gets the cancellation that comes in between.
struct FinallyHandler {
  std::uint32_t begin = 0, block = 0, end = 0;
  std::uint16_t kept = 0;
  std::uint16_t budget_depth = 0;  ///< how many budgets of this frame are open before the block
  friend bool operator==(const FinallyHandler&, const FinallyHandler&) = default;
};

/// Where the code from `pc` on comes from, up to the next entry.
struct LineEntry {
  std::uint32_t pc = 0;
  Place place;
  friend bool operator==(const LineEntry&, const LineEntry&) = default;
};

inline constexpr std::uint16_t no_register = UINT16_MAX;

/// A variable of a function's text, for a person who looks at a run: in code from `begin` to before `end`, the register
/// has its value. Nothing is executed by it.
struct VariableName {
  std::string name;
  std::uint16_t at = 0;  ///< the register
  std::uint32_t begin = 0, end = 0;
  friend bool operator==(const VariableName&, const VariableName&) = default;
};

struct Function {
  std::uint32_t agent = UINT32_MAX;  ///< whose function it is: index into Program::agents; none for most
  bool is_agent_run = false;         ///< it runs one turn of a new agent: what it calls is one level deeper
  std::string name;                  ///< with its type arguments: `extract<Invoice>`
  std::string documentation;
  Place place;
  std::vector<std::string> parameter_names;
  std::vector<types::TypeId> parameters;  ///< in registers 0 … n-1
  types::TypeId result;
  std::uint16_t register_count = 0;
  std::uint16_t context_register = no_register;  ///< its own context: the first Context parameter
  std::vector<Instruction> code;
  std::vector<Handler> handlers;
  std::vector<FinallyHandler> finally_handlers;
  std::vector<LineEntry> lines;
  /// Doc comments of the parameters: one text each, or none if no parameter has one.
  std::vector<std::string> parameter_documentation = {};
  /// The doc comment of the name that the result's type is written with; none in older programs.
  std::string result_documentation = {};
  /// Without parameters, except for those that have another register; none in older programs.
  std::vector<VariableName> variables = {};
};

/// Whether it is that of a `shield` block.
[[nodiscard]] inline bool is_shield(const Function& function, const FinallyHandler& cleanup) {
  return cleanup.end < function.code.size() &&
         function.code[cleanup.end].opcode == static_cast<std::uint16_t>(Opcode::EndShield);
}

inline constexpr std::uint32_t no_function = UINT32_MAX;

/// An agent: functions that work on one state, a record, which lives with the conversation.
struct Agent {
  std::string name;
  std::string documentation;
  Place place;
  types::TypeId state;
  std::vector<std::string> added_entries;     ///< of the state (types/checked_program.h): its last ones
  std::uint32_t turn = no_function;           ///< (Context, input) -> value
  std::uint32_t initial_state = no_function;  ///< () -> state
  std::uint32_t instructions = no_function;   ///< (Context) -> String; none: no instructions
  std::uint32_t run = no_function;            ///< (input) -> value: one turn of a new agent; none in older programs
  std::uint32_t take_over = no_function;      ///< (Context, input) -> value: the rest of another one's turn; likewise
};

/// Whose words an entry of a context is. The numbers are part of the snapshot's format and of the journal's.
enum class EntryRole : std::uint8_t {
  Data = 0,          ///< program text and data: what an injection adds
  Instructions = 1,  ///< of an agent: the system message
  Person = 2,        ///< what a person has said
  Assistant = 3,     ///< what was answered or asked
  Requirement = 4,   ///< what the answer must satisfy; sent through the prompt template `ensures`
  /// Why an answer is refused; sent through the prompt template `refused`. An empty one begins each refusal.
  Refusal = 5,
};
inline constexpr std::uint8_t entry_role_count = 6;

inline constexpr std::uint32_t no_extern = UINT32_MAX;

struct Extern {
  types::BuiltinEffect builtin_effect = types::BuiltinEffect::Native;  ///< who performs it
  std::string name;
  std::string documentation;
  Place place;
  std::vector<std::string> parameter_names;
  std::vector<types::TypeId> parameters;
  types::TypeId result;
  types::ExternCallOptions call_options;  ///< of a native one
  /// Doc comments of the parameters: one text each, or none if no parameter has one.
  std::vector<std::string> parameter_documentation = {};
  /// Parameters whose arguments must come from what is trusted, as must the decision to call it; ascending.
  std::vector<std::uint16_t> trusted_parameters = {};
  /// `-> trusted T`: the program vouches for the whole result, not only for fields that say it (types::Field).
  bool is_vouched = false;
  /// `else approve`: the extern with which a person is asked when a call would be refused; it takes and returns a
  /// record of the arguments. None: no_extern.
  std::uint32_t approval = no_extern;
};

/// Whether a call of it is made only if what is trusted decides it.
[[nodiscard]] inline bool acts(const Extern& callee) {
  return callee.call_options.acts || !callee.trusted_parameters.empty();
}

/// What the model supplies at one place of the program.
enum class SiteKind : std::uint8_t { Completion = 0, Fill = 1, Select = 2 };

/// What a program requests: an answer of a model at a site, or the call of an extern. The numbers are part of the
/// program's format; those of a model's are the same as of SiteKind.
enum class RequestKind : std::uint8_t { Complete = 0, Fill = 1, Select = 2, Extern = 3 };

/// A call with missing arguments, as the model sees it.
struct CallShape {
  std::string name;
  std::string documentation;
  std::string signature;                     ///< as declared, the Context left out: `add(x: i32, y: i32) -> i32`
  std::vector<std::string> parameter_names;  ///< all, in order, Context parameters included
  std::vector<types::TypeId> parameters;
  std::vector<std::uint16_t> holes;  ///< indices of the missing ones, ascending
  /// By parameter: the code of a given argument, on one line; empty for a hole and a Context. Not of older programs.
  std::vector<std::string> given = {};
  /// Doc comments of the parameters: one text each, or none if no parameter has one.
  std::vector<std::string> parameter_documentation = {};
};

struct Clause {
  CallShape call;
  std::string binding;   ///< the name after `as`, or empty
  bool is_else = false;  ///< `else => …`: no call
  bool is_set = false;   ///< `..tools => …`: no call, but those of a set
};

/// After the clause's index, an answer that chooses a tool of a set has: the tool's record, the list of its missing
/// arguments, its name, and these arguments as JSON.
inline constexpr std::size_t chosen_tool_values = 4;

/// An entry of `tools { … }`. A set of tools is a List with a Record of the type `record` for each: field 0 is the
/// index into Program::tools, then come the given arguments.
struct Tool {
  CallShape call;                    ///< what the model sees, and which arguments it gives
  std::vector<std::uint16_t> given;  ///< indices of the parameters that the program gives, ascending
  std::uint32_t function = 0;        ///< calls it: (given and missing arguments) -> Result of a text
  types::TypeId record;
  Place place;
  /// Calls it likewise, for a result that is cut by trust: -> Result of a list of texts. None in a program without
  /// CallToolInParts.
  std::uint32_t function_in_parts = no_function;
};

struct Site {
  SiteKind kind = SiteKind::Completion;
  Place place;
  std::uint32_t function = 0;   ///< the function that contains it, and whose context is sent
  types::TypeId result;         ///< Completion: the type of the value
  CallShape call;               ///< Fill
  std::vector<Clause> clauses;  ///< Select
  /// Completion: a function of the enclosing one's arguments and the beginning of an answer; false: no answer that
  /// begins so satisfies the contract. None: nothing is known before the end.
  std::uint32_t guard = no_function;
  /// Completion: the answer is only an attempt. It becomes the function's value if its contract holds and, where there
  /// are several samples, if it is the one that is chosen.
  bool is_attempt = false;
  /// Select: the answer's schema omits fields that carry no information. False in older programs: their recorded
  /// requests are identified by the longer schema.
  bool is_short = false;
  bool is_judge = false;    ///< Completion: it judges what a contract says in words, and may have a model of its own
  bool is_sampled = false;  ///< each request of it is to have an answer of its own, though the prompt is the same
  /// Completion: the answer is trusted, whatever the model saw, for so many bits; types::information_of its type.
  std::optional<std::uint32_t> narrow_bits = std::nullopt;
};

struct JumpTable {
  std::vector<std::uint32_t> targets;  ///< absolute, within the function
  std::uint32_t otherwise = 0;
};

/// One `budget(…)`.
struct Budget {
  Place place;
  Bounds bounds;
};

struct SourceText {
  std::string path;  ///< as failures name it
  std::string text;
};

/// Of a scripted answer: any value of an argument.
inline constexpr std::string_view any_argument = "_";

/// One line of a test's `model { … }`, `extern { … }` or `person { … }`.
struct ScriptedAnswer {
  RequestKind kind = RequestKind::Complete;
  std::string callee;  ///< the function that is completed, filled, chosen or called
  std::string answer;  ///< JSON: the value; for Fill and Select the array of the missing arguments
  bool fails = false;  ///< `fail("…")`: then `answer` is the message, plain
  std::optional<Place> place = std::nullopt;  ///< absent in older programs
  std::vector<std::string> contained = {};    ///< it answers what contains all these texts: a prompt, or a question
  /// Extern: it answers calls with these arguments, as JSON or any_argument; empty: all calls.
  std::vector<std::string> arguments = {};
};

struct TestCase {
  std::string name;
  Place place;
  std::uint32_t function = 0;
  std::vector<ScriptedAnswer> answers;
};

/// A compiled program: all that a run needs, sources of diagnostics included. Immutable and shared by its runs.
struct Program {
  std::vector<SourceText> sources;
  types::TypeTable types;
  std::vector<Constant> constants;
  std::vector<Function> functions;
  std::vector<Extern> externs;
  std::vector<Site> sites;
  std::vector<JumpTable> jump_tables;
  std::vector<Budget> budgets;
  std::vector<TestCase> tests;
  std::vector<Agent> agents;
  std::vector<Tool> tools;
  MessageVersion messages = newest_messages;  ///< that its runs and their models see; the first one in older programs
  /// A cancelled branch waits for its call in progress if that is made at most once; in older programs it does not.
  bool awaits_once_calls = true;
  bool trusts_person = false;  ///< what a person says is as good as the program's own text
};

}  // namespace tenon::bytecode
