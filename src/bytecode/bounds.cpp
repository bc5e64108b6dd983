#include "bytecode/bounds.h"

#include <algorithm>

namespace tenon::bytecode {

Bounds complete(const Bounds& bounds, const Bounds& others) {
  Bounds completed = bounds;
  for (const auto& [name, bound] : named_bounds) {
    if (!(completed.*bound)) completed.*bound = others.*bound;
  }
  return completed;
}

std::optional<Bound> find_bound(std::string_view name) {
  const auto* const found = std::ranges::find(named_bounds, name, &NamedBound::name);
  if (found == named_bounds.end()) return std::nullopt;
  return found->bound;
}

void write_bounds(wire::Writer& out, const BoundFields& fields, const Bounds& bounds) {
  for (const auto& [number, bound] : fields) {
    if (bounds.*bound) out.present_field(number, *(bounds.*bound));
  }
}

bool read_bound(wire::Reader& in, const BoundFields& fields, Bounds& bounds) {
  const auto* const found = std::ranges::find(fields, in.number(), &BoundField::number);
  if (found == fields.end()) return false;
  bounds.*(found->bound) = in.value();
  return true;
}

}  // namespace tenon::bytecode
