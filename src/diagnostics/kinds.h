#pragma once

// Every diagnostic there is. A number is unique for ever and has a page in docs/diagnostics (`tenon explain E1101`),
// which a test checks. 1000: characters and tokens. 1100: grammar. 2000: names. 2100: types. 2200: context, holes and
// select. 2300: modules and tests. 3000: warnings about what is allowed and most likely not meant. 4000: native code.

#include <string>
#include <string_view>

#include "diagnostics/diagnostic.h"

namespace tenon::diagnostics {

inline constexpr Severity error = Severity::Error;
inline constexpr Severity warning = Severity::Warning;
inline constexpr Severity note = Severity::Note;

// Characters and tokens
inline constexpr DiagnosticKind<std::string, std::size_t, std::size_t> SourceTooLarge{
    {1001, error}, "`{}` has {} bytes; {} are the most"};
inline constexpr DiagnosticKind<unsigned char> NotUtf8{{1002, error}, "the byte 0x{:02X} has no place in a text"};
inline constexpr DiagnosticKind<std::string> UnknownCharacter{{1003, error},
                                                              "`{}` begins nothing that the language knows"};
inline constexpr DiagnosticKind<> UnterminatedString{{1004, error}, "this string has no end"};
inline constexpr DiagnosticKind<> UnterminatedTemplate{{1005, error}, "this `{{{{` has no `}}}}`"};
inline constexpr DiagnosticKind<> UnterminatedComment{{1006, error}, "this comment has no end"};
inline constexpr DiagnosticKind<std::string> UnknownEscape{{1007, error}, "`{}` is no escape"};
inline constexpr DiagnosticKind<std::string> MalformedNumber{{1008, error}, "`{}` is no number"};

// Grammar
inline constexpr DiagnosticKind<std::string_view, std::string_view> Expected{{1101, error},
                                                                             "{} stands where {} is expected"};
inline constexpr DiagnosticKind<std::size_t> NestedTooDeeply{
    {1102, error}, "nested more than {} levels deep; the rest of the file was not read"};
inline constexpr DiagnosticKind<> ChainedComparison{{1103, error}, "a comparison cannot be compared again"};
inline constexpr DiagnosticKind<> InjectionInside{{1104, error}, "an injection gives no value to go on with"};
inline constexpr DiagnosticKind<std::string_view> NotAssignable{{1105, error}, "{} cannot be assigned to"};
inline constexpr DiagnosticKind<> StatementsOnOneLine{{1106, error},
                                                      "two statements on one line need a `;` between them"};
inline constexpr DiagnosticKind<std::string> NestedItem{
    {1107, error}, "{} begins a declaration, which cannot stand inside of a function"};
inline constexpr DiagnosticKind<std::string_view> SectionWithoutEnd{{1108, error},
                                                                    "this `{{{{ {} … }}}}` has no `{{{{ end }}}}`"};
inline constexpr DiagnosticKind<> StrayElse{{1109, error}, "this `{{{{ else }}}}` belongs to no `{{{{ if … }}}}`"};

// Names
inline constexpr DiagnosticKind<std::string> UnknownName{{2001, error}, "`{}` is not known here"};
inline constexpr DiagnosticKind<std::string> DeclaredTwice{{2002, error}, "`{}` is declared twice"};
inline constexpr DiagnosticKind<std::string> UnknownType{{2003, error}, "there is no type `{}`"};
inline constexpr DiagnosticKind<std::string, std::string> UnknownField{{2004, error}, "`{}` has no field `{}`"};
inline constexpr DiagnosticKind<std::string, std::string> UnknownMethod{{2005, error}, "`{}` has no method `{}`"};
inline constexpr DiagnosticKind<std::string, std::string> UnknownCase{{2006, error}, "`{}` has no case `{}`"};
inline constexpr DiagnosticKind<std::string> UnknownModule{{2007, error}, "there is no module `{}`"};
inline constexpr DiagnosticKind<std::string, std::string> NotInModule{{2008, error},
                                                                      "the module `{}` declares no `{}`"};
inline constexpr DiagnosticKind<std::string, std::string> UnreadableFile{{2009, error}, "`{}` cannot be read: {}"};
inline constexpr DiagnosticKind<std::string> TextType{{2010, note},
                                                      "`{}` is declared nowhere: it is a text type of its own"};
inline constexpr DiagnosticKind<std::string> TextTypeInStrict{{2011, error}, "`{}` is declared nowhere"};
inline constexpr DiagnosticKind<std::string> NotAFunction{{2012, error}, "`{}` is not a function"};
inline constexpr DiagnosticKind<std::string> NotAValue{{2013, error}, "`{}` is not a value"};
inline constexpr DiagnosticKind<std::string> NotAStruct{{2014, error}, "`{}` is not a struct"};

// Types
inline constexpr DiagnosticKind<std::string, std::string> TypeMismatch{{2101, error},
                                                                       "`{}` stands where `{}` is expected"};
inline constexpr DiagnosticKind<std::string, std::string, std::string> ArgumentCount{{2102, error},
                                                                                     "`{}` takes {}, and {} given"};
inline constexpr DiagnosticKind<std::string, std::string> ReturnMismatch{{2104, error},
                                                                         "`{}` returned where `{}` is promised"};
inline constexpr DiagnosticKind<std::string, std::string, std::string> OperatorTypes{
    {2105, error}, "`{}` does not work on `{}` and `{}`"};
inline constexpr DiagnosticKind<std::string> ConditionNotBoolean{{2106, error},
                                                                 "a condition is a `Boolean`, and this is `{}`"};
inline constexpr DiagnosticKind<std::string, std::string> MissingValue{
    {2107, error}, "`{}` promises `{}`, and its end gives no value"};
inline constexpr DiagnosticKind<std::string, std::string> BranchesDiffer{{2108, error},
                                                                         "the branches differ: `{}` here, `{}` before"};
inline constexpr DiagnosticKind<std::string> NotExhaustive{{2109, error}, "not covered: {}"};
inline constexpr DiagnosticKind<std::string, std::string> MissingField{{2110, error}, "`{}` needs its field `{}`"};
inline constexpr DiagnosticKind<std::string> FieldTwice{{2111, error}, "the field `{}` is given twice"};
inline constexpr DiagnosticKind<std::string> TypeNotKnown{{2112, error}, "the type of {} cannot be told from here"};
inline constexpr DiagnosticKind<std::string, std::string> NumberOutOfRange{{2113, error}, "{} does not fit into `{}`"};
inline constexpr DiagnosticKind<std::string, std::string> LiteralOutside{{2114, error}, "{} is not in `{}`"};
inline constexpr DiagnosticKind<std::string, std::string> PatternMismatch{{2115, error},
                                                                          "a pattern for `{}` cannot match `{}`"};
inline constexpr DiagnosticKind<std::string> FaultyPattern{{2116, error}, "the pattern cannot be read: {}"};
inline constexpr DiagnosticKind<std::string> FaultyRefinement{{2117, error}, "{}"};
inline constexpr DiagnosticKind<std::string> NotIndexable{{2118, error}, "`{}` has no items to index"};
inline constexpr DiagnosticKind<std::string> NotIterable{{2119, error}, "`for` cannot walk over `{}`"};
inline constexpr DiagnosticKind<std::string, std::string> CastNotPossible{{2120, error},
                                                                          "`{}` cannot become `{}` with `as`"};
inline constexpr DiagnosticKind<std::string> EndlessType{{2121, error}, "`{}` contains itself without end"};
inline constexpr DiagnosticKind<std::string, std::string, std::string> TypeArgumentCount{{2122, error},
                                                                                         "`{}` takes {}, and {} given"};
inline constexpr DiagnosticKind<std::string> OutsideLoop{{2125, error}, "`{}` stands outside of a loop"};
inline constexpr DiagnosticKind<> ClosureNotHere{
    {2126, error}, "a closure stands only as an argument of a built-in method such as `map`"};
inline constexpr DiagnosticKind<std::string> ContextNotHere{{2127, error}, "a `Context` cannot be {}"};
inline constexpr DiagnosticKind<std::string> ParameterTypeMissing{{2128, error},
                                                                  "the parameter `{}` needs a name and a type"};
inline constexpr DiagnosticKind<std::string, std::string> OptionalAccess{
    {2129, error}, "`?.` needs an `Option` before it, and this is `{}`; use `.{}`"};
inline constexpr DiagnosticKind<std::string_view, std::string> BindingInAlternative{{2130, error},
                                                                                    "this alternative {} `{}`"};
inline constexpr DiagnosticKind<std::string> ElseMissing{
    {2131, error}, "this `if` gives `{}`, and nothing gives a value when its condition does not hold"};
inline constexpr DiagnosticKind<std::string> NotInJson{{2132, error}, "JSON cannot hold a `{}`"};
inline constexpr DiagnosticKind<std::string, std::string> CaseWithoutEnum{
    {2134, error}, "`{}` is a new name here, which takes every value; the case is `{}`"};
inline constexpr DiagnosticKind<> RangeNotHere{{2133, error}, "a range is no value: it stands behind `in` alone"};

inline constexpr DiagnosticKind<std::string, std::string> SecretShown{{2170, error}, "a `{}` cannot be {}"};
inline constexpr DiagnosticKind<std::string> SecretNotPossible{{2171, error}, "a `{}` cannot be secret"};

// Context, holes, select, branches
inline constexpr DiagnosticKind<std::string> HoleWithoutContext{{2201, error}, "`_` needs a context, and {} has none"};
inline constexpr DiagnosticKind<std::string, std::string> HoleNotPossible{
    {2202, error}, "the model cannot give `{}`: its type is `{}`"};
inline constexpr DiagnosticKind<> HoleOutsideCall{{2203, error}, "`_` stands only for a whole argument of a call"};
inline constexpr DiagnosticKind<std::string> SelectWithoutContext{{2204, error},
                                                                  "`select` needs a context, and {} has none"};
inline constexpr DiagnosticKind<std::string> InjectWithoutContext{{2205, error},
                                                                  "`!` needs a context, and {} has none"};
inline constexpr DiagnosticKind<> ClauseNotCall{{2206, error},
                                                "a clause of `select` begins with the call of a function"};
inline constexpr DiagnosticKind<std::string> AssignedInBranch{
    {2207, error}, "`{}` belongs to the outside: a parallel branch cannot assign it"};
inline constexpr DiagnosticKind<std::string> LeavesBranch{{2208, error}, "`{}` cannot leave a parallel branch"};
inline constexpr DiagnosticKind<std::string, std::string> NotAnswerable{
    {2209, error}, "the model cannot complete `{}`: it cannot give `{}`"};
inline constexpr DiagnosticKind<std::string> UnknownBudget{{2210, error}, "there is no budget of `{}`"};
inline constexpr DiagnosticKind<> BudgetWithoutCall{{2211, error}, "`budget(…)` stands behind a call"};
inline constexpr DiagnosticKind<std::string> FaultyBudget{{2212, error}, "{}"};
inline constexpr DiagnosticKind<std::size_t> SelectTooLarge{{2213, error}, "a `select` has at most {} clauses"};

inline constexpr DiagnosticKind<std::string, std::string_view> AgentShape{{2214, error}, "the agent `{}` has {}"};
inline constexpr DiagnosticKind<std::string, std::string> AgentFunctionOutside{
    {2215, error}, "`{}` works on the state of `{}`, and is called by its functions alone"};

inline constexpr DiagnosticKind<std::string> HandoffNotHere{{2216, error}, "the turn cannot be left to `{}` here"};
inline constexpr DiagnosticKind<std::string> LeavesFinally{{2218, error},
                                                           "`{}` would leave the block of a `finally` before its end"};
inline constexpr DiagnosticKind<std::string> NoticeByModel{{2217, error},
                                                           "`{}` tells what the program does, and no model calls it"};

// Contracts
inline constexpr DiagnosticKind<std::string> FaultyPursuit{{2225, error}, "{}"};
inline constexpr DiagnosticKind<std::string> ContractType{
    {2220, error}, "a contract is a `Boolean`, or a text that a model judges, and no `{}`"};
inline constexpr DiagnosticKind<std::string> ContractEffect{{2221, error}, "{} cannot stand in a contract"};
inline constexpr DiagnosticKind<std::string> FaultyStrategy{{2222, error}, "{}"};
inline constexpr DiagnosticKind<> StrategyWithoutCall{
    {2223, error}, "`strategy(…)` stands behind a call of a function of the program"};
inline constexpr DiagnosticKind<std::string> StrategyWithoutModel{
    {2224, error}, "no model completes `{}`, so that there is nothing to try again"};
inline constexpr DiagnosticKind<> ContractWords{{2227, error}, "a text is shown as it is, without another one"};
inline constexpr DiagnosticKind<> ResultParameter{{2228, error},
                                                  "`result` is the value here, and there is a parameter of that name"};
inline constexpr DiagnosticKind<std::string, std::string> FaultyPlan{{2226, error}, "the plan `{}` cannot be used: {}"};

// Blocks
inline constexpr DiagnosticKind<std::string> UnknownBlockKind{{2230, error}, "no kind of block is named `{}`"};
inline constexpr DiagnosticKind<std::string> UnknownBlock{{2231, error}, "there is no block `{}`"};
inline constexpr DiagnosticKind<std::string> UnreachableBlock{{2232, error}, "no block leads to `{}`"};
inline constexpr DiagnosticKind<std::string> NothingToResume{
    {2233, error}, "`next_turn {}` in an agent without a block on which a turn can go on"};
inline constexpr DiagnosticKind<std::string> BlockShape{{2234, error}, "{}"};
inline constexpr DiagnosticKind<std::string, std::string> WrittenApart{{2235, error},
                                                                       "`{}` cannot be written here: {}"};
inline constexpr DiagnosticKind<std::string, std::string> BlockElsewhere{{2236, error}, "`{}` is no part of {}"};
inline constexpr DiagnosticKind<> SelectOfNone{{2237, error}, "a `select` without clauses leaves nothing to choose"};
inline constexpr DiagnosticKind<> ContractSaysNothing{{2238, error}, "a contract's text says nothing"};

// Sets of tools
inline constexpr DiagnosticKind<std::string> ToolsNotHere{{2190, error}, "`Tools` cannot be {}"};
inline constexpr DiagnosticKind<std::string> NoTool{{2191, error}, "this is no tool: {}"};
inline constexpr DiagnosticKind<std::string> ToolTwice{{2192, error}, "two tools of the set are named `{}`"};
inline constexpr DiagnosticKind<std::string> ToolUnknown{{2193, error}, "the set has no tool `{}`"};
inline constexpr DiagnosticKind<std::string, std::string> ToolResultHidden{
    {2194, error}, "`{}` is no tool: the model cannot be shown a `{}`"};

// How externs are performed
inline constexpr DiagnosticKind<std::string> UnknownExternOption{{2150, error},
                                                                 "no extern is performed in the manner of `{}`"};
inline constexpr DiagnosticKind<std::string> FaultyExternOption{{2151, error}, "{}"};

// Modules and tests
inline constexpr DiagnosticKind<std::string> ScriptUnknown{
    {2301, error}, "the script answers for `{}`, which is no function that the program can call"};
inline constexpr DiagnosticKind<> ScriptNotConstant{{2302, error}, "a scripted answer is a constant"};
inline constexpr DiagnosticKind<std::string> TestTwice{{2303, error}, "there are two tests named \"{}\""};

inline constexpr DiagnosticKind<std::string, std::size_t> TooLarge{
    {2401, error}, "the program is too large: there are more than {1} {0}"};

// Allowed, and most likely not meant
inline constexpr DiagnosticKind<> InjectionUnseen{{3001, warning}, "no model call can see this injection"};
inline constexpr DiagnosticKind<> InjectionTwice{{3002, warning}, "the same is injected twice"};
inline constexpr DiagnosticKind<std::string> HoleWithoutHint{
    {3003, warning}, "nothing in the context speaks of `{}`, which the model has to give"};
inline constexpr DiagnosticKind<> SelectOfOne{{3004, warning}, "a `select` of one clause leaves the model no choice"};
inline constexpr DiagnosticKind<> UnreachableCode{{3005, warning}, "this is never reached"};
inline constexpr DiagnosticKind<std::string, std::string> ValueDropped{
    {3006, warning}, "this `{}` is dropped, and the model is asked for the value of `{}`"};
inline constexpr DiagnosticKind<> ArmUnreachable{{3007, warning}, "no value is left for this arm"};
inline constexpr DiagnosticKind<std::string> ActionNeverEnabled{
    {3008, warning}, "`{}` can never be taken: no state that can come before it satisfies what it requires"};
inline constexpr DiagnosticKind<std::string> GoalNeverEntailed{{3009, warning},
                                                               "what no action ensures is the goal: {}"};

// Libraries and the externs that they define; told before the program starts
inline constexpr DiagnosticKind<std::string> LibraryMissing{{4001, error}, "the library `{}` does not exist"};
inline constexpr DiagnosticKind<std::string, std::string> LibraryUnusable{{4002, error},
                                                                          "the library `{}` cannot be loaded: {}"};
inline constexpr DiagnosticKind<std::string, std::string_view> ExternMissing{{4003, error},
                                                                             "`{}` is an extern, and no library {}"};
inline constexpr DiagnosticKind<std::string, std::size_t, std::string> ExternAmbiguous{
    {4004, error}, "`{}` is exported by {} libraries: {}"};
inline constexpr DiagnosticKind<std::string, std::string_view, std::string, std::string_view> ExternNotCarried{
    {4005, error}, "`{}` {} `{}`, which {} cannot carry"};
inline constexpr DiagnosticKind<std::string, std::string> ExternIsData{
    {4006, error}, "`{}` is an extern, and {} exports data of that name"};
inline constexpr DiagnosticKind<std::string, std::string, std::string_view> ExternEntryUnusable{
    {4007, error}, "`{}` of {} cannot be used: {}"};
inline constexpr DiagnosticKind<std::string, std::string, std::uint32_t, std::uint32_t> ExternTooNew{
    {4008, error}, "`{}` of {} was built for version {} of tenon/extern.h; this Tenon knows {}"};
inline constexpr DiagnosticKind<std::string, std::string, std::string> ExternDisagrees{
    {4009, error}, "`{}` of {} is not what is declared: {}"};
inline constexpr DiagnosticKind<std::string, std::string> ExternWithoutKey{
    {4010, note}, "`{}` is a plain symbol of {}: it gets no idempotency key"};

}  // namespace tenon::diagnostics
