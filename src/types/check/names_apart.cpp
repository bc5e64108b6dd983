#include "types/check/names_apart.h"

#include <filesystem>

namespace tenon::types {

std::pair<std::string, std::string> describe_apart(const CheckedProgram& program, const TypeTable& types, TypeId first,
                                                   TypeId second) {
  std::pair<std::string, std::string> plain{types.describe_briefly(first), types.describe_briefly(second)};
  if (first == second || plain.first != plain.second) return plain;
  const auto describe_both = [&](const auto& name_of_module) {
    TypeNames names;
    for (const Module& module : program.modules) {
      for (const auto& [name, type] : module.type_names) names.emplace(type, name_of_module(module) + "::" + name);
    }
    return std::pair(types.describe_briefly(first, names), types.describe_briefly(second, names));
  };
  auto by_stem =
      describe_both([](const Module& module) { return std::filesystem::path(module.file->path()).stem().string(); });
  if (by_stem.first != by_stem.second) return by_stem;
  return describe_both([](const Module& module) { return module.file->path(); });
}

}  // namespace tenon::types
