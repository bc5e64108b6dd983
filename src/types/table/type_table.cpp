#include "types/table/type_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/ensure.h"
#include "base/utf8.h"

namespace tenon::types {
namespace {

constexpr std::array<std::string_view, 16> failure_kind_names = {
    "Raised",        "Arithmetic",       "Index",      "Conversion",  "ModelRefused",   "ModelCutOff",
    "ModelUnusable", "ModelUnavailable", "ToolFailed", "BudgetSpent", "ContractBroken", "Cancelled",
    "TimedOut",      "ContextFull",      "Untrusted",  "Refused"};

std::size_t hash_of(const Type& type) {
  std::size_t hash = static_cast<std::size_t>(type.kind) * 0x9E3779B97F4A7C15ULL + type.detail;
  hash ^= std::hash<std::string>{}(type.name) + (hash << 6U);
  for (const TypeId argument : type.arguments) hash = hash * 1099511628211ULL + argument.index;
  return hash;
}

std::size_t mixed(std::size_t hash, std::size_t part) {
  return (hash ^ part) * 1099511628211ULL;
}

std::size_t hash_of(const UnionType& value) {
  std::size_t hash = std::hash<std::string>{}(value.name);
  const auto add = [&](const auto& literals) {
    for (const auto& literal : literals) hash = mixed(hash, std::hash<std::decay_t<decltype(literal)>>{}(literal));
  };
  std::visit(add, value.literals);
  return hash;
}

std::size_t hash_of(const Refinement& value) {
  std::size_t hash = std::hash<std::string>{}(value.name);
  hash = mixed(hash, std::hash<Bound>{}(value.low));
  hash = mixed(hash, std::hash<Bound>{}(value.high));
  hash = mixed(hash, std::hash<std::optional<std::uint64_t>>{}(value.length_low));
  hash = mixed(hash, std::hash<std::optional<std::uint64_t>>{}(value.length_high));
  return mixed(hash, std::hash<std::optional<std::string>>{}(value.pattern));
}

std::string describe_bound(const Bound& bound) {
  if (const auto* integer = std::get_if<std::int64_t>(&bound)) return std::to_string(*integer);
  if (const auto* number = std::get_if<double>(&bound)) return fmt::format("{}", *number);
  return {};
}

/// Writes types as in the user's source.
class Describer {
 public:
  /// What it leaves out, and the names that it uses.
  struct Detail {
    std::uint32_t depth_max = UINT32_MAX;
    std::size_t items_max = SIZE_MAX;
    const TypeNames* names = nullptr;
    const char* unknown = "?";  ///< a type that is not known
  };
  Describer(const TypeTable& types, const Detail& detail) : types_(types), detail_(detail) {}

  [[nodiscard]] std::string describe(TypeId id, std::uint32_t depth) const;

 private:
  [[nodiscard]] static std::string describe_literals(const UnionType& value, std::size_t items_max);
  [[nodiscard]] std::string describe_refined(TypeId id, std::uint32_t depth) const;

  const TypeTable& types_;
  Detail detail_;
};

std::string Describer::describe_literals(const UnionType& value, std::size_t items_max) {
  std::string text;
  std::visit(
      [&](const auto& literals) {
        for (std::size_t at = 0; at < literals.size(); ++at) {
          if (at > 0) text += " | ";
          if (at == items_max) {
            text += "…";
            return;
          }
          if constexpr (std::is_same_v<std::decay_t<decltype(literals[at])>, std::string>) {
            text += '"' + literals[at] + '"';
          } else {
            text += std::to_string(literals[at]);
          }
        }
      },
      value.literals);
  return text;
}

std::string Describer::describe_refined(TypeId id, std::uint32_t depth) const {
  const Refinement& value = types_.refinement(id);
  std::string text = describe(types_.get(id).arguments[0], depth);
  const bool bounded_below = value.low.index() != 0;
  const bool bounded_above = value.high.index() != 0;
  if (bounded_below || bounded_above) {
    text += " in " + describe_bound(value.low) + ".." + (bounded_above && !value.high_is_exclusive ? "=" : "") +
            describe_bound(value.high);
  }
  if (value.length_low || value.length_high) {
    text += " len " + (value.length_low ? std::to_string(*value.length_low) : "") + ".." +
            (value.length_high ? "=" + std::to_string(*value.length_high) : "");
  }
  if (value.pattern) text += " matching \"" + *value.pattern + "\"";
  return text;
}

std::string Describer::describe(TypeId id, std::uint32_t depth) const {
  const Type& type = types_.get(id);
  if (detail_.names != nullptr) {
    if (const auto name = detail_.names->find(id); name != detail_.names->end()) return name->second;
  }
  const auto part = [&](TypeId inner) {
    const bool is_hidden = depth + 1 >= detail_.depth_max && !types_.get(inner).arguments.empty();
    return is_hidden ? std::string("…") : describe(inner, depth + 1);
  };
  const auto list_of = [&](std::span<const TypeId> items) {
    std::string text;
    for (std::size_t at = 0; at < items.size(); ++at) {
      if (at > 0) text += ", ";
      if (at == detail_.items_max) return text + "…";
      text += part(items[at]);
    }
    return text;
  };
  switch (type.kind) {
    case TypeKind::Error:
      return detail_.unknown;
    case TypeKind::Never:
      return "!";
    case TypeKind::Unit:
      return "()";
    case TypeKind::Boolean:
      return "Boolean";
    case TypeKind::I32:
      return "i32";
    case TypeKind::I64:
      return "i64";
    case TypeKind::F64:
      return "f64";
    case TypeKind::String:
      return "String";
    case TypeKind::Context:
      return "Context";
    case TypeKind::Tools:
      return "Tools";
    case TypeKind::Text:
    case TypeKind::Parameter:
      return type.name;
    case TypeKind::List:
      return "List<" + part(type.arguments[0]) + ">";
    case TypeKind::Map:
      return "Map<" + part(type.arguments[0]) + ">";
    case TypeKind::Option:
      return "Option<" + part(type.arguments[0]) + ">";
    case TypeKind::Result:
      return "Result<" + part(type.arguments[0]) + ", Failure>";
    case TypeKind::Secret:
      return "secret " + part(type.arguments[0]);
    case TypeKind::Range:
      return "Range<" + part(type.arguments[0]) + ">";
    case TypeKind::Tuple:
      return "(" + list_of(type.arguments) + ")";
    case TypeKind::Struct:
      return types_.struct_type(id).name;
    case TypeKind::Enum:
      return types_.enum_type(id).name;
    case TypeKind::Closure: {
      const std::span<const TypeId> all(type.arguments);
      return "|" + list_of(all.first(all.size() - 1)) + "| " + part(all.back());
    }
    case TypeKind::Union: {
      const UnionType& value = types_.union_type(id);
      return value.name.empty() ? describe_literals(value, detail_.items_max) : value.name;
    }
    case TypeKind::Refined: {
      const Refinement& value = types_.refinement(id);
      return value.name.empty() ? describe_refined(id, depth) : value.name;
    }
  }
  ENSURE(false);
}

}  // namespace

std::string_view failure_kind_name(FailureKind kind) {
  return failure_kind_names[static_cast<std::size_t>(kind)];
}

TypeTable::TypeTable() {
  for (const TypeKind kind : {TypeKind::Error, TypeKind::Never, TypeKind::Unit, TypeKind::Boolean, TypeKind::I32,
                              TypeKind::I64, TypeKind::F64, TypeKind::String, TypeKind::Context}) {
    intern({.kind = kind, .detail = UINT32_MAX, .name = {}, .arguments = {}});
  }
  EnumType kinds{"FailureKind", "Why something did not work.", {}};
  for (const std::string_view name : failure_kind_names) kinds.variants.push_back({std::string(name), "", {}});
  const TypeId kind = add_enum(std::move(kinds));
  const TypeId value = add_struct({"Failure",
                                   "What went wrong, where, and which requirement failed.",
                                   {{"kind", kind, ""},
                                    {"message", string, ""},
                                    {"place", string, "FILE:LINE:COL of the expression that failed"},
                                    {"blame", string, "the requirement, tool, model or budget that failed"}}});
  const TypeId results = result(error);
  const TypeId options = option(error);
  ENSURE(kind == failure_kind && value == failure && results == any_result && options == any_option);
}

TypeTable::TypeTable(const TypeTable& base, const TypeExtent& shared) : base_(&base), shared_(shared) {
  ENSURE(base.base_ == nullptr && shared.types <= base.size());
}

TypeExtent TypeTable::extent() const {
  const auto count = [](std::uint32_t shared, const auto& own) {
    return shared + static_cast<std::uint32_t>(own.size());
  };
  return {size(), count(shared_.structs, structs_), count(shared_.enums, enums_), count(shared_.unions, unions_),
          count(shared_.refinements, refinements_)};
}

std::optional<TypeId> TypeTable::find(const Type& type, std::size_t hash) const {
  if (base_ != nullptr) {
    const auto [begin, end] = base_->index_.equal_range(hash);
    for (auto found = begin; found != end; ++found) {
      if (found->second < shared_.types && base_->types_[found->second] == type) return TypeId{found->second};
    }
  }
  const auto [begin, end] = index_.equal_range(hash);
  for (auto found = begin; found != end; ++found) {
    if (types_[found->second - shared_.types] == type) return TypeId{found->second};
  }
  return std::nullopt;
}

TypeId TypeTable::own_or_shared(TypeId TypeTable::*type) const {
  if ((this->*type).exists() || base_ == nullptr) return this->*type;
  const TypeId shared = base_->*type;
  return shared.exists() && shared.index < shared_.types ? shared : TypeId{};
}

TypeId TypeTable::intern(Type type) {
  const std::size_t hash = hash_of(type);
  if (const auto known = find(type, hash)) {
    request(*known);
    return *known;
  }
  const TypeId id{size()};
  if (base_ != nullptr) requested_.push_back(id);
  std::uint64_t parts = 1;
  for (const TypeId argument : type.arguments) parts += count_parts(argument);
  parts_.push_back(static_cast<std::uint32_t>(std::min<std::uint64_t>(parts, UINT32_MAX)));
  types_.push_back(std::move(type));
  index_.emplace(hash, id.index);
  return id;
}

TypeId TypeTable::tools() {
  return intern({.kind = TypeKind::Tools, .detail = UINT32_MAX, .name = {}, .arguments = {}});
}

TypeId TypeTable::context_role() {
  return make_union({"", std::vector<std::string>{"data", "system", "user", "assistant"}});
}

TypeId TypeTable::context_entry() {
  if (const TypeId known = find_context_entry(); known.exists()) return intern(get(known));
  const TypeId role = context_role();
  context_entry_ = add_struct(
      {"ContextEntry",
       "An entry of a context.",
       {{"role", role, "the role of the entry; `data` is text that the program injected"}, {"text", string, ""}}});
  return context_entry_;
}

TypeId TypeTable::tool_result() {
  if (const TypeId known = find_tool_result(); known.exists()) return intern(get(known));
  const TypeId outcome = result(string);
  tool_result_ = add_struct({"ToolResult",
                             "A tool call and its result.",
                             {{"tool", string, "the tool's name in the set"},
                              {"arguments", string, "the arguments from the model, as a JSON object"},
                              {"outcome", outcome, "the result as text, or the failure"}}});
  return tool_result_;
}

TypeId TypeTable::text(std::string_view name) {
  return intern({.kind = TypeKind::Text, .detail = UINT32_MAX, .name = std::string(name), .arguments = {}});
}
TypeId TypeTable::parameter(std::string_view name) {
  return intern({.kind = TypeKind::Parameter, .detail = UINT32_MAX, .name = std::string(name), .arguments = {}});
}
TypeId TypeTable::list(TypeId element) {
  return intern({.kind = TypeKind::List, .detail = UINT32_MAX, .name = {}, .arguments = {element}});
}
TypeId TypeTable::map(TypeId value) {
  return intern({.kind = TypeKind::Map, .detail = UINT32_MAX, .name = {}, .arguments = {value}});
}
TypeId TypeTable::option(TypeId some) {
  return intern({.kind = TypeKind::Option, .detail = UINT32_MAX, .name = {}, .arguments = {some}});
}
TypeId TypeTable::result(TypeId ok) {
  return intern({.kind = TypeKind::Result, .detail = UINT32_MAX, .name = {}, .arguments = {ok}});
}
TypeId TypeTable::tuple(std::vector<TypeId> items) {
  return intern({.kind = TypeKind::Tuple, .detail = UINT32_MAX, .name = {}, .arguments = std::move(items)});
}
TypeId TypeTable::secret(TypeId sealed) {
  if (sealed == error || kind(sealed) == TypeKind::Secret) return sealed;
  if (kind(sealed) == TypeKind::Option) return option(secret(get(sealed).arguments[0]));
  return intern({.kind = TypeKind::Secret, .detail = UINT32_MAX, .name = {}, .arguments = {sealed}});
}
TypeId TypeTable::range(TypeId item) {
  return intern({.kind = TypeKind::Range, .detail = UINT32_MAX, .name = {}, .arguments = {item}});
}
TypeId TypeTable::closure(std::vector<TypeId> parameters, TypeId result) {
  parameters.push_back(result);
  return intern({.kind = TypeKind::Closure, .detail = UINT32_MAX, .name = {}, .arguments = std::move(parameters)});
}

template <class Entry>
std::uint32_t TypeTable::find_or_add(std::vector<Entry> TypeTable::*entries, std::uint32_t shared, Entry value) {
  // Besides all types by their own hashes, the index has those that are made of entries by the hashes of the entries.
  const std::size_t hash = hash_of(value);
  const TypeKind kind = std::is_same_v<Entry, UnionType> ? TypeKind::Union : TypeKind::Refined;
  if (base_ != nullptr) {
    const auto [begin, end] = base_->index_.equal_range(hash);
    for (auto found = begin; found != end; ++found) {
      if (found->second >= shared_.types) continue;
      const Type& type = base_->types_[found->second];
      if (type.kind == kind && (base_->*entries)[type.detail] == value) return type.detail;
    }
  }
  std::vector<Entry>& own = this->*entries;
  const auto [begin, end] = index_.equal_range(hash);
  for (auto found = begin; found != end; ++found) {
    const Type& type = types_[found->second - shared_.types];
    if (type.kind == kind && type.detail >= shared && own[type.detail - shared] == value) return type.detail;
  }
  own.push_back(std::move(value));
  return shared + static_cast<std::uint32_t>(own.size() - 1);
}

TypeId TypeTable::make_union(UnionType value) {
  const std::size_t hash = hash_of(value);
  const std::uint32_t detail = find_or_add(&TypeTable::unions_, shared_.unions, std::move(value));
  const TypeId next{size()};
  const TypeId type = intern({.kind = TypeKind::Union, .detail = detail, .name = {}, .arguments = {}});
  if (type == next) index_.emplace(hash, type.index);
  return type;
}

TypeId TypeTable::refined(TypeId base_type, Refinement value) {
  const std::size_t hash = hash_of(value);
  const std::uint32_t detail = find_or_add(&TypeTable::refinements_, shared_.refinements, std::move(value));
  const TypeId next{size()};
  const TypeId type = intern({.kind = TypeKind::Refined, .detail = detail, .name = {}, .arguments = {base_type}});
  if (type == next) index_.emplace(hash, type.index);
  return type;
}

TypeId TypeTable::add_struct(StructType value) {
  structs_.push_back(std::move(value));
  const auto detail = shared_.structs + static_cast<std::uint32_t>(structs_.size() - 1);
  return intern({.kind = TypeKind::Struct, .detail = detail, .name = {}, .arguments = {}});
}

TypeId TypeTable::add_enum(EnumType value) {
  enums_.push_back(std::move(value));
  const auto detail = shared_.enums + static_cast<std::uint32_t>(enums_.size() - 1);
  return intern({.kind = TypeKind::Enum, .detail = detail, .name = {}, .arguments = {}});
}

TypeId TypeTable::base(TypeId id) const {
  while (kind(id) == TypeKind::Refined) id = get(id).arguments[0];
  return id;
}

TypeId TypeTable::opened(TypeId id) const {
  while (kind(id) == TypeKind::Refined || kind(id) == TypeKind::Secret) id = get(id).arguments[0];
  return id;
}

std::string TypeTable::describe(TypeId id) const {
  return Describer(*this, {}).describe(id, 0);
}

std::string TypeTable::describe_briefly(TypeId id, const TypeNames& names) const {
  constexpr std::size_t length_max = 80;
  constexpr std::size_t items_max = 6;
  constexpr std::uint32_t depth_max = 6;
  if (count_parts(id) <= length_max) {
    std::string text = Describer(*this, {UINT32_MAX, SIZE_MAX, &names, "_"}).describe(id, 0);
    if (count_code_points(text) <= length_max) return text;
  }
  for (std::uint32_t depth = depth_max;; --depth) {
    std::string text = Describer(*this, {depth, items_max, &names, "_"}).describe(id, 0);
    if (depth == 1 || count_code_points(text) <= length_max) return text;
  }
}

}  // namespace tenon::types
