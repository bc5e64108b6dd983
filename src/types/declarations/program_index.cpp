#include "types/declarations/program_index.h"

#include <filesystem>
#include <map>
#include <set>
#include <string>

namespace tenon::types {

using syntax::NodeId;
using syntax::NodeKind;

namespace {

/// Modules that only the runtime calls have no names in a message.
std::set<std::uint32_t> list_written_modules(const CheckedProgram& program) {
  std::set<std::uint32_t> modules{0};
  for (const Module& module : program.modules) {
    for (const auto& [name, imported] : module.imports) modules.insert(imported.module.index);
  }
  return modules;
}

/// Modules in several folders can have the same file name: then the whole path tells them apart.
TypeNames qualify_names(const CheckedProgram& program) {
  std::map<std::string, std::map<TypeId, std::uint32_t>> declared;  // the module of each type, by name
  for (const std::uint32_t at : list_written_modules(program)) {
    const Module& module = program.modules[at];
    for (const auto* const types : {&module.type_names, &module.aliases}) {
      for (const auto& [name, type] : *types) {
        if (program.types.describe_briefly(type) == name) declared[name].emplace(type, at);
      }
    }
  }
  TypeNames names;
  for (const auto& [name, types] : declared) {
    if (types.size() < 2) continue;
    const auto stem_of = [&](std::uint32_t module) {
      return std::filesystem::path(program.modules[module].file->path()).stem().string();
    };
    std::set<std::string> stems;
    for (const auto& [type, module] : types) stems.insert(stem_of(module));
    for (const auto& [type, module] : types) {
      const std::string& path = program.modules[module].file->path();
      names.emplace(type, (stems.size() == types.size() ? stem_of(module) : path) + "::" + name);
    }
  }
  return names;
}

}  // namespace

ProgramIndex::ProgramIndex(const CheckedProgram& program, Strictness strictness)
    : program_(program),
      strictness_(strictness),
      types_(program.types.extent()),
      qualified_names_(qualify_names(program)) {
  members_.add_all(program.types);
  if (program.tests.empty()) return;
  for (const Module& module : program.modules) {
    const syntax::SyntaxTree& tree = *module.tree;
    for (std::uint32_t at = 0; at < tree.nodes.size(); ++at) {
      const NodeId entry{at};
      const bool has_name = tree.kind(entry) == NodeKind::ToolEntry || tree.kind(entry) == NodeKind::PursueAction;
      if (has_name && tree.first(entry).exists()) tool_names_.insert(tree.main_text(entry));
    }
  }
}

}  // namespace tenon::types
