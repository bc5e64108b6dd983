#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bytecode/program.h"

namespace tenon::bytecode {

/// A set of tools as indices into Program::tools, in the set's order.
using ToolIndices = std::vector<std::uint32_t>;

/// The site with each clause for a set replaced by one clause for each tool; `sets` has an element for each of these
/// clauses, in order. Sites without such clauses are returned unchanged.
[[nodiscard]] Site with_tools(const Program& program, const Site& site, std::span<const ToolIndices> sets);

/// The number of the site's clauses that offer a set.
[[nodiscard]] std::size_t count_sets(const Site& site);

/// The parameters of Tool::function: all of the call's, except contexts that are created for each call.
[[nodiscard]] std::vector<types::TypeId> passed_parameters(const Tool& tool);

}  // namespace tenon::bytecode
