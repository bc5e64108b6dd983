#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "syntax/tree.h"

namespace tenon::graph {

/// A part of a text that other bytes replace.
struct Patch {
  std::size_t offset = 0;
  std::size_t removed = 0;  ///< bytes
  std::string inserted;
};

/// What holds the parts of a node.
struct Braces {
  syntax::TokenIndex opening;
  syntax::TokenIndex closing;
};
/// Of an agent, a section of one, a block or an `on`.
[[nodiscard]] Braces braces_of(const syntax::SyntaxTree& tree, syntax::NodeId node);

/// Collects the changes of one edit to a text: lines are put in and taken out so that the lines around them stay as
/// they are, comments and empty ones included. The changes must not touch each other.
class Patches {
 public:
  explicit Patches(const syntax::SyntaxTree& tree);

  void replace(source::Span span, std::string_view text) {
    patches_.push_back({span.offset, span.length, std::string(text)});
  }
  /// The statements of a body.
  void replace_lines(syntax::NodeId node, std::string_view text);
  /// Where an empty line keeps new lines apart from what is around them in the same braces.
  enum class Gap : std::uint8_t { None, EmptyLineBefore, EmptyLineAfter, EmptyLine };
  /// A line or several between the braces, after the node `anchor` or, when there is none, after the opening brace;
  /// `text` has no indentation yet.
  void insert_lines(Braces braces, syntax::NodeId anchor, std::string_view text, Gap gap = Gap::None);
  /// An element of `{ a, b }` after `anchor`: on a line of its own if that has one.
  void insert_element(Braces braces, syntax::NodeId anchor, std::string_view text);
  /// A part with its comma, and its line where nothing else is on it.
  void remove(syntax::NodeId node);
  /// The same with the doc comment and the empty lines that would be left.
  void remove_documented(syntax::NodeId node);
  /// The node with its doc comment, its lines without the indentation of the first.
  [[nodiscard]] std::string documented_text(syntax::NodeId node) const;

  /// In the order of the text.
  [[nodiscard]] std::vector<Patch> take();

 private:
  [[nodiscard]] std::size_t line_begin(std::size_t offset) const;
  [[nodiscard]] bool begins_line(std::size_t offset) const { return skip_blanks(line_begin(offset)) >= offset; }
  [[nodiscard]] std::size_t skip_blanks(std::size_t offset) const;
  [[nodiscard]] std::size_t skip_newline(std::size_t offset) const;
  [[nodiscard]] bool at_newline(std::size_t offset) const { return skip_newline(offset) != offset; }
  [[nodiscard]] bool is_empty_line(std::size_t begin) const;
  [[nodiscard]] std::string indentation_at(std::size_t offset) const;
  [[nodiscard]] std::size_t end_of(syntax::TokenIndex token) const;
  [[nodiscard]] std::size_t documented_begin(syntax::NodeId node) const;
  [[nodiscard]] std::string inner_indentation(syntax::TokenIndex opening, syntax::NodeId anchor) const;

  const syntax::SyntaxTree& tree_;
  std::string_view text_;
  std::string newline_;
  std::vector<Patch> patches_;
};

/// Lines with an indentation before each, also the first. Lines within strings and comments stay as they are.
[[nodiscard]] std::string indented_lines(std::string_view lines, std::string_view indentation,
                                         std::string_view newline = "\n");

/// Lines whose first has an indentation, without it. Lines within strings and comments stay as they are.
[[nodiscard]] std::string unindented_lines(std::string_view lines, std::string_view indentation,
                                           std::string_view newline = "\n");

/// The text with all patches, which are in its order.
[[nodiscard]] std::string patched(std::string_view text, const std::vector<Patch>& patches);

}  // namespace tenon::graph
