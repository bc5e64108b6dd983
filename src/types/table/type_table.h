#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#include "base/id.h"

namespace tenon::types {

using TypeId = Id<struct TypeTag>;

/// What a type is. The numbers are written into programs and snapshots and are never reused.
enum class TypeKind : std::uint8_t {
  Error = 0,  ///< of code with a reported error; assignable from and to every type
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
  Range = 19,      ///< `0..n`, only as the items of a `for`; `arguments[0]`: I32 or I64
  Parameter = 20,  ///< of a generic function; `name`; never in a compiled program
  Closure = 21,    ///< `|x| …`, only as an argument of a built-in; result last in `arguments`
  Secret = 22,     ///< `secret T`: sealed from where it comes in up to the extern that takes it; `arguments[0]`: T
  Tools = 23,      ///< a set of tools; at run time a List with a Record for each: its index, then what is given
};

struct Field {
  std::string name;
  TypeId type;
  std::string documentation;
  bool is_trusted = false;  ///< `id: trusted i64`: an extern that returns it vouches for it
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
  std::string documentation = {};                       ///< of the alias
  std::vector<std::string> literal_documentation = {};  ///< one text per literal, or none if no literal has one
  friend bool operator==(const UnionType&, const UnionType&) = default;
};

/// One end of a range; nothing if it is open.
using Bound = std::variant<std::monostate, std::int64_t, double>;

/// Bounds are inclusive where present. `low`/`high` bound a number, `length_low`/`length_high` a text's code points or
/// a list's elements, `pattern` (RE2 syntax) a text as a whole.
struct Refinement {
  std::string name;  ///< of the alias, or empty
  Bound low, high;
  bool high_is_exclusive = false;  ///< only for f64; integers are kept inclusive
  std::optional<std::uint64_t> length_low, length_high;
  std::optional<std::string> pattern;
  std::string documentation = {};  ///< of the alias
  friend bool operator==(const Refinement&, const Refinement&) = default;
};

struct Type {
  TypeKind kind = TypeKind::Error;
  std::uint32_t detail = UINT32_MAX;
  std::string name;
  std::vector<TypeId> arguments;
  friend bool operator==(const Type&, const Type&) = default;
};

/// A type that is written with more types than this is rejected: prompts, schemas and messages name all of them.
inline constexpr std::uint32_t type_parts_max = 1'000;

/// Names of structs, enums and named types in messages, where their own would be ambiguous.
using TypeNames = std::unordered_map<TypeId, std::string>;

/// How many entries of each sort a table has.
struct TypeExtent {
  std::uint32_t types = 0, structs = 0, enums = 0, unions = 0, refinements = 0;
};

/// All types of a program. Equal types have equal handles; the built-in ones have the same handle in every table.
class TypeTable {
 public:
  TypeTable();
  /// A table that begins with the first entries of `base`, which are shared: `base` must outlive it, and must not
  /// extend another table itself. New types of either table are unknown to the other one (see type_import.h).
  TypeTable(const TypeTable& base, const TypeExtent& shared);

  static constexpr TypeId error{0}, never{1}, unit{2}, boolean{3}, i32{4}, i64{5}, f64{6}, string{7}, context{8};
  /// `Failure { kind: FailureKind, message: String, place: String, blame: String }` and its enum.
  static constexpr TypeId failure_kind{9}, failure{10};
  /// What every value of an Option or a Result carries at run time, whatever it holds: the two need no names from the
  /// table.
  static constexpr TypeId any_result{11}, any_option{12};

  [[nodiscard]] const Type& get(TypeId id) const {
    return id.index < shared_.types ? base_->types_[id.index] : types_[id.index - shared_.types];
  }
  [[nodiscard]] TypeKind kind(TypeId id) const { return get(id).kind; }
  [[nodiscard]] std::uint32_t size() const { return shared_.types + static_cast<std::uint32_t>(types_.size()); }
  [[nodiscard]] TypeExtent extent() const;
  /// How many types it shares with the table that it extends; usually 0.
  [[nodiscard]] std::uint32_t shared_size() const { return shared_.types; }
  /// In a table that extends another one: the types that it was asked for, shared ones too, in the order of the first
  /// requests. Interning them in this order anywhere gives new types there the same order.
  [[nodiscard]] const std::vector<TypeId>& requested() const { return requested_; }
  /// Counts a type of the table as requested.
  void request(TypeId type) {
    if (type.index < shared_.types && requested_shared_.insert(type).second) requested_.push_back(type);
  }

  TypeId intern(Type type);
  TypeId text(std::string_view name);
  TypeId list(TypeId element);
  TypeId map(TypeId value);
  TypeId option(TypeId some);
  TypeId result(TypeId ok);
  TypeId tuple(std::vector<TypeId> items);
  /// `secret T`. For an Option: the Option of the secret, since whether there is a value is not secret.
  TypeId secret(TypeId sealed);
  TypeId range(TypeId item);
  TypeId tools();
  /// `"data" | "system" | "user" | "assistant"`: whose words an entry of a context is, in the order of EntryRole.
  TypeId context_role();
  /// `ContextEntry { role, text: String }`: an entry of a context, as a value.
  TypeId context_entry();
  /// `ToolResult { tool, arguments: String, outcome: Result<String, Failure> }`: a tool call and its result.
  TypeId tool_result();
  /// The two types above if they are in the table, or absent ids.
  [[nodiscard]] TypeId find_context_entry() const { return own_or_shared(&TypeTable::context_entry_); }
  [[nodiscard]] TypeId find_tool_result() const { return own_or_shared(&TypeTable::tool_result_); }
  TypeId parameter(std::string_view name);
  TypeId closure(std::vector<TypeId> parameters, TypeId result);
  TypeId make_union(UnionType value);
  TypeId refined(TypeId base, Refinement refinement);
  /// A new nominal type; fields and variants may be set later through `mutable_*`, for types that name each other.
  TypeId add_struct(StructType value);
  TypeId add_enum(EnumType value);

  [[nodiscard]] const StructType& struct_type(TypeId id) const {
    return entry(&TypeTable::structs_, shared_.structs, id);
  }
  [[nodiscard]] const EnumType& enum_type(TypeId id) const { return entry(&TypeTable::enums_, shared_.enums, id); }
  [[nodiscard]] const UnionType& union_type(TypeId id) const { return entry(&TypeTable::unions_, shared_.unions, id); }
  [[nodiscard]] const Refinement& refinement(TypeId id) const {
    return entry(&TypeTable::refinements_, shared_.refinements, id);
  }
  /// Only of the table's own types.
  [[nodiscard]] StructType& mutable_struct(TypeId id) { return structs_[get(id).detail - shared_.structs]; }
  [[nodiscard]] EnumType& mutable_enum(TypeId id) { return enums_[get(id).detail - shared_.enums]; }

  /// The type without its refinements: what operations on a value of it work on.
  [[nodiscard]] TypeId base(TypeId id) const;
  /// The same, with `secret T` replaced by `T`: the type that native code sees.
  [[nodiscard]] TypeId opened(TypeId id) const;
  /// How many types it takes to write the type in full, itself included; a struct or an enum counts as one. Saturates.
  [[nodiscard]] std::uint32_t count_parts(TypeId id) const {
    return id.index < shared_.types ? base_->parts_[id.index] : parts_[id.index - shared_.types];
  }
  /// As in the user's source: `List<Invoice>`, `"a" | "b"`, `String matching "…"`.
  [[nodiscard]] std::string describe(TypeId id) const;
  /// The same for a message: in a long type, `…` replaces the innermost parts and all but the first few of a list.
  [[nodiscard]] std::string describe_briefly(TypeId id, const TypeNames& names = {}) const;

 private:
  template <class Entry>
  [[nodiscard]] const Entry& entry(std::vector<Entry> TypeTable::*entries, std::uint32_t shared, TypeId id) const {
    const std::uint32_t detail = get(id).detail;
    return detail < shared ? (base_->*entries)[detail] : (this->*entries)[detail - shared];
  }
  /// The index of an equal entry, or of a new one.
  template <class Entry>
  std::uint32_t find_or_add(std::vector<Entry> TypeTable::*entries, std::uint32_t shared, Entry value);
  [[nodiscard]] std::optional<TypeId> find(const Type& type, std::size_t hash) const;
  [[nodiscard]] TypeId own_or_shared(TypeId TypeTable::*type) const;

  const TypeTable* base_ = nullptr;
  TypeExtent shared_;
  std::vector<TypeId> requested_;
  std::unordered_set<TypeId> requested_shared_;
  std::vector<Type> types_;
  std::vector<std::uint32_t> parts_;  ///< by type, as `count_parts` returns them
  std::vector<StructType> structs_;
  std::vector<EnumType> enums_;
  std::vector<UnionType> unions_;
  std::vector<Refinement> refinements_;
  std::unordered_multimap<std::size_t, std::uint32_t> index_;
  TypeId context_entry_, tool_result_;  ///< absent until the first use
};

/// The case of `Failure.kind`, in the order of the built-in enum. The numbers are part of the snapshot format.
enum class FailureKind : std::uint8_t {
  Raised = 0,      ///< `fail("…")`
  Arithmetic = 1,  ///< overflow, division by zero
  Index = 2,       ///< a list's index or a map's key that is not there
  Conversion = 3,  ///< text that is not a number, a value outside of a refinement
  ModelRefused = 4,
  ModelCutOff = 5,    ///< the answer was longer than its limit
  ModelUnusable = 6,  ///< no usable answer after all repairs
  ModelUnavailable = 7,
  ToolFailed = 8,
  BudgetSpent = 9,
  ContractBroken = 10,
  Cancelled = 11,
  TimedOut = 12,     ///< no answer in time
  ContextFull = 13,  ///< the prompt does not fit into the model's context
  Untrusted = 14,    ///< what is not trusted would decide a call that acts
  Refused = 15,      ///< a person does not approve of a value
};
inline constexpr FailureKind last_failure_kind = FailureKind::Refused;
[[nodiscard]] std::string_view failure_kind_name(FailureKind kind);

}  // namespace tenon::types
