#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace tenon::bytecode {

/// One instruction: eight bytes. `b` and `c` together are the 32-bit operand `wide`, where the table says so.
/// Registers are counted from the base of the running frame.
struct Instruction {
  std::uint16_t opcode = 0;
  std::uint16_t a = 0;
  std::uint16_t b = 0;
  std::uint16_t c = 0;

  [[nodiscard]] constexpr std::uint32_t wide() const { return b | (static_cast<std::uint32_t>(c) << 16U); }
  /// `wide` as a signed number: an immediate, or a jump's distance from the instruction that follows.
  [[nodiscard]] constexpr std::int32_t signed_wide() const { return static_cast<std::int32_t>(wide()); }
  /// `c` as a signed immediate.
  [[nodiscard]] constexpr std::int16_t signed_c() const { return static_cast<std::int16_t>(c); }
  friend bool operator==(const Instruction&, const Instruction&) = default;
};
static_assert(sizeof(Instruction) == 8);

/// What an operand means; from this come decoder, verifier, disassembler and the manual page.
enum class Operand : std::uint8_t {
  None,
  Read,       ///< a register that is read
  Write,      ///< a register that is written
  ReadWrite,  ///< a register whose value is changed in place
  Window,     ///< the first of several registers in a row; how many, the meaning says
  Constant,   ///< wide: index into Program::constants
  Immediate,  ///< wide: signed number
  Short,      ///< c: signed number
  Count,      ///< an unsigned number
  Type,       ///< b or c: a TypeId's index
  Field,      ///< index of a field, payload item or variant
  Jump,       ///< wide: signed distance from the next instruction
  Function,   ///< wide: index into Program::functions
  Extern,     ///< wide: index into Program::externs
  Site,       ///< wide: index into Program::sites
  Table,      ///< wide: index into Program::jump_tables
  Budget,     ///< wide: index into Program::budgets
  Builtin,    ///< b: a Builtin
};

// clang-format off
/// The instruction set. X(number, Name, operand a, operand b, operand c, meaning). A number is never reused: programs
/// are journalled. `ra`, `rb`, `rc` are registers; `B`, `C` plain numbers; `D` the wide operand. Where a meaning says
/// "fails", the failure's kind follows. An operation's result carries the join of the labels of what it read.
#define TENON_INSTRUCTIONS(X)                                                                                                   \
  /* moving values */                                                                                                           \
  X(  1, LoadConstant,   Write, Constant, None,   "ra = constants[D]")                                                            \
  X(  2, LoadUnit,       Write, None, None,       "ra = ()")                                                                      \
  X(  3, LoadBoolean,    Write, Count, None,      "ra = B != 0")                                                                  \
  X(  4, LoadInteger,    Write, Immediate, None,  "ra = D")                                                                       \
  X(  5, LoadCase,       Write, Type, Field,      "ra = the plain case C of enum or Option B")                                     \
  X(  6, Move,           Write, Read, None,       "ra = rb")                                                                      \
  X(  7, Take,           Write, ReadWrite, None,  "ra = rb; rb = ()")                                                             \
  /* arithmetic: i32 and i64 fail with Arithmetic on overflow and division by zero */                                              \
  X( 10, AddI32,         Write, Read, Read,       "ra = rb + rc")                                                                 \
  X( 11, SubtractI32,    Write, Read, Read,       "ra = rb - rc")                                                                 \
  X( 12, MultiplyI32,    Write, Read, Read,       "ra = rb * rc")                                                                 \
  X( 13, DivideI32,      Write, Read, Read,       "ra = rb / rc, towards zero")                                                   \
  X( 14, RemainderI32,   Write, Read, Read,       "ra = rb % rc, with rb's sign")                                                 \
  X( 15, NegateI32,      Write, Read, None,       "ra = -rb")                                                                     \
  X( 16, AddI32Short,    Write, Read, Short,      "ra = rb + C")                                                                  \
  X( 17, AddI64,         Write, Read, Read,       "ra = rb + rc")                                                                 \
  X( 18, SubtractI64,    Write, Read, Read,       "ra = rb - rc")                                                                 \
  X( 19, MultiplyI64,    Write, Read, Read,       "ra = rb * rc")                                                                 \
  X( 20, DivideI64,      Write, Read, Read,       "ra = rb / rc, towards zero")                                                   \
  X( 21, RemainderI64,   Write, Read, Read,       "ra = rb % rc, with rb's sign")                                                 \
  X( 22, NegateI64,      Write, Read, None,       "ra = -rb")                                                                     \
  X( 23, AddI64Short,    Write, Read, Short,      "ra = rb + C")                                                                  \
  X( 24, AddF64,         Write, Read, Read,       "ra = rb + rc, IEEE 754")                                                       \
  X( 25, SubtractF64,    Write, Read, Read,       "ra = rb - rc")                                                                 \
  X( 26, MultiplyF64,    Write, Read, Read,       "ra = rb * rc")                                                                 \
  X( 27, DivideF64,      Write, Read, Read,       "ra = rb / rc")                                                                 \
  X( 28, RemainderF64,   Write, Read, Read,       "ra = fmod(rb, rc)")                                                            \
  X( 29, NegateF64,      Write, Read, None,       "ra = -rb")                                                                     \
  X( 30, IntegerToF64,   Write, Read, None,       "ra = the f64 next to rb")                                                      \
  X( 31, F64ToInteger,   Write, Read, Type,       "ra = rb cut towards zero, as I32 or I64; fails Conversion when it does not fit")\
  X( 32, IntegerToI32,   Write, Read, None,       "ra = rb; fails Conversion when it does not fit")                                \
  /* logic and comparison: numbers by value, strings by code points, the rest by structure */                                      \
  X( 40, Not,            Write, Read, None,       "ra = !rb")                                                                     \
  X( 41, Equal,          Write, Read, Read,       "ra = rb == rc")                                                                \
  X( 42, NotEqual,       Write, Read, Read,       "ra = rb != rc")                                                                \
  X( 43, LessInteger,    Write, Read, Read,       "ra = rb < rc")                                                                 \
  X( 44, LessEqualInteger, Write, Read, Read,     "ra = rb <= rc")                                                                \
  X( 45, LessF64,        Write, Read, Read,       "ra = rb < rc")                                                                 \
  X( 46, LessEqualF64,   Write, Read, Read,       "ra = rb <= rc")                                                                \
  X( 47, LessString,     Write, Read, Read,       "ra = rb < rc")                                                                 \
  X( 48, LessEqualString, Write, Read, Read,      "ra = rb <= rc")                                                                \
  X( 49, EqualShort,     Write, Read, Short,      "ra = rb == C, of integers")                                                    \
  X( 50, LessShort,      Write, Read, Short,      "ra = rb < C, of integers")                                                     \
  X( 51, LessEqualShort, Write, Read, Short,      "ra = rb <= C, of integers")                                                    \
  X( 52, GreaterShort,   Write, Read, Short,      "ra = rb > C, of integers")                                                     \
  X( 53, GreaterEqualShort, Write, Read, Short,   "ra = rb >= C, of integers")                                                    \
  /* jumps */                                                                                                                    \
  X( 60, Jump,           None, Jump, None,        "continue D instructions after the next")                                          \
  X( 61, JumpIf,         Read, Jump, None,        "if ra, jump")                                                                  \
  X( 62, JumpUnless,     Read, Jump, None,        "unless ra, jump")                                                              \
  X( 63, Switch,         Read, Table, None,       "jump to jump_tables[D][ra], an integer; past its end: to the table's default")   \
  X( 64, ForList,        Window, Jump, None,      "ra: list, ra+1: position, ra+2: item. Take the next item, or jump at the end")  \
  X( 65, ForMap,         Window, Jump, None,      "ra: map, ra+1: position, ra+2: key, ra+3: value. The next entry, or jump")       \
  X( 66, ForRange,       Window, Jump, None,      "ra: next, ra+1: end, ra+2: item. item = next, next + 1; or jump at the end")    \
  X( 67, ForInclusiveRange, Window, Jump, None,   "as ForRange, the end being the last item")                                      \
  /* texts */                                                                                                                    \
  X( 70, Concatenate,    Write, Read, Read,       "ra = rb + rc, of strings; spans keep their labels")                              \
  X( 71, Append,         ReadWrite, Read, None,   "ra += rb, of strings; in place when ra is not shared")                      \
  X( 72, Template,       Write, Window, Count,    "ra = the C values from rb on, rendered and joined; spans keep their labels")     \
  X( 73, Render,         Write, Read, None,       "ra = rb as text, as an injection shows it")                                      \
  X( 74, ReadJson,       Write, Read, Type,       "ra = text rb, read as JSON of the type C; fails Conversion")                     \
  X( 75, Describe,       Write, Read, None,       "ra = rb as a line of JSON for a person: of bounded length, secrets hidden")              \
  X( 76, DescribeSides,  Write, Read, Read,       "ra = two such lines, the left side rb and the right side rc of a comparison; long ones around their first difference") \
  /* aggregates: values; a change in place copies first when the object is shared */                                               \
  X( 80, MakeList,       Write, Window, Count,    "ra = list of the C values from rb on")                                          \
  X( 81, MakeMap,        Write, Window, Count,    "ra = map of the C key-value pairs from rb on; a later key replaces")            \
  X( 82, MakeRecord,     Write, Window, Type,     "ra = struct or tuple C of the fields from rb on")                               \
  X( 83, MakeVariant,    ReadWrite, Type, Field,  "ra = case C of enum, Option or Result B; payload taken from ra on")             \
  X( 84, GetField,       Write, Read, Field,      "ra = field C of record rb")                                                     \
  X( 85, SetField,       ReadWrite, Field, Read,  "field B of record ra = rc")                                                     \
  X( 86, TakeField,      Write, ReadWrite, Field, "ra = field C of record rb, which holds () from then on")                         \
  X( 87, GetItem,        Write, Read, Read,       "ra = rb[rc] of a list; fails Index")                                             \
  X( 88, SetItem,        ReadWrite, Read, Read,   "ra[rb] = rc of a list; fails Index")                                             \
  X( 89, TakeItem,       Write, ReadWrite, Read,  "ra = rb[rc] of a list, which holds () there from then on; fails Index")           \
  X( 90, GetEntry,       Write, Read, Read,       "ra = rb[rc] of a map; fails Index")                                              \
  X( 91, SetEntry,       ReadWrite, Read, Read,   "ra[rb] = rc of a map; a new key goes to the end")                                 \
  X( 92, TakeEntry,      Write, ReadWrite, Read,  "ra = rb[rc] of a map, which holds () there from then on; fails Index")            \
  X( 93, GetCase,        Write, Read, None,       "ra = index of rb's case, an integer (None 0, Some 1; Ok 0, Err 1)")               \
  X( 94, GetPayload,     Write, Read, Field,      "ra = payload item C of variant rb")                                              \
  X( 95, Push,           ReadWrite, Read, None,   "append rb to list ra")                                                           \
  X( 96, Pop,            Write, ReadWrite, None,  "remove the last item of list rb; ra = it, as an Option")                         \
  X( 97, RemoveEntry,    Write, ReadWrite, Read,  "remove map rb's entry rc; ra = it, as an Option")                                \
  X( 98, Length,         Write, Read, None,       "ra = code points of a string, items of a list, entries of a map")                 \
  X( 99, InsertItem,     ReadWrite, Read, Read,   "insert rc before position rb of list ra; fails Index")                            \
  X(100, RemoveItem,     Write, ReadWrite, Read,  "remove item rc of list rb; ra = it; fails Index")                            \
  /* context */                                                                                                                  \
  X(110, NewContext,     Write, None, None,       "ra = a context that sees nothing")                                               \
  X(111, Inject,         ReadWrite, Read, None,   "ra = ra with rb, rendered, as its newest entry")                                  \
  X(112, InjectAs,       ReadWrite, Read, Count,  "the same, with the entry in the EntryRole C")                         \
  X(113, InjectPrompt,   ReadWrite, Read, None,   "the same, as a user's message, unless the newest user's message is equal")     \
  X(118, ContextEntries, Write, Read, Type,       "ra = list of structs C, the role and the text of each entry of context rb, oldest first") \
  X(119, InjectRole,     ReadWrite, Read, Read,   "as Inject, with the entry in the role that rc names; fails Conversion") \
  /* an agent's state: one for each branch */                                                                                    \
  X(115, LoadState,      Write, None, None,       "ra = the state")                                                                 \
  X(116, TakeState,      Write, None, None,       "ra = the state, which is () from then on")                                        \
  X(117, StoreState,     Read, None, None,        "the state = ra")                                                                 \
  X(124, SwapState,      Write, Type, None,       "save the state for its agent's next turn; restore a saved state of the struct B; ra = whether there was one") \
  X(125, TakeKept,       Write, None, None,       "ra = the states that are kept, of which there are none from then on")               \
  X(126, StoreKept,      Read, None, None,        "the kept states = ra")                                                           \
  /* calls: arguments are in the window from ra on, which becomes the callee's first registers; the result goes to ra */          \
  X(120, Call,           Window, Function, None,  "call functions[D]; fails BudgetSpent past the depth")                              \
  X(121, Return,         Read, None, None,        "return ra")                                                     \
  X(122, ReturnUnit,     None, None, None,        "return ()")                                                     \
  X(123, CallBuiltin,    Write, Builtin, Window,  "ra = builtin B of the arguments from rc on")                                      \
  /* effects: the machine stops with a request */                                                                                 \
  X(130, CallExtern,     Window, Extern, None,    "request: call externs[D] with the window; ra = its result")                        \
  X(131, Complete,       Write, Site, None,       "request: the model completes the function; ra = its answer")                       \
  X(132, Fill,           Window, Site, None,      "request: the model supplies the missing registers of the window") \
  X(133, Select,         Window, Site, None,      "request: ra = index of the chosen clause, then from ra+1 on its missing arguments. Sets of tools are passed from ra+1 on; of a chosen tool its record, its missing arguments, its name, and these as JSON")  \
  X(134, RequestKey,     Write, None, None,       "ra = the key of this branch's newest request, as text")                            \
  X(170, CallTool,       Window, None, None,      "ra: a tool of a set, ra+1: list of its missing arguments; ra = Result of its result as text") \
  X(175, CallToolInParts, Window, None, None,     "the same; ra = Result of its result, cut by trust")                                    \
  /* failures and budgets */                                                                                                      \
  X(140, Fail,           Read, None, None,        "fail: Raised, with string ra as its message")                                      \
  X(141, Raise,          Read, None, None,        "fail with the Failure ra again, its location kept")                                  \
  X(142, Check,          ReadWrite, Type, None,   "fails Conversion unless ra satisfies the refinement or union B; ra's value is kept")  \
  X(143, EnterBudget,    None, Budget, None,      "what follows in this frame and its callees is bounded by budgets[D] too")          \
  X(144, LeaveBudget,    None, None, None,        "end of the newest budget of this frame")                                          \
  X(145, Unreachable,    None, None, None,        "never executed: the verifier requires an end after each function")                   \
  X(146, BreakContract,  Read, Read, None,        "fail: ContractBroken, with string ra as its message and rb as what is broken")      \
  X(147, BeginCleanup,   Read, None, None,        "start of a `finally` block: what the budgets around it do not allow is charged to the run's allowance") \
  X(148, EndCleanup,     Read, None, None,        "end of it: fails again with what ra keeps, if it keeps a failure")                  \
  X(155, EndShield,      Read, None, None,        "end of a `shield` block: continues the cancellation that ra keeps, if it keeps one") \
  X(149, BreakRequires,  Read, Read, None,        "the same for a `requires`: the failure's place is that of the call, and the message starts with the caller's name") \
  /* branches: each gets a copy of the frame; what it changes ends with it */                                                      \
  X(150, Parallel,       Window, Table, None,     "run the branches of jump_tables[D] at once; their values go to ra, ra+1, …")         \
  X(151, ParallelFor,    Window, Jump, None,      "ra: list, ra+1: limit, ra+2: item. Jump's target runs once per item, at most limit at once; ra = list of values") \
  X(152, EndBranch,      Read, None, None,        "end of a branch with the value ra")                                                \
  /* trust */                                                                                                                     \
  X(171, Endorse,        ReadWrite, Constant, None, "ra = ra, with the label that the program answers for it; constants[D] is why")    \
  X(172, RequireTrusted, Read, Constant, None,    "fails Untrusted unless what ra depends on is trusted; constants[D] names ra")        \
  /* tests */                                                                                                                     \
  X(160, Assert,         Read, Constant, None,    "fail: Raised, unless ra; constants[D] is the asserted text")
// clang-format on

enum class Opcode : std::uint16_t {
#define TENON_OPCODE(number, name, a, b, c, meaning) name = number,
  TENON_INSTRUCTIONS(TENON_OPCODE)
#undef TENON_OPCODE
};

struct InstructionInfo {
  Opcode opcode;
  std::string_view name;
  std::array<Operand, 3> operands;
  std::string_view meaning;
};

/// Nothing when no instruction has that number.
[[nodiscard]] const InstructionInfo* find_instruction(std::uint16_t opcode);

}  // namespace tenon::bytecode
