#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/id.h"

namespace tenon::types {

using TypeId = Id<struct TypeTag>;

/// What a type is. The numbers are written into programs and snapshots and are never reused.
enum class TypeKind : std::uint8_t {
  Error = 0,  ///< stands where the checker has told of a mistake; agrees with every type
  Never = 1,  ///< of an expression that does not come back: `return`, `fail(…)`
  Unit = 2,
  Boolean = 3,
  I32 = 4,
  I64 = 5,
  F64 = 6,
  String = 7,
  Text = 8,      ///< a text type of its own, such as `Analysis`; `name`
  List = 9,      ///< `arguments[0]`: element
  Map = 10,      ///< keys are strings; `arguments[0]`: value
  Option = 11,   ///< `arguments[0]`
  Result = 12,   ///< `arguments[0]`; the failure side is always `Failure`
  Tuple = 13,    ///< `arguments`, two or more
  Struct = 14,   ///< `detail`: index of the StructType
  Enum = 15,     ///< `detail`: index of the EnumType
  Union = 16,    ///< of literals; `detail`: index of the UnionType
  Refined = 17,  ///< `arguments[0]`: base; `detail`: index of the Refinement
  Context = 18,
  Range = 19,      ///< `0..n`, only as what `for` walks over; `arguments[0]`: I32 or I64
  Parameter = 20,  ///< of a generic function; `name`; never in a compiled program
  Closure = 21,    ///< `|x| …`, only as an argument of a built-in; result last in `arguments`
  Secret = 22,     ///< `secret T`: sealed from where it comes in up to the extern that takes it; `arguments[0]`: T
  Tools = 23,      ///< a set of tools; at run time a List with a Record for each: its index, then what is given
};

struct Field {
  std::string name;
  TypeId type;
  std::string documentation;
  friend bool operator==(const Field&, const Field&) = default;
};

struct StructType {
  std::string name;
  std::string documentation;
  std::vector<Field> fields;
};

struct Variant {
  std::string name;
  std::string documentation;
  std::vector<TypeId> payload;  ///< empty for a plain case
};

struct EnumType {
  std::string name;
  std::string documentation;
  std::vector<Variant> variants;
};

/// `"billing" | "tech"` or `1 | 2 | 3`: all of one kind.
struct UnionType {
  std::string name;  ///< of the alias, or empty
  std::variant<std::vector<std::string>, std::vector<std::int64_t>> literals;
  friend bool operator==(const UnionType&, const UnionType&) = default;
};

/// Bounds are inclusive where present. `low`/`high` bound a number, `length_low`/`length_high` a text's code points or
/// a list's elements, `pattern` (RE2 syntax) a text as a whole.
struct Refinement {
  std::string name;  ///< of the alias, or empty
  std::variant<std::monostate, std::int64_t, double> low, high;
  bool high_is_exclusive = false;  ///< only for f64; integers are kept inclusive
  std::optional<std::uint64_t> length_low, length_high;
  std::optional<std::string> pattern;
  friend bool operator==(const Refinement&, const Refinement&) = default;
};

struct Type {
  TypeKind kind = TypeKind::Error;
  std::uint32_t detail = UINT32_MAX;
  std::string name;
  std::vector<TypeId> arguments;
  friend bool operator==(const Type&, const Type&) = default;
};

/// A type that is written with more types than this is refused: prompts, schemas and messages name all of them.
inline constexpr std::uint32_t type_parts_max = 1'000;

/// Names of structs, enums and named types in messages, where their own would be ambiguous.
using TypeNames = std::unordered_map<TypeId, std::string>;

/// All types of a program. Equal types have equal handles; the built-in ones have the same handle in every table.
class TypeTable {
 public:
  TypeTable();

  static constexpr TypeId error{0}, never{1}, unit{2}, boolean{3}, i32{4}, i64{5}, f64{6}, string{7}, context{8};
  /// `Failure { kind: FailureKind, message: String, place: String, blame: String }` and its enum.
  static constexpr TypeId failure_kind{9}, failure{10};
  /// What every value of an Option or a Result carries at run time, whatever it holds: the two need no names from the
  /// table.
  static constexpr TypeId any_result{11}, any_option{12};

  [[nodiscard]] const Type& get(TypeId id) const { return types_[id.index]; }
  [[nodiscard]] TypeKind kind(TypeId id) const { return types_[id.index].kind; }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(types_.size()); }

  TypeId intern(Type type);
  TypeId text(std::string_view name);
  TypeId list(TypeId element);
  TypeId map(TypeId value);
  TypeId option(TypeId some);
  TypeId result(TypeId ok);
  TypeId tuple(std::vector<TypeId> items);
  /// `secret T`. Of an Option that of what it holds, since whether there is one is no secret.
  TypeId secret(TypeId sealed);
  TypeId range(TypeId item);
  TypeId tools();
  /// `"data" | "system" | "user" | "assistant"`: whose words an entry of a context is, in the order of EntryRole.
  TypeId context_role();
  /// `ContextEntry { role, text: String }`: an entry of a context, as a value.
  TypeId context_entry();
  TypeId parameter(std::string_view name);
  TypeId closure(std::vector<TypeId> parameters, TypeId result);
  TypeId make_union(UnionType value);
  TypeId refined(TypeId base, Refinement refinement);
  /// A new nominal type; fields and variants may be set later through `mutable_*`, for types that name each other.
  TypeId add_struct(StructType value);
  TypeId add_enum(EnumType value);

  [[nodiscard]] const StructType& struct_type(TypeId id) const { return structs_[get(id).detail]; }
  [[nodiscard]] const EnumType& enum_type(TypeId id) const { return enums_[get(id).detail]; }
  [[nodiscard]] const UnionType& union_type(TypeId id) const { return unions_[get(id).detail]; }
  [[nodiscard]] const Refinement& refinement(TypeId id) const { return refinements_[get(id).detail]; }
  [[nodiscard]] StructType& mutable_struct(TypeId id) { return structs_[get(id).detail]; }
  [[nodiscard]] EnumType& mutable_enum(TypeId id) { return enums_[get(id).detail]; }

  /// The type without its refinements: what operations on a value of it work on.
  [[nodiscard]] TypeId base(TypeId id) const;
  /// The same, a secret being what it is when it is opened: what native code has to do with.
  [[nodiscard]] TypeId opened(TypeId id) const;
  /// How many types it takes to write the type in full, itself included; a struct or an enum counts as one. Saturates.
  [[nodiscard]] std::uint32_t count_parts(TypeId id) const { return parts_[id.index]; }
  /// As in the user's source: `List<Invoice>`, `"a" | "b"`, `String matching "…"`.
  [[nodiscard]] std::string describe(TypeId id) const;
  /// The same for a message: in a long type, `…` replaces the innermost parts and all but the first few of a list.
  [[nodiscard]] std::string describe_briefly(TypeId id, const TypeNames& names = {}) const;

 private:
  /// What `describe` leaves out, and the names that it uses.
  struct Detail {
    std::uint32_t depth_max = UINT32_MAX;
    std::size_t items_max = SIZE_MAX;
    const TypeNames* names = nullptr;
  };
  [[nodiscard]] std::string describe(TypeId id, const Detail& detail, std::uint32_t depth) const;
  [[nodiscard]] static std::string describe_literals(const UnionType& value, std::size_t items_max);
  [[nodiscard]] std::string describe_refined(TypeId id, const Detail& detail, std::uint32_t depth) const;

  std::vector<Type> types_;
  std::vector<std::uint32_t> parts_;  ///< by type, as `count_parts` returns them
  std::vector<StructType> structs_;
  std::vector<EnumType> enums_;
  std::vector<UnionType> unions_;
  std::vector<Refinement> refinements_;
  std::unordered_multimap<std::size_t, std::uint32_t> index_;
  TypeId context_entry_;  ///< absent until it is wanted
};

/// The case of `Failure.kind`, in the order of the built-in enum. The numbers are part of the snapshot format.
enum class FailureKind : std::uint8_t {
  Raised = 0,      ///< `fail("…")`
  Arithmetic = 1,  ///< overflow, division by zero
  Index = 2,       ///< a list's index or a map's key that is not there
  Conversion = 3,  ///< text that is no number, a value outside of a refinement
  ModelRefused = 4,
  ModelCutOff = 5,    ///< the answer was longer than its limit
  ModelUnusable = 6,  ///< no usable answer after all repairs
  ModelUnavailable = 7,
  ToolFailed = 8,
  BudgetSpent = 9,
  ContractBroken = 10,
  Cancelled = 11,
  TimedOut = 12,  ///< nobody answered in time
};
[[nodiscard]] std::string_view failure_kind_name(FailureKind kind);

}  // namespace tenon::types
