#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.h"
#include "types/check.h"

namespace tenon::completion {

/// The nodes that contain a token, outermost first.
using NodePath = std::vector<syntax::NodeId>;
[[nodiscard]] NodePath path_to(const syntax::SyntaxTree& tree, syntax::TokenIndex token);

/// The name at an offset of a text, in the tree as it was written and in the one that was checked, in which an agent's
/// blocks are functions.
class CheckedText {
 public:
  CheckedText(const std::string& path, std::string_view text, std::size_t offset, FileSystem& files);
  CheckedText(const CheckedText&) = delete;
  CheckedText& operator=(const CheckedText&) = delete;

  /// Whether there is a name at the offset that code can refer to; then the others can be called.
  [[nodiscard]] bool has_name() const { return token_.has_value(); }

  [[nodiscard]] types::CheckedProgram& program() { return checked_.program; }
  [[nodiscard]] const types::CheckedProgram& program() const { return checked_.program; }
  [[nodiscard]] const types::Module& module() const { return checked_.program.modules.front(); }
  [[nodiscard]] const syntax::SyntaxTree& tree() const { return module().written ? *module().written : *module().tree; }
  [[nodiscard]] syntax::TokenIndex token() const { return *token_; }
  [[nodiscard]] const NodePath& path() const { return path_; }  ///< in `tree()`
  /// The innermost node of one of the kinds around the name; may be absent.
  [[nodiscard]] syntax::NodeId find_around(syntax::NodeKind kind) const;

  /// The places of the name in the checked tree: several if a part of a block was copied.
  [[nodiscard]] const std::vector<syntax::TokenIndex>& checked_tokens() const { return checked_tokens_; }
  /// The facts of the innermost node of the kind around the name; of its first child with `Part::First`. Null if the
  /// checker did not get there.
  enum class Part : bool { Whole, First };
  [[nodiscard]] const types::NodeFacts* find_facts(syntax::NodeKind kind, Part part) const;
  /// The function whose body contains the name in the checked tree; absent outside of functions.
  [[nodiscard]] types::FunctionId find_function(syntax::TokenIndex checked) const;
  /// The variables that can be used at the name, the innermost first.
  [[nodiscard]] std::vector<const types::Local*> variables() const;
  /// Whether the token is in the text under that name, and was not made by lowering.
  [[nodiscard]] bool is_written(source::Span span, std::string_view name) const;

 private:
  [[nodiscard]] bool is_in_scope(syntax::NodeId function, const types::Local& local, syntax::TokenIndex use) const;

  types::Checked checked_;
  std::optional<syntax::TokenIndex> token_;
  NodePath path_;
  std::vector<syntax::TokenIndex> checked_tokens_;
};

}  // namespace tenon::completion
