#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bytecode/program.h"

namespace tenon::bytecode {

/// A set of tools as indices into Program::tools, in the set's order.
using ToolIndices = std::vector<std::uint32_t>;

/// The site with a clause for each tool in the place of each clause that stands for a set; `sets` has one for each of
/// these, in their order. Sites without such clauses come back as they are.
[[nodiscard]] Site with_tools(const Program& program, const Site& site, std::span<const ToolIndices> sets);

/// How many of the site's clauses stand for a set.
[[nodiscard]] std::size_t count_sets(const Site& site);

/// The parameters of Tool::function: all of the call's but the contexts that are made anew for it.
[[nodiscard]] std::vector<types::TypeId> passed_parameters(const Tool& tool);

}  // namespace tenon::bytecode
