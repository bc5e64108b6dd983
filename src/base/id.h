#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace tenon {

/// A typed handle: four bytes, comparable, encodable. `Tag` distinguishes handles of different tables.
template <class Tag>
struct Id {
  static constexpr std::uint32_t none_index = UINT32_MAX;

  std::uint32_t index = none_index;

  [[nodiscard]] constexpr bool exists() const { return index != none_index; }
  friend constexpr auto operator<=>(Id, Id) = default;
};

}  // namespace tenon

template <class Tag>
struct std::hash<tenon::Id<Tag>> {
  std::size_t operator()(tenon::Id<Tag> id) const noexcept { return std::hash<std::uint32_t>{}(id.index); }
};
