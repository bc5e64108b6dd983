#pragma once

#include <cstdint>
#include <string>

#include "syntax/token_writer.h"
#include "syntax/tree.h"

namespace tenon::syntax {

/// Traverses the tree and determines what is between its tokens, which the TokenWriter writes. Internal to this folder;
/// others call `format`.
class Formatter : private TokenWriter {
 public:
  explicit Formatter(const SyntaxTree& tree);
  std::string run();

 private:
  enum class CommaStyle : std::uint8_t {
    Plain,            ///< a trailing comma if the list is broken
    SingleAsWritten,  ///< the comma after a single element is meaningful: `(a,)`
  };
  /// What `{ … }` does if it would fit on one line.
  enum class BraceLayout : std::uint8_t {
    Fit,     ///< stays on one line
    Author,  ///< stays on one line if the author wrote it there
  };

  // formatter.cpp: lists and blocks
  void list(NodeId first, CommaStyle commas = CommaStyle::Plain);
  void brace_list(NodeId first, BraceLayout braces);
  void close_bracket(Gap edge);
  /// Whether the last element can be broken without breaking the list.
  [[nodiscard]] bool elements(NodeId first, Gap between, CommaStyle commas);
  void block(NodeId node);
  /// The block, inside an existing group.
  void block_inside(NodeId node, Gap edge);
  void statements(NodeId first, TokenIndex end);
  [[nodiscard]] bool fits_one_line(NodeId block) const;
  [[nodiscard]] bool commas_between(NodeId first) const;
  [[nodiscard]] bool is_huggable(NodeId node) const;

  // format_blocks.cpp
  void block_part(NodeId id);
  void head_of_block_part(NodeId id);
  void block_statements(NodeId id, NodeId body);
  void words(NodeId id);
  /// Whether an empty line separates two neighbours because one of them is a block.
  [[nodiscard]] bool are_separated(NodeId left, NodeId right) const;

  // format_nodes.cpp
  void node(NodeId id);
  void item(NodeId id);
  void script_entry(NodeId child);
  /// The parts of items: fields, parameters, clauses.
  void item_part(NodeId id);
  void secret_word(NodeId id);
  void type_or_pattern(NodeId id);
  void statement(NodeId id);
  void function(NodeId id);
  void use(NodeId id);
  void names_until(TokenIndex end);
  void union_type(NodeId id);

  // format_expressions.cpp
  void expression(NodeId id);
  void operation(NodeId id);
  void control_flow(NodeId id);
  void binary(NodeId id);
  void postfix_chain(NodeId id);
  void if_expression(NodeId id);
  void pursue(NodeId id);
  void closure(NodeId id);
  /// The parts of a branch or a loop, with the words before them.
  void arm(NodeId id);

  const SyntaxTree& tree_;
  bool last_list_hugs_ = false;  ///< whether the last list can leave the break to a group in its last element
  std::size_t last_braces_ = 0;  ///< the group of the last `{ … }` that ended
};

}  // namespace tenon::syntax
