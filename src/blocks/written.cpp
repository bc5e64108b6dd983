#include "blocks/written.h"

#include <algorithm>
#include <map>
#include <set>

namespace tenon::blocks {
namespace {

using syntax::NodeId;
using syntax::NodeKind;
using syntax::SyntaxTree;

class Search {
 public:
  Search(const SyntaxTree& tree, const BlockAgent& agent) : tree_(tree), agent_(agent) {}

  void walk(const Sequence& sequence) {
    for (const Block& block : sequence.blocks) {
      if (block.statements.exists()) walk(block.statements);
      for (const NodeId option : block.options) {
        walk(option);
        if (tree_.main_text(option) == "into" && tree_.first(option).exists()) add(tree_.first(option));
        if (tree_.main_text(option) != "write" || !tree_.first(option).exists()) continue;
        for (const NodeId place : tree_.children(tree_.first(option))) add(place);
      }
      for (const NodeId exit : block.exits) walk(exit);
      // Each item of a for_each has its own copy of the state, which is discarded.
      if (block.kind != nullptr && block.kind->kind == Kind::ForEach) continue;
      for (const Sequence& nested : block.nested) walk(nested);
    }
  }

  [[nodiscard]] std::vector<WrittenField> take() {
    std::vector<WrittenField> all;
    for (auto& [key, field] : found_) all.push_back(std::move(field));
    return all;
  }

 private:
  void walk(NodeId node) {
    static constexpr std::string_view changing[] = {"push", "pop", "insert", "remove"};
    const NodeId first = tree_.first(node);
    if (first.exists()) {
      const NodeKind kind = tree_.kind(node);
      const bool changes =
          kind == NodeKind::AssignStatement ||
          (kind == NodeKind::MethodCallExpression &&
           std::find(std::begin(changing), std::end(changing), tree_.main_text(node)) != std::end(changing));
      if (changes) add(first);
    }
    follow(node);
    for (NodeId child = first; child.exists(); child = tree_.next(child)) walk(child);
  }

  /// A function that is named can be called, perhaps as a tool.
  void follow(NodeId node) {
    std::string_view name;
    if (tree_.kind(node) == NodeKind::MethodCallExpression) {
      name = tree_.main_text(node);
    } else if (tree_.kind(node) == NodeKind::NameExpression) {
      if (const auto path = tree_.path(node); !path.empty()) name = tree_.text(path.back());
    }
    if (name.empty()) return;
    for (const NodeId function : tree_.children(agent_.node, NodeKind::FunctionItem)) {
      if (tree_.main_text(function) == name && followed_.insert(function.index).second) walk(function);
    }
  }

  void add(NodeId place) {
    const auto named = find_field_name(tree_, place);
    if (!named) return;
    const NodeId field = find_field(tree_, agent_, *named);
    if (!field.exists() || !tree_.first(field).exists()) return;
    const std::pair key(std::string(named->owner), std::string(named->name));
    found_.emplace(key, WrittenField{key.first, key.second, tree_.first(field), place});
  }

  const SyntaxTree& tree_;
  const BlockAgent& agent_;
  std::map<std::pair<std::string, std::string>, WrittenField> found_;
  std::set<std::uint32_t> followed_;
};

}  // namespace

std::vector<WrittenField> find_written(const SyntaxTree& tree, const BlockAgent& agent, const Sequence& sequence) {
  Search search(tree, agent);
  search.walk(sequence);
  return search.take();
}

}  // namespace tenon::blocks
