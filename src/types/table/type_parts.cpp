#include "types/table/type_parts.h"

#include <cmath>
#include <string>
#include <variant>

namespace tenon::types {
namespace {

/// Counts in bits, since products of counts soon have no integer.
class Information {
 public:
  explicit Information(const TypeTable& types) : types_(types) {}

  [[nodiscard]] std::optional<double> of(TypeId type) {
    switch (types_.kind(type)) {
      case TypeKind::Unit:
        return 0;
      case TypeKind::Boolean:
        return 1;
      case TypeKind::I32:
        return 32;
      case TypeKind::I64:
        return 64;
      case TypeKind::Union:
        return std::visit([](const auto& literals) { return std::log2(static_cast<double>(literals.size())); },
                          types_.union_type(type).literals);
      case TypeKind::Option: {
        const auto some = of(types_.get(type).arguments[0]);
        return some ? std::optional(std::log2(1 + std::exp2(*some))) : std::nullopt;
      }
      case TypeKind::Tuple:
        return of_all(types_.get(type).arguments);
      case TypeKind::Struct:
      case TypeKind::Enum:
        return of_declared(type);
      case TypeKind::Refined:
        return of_refined(type);
      default:
        return std::nullopt;
    }
  }

 private:
  /// A value of each type.
  [[nodiscard]] std::optional<double> of_all(const std::vector<TypeId>& all) {
    double sum = 0;
    for (const TypeId type : all) {
      const auto bits = of(type);
      if (!bits) return std::nullopt;
      sum += *bits;
    }
    return sum;
  }

  [[nodiscard]] std::optional<double> of_declared(TypeId type) {
    if (!open_.insert(type).second) return std::nullopt;  // a type within itself
    std::optional<double> bits;
    if (types_.kind(type) == TypeKind::Struct) {
      bits = of_all(list_parts(types_, type));
    } else {
      double values = 0;
      for (const Variant& variant : types_.enum_type(type).variants) {
        bits = of_all(variant.payload);
        if (!bits) break;
        values += std::exp2(*bits);
      }
      if (bits) bits = std::log2(values);
    }
    open_.erase(type);
    return bits;
  }

  [[nodiscard]] std::optional<double> of_refined(TypeId type) {
    const Refinement& refinement = types_.refinement(type);
    const TypeId base = types_.base(type);
    const auto* const low = std::get_if<std::int64_t>(&refinement.low);
    const auto* const high = std::get_if<std::int64_t>(&refinement.high);
    if (is_integer(types_, base) && low != nullptr && high != nullptr) {
      return std::log2(static_cast<double>(*high) - static_cast<double>(*low) + 1);
    }
    if (types_.kind(base) != TypeKind::List || !refinement.length_high) return of(base);
    const auto item = of(types_.get(base).arguments[0]);
    if (!item) return std::nullopt;
    const auto longest = static_cast<double>(*refinement.length_high);
    return longest * *item + std::log2(longest - static_cast<double>(refinement.length_low.value_or(0)) + 1);
  }

  const TypeTable& types_;
  std::unordered_set<TypeId> open_;  ///< what the type is within
};

}  // namespace

std::optional<double> information_of(const TypeTable& types, TypeId type) {
  return Information(types).of(type);
}

std::vector<TypeId> list_parts(const TypeTable& types, TypeId type) {
  std::vector<TypeId> parts;
  for_each_part(types, type, TypeParts::OfValues, [&](TypeId part) { parts.push_back(part); });
  return parts;
}

bool is_text(const TypeTable& types, TypeId type) {
  const TypeId base = types.base(type);
  switch (types.kind(base)) {
    case TypeKind::String:
    case TypeKind::Text:
      return true;
    case TypeKind::Union:
      return std::holds_alternative<std::vector<std::string>>(types.union_type(base).literals);
    default:
      return false;
  }
}

bool is_integer(const TypeTable& types, TypeId type) {
  const TypeId base = types.base(type);
  const TypeKind kind = types.kind(base);
  return kind == TypeKind::I32 || kind == TypeKind::I64 ||
         (kind == TypeKind::Union &&
          std::holds_alternative<std::vector<std::int64_t>>(types.union_type(base).literals));
}

bool is_number(const TypeTable& types, TypeId type) {
  return is_integer(types, type) || types.kind(types.base(type)) == TypeKind::F64;
}

TypeKind operand_kind(const TypeTable& types, TypeId type) {
  if (is_text(types, type)) return TypeKind::String;
  const TypeKind kind = types.kind(types.base(type));
  return kind == TypeKind::Union ? TypeKind::I64 : kind;
}

bool can_leave_run(TypeKind kind) {
  switch (kind) {
    case TypeKind::Error:
    case TypeKind::Never:
    case TypeKind::Context:
    case TypeKind::Range:
    case TypeKind::Parameter:
    case TypeKind::Closure:
    case TypeKind::Tools:
      return false;
    case TypeKind::Unit:
    case TypeKind::Boolean:
    case TypeKind::I32:
    case TypeKind::I64:
    case TypeKind::F64:
    case TypeKind::String:
    case TypeKind::Text:
    case TypeKind::List:
    case TypeKind::Map:
    case TypeKind::Option:
    case TypeKind::Result:
    case TypeKind::Tuple:
    case TypeKind::Struct:
    case TypeKind::Enum:
    case TypeKind::Union:
    case TypeKind::Refined:
    case TypeKind::Secret:
      return true;
  }
  return false;
}

bool is_unanswerable(const TypeTable& types, TypeId type, Answerer answerer) {
  const TypeKind kind = types.kind(type);
  if (kind == TypeKind::Enum) return types.enum_type(type).variants.empty();
  if (kind == TypeKind::Secret) return answerer == Answerer::Model;
  return kind == TypeKind::Result || !can_leave_run(kind);
}

TypeId find_unanswerable(const TypeTable& types, TypeId type, Answerer answerer) {
  return find_within(types, type, TypeParts::OfValues,
                     [&](TypeId part) { return is_unanswerable(types, part, answerer); });
}

bool is_answered_under_key(const TypeTable& types, TypeId type) {
  const TypeKind kind = types.kind(types.base(type));
  return kind != TypeKind::String && kind != TypeKind::Text && kind != TypeKind::Struct && kind != TypeKind::Map;
}

bool holds_secret(const TypeTable& types, TypeId type) {
  return find_within(types, type, TypeParts::OfValues,
                     [&](TypeId part) { return types.kind(part) == TypeKind::Secret; })
      .exists();
}

bool has_secrets(const TypeTable& types) {
  for (std::uint32_t at = 0; at < types.size(); ++at) {
    if (types.kind(TypeId{at}) == TypeKind::Secret) return true;
  }
  return false;
}

}  // namespace tenon::types
