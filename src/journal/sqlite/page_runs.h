#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tenon::journal::sqlite {

/// The names of runs on one page of a store's database: those in rows of `runs`, and in its index by name. None for a
/// page of anything else. Reads the bytes alone, so that a page says it whose database is not at hand.
/// Format: https://sqlite.org/fileformat2.html#b_tree_pages
[[nodiscard]] std::vector<std::string> run_names_on(std::string_view page);

}  // namespace tenon::journal::sqlite
