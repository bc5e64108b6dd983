#pragma once

// All diagnostics. A code is unique forever, even after its diagnostic is removed, and has a page in docs/diagnostics
// (`tenon explain E1101`); a test checks that the page exists. 1000: characters and tokens. 1100: grammar. 2000: names.
// 2100: types. 2200: context, holes, select, contracts and blocks. 2300: modules and tests. 2400: limits of a program.
// 3000: warnings. 4000: native code.

#include <string>
#include <string_view>

#include "diagnostics/diagnostic.h"

namespace tenon::diagnostics {

inline constexpr Severity error = Severity::Error;
inline constexpr Severity warning = Severity::Warning;
inline constexpr Severity note = Severity::Note;

// Characters and tokens
inline constexpr DiagnosticKind<std::string, std::size_t, std::size_t> SourceTooLarge{
    {1001, error}, "`{}` is too large: {} bytes (maximum {})"};
inline constexpr DiagnosticKind<unsigned char> NotUtf8{{1002, error},
                                                       "unexpected byte 0x{:02X}: source files must be UTF-8 text"};
inline constexpr DiagnosticKind<std::string> UnknownCharacter{{1003, error}, "unexpected character `{}`"};
inline constexpr DiagnosticKind<> UnterminatedString{{1004, error}, "unterminated string literal"};
inline constexpr DiagnosticKind<> UnterminatedTemplate{{1005, error}, "unclosed template expression: missing `}}}}`"};
inline constexpr DiagnosticKind<> UnterminatedComment{{1006, error}, "unterminated block comment"};
inline constexpr DiagnosticKind<std::string> UnknownEscape{{1007, error}, "unknown escape sequence `{}`"};
inline constexpr DiagnosticKind<std::string> MalformedNumber{{1008, error}, "invalid number literal `{}`"};

// Grammar
inline constexpr DiagnosticKind<std::string_view, std::string_view> Expected{{1101, error}, "expected {1}, found {0}"};
inline constexpr DiagnosticKind<std::size_t> NestedTooDeeply{
    {1102, error}, "nesting exceeds {} levels; the rest of the file was not parsed"};
inline constexpr DiagnosticKind<std::string_view> ChainTooLong{
    {1102, error}, "chain of {} is too long; the rest of the file was not parsed"};
inline constexpr DiagnosticKind<> ChainedComparison{{1103, error}, "comparison operators cannot be chained"};
inline constexpr DiagnosticKind<> InjectionInside{
    {1104, error}, "an injection (`…!`) has no value and cannot be part of an expression"};
inline constexpr DiagnosticKind<std::string_view> NotAssignable{{1105, error}, "cannot assign to {}"};
inline constexpr DiagnosticKind<> StatementsOnOneLine{{1106, error},
                                                      "statements on the same line must be separated by `;`"};
inline constexpr DiagnosticKind<std::string> NestedItem{
    {1107, error}, "expected a statement, found {}: declarations are not allowed inside functions"};
inline constexpr DiagnosticKind<std::string_view> UnclosedSection{{1108, error},
                                                                  "unclosed `{{{{ {} … }}}}`: missing `{{{{ end }}}}`"};
inline constexpr DiagnosticKind<> StrayElse{{1109, error}, "`{{{{ else }}}}` without a matching `{{{{ if … }}}}`"};
inline constexpr DiagnosticKind<std::string_view> UnmatchedBracket{{1110, error}, "unexpected closing bracket {}"};

// Names
inline constexpr DiagnosticKind<std::string> UnknownName{{2001, error}, "cannot find `{}` in this scope"};
inline constexpr DiagnosticKind<std::string> DeclaredTwice{{2002, error}, "`{}` is declared more than once"};
inline constexpr DiagnosticKind<std::string> UnknownType{{2003, error}, "cannot find type `{}`"};
inline constexpr DiagnosticKind<std::string, std::string> UnknownField{{2004, error}, "`{}` has no field `{}`"};
inline constexpr DiagnosticKind<std::string, std::string> UnknownMethod{{2005, error}, "`{}` has no method `{}`"};
inline constexpr DiagnosticKind<std::string, std::string> UnknownCase{{2006, error}, "`{}` has no case `{}`"};
inline constexpr DiagnosticKind<std::string> UnknownModule{{2007, error}, "cannot find module `{}`"};
inline constexpr DiagnosticKind<std::string, std::string> NotInModule{{2008, error}, "module `{}` has no item `{}`"};
inline constexpr DiagnosticKind<std::string, std::string> UnreadableFile{{2009, error}, "cannot read `{}`: {}"};
inline constexpr DiagnosticKind<std::string> TextType{{2010, note}, "`{}` is not declared; treating it as a text type"};
inline constexpr DiagnosticKind<std::string> UndeclaredTextType{
    {2011, error}, "`{}` is not declared, and `--strict` does not allow implicit text types"};
inline constexpr DiagnosticKind<std::string> NotAFunction{{2012, error}, "`{}` is not a function"};
inline constexpr DiagnosticKind<std::string> NotAValue{{2013, error}, "`{}` is not a value"};
inline constexpr DiagnosticKind<std::string> NotAStruct{{2014, error}, "`{}` is not a struct"};

// Types
inline constexpr DiagnosticKind<std::string, std::string> TypeMismatch{{2101, error},
                                                                       "mismatched types: expected `{1}`, found `{0}`"};
inline constexpr DiagnosticKind<std::string, std::string, std::string> ArgumentCount{{2102, error},
                                                                                     "`{}` takes {}, but {} given"};
inline constexpr DiagnosticKind<std::string, std::string> ReturnMismatch{
    {2104, error}, "mismatched return type: expected `{1}`, found `{0}`"};
inline constexpr DiagnosticKind<std::string, std::string, std::string> OperatorTypes{
    {2105, error}, "cannot apply `{}` to `{}` and `{}`"};
inline constexpr DiagnosticKind<std::string> ConditionNotBoolean{{2106, error},
                                                                 "expected a `Boolean` condition, found `{}`"};
inline constexpr DiagnosticKind<std::string, std::string> MissingReturnValue{
    {2107, error}, "`{}` must return `{}`, but its body ends without a value"};
inline constexpr DiagnosticKind<std::string, std::string> BranchesDiffer{
    {2108, error}, "branches have incompatible types: expected `{1}`, found `{0}`"};
inline constexpr DiagnosticKind<std::string> NotExhaustive{{2109, error}, "non-exhaustive patterns: {} not covered"};
inline constexpr DiagnosticKind<std::string, std::string> MissingField{{2110, error}, "missing field `{1}` in `{0}`"};
inline constexpr DiagnosticKind<std::string> SpecifiedTwice{{2111, error}, "`{}` is specified more than once"};
inline constexpr DiagnosticKind<std::string> CannotInferType{{2112, error}, "cannot infer the type of {}"};
inline constexpr DiagnosticKind<std::string, std::string> NumberOutOfRange{{2113, error},
                                                                           "literal `{}` is out of range for `{}`"};
inline constexpr DiagnosticKind<std::string, std::string> LiteralNotInType{{2114, error}, "{} is not a value of `{}`"};
inline constexpr DiagnosticKind<std::string, std::string> PatternMismatch{
    {2115, error}, "mismatched types: a pattern for {} cannot match a value of type `{}`"};
inline constexpr DiagnosticKind<std::string> InvalidRegularExpression{{2116, error}, "invalid regular expression: {}"};
inline constexpr DiagnosticKind<> EmptyRange{{2117, error}, "empty range: no number satisfies this constraint"};
inline constexpr DiagnosticKind<std::string> NotIndexable{{2118, error}, "cannot index into a value of type `{}`"};
inline constexpr DiagnosticKind<std::string> NotIterable{{2119, error}, "`{}` is not iterable"};
inline constexpr DiagnosticKind<std::string, std::string> InvalidCast{{2120, error}, "cannot cast `{}` to `{}`"};
inline constexpr DiagnosticKind<std::string> RecursiveType{{2121, error}, "recursive type `{}` has infinite size"};
inline constexpr DiagnosticKind<std::string, std::string, std::string> TypeArgumentCount{{2122, error},
                                                                                         "`{}` takes {}, but {} given"};
inline constexpr DiagnosticKind<std::string> OutsideLoop{{2125, error}, "`{}` outside of a loop"};
inline constexpr DiagnosticKind<> MisplacedClosure{
    {2126, error}, "closures are only allowed as arguments of built-in methods such as `map`"};
inline constexpr DiagnosticKind<std::string> ContextNotAllowed{{2127, error}, "a `Context` cannot be {}"};
inline constexpr DiagnosticKind<std::string> ParameterTypeMissing{{2128, error},
                                                                  "parameter `{}` must have a name and a type"};
inline constexpr DiagnosticKind<std::string> SelfInAgent{
    {2128, error}, "`self` cannot be a parameter of a function of agent `{}`"};
inline constexpr DiagnosticKind<> SelfNotFirst{{2128, error}, "`self` must be the first parameter"};
inline constexpr DiagnosticKind<std::string> OptionalAccess{{2129, error}, "`?.` requires an `Option`, found `{}`"};
inline constexpr DiagnosticKind<std::string> InconsistentBinding{{2130, error},
                                                                 "variable `{}` is not bound in every alternative"};
inline constexpr DiagnosticKind<std::string> MissingElse{{2131, error},
                                                         "`if` without `else` cannot be used as a value of type `{}`"};
inline constexpr DiagnosticKind<std::string> NotRepresentableInJson{{2132, error},
                                                                    "type `{}` cannot be represented in JSON"};
inline constexpr DiagnosticKind<std::string, std::string> CaseWithoutEnum{
    {2134, error}, "`{}` is a new variable that matches every value, not the case `{}`"};
inline constexpr DiagnosticKind<std::string, std::size_t> TypeTooLarge{
    {2123, error}, "type `{}` is too large: it consists of more than {} types"};
inline constexpr DiagnosticKind<> MisplacedRange{{2133, error}, "a range can only be used after `in` in a `for` loop"};
inline constexpr DiagnosticKind<> ValueExpected{{2135, error}, "expected a value, found `()`"};
inline constexpr DiagnosticKind<std::string> ClosureExpected{{2136, error},
                                                             "expected a closure such as `|x| …`, found `{}`"};
inline constexpr DiagnosticKind<std::string, std::size_t> ClosureParameterCount{
    {2137, error}, "expected a closure with {}, found one with {}"};
inline constexpr DiagnosticKind<std::string, std::string> UnaryOperatorType{{2138, error},
                                                                            "cannot apply unary `{}` to `{}`"};
inline constexpr DiagnosticKind<std::string> FallbackWithoutOption{{2139, error},
                                                                   "`??` requires an `Option` on its left, found `{}`"};
inline constexpr DiagnosticKind<> TemplateInType{{2140, error},
                                                 "a literal in a type cannot contain a template expression"};
inline constexpr DiagnosticKind<> MixedUnion{{2141, error}, "a union cannot mix texts and integers"};
inline constexpr DiagnosticKind<std::string_view, std::string_view, std::string_view> ConstraintRangeExpected{
    {2142, error}, "`{}` requires a range of {}, such as `{}`"};
inline constexpr DiagnosticKind<std::string_view, std::string_view, std::string> ConstraintNotApplicable{
    {2143, error}, "`{}` only applies to {}, found `{}`"};
inline constexpr DiagnosticKind<> FloatBound{{2144, error}, "the bounds of an integer type must be integers"};

inline constexpr DiagnosticKind<std::string, std::string> SecretShown{{2170, error}, "a `{}` cannot be {}"};
inline constexpr DiagnosticKind<std::string> SecretNotPossible{{2171, error}, "type `{}` cannot be secret"};

// Context, holes, select, branches
inline constexpr DiagnosticKind<std::string> HoleWithoutContext{{2201, error},
                                                                "`_` requires a context, but {} has none"};
inline constexpr DiagnosticKind<std::string, std::string> HoleTypeNotSupported{
    {2202, error}, "the model cannot supply {}: it cannot produce a value of type `{}`"};
inline constexpr DiagnosticKind<> MisplacedHole{{2203, error}, "`_` can only be used as a whole argument of a call"};
inline constexpr DiagnosticKind<std::string> SelectWithoutContext{{2204, error},
                                                                  "`select` requires a context, but {} has none"};
inline constexpr DiagnosticKind<std::string> InjectWithoutContext{{2205, error},
                                                                  "`!` requires a context, but {} has none"};
inline constexpr DiagnosticKind<> ClauseNotCall{{2206, error}, "a `select` clause must start with a function call"};
inline constexpr DiagnosticKind<> ElseNotLast{{2239, error}, "`else` must be the last clause of a `select`"};
inline constexpr DiagnosticKind<std::string> AssignmentInBranch{{2207, error},
                                                                "cannot assign to `{}` from a parallel branch"};
inline constexpr DiagnosticKind<std::string> JumpOutOfBranch{{2208, error}, "cannot `{}` out of a parallel branch"};
inline constexpr DiagnosticKind<> ReturnInClosure{{2240, error}, "cannot `return` from a closure"};
inline constexpr DiagnosticKind<std::string, std::string> AnswerTypeNotSupported{
    {2209, error}, "the model cannot complete `{}`: it cannot produce a value of type `{}`"};
inline constexpr DiagnosticKind<std::string, std::string> AskTypeNotSupported{
    {2241, error}, "`{}` cannot return an answer of type `{}`"};
inline constexpr DiagnosticKind<std::string> UnknownBudget{{2210, error}, "unknown budget `{}`"};
inline constexpr DiagnosticKind<> BudgetWithoutCall{{2211, error}, "`budget(…)` must follow a call"};
inline constexpr DiagnosticKind<> MissingTimeUnit{{2212, error}, "`time` requires a unit: `ms`, `s`, `m`, `h` or `d`"};
inline constexpr DiagnosticKind<> SecondBudget{{2242, error}, "more than one budget"};
inline constexpr DiagnosticKind<> BudgetNotConstant{{2243, error}, "a budget must be a constant number"};
inline constexpr DiagnosticKind<std::string> UnitNotAllowed{{2244, error}, "`{}` does not take a unit"};
inline constexpr DiagnosticKind<> CostBudget{{2219, error},
                                             "a budget cannot limit the cost: the prices of models are not known"};
inline constexpr DiagnosticKind<std::string, std::size_t, std::string> SelectTooLarge{{2213, error},
                                                                                      "a `{}` can have at most {} {}"};

inline constexpr DiagnosticKind<std::string> MissingTurn{{2214, error}, "agent `{}` has no `turn` function"};
inline constexpr DiagnosticKind<std::string, std::string> DuplicateSection{{2280, error},
                                                                           "agent `{}` has more than one `{}` section"};
inline constexpr DiagnosticKind<std::string> TurnParameters{
    {2281, error}, "the `turn` function of agent `{}` must have the parameters `ctx: Context` and `input`"};
inline constexpr DiagnosticKind<std::string, std::string_view> ReservedAgentFunction{
    {2282, error}, "agent `{}` cannot declare a function named `{}`"};
inline constexpr DiagnosticKind<std::string, std::string> MigrationSignature{
    {2283, error}, "`{}` of agent `{}` must convert the old state to the new one"};
inline constexpr DiagnosticKind<std::string> InstructionsModifyState{
    {2284, error}, "the instructions of agent `{}` cannot modify its state"};
inline constexpr DiagnosticKind<std::string, std::string> PrivateAgentFunction{
    {2215, error}, "`{}` uses the state of agent `{}` and can only be called by the agent's own functions"};

inline constexpr DiagnosticKind<std::string> MisplacedHandoff{{2216, error}, "cannot hand off to `{}` here"};
inline constexpr DiagnosticKind<std::string> JumpOutOfFinally{{2218, error}, "cannot `{}` out of a `finally` block"};
inline constexpr DiagnosticKind<std::string> NotificationByModel{
    {2217, error}, "`{}` reports progress and cannot be called by a model"};

// `pursue`
inline constexpr DiagnosticKind<> PursueWithoutActions{{2225, error}, "`pursue` has no actions"};
inline constexpr DiagnosticKind<std::string> DuplicateAction{{2249, error}, "two actions are named `{}`"};
inline constexpr DiagnosticKind<std::string> GoalTypeNotReturned{{2250, error},
                                                                 "no action returns a value of the goal type `{}`"};
inline constexpr DiagnosticKind<> ActionNotCall{{2251, error}, "an action must be a call of a function or an extern"};
inline constexpr DiagnosticKind<> ActionHoleCount{{2252, error},
                                                  "an action must have exactly one `_`, which receives the state"};
inline constexpr DiagnosticKind<std::string> PursueWithoutContext{{2253, error},
                                                                  "`pursue` requires a context, but {} has none"};

// Contracts and strategies
inline constexpr DiagnosticKind<std::string> ContractType{
    {2220, error}, "a contract must be a `Boolean` or a text literal, found `{}`"};
inline constexpr DiagnosticKind<std::string> ContractSideEffect{
    {2221, error}, "contracts must not have side effects: {} is not allowed"};
inline constexpr DiagnosticKind<> MissingStrategy{{2222, error}, "missing strategy"};
inline constexpr DiagnosticKind<> SecondStrategy{{2245, error}, "more than one strategy"};
inline constexpr DiagnosticKind<std::string> UnknownStrategy{{2246, error}, "unknown strategy `{}`"};
inline constexpr DiagnosticKind<std::string, std::uint64_t, std::uint64_t> InvalidStrategyCount{
    {2247, error}, "`{}` requires a constant number from {} to {}"};
inline constexpr DiagnosticKind<std::string> StrategyWithoutContract{
    {2248, error}, "`strategy(…)` has no effect: `{}` has no `ensures` or `check` that could reject an answer"};
inline constexpr DiagnosticKind<> StrategyWithoutCall{{2223, error},
                                                      "`strategy(…)` must follow a call of a function of the program"};
inline constexpr DiagnosticKind<std::string> StrategyWithoutModel{
    {2224, error}, "`strategy(…)` has no effect: no model completes `{}`"};
inline constexpr DiagnosticKind<> TextContractWithAs{{2227, error},
                                                     "a text contract cannot have a second text after `as`"};
inline constexpr DiagnosticKind<> ResultNameConflict{
    {2228, error}, "`result` refers to the return value here, but the function has a parameter of that name"};
inline constexpr DiagnosticKind<std::string, std::string> UnusablePlan{{2226, error}, "cannot use the plan `{}`: {}"};

// Blocks
inline constexpr DiagnosticKind<std::string> TurnAndBlocks{{2285, error},
                                                           "agent `{}` has both blocks and a `turn` function"};
inline constexpr DiagnosticKind<std::string> ReservedInBlocks{{2286, error},
                                                              "the name `{}` is reserved in an agent with blocks"};
inline constexpr DiagnosticKind<std::string> AgentWithoutBlocks{{2287, error}, "agent `{}` has no blocks"};
inline constexpr DiagnosticKind<std::string> UnknownNextTurn{{2288, error}, "unknown `next_turn` mode `{}`"};
inline constexpr DiagnosticKind<std::string> UnknownBlockKind{{2230, error}, "unknown block kind `{}`"};
inline constexpr DiagnosticKind<std::string> UnknownBlock{{2231, error}, "cannot find block `{}`"};
inline constexpr DiagnosticKind<std::string> UnreachableBlock{{2232, error}, "unreachable block `{}`"};
inline constexpr DiagnosticKind<std::string> NothingToResume{
    {2233, error}, "`next_turn {}` requires a block in which a turn can be resumed"};
inline constexpr DiagnosticKind<std::string, std::string> UnknownBlockOption{{2234, error},
                                                                             "`{}` blocks have no option `{}`"};
inline constexpr DiagnosticKind<std::string, std::string> MissingBlockOption{{2255, error},
                                                                             "`{}` blocks require the option `{}`"};
inline constexpr DiagnosticKind<std::string, std::string> MissingBlockPart{{2256, error}, "`{}` blocks require {}"};
inline constexpr DiagnosticKind<std::string, std::string> BlockPartNotAllowed{{2257, error},
                                                                              "`{}` blocks cannot have {}"};
inline constexpr DiagnosticKind<std::string> EmptyBlockText{{2258, error}, "{} is empty"};
inline constexpr DiagnosticKind<std::string, int> OptionTooSmall{{2259, error}, "`{}` must be at least {}"};
inline constexpr DiagnosticKind<std::string, std::string> InvalidOptionValue{{2260, error}, "`{}` must be {}"};
inline constexpr DiagnosticKind<std::string, std::string> OptionWithoutEffect{{2261, error},
                                                                              "`{}` has no effect in mode `{}`"};
inline constexpr DiagnosticKind<> TransitionAfterElse{{2262, error},
                                                      "unreachable edge: `on` and `else` must come last"};
inline constexpr DiagnosticKind<std::string> DuplicateTarget{{2263, error}, "target `{}` is described more than once"};
inline constexpr DiagnosticKind<> OnWithDescribedTargets{{2264, error},
                                                         "`on` cannot be combined with described targets"};
inline constexpr DiagnosticKind<> RouteWithNext{{2265, error}, "`route` blocks cannot end with `-> …`"};
inline constexpr DiagnosticKind<std::string> UnknownCalledTool{{2266, error},
                                                               "the model has no tool `{}` in this block"};
inline constexpr DiagnosticKind<> IntoNotField{{2267, error}, "`into` must name a field of `state` or `scratchpad`"};
inline constexpr DiagnosticKind<> IntoPartOfField{{2268, error}, "`into` must name a whole field here"};
inline constexpr DiagnosticKind<std::string, std::string> OptionRequiresOption{{2269, error}, "`{}` requires `{}`"};
inline constexpr DiagnosticKind<std::string> FieldListExpected{
    {2270, error}, "`{}` must be a list of fields, such as `[state.customer]`"};
inline constexpr DiagnosticKind<> AfterHandoff{{2272, error}, "nothing can follow a handoff"};
inline constexpr DiagnosticKind<std::string> BlockCallExpected{{2273, error},
                                                               "`{}` blocks must call exactly one function or extern"};
inline constexpr DiagnosticKind<> ToolCallWithoutHole{
    {2274, error}, "`tool_call` blocks require at least one argument `_` for the model"};
inline constexpr DiagnosticKind<> HoleInCallBlock{{2275, error},
                                                  "`_` is not allowed in `call` blocks, which do not ask a model"};
inline constexpr DiagnosticKind<std::string> GatherIntoNonList{{2276, error}, "`{}` must be a `List` to gather values"};
inline constexpr DiagnosticKind<> ReturnInTurnSection{{2277, error},
                                                      "`return` is not allowed in `pre_turn` and `post_turn`"};
inline constexpr DiagnosticKind<std::string, std::string> BlockNotAllowedInside{
    {2278, error}, "`{}` blocks are not allowed inside {}"};
inline constexpr DiagnosticKind<std::string> NestedHandoff{{2279, error}, "a handoff is not allowed inside {}"};
inline constexpr DiagnosticKind<std::string, std::string> ConflictingWrite{{2235, error},
                                                                           "cannot write to `{}` here: {}"};
inline constexpr DiagnosticKind<std::string, std::string> BlockInOtherSequence{{2236, error},
                                                                               "block `{}` is not part of {}"};
inline constexpr DiagnosticKind<std::string> RouteWithoutDefault{{2290, error}, "`{}` has no default edge"};
inline constexpr DiagnosticKind<std::string, std::string> ReservedToolName{{2291, error},
                                                                           "the tool name `{}` is reserved for {}"};
inline constexpr DiagnosticKind<> EmptySelect{{2237, error}, "`select` has no clauses"};
inline constexpr DiagnosticKind<> EmptyContractText{{2238, error}, "empty contract text"};

// Sets of tools
inline constexpr DiagnosticKind<std::string> ToolsNotAllowed{{2190, error}, "`Tools` cannot be {}"};
inline constexpr DiagnosticKind<> NotATool{{2191, error}, "a tool must be a function, an extern or an agent"};
inline constexpr DiagnosticKind<std::string> VariableAsTool{{2195, error}, "`{}` is a variable, not a tool"};
inline constexpr DiagnosticKind<> HandoffAsTool{{2196, error}, "a handoff cannot be a tool"};
inline constexpr DiagnosticKind<std::string> DuplicateTool{{2192, error}, "two tools in this set are named `{}`"};
inline constexpr DiagnosticKind<std::string> UnknownTool{{2193, error}, "no tool named `{}` in this set"};
inline constexpr DiagnosticKind<std::string, std::string> ToolResultNotVisible{
    {2194, error}, "`{}` cannot be a tool: its result of type `{}` must not be shown to the model"};

// Options of externs
inline constexpr DiagnosticKind<std::string> UnknownExternOption{{2150, error}, "unknown extern option `{}`"};
inline constexpr DiagnosticKind<> InvalidTimeLimit{
    {2151, error}, "`within` requires a number with a unit: `ms`, `s`, `m`, `h` or `d`"};
inline constexpr DiagnosticKind<std::string> ExternOptionValue{{2152, error}, "`{}` does not take a value"};
inline constexpr DiagnosticKind<> ZeroTimeLimit{{2153, error}, "a time limit must be greater than zero"};

// Modules and tests
inline constexpr DiagnosticKind<std::string> UnknownScriptTarget{
    {2301, error}, "cannot script an answer for `{}`: it is not a function that the program can call"};
inline constexpr DiagnosticKind<std::string> ScriptTargetNotCall{{2301, error}, "expected a function call, found `{}`"};
inline constexpr DiagnosticKind<> ScriptNotConstant{{2302, error}, "a scripted answer must be a constant"};
inline constexpr DiagnosticKind<std::string> NoDeadline{{2304, error}, "`{}` has no time limit that can pass"};
inline constexpr DiagnosticKind<std::string, std::string> ScriptLimit{{2305, error},
                                                                      "an answer of {} cannot be limited here to {}"};
inline constexpr DiagnosticKind<std::string> PersonAnswer{{2304, error}, "expected `person => nobody`, found `{}`"};
inline constexpr DiagnosticKind<std::string> DuplicateTest{{2303, error}, "two tests are named \"{}\""};

// Trust
inline constexpr DiagnosticKind<> TrustedNotPossible{{2501, error},
                                                     "`trusted` only marks parameters, results and fields of a struct"};
inline constexpr DiagnosticKind<std::string> UnknownTrust{{2502, error}, "a program cannot trust `{}`"};
inline constexpr DiagnosticKind<std::string, std::string> AnswerNotNarrow{
    {2510, error}, "a model's answer for `{}` cannot be trusted: a `{}` can say anything"};
inline constexpr DiagnosticKind<std::string> NotEndorsable{{2511, error}, "a `{}` cannot be endorsed"};
inline constexpr DiagnosticKind<> ReasonNotConstant{{2512, error},
                                                    "`endorse` takes the reason as a text that the program contains"};
inline constexpr DiagnosticKind<std::string> ApprovalOfSecret{
    {2513, error}, "a person cannot be asked to approve calls of `{}`: one of its parameters is a secret"};
inline constexpr DiagnosticKind<> ApprovalNotPossible{
    {2514, error}, "only a parameter of an `extern fn` can be approved when it is called"};
inline constexpr DiagnosticKind<> EndorseForbidden{{2515, error}, "the project does not allow `endorse`"};
inline constexpr DiagnosticKind<> TrustInModule{{2503, error}, "a module cannot say whom its user trusts"};

inline constexpr DiagnosticKind<std::string> DecidedFromOutside{{2504, error}, "words from outside decide {}"};
inline constexpr DiagnosticKind<std::string> NotProvedTrusted{{2504, error}, "words from outside may decide {}"};
inline constexpr DiagnosticKind<std::string> MayBeDecidedFromOutside{{2505, warning},
                                                                     "words from outside may decide {}"};

inline constexpr DiagnosticKind<std::string, std::size_t> TooLarge{{2401, error},
                                                                   "program too large: more than {1} {0}"};

// Warnings: allowed, but probably a mistake
inline constexpr DiagnosticKind<> UnusedInjection{{3001, warning}, "unused injection: no model call can see it"};
inline constexpr DiagnosticKind<> DuplicateInjection{{3002, warning}, "duplicate injection"};
inline constexpr DiagnosticKind<std::string> HoleWithoutHint{
    {3003, warning}, "the model must supply `{}`, but nothing in the context mentions it"};
inline constexpr DiagnosticKind<> SingleClauseSelect{{3004, warning},
                                                     "`select` with a single clause gives the model no choice"};
inline constexpr DiagnosticKind<> UnreachableCode{{3005, warning}, "unreachable code"};
inline constexpr DiagnosticKind<std::string, std::string> UnusedValue{
    {3006, warning}, "unused value of type `{}`: because of the `;`, the model is asked to complete `{}`"};
inline constexpr DiagnosticKind<> UnreachablePattern{{3007, warning}, "unreachable pattern"};
inline constexpr DiagnosticKind<std::string> ActionNeverEnabled{
    {3008, warning}, "action `{}` can never be taken: no preceding state satisfies its `requires`"};
inline constexpr DiagnosticKind<std::string> GoalImpossible{{3009, warning}, "no action can reach the goal `{}`"};
inline constexpr DiagnosticKind<std::string> SingleBraces{
    {3010, warning}, "`{{{}}}` is plain text: use `{{{{ … }}}}` to insert a value"};
inline constexpr DiagnosticKind<> DuplicateClause{{3011, warning},
                                                  "duplicate clause: the model sees the same call twice"};
inline constexpr DiagnosticKind<> UnusedDocComment{{3012, warning}, "unused doc comment: nothing is declared here"};

// Libraries and the externs that they define; reported before the program starts
inline constexpr DiagnosticKind<std::string> LibraryNotFound{{4001, error}, "cannot find library `{}`"};
inline constexpr DiagnosticKind<std::string, std::string> LibraryNotLoadable{{4002, error},
                                                                             "cannot load library `{}`: {}"};
inline constexpr DiagnosticKind<std::string, std::string_view> ExternNotFound{{4003, error},
                                                                              "unresolved extern `{}`: no library {}"};
inline constexpr DiagnosticKind<std::string, std::size_t, std::string> ExternAmbiguous{
    {4004, error}, "ambiguous extern `{}`: {} libraries export it: {}"};
inline constexpr DiagnosticKind<std::string, std::string_view, std::string, std::string_view> ExternTypeNotSupported{
    {4005, error}, "`{}` {} `{}`, which {} does not support"};
inline constexpr DiagnosticKind<std::string, std::string> ExternIsData{{4006, error},
                                                                       "extern `{}` is data in {}, not a function"};
inline constexpr DiagnosticKind<std::string, std::string, std::string_view> ExternNotUsable{
    {4007, error}, "cannot use `{}` from {}: {}"};
inline constexpr DiagnosticKind<std::string, std::string, std::uint32_t, std::uint32_t> ExternTooNew{
    {4008, error}, "`{}` from {} was built for version {} of tenon/extern.h, but this Tenon supports version {}"};
inline constexpr DiagnosticKind<std::string, std::string, std::string> ExternSignatureMismatch{
    {4009, error}, "`{}` from {} does not match its declaration: {}"};
inline constexpr DiagnosticKind<std::string, std::string> PlainExtern{
    {4010, note}, "`{}` from {} is a plain symbol and does not receive an idempotency key"};

}  // namespace tenon::diagnostics
