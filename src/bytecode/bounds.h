#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/wire.h"

namespace tenon::bytecode {

/// Limits of a run or of a part of it. An absent one does not limit it.
struct Bounds {
  std::optional<std::uint64_t> model_calls = {};
  std::optional<std::uint64_t> tokens = {};
  std::optional<std::uint64_t> instructions = {};
  std::optional<std::uint64_t> depth = {};  ///< frames
  std::optional<std::uint64_t> cost_millionths = {};
  std::optional<std::uint64_t> milliseconds = {};
  /// What narrow answers may say of what is not trusted. The innermost bound holds instead of those around it, so it is
  /// a bound of the program's own, and not one of `named_bounds`.
  std::optional<std::uint64_t> bits = {};
  friend bool operator==(const Bounds&, const Bounds&) = default;
};

/// The limits of a run that does not set them (docs/language/08-budgets.md).
inline constexpr Bounds default_bounds{.model_calls = 1'000, .instructions = 100'000'000, .depth = 10'000};

/// The bits of a run or a turn where no `budget(bits: …)` sets them.
inline constexpr std::uint64_t default_bits = 16;

/// The bounds, with those of `others` for the absent ones.
[[nodiscard]] Bounds complete(const Bounds& bounds, const Bounds& others);

/// One of the bounds.
using Bound = std::optional<std::uint64_t> Bounds::*;

struct NamedBound {
  std::string_view name;
  Bound bound;
};
/// With their names in programs, manifests, settings and artifacts.
inline constexpr std::array<NamedBound, 6> named_bounds = {{{"calls", &Bounds::model_calls},
                                                            {"tokens", &Bounds::tokens},
                                                            {"instructions", &Bounds::instructions},
                                                            {"depth", &Bounds::depth},
                                                            {"cost", &Bounds::cost_millionths},
                                                            {"time", &Bounds::milliseconds}}};
[[nodiscard]] std::optional<Bound> find_bound(std::string_view name);

struct BoundField {
  std::uint32_t number;
  Bound bound;
};
/// The numbers of the bounds in an encoded message, ascending. Each message has its own.
using BoundFields = std::array<BoundField, named_bounds.size()>;
void write_bounds(wire::Writer& out, const BoundFields& fields, const Bounds& bounds);
/// Whether the field is one of the bounds, which it then reads.
[[nodiscard]] bool read_bound(wire::Reader& in, const BoundFields& fields, Bounds& bounds);

}  // namespace tenon::bytecode
