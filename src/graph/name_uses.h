#pragma once

#include <string_view>
#include <vector>

#include "syntax/tree.h"

namespace tenon::graph {

/// Finds where names are used, from the syntax alone: a variable hides what the file or an agent declares under its
/// name.
class NameUses {
 public:
  explicit NameUses(const syntax::SyntaxTree& tree) : tree_(tree) {}

  /// The names of fields in `OWNER.FIELD` below the node: of `state` or `scratchpad`.
  [[nodiscard]] std::vector<syntax::TokenIndex> of_field(syntax::NodeId below, std::string_view owner,
                                                         std::string_view field) const;
  /// The uses of a declaration of the file, without its own name.
  [[nodiscard]] std::vector<syntax::TokenIndex> of_declaration(syntax::NodeId declaration) const;
  /// The uses of a function of an agent.
  [[nodiscard]] std::vector<syntax::TokenIndex> of_function(syntax::NodeId agent, std::string_view function) const;

  /// A variable of that name that can be used at the token; may be absent. `within`: a node around the token, outside
  /// of which no variable is looked for.
  [[nodiscard]] syntax::NodeId find_variable(std::string_view name, syntax::TokenIndex use,
                                             syntax::NodeId within) const;
  [[nodiscard]] syntax::NodeId find_variable(std::string_view name, syntax::TokenIndex use) const {
    return find_variable(name, use, tree_.root);
  }

 private:
  const syntax::SyntaxTree& tree_;
};

}  // namespace tenon::graph
