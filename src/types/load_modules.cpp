#include "types/load_modules.h"

#include <algorithm>
#include <filesystem>
#include <unordered_map>

#include "diagnostics/kinds.h"
#include "syntax/parse.h"
#include "types/standard_library.h"

namespace tenon::types {
namespace {

class Loader {
 public:
  Loader(FileSystem& files, CheckedProgram& program, diagnostics::Diagnostics& diagnostics)
      : files_(files), program_(program), diagnostics_(diagnostics) {}

  void run(const std::string& path) {
    Result<std::string, FileError> text = files_.read_file(path, source::source_bytes_max);
    if (!text) {
      if (text.error().bytes > 0) {
        diagnostics_.report(diagnostics::SourceTooLarge, {}, path, text.error().bytes, source::source_bytes_max);
      } else {
        diagnostics_.report(diagnostics::UnreadableFile, {}, path, text.error().message);
      }
      text = std::string();
    }
    add_file(path, std::move(*text));
    for (std::size_t at = 0; at < program_.modules.size(); ++at) {
      const ModuleId id{static_cast<std::uint32_t>(at)};
      follow_uses(id);
      // Contracts are judged by the standard library.
      if (has_contracts(*program_.modules[id.index].tree))
        static_cast<void>(open_standard(std::string(contracts_module)));
    }
  }

 private:
  ModuleId add(const std::string& path, std::string text) {
    const ModuleId id{static_cast<std::uint32_t>(program_.modules.size())};
    Module& module = program_.modules.emplace_back();
    module.file = std::make_unique<source::SourceFile>(source::FileId{id.index}, path, std::move(text));
    module.tree = std::make_unique<syntax::SyntaxTree>(syntax::parse(*module.file, diagnostics_));
    module.facts.resize(module.tree->nodes.size());
    return id;
  }

  static bool has_contracts(const syntax::SyntaxTree& tree) {
    return std::any_of(tree.nodes.begin(), tree.nodes.end(),
                       [](const syntax::Node& node) { return node.kind == syntax::NodeKind::ContractClause; });
  }

  ModuleId add_file(const std::string& path, std::string text) {
    const ModuleId id = add(path, std::move(text));
    by_path_.emplace(std::filesystem::path(path).lexically_normal().string(), id);
    return id;
  }

  /// A module of the standard library, which no file can hide.
  std::optional<ModuleId> open_standard(const std::string& path) {
    if (const auto found = standard_.find(path); found != standard_.end()) return found->second;
    const auto text = find_standard_module(path);
    if (!text) return std::nullopt;
    const ModuleId id = add(path, std::string(*text));
    program_.modules[id.index].is_standard = true;
    standard_.emplace(path, id);
    return id;
  }

  /// The module at `path`, read when it is met first. Nothing when there is no such file.
  std::optional<ModuleId> open(const std::filesystem::path& path, source::Span use) {
    const std::string normal = path.lexically_normal().string();
    if (const auto found = by_path_.find(normal); found != by_path_.end()) return found->second;
    if (program_.modules.size() >= modules_max) return std::nullopt;
    Result<std::string, FileError> text = files_.read_file(normal, source::source_bytes_max);
    if (text) return add_file(normal, std::move(*text));
    if (text.error().is_missing) return std::nullopt;
    diagnostics_.report(diagnostics::UnreadableFile, use, normal, text.error().message);
    return add_file(normal, "");
  }

  void follow_uses(ModuleId id) {
    const syntax::SyntaxTree& tree = *program_.modules[id.index].tree;
    for (const syntax::NodeId use : tree.children(tree.root, syntax::NodeKind::UseItem)) follow_use(id, tree, use);
  }

  void follow_use(ModuleId id, const syntax::SyntaxTree& tree, syntax::NodeId use) {
    const syntax::NodeId path_node = tree.find_child(use, syntax::NodeKind::Path);
    if (!path_node.exists()) return;
    const std::vector<syntax::TokenIndex> names = tree.path(path_node);
    if (names.empty()) return;
    const bool is_standard = tree.text(names[0]) == "std";
    const std::filesystem::path folder =
        is_standard ? std::filesystem::path() : std::filesystem::path(tree.file().path()).parent_path();
    const auto path_of = [&](std::size_t count) {
      std::filesystem::path path = folder;
      for (std::size_t at = 0; at < count; ++at) path /= std::string(tree.text(names[at]));
      path += ".tn";
      return path;
    };
    const auto open_module = [&](const std::filesystem::path& path, source::Span use_span) {
      return is_standard ? open_standard(path.string()) : open(path, use_span);
    };
    const syntax::NodeId list = tree.find_child(use, syntax::NodeKind::UseList);
    const source::Span span = tree.span(path_node);
    if (const auto module = open_module(path_of(names.size()), span)) {
      if (!list.exists()) return import(id, tree, names.back(), *module, true);
      for (const syntax::NodeId name : tree.children(list)) import(id, tree, tree[name].main_token, *module, false);
      return;
    }
    if (!list.exists() && names.size() > 1) {
      if (const auto module = open_module(path_of(names.size() - 1), span))
        return import(id, tree, names.back(), *module, false);
    }
    auto& report = diagnostics_.report(diagnostics::UnknownModule, span, std::string(tree.text(path_node)));
    if (is_standard) {
      std::string known;
      for (const std::string_view path : standard_module_paths()) {
        const std::string stem = std::filesystem::path(path).stem().string();
        known += fmt::format("{}`std::{}`", known.empty() ? "" : ", ", stem);
      }
      report.hint("the standard library has " + known);
    } else {
      report.hint(fmt::format("it would be the file `{}`", path_of(names.size()).lexically_normal().string()));
    }
  }

  void import(ModuleId into, const syntax::SyntaxTree& tree, syntax::TokenIndex name, ModuleId from, bool is_module) {
    const std::string text(tree.text(name));
    Module& module = program_.modules[into.index];
    const auto [at, added] = module.imports.emplace(text, ImportedName{text, from, is_module});
    if (!added && (at->second.module != from || at->second.is_module != is_module)) {
      diagnostics_.report(diagnostics::DeclaredTwice, tree.span(name), text);
    }
    module.declared_at.emplace(text, tree.span(name));
  }

  FileSystem& files_;
  CheckedProgram& program_;
  diagnostics::Diagnostics& diagnostics_;
  std::unordered_map<std::string, ModuleId> by_path_, standard_;
};

}  // namespace

void load_modules(const std::string& path, FileSystem& files, CheckedProgram& program,
                  diagnostics::Diagnostics& diagnostics) {
  Loader(files, program, diagnostics).run(path);
}

}  // namespace tenon::types
