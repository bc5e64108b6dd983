#include "vm/values/refinements.h"

#include <re2/re2.h>

#include "types/table/refinements.h"
#include "vm/limits.h"
#include "vm/values/text.h"

namespace tenon::vm {
namespace {

using types::Refinement;
using types::TypeId;
using types::TypeKind;

std::uint64_t length_of(const Value& value) {
  if (value.tag() == Tag::String) return code_points(value);
  if (value.tag() == Tag::List) return value.items().size();
  return value.tag() == Tag::Map ? value.entries().size() : 0;
}

bool is_literal(const types::UnionType& literals, const Value& value) {
  if (value.tag() == Tag::String) return types::has_literal(literals, value.as_text());
  return value.tag() == Tag::Integer && types::has_literal(literals, value.as_integer());
}

}  // namespace

Refinements::Refinements(const types::TypeTable& types) : types_(types) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(pattern_memory_max);
  for (std::uint32_t index = 0; index < types.size(); ++index) {
    const TypeId type{index};
    if (types.kind(type) != TypeKind::Refined || !types.refinement(type).pattern) continue;
    auto pattern = std::make_unique<const re2::RE2>(*types.refinement(type).pattern, options);
    if (!pattern->ok() && problem_.empty()) {
      problem_ = "`" + types.describe(type) + "` has a faulty pattern: " + pattern->error();
    }
    patterns_.emplace(type, std::move(pattern));
  }
}

Refinements::~Refinements() = default;

TypeId Refinements::find_broken(TypeId type, const Value& value) const {
  for (; types_.kind(type) == TypeKind::Refined; type = types_.get(type).arguments[0]) {
    if (!satisfies(type, value)) return type;
  }
  const bool is_broken = types_.kind(type) == TypeKind::Union && !is_literal(types_.union_type(type), value);
  return is_broken ? type : TypeId{};
}

bool Refinements::satisfies(TypeId refined, const Value& value) const {
  const Refinement& refinement = types_.refinement(refined);
  if (value.tag() == Tag::Integer && !types::is_within(refinement, value.as_integer())) return false;
  if (value.tag() == Tag::Float && !types::is_within(refinement, value.as_float())) return false;
  const bool has_length = refinement.length_low || refinement.length_high;
  if (has_length && !types::is_within_length(refinement, length_of(value))) return false;
  return value.tag() != Tag::String || matches(refined, value.as_text());
}

bool Refinements::matches(TypeId refined, std::string_view text) const {
  if (!types_.refinement(refined).pattern) return true;
  const re2::RE2& pattern = *patterns_.at(refined);
  return pattern.ok() && re2::RE2::FullMatch(text, pattern);
}

}  // namespace tenon::vm
