#include "types/declarations/load_modules.h"

#include <algorithm>
#include <filesystem>
#include <unordered_map>

#include "blocks/lower.h"
#include "diagnostics/kinds.h"
#include "syntax/parse.h"
#include "types/check.h"
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
      report_unreadable(path, text.error(), diagnostics_);
      text = std::string();
    }
    add(path, std::move(*text));
    for (std::size_t at = 0; at < program_.modules.size(); ++at) {
      const ModuleId id{static_cast<std::uint32_t>(at)};
      follow_uses(id);
      // What the compiler calls.
      const syntax::SyntaxTree& tree = *program_.modules[id.index].tree;
      if (has_node(tree, syntax::NodeKind::ContractClause) && !program_.contracts_module.exists()) {
        static_cast<void>(open_standard("contracts"));
      }
      if (has_node(tree, syntax::NodeKind::PursueExpression) && !program_.pursuit_module.exists()) {
        if (const auto module = open_standard("pursuit")) program_.pursuit_module = *module;
      }
    }
    if (program_.pursuit_module.exists()) read_verdicts(plan_path(path));
  }

 private:
  /// The plan file next to the program, if there is one.
  void read_verdicts(const std::string& path) {
    Result<std::string, FileError> text = files_.read_file(path, plan_bytes_max);
    if (!text) {
      if (text.error().is_missing) return;
      diagnostics_.report(diagnostics::UnusablePlan, {}, path, text.error().message);
      return;
    }
    auto verdicts = read_plan(*text);
    if (!verdicts) {
      diagnostics_.report(diagnostics::UnusablePlan, {}, path, verdicts.error().message)
          .hint("remove the file and create it again with `tenon plan FILE --model SPEC`");
      return;
    }
    program_.verdicts = std::move(*verdicts);
    program_.plan_path = path;
    program_.plan_text = std::move(*text);
  }

  enum class Origin : bool { File, StandardLibrary };

  ModuleId add(const std::string& path, std::string text, Origin origin = Origin::File) {
    const ModuleId id{static_cast<std::uint32_t>(program_.modules.size())};
    Module& module = program_.modules.emplace_back();
    module.file = std::make_unique<source::SourceFile>(source::FileId{id.index}, path, std::move(text));
    module.tree = std::make_unique<syntax::SyntaxTree>(syntax::parse(*module.file, diagnostics_));
    if (auto lowered = blocks::lower(*module.tree, *module.file, diagnostics_)) {
      module.written = std::move(module.tree);
      module.tree = std::make_unique<syntax::SyntaxTree>(std::move(lowered->tree));
      module.lowered = std::move(lowered->text);
    }
    module.facts.resize(module.tree->nodes.size());
    module.is_of_library = origin == Origin::StandardLibrary;
    if (origin == Origin::File) by_path_.emplace(std::filesystem::path(path).lexically_normal().string(), id);
    return id;
  }

  static bool has_node(const syntax::SyntaxTree& tree, syntax::NodeKind kind) {
    return std::any_of(tree.nodes.begin(), tree.nodes.end(),
                       [&](const syntax::Node& node) { return node.kind == kind; });
  }

  /// The module at `path`, read when it is met first. Nothing when there is no such file.
  std::optional<ModuleId> open(const std::filesystem::path& path, source::Span use) {
    const std::string normal = path.lexically_normal().string();
    if (const auto found = by_path_.find(normal); found != by_path_.end()) return found->second;
    if (program_.modules.size() >= modules_max) return std::nullopt;
    Result<std::string, FileError> text = files_.read_file(normal, source::source_bytes_max);
    if (text) return add(normal, std::move(*text));
    if (text.error().is_missing) return std::nullopt;
    diagnostics_.report(diagnostics::UnreadableFile, use, normal, text.error().message);
    return add(normal, "");
  }

  /// A module of the standard library. Nothing when there is none of that name.
  std::optional<ModuleId> open_standard(const std::string& name) {
    if (const auto found = standard_.find(name); found != standard_.end()) return found->second;
    const std::optional<std::string_view> text = find_standard_module(name);
    if (!text || program_.modules.size() >= modules_max) return std::nullopt;
    const ModuleId id = add(fmt::format("std/{}.tn", name), std::string(*text), Origin::StandardLibrary);
    standard_.emplace(name, id);
    if (name == "contracts") program_.contracts_module = id;
    return id;
  }

  /// `use std::react`, `use std::react::react` and `use std::react::{react, ReactOptions}` always mean the standard
  /// library, whatever files there are.
  void use_standard(ModuleId id, const syntax::SyntaxTree& tree, syntax::NodeId path_node, syntax::NodeId list) {
    const std::vector<syntax::TokenIndex> names = tree.path(path_node);
    const auto module = names.size() > 1 ? open_standard(std::string(tree.text(names[1]))) : std::nullopt;
    if (module && names.size() == 2) {
      if (!list.exists()) return import(id, tree, names[1], *module, true);
      for (const syntax::NodeId name : tree.children(list)) import(id, tree, tree[name].main_token, *module, false);
      return;
    }
    if (module && names.size() == 3 && !list.exists()) return import(id, tree, names[2], *module, false);
    std::string known;
    for (const std::string_view name : standard_module_names())
      known += fmt::format("{}`{}`", known.empty() ? "" : ", ", name);
    miss(id, tree, names.back(), list);
    diagnostics_.report(diagnostics::UnknownModule, tree.span(path_node), std::string(tree.text(path_node)))
        .hint(fmt::format("the standard library has the modules {}", known));
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
    const std::filesystem::path folder = std::filesystem::path(tree.file().path()).parent_path();
    const auto path_of = [&](std::size_t count) {
      std::filesystem::path path = folder;
      for (std::size_t at = 0; at < count; ++at) path /= std::string(tree.text(names[at]));
      path += ".tn";
      return path;
    };
    const syntax::NodeId list = tree.find_child(use, syntax::NodeKind::UseList);
    if (tree.text(names[0]) == "std") return use_standard(id, tree, path_node, list);
    const source::Span span = tree.span(path_node);
    if (const auto module = open(path_of(names.size()), span)) {
      if (!list.exists()) return import(id, tree, names.back(), *module, true);
      for (const syntax::NodeId name : tree.children(list)) import(id, tree, tree[name].main_token, *module, false);
      return;
    }
    if (!list.exists() && names.size() > 1) {
      if (const auto module = open(path_of(names.size() - 1), span))
        return import(id, tree, names.back(), *module, false);
    }
    miss(id, tree, names.back(), list);
    diagnostics_.report(diagnostics::UnknownModule, span, std::string(tree.text(path_node)))
        .hint(fmt::format("create the file `{}`, or correct the path",
                          path_of(names.size()).lexically_normal().string()));
  }

  /// The module that the names come from is missing: their uses are not reported as well.
  void miss(ModuleId into, const syntax::SyntaxTree& tree, syntax::TokenIndex name, syntax::NodeId list) {
    auto& missing = program_.modules[into.index].missing_imports;
    if (!list.exists()) missing.emplace(tree.text(name));
    for (const syntax::NodeId entry : list.exists() ? tree.children(list) : std::vector<syntax::NodeId>()) {
      missing.emplace(tree.main_text(entry));
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
  std::unordered_map<std::string, ModuleId> by_path_;
  std::unordered_map<std::string, ModuleId> standard_;  ///< modules of the standard library, by name
};

}  // namespace

void load_modules(const std::string& path, FileSystem& files, CheckedProgram& program,
                  diagnostics::Diagnostics& diagnostics) {
  Loader(files, program, diagnostics).run(path);
}

}  // namespace tenon::types
