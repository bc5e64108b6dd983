#include "bytecode/library.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace tenon::bytecode {
namespace {

/// The modules whose functions the language itself calls.
constexpr std::array<std::string_view, 3> language_modules = {"std/contracts.tn", "std/entailment.tn",
                                                              "std/pursuit.tn"};

std::string_view path_of(const Program& program, const Function& function) {
  return function.place.file < program.sources.size() ? program.sources[function.place.file].path : std::string_view();
}

}  // namespace

bool is_of_library(const Program& program, const Function& function) {
  return path_of(program, function).starts_with("std/");
}

std::string shown_name(const Program& program, const Function& function) {
  const bool is_of_language = std::ranges::find(language_modules, path_of(program, function)) != language_modules.end();
  return is_of_language ? function.name.substr(0, function.name.find('<')) : function.name;
}

}  // namespace tenon::bytecode
