#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "syntax/tree.h"

namespace tenon::graph {

/// A range of a text that is replaced.
struct Patch {
  std::size_t offset = 0;
  std::size_t removed = 0;  ///< bytes
  std::string inserted;
};

/// What encloses the parts of a node.
struct Braces {
  syntax::TokenIndex opening;
  syntax::TokenIndex closing;
};
/// Those of an agent, a section of an agent, a block or an `on`.
[[nodiscard]] Braces braces_of(const syntax::SyntaxTree& tree, syntax::NodeId node);

/// The text between the braces of `instructions` or of another section, without the white space at both ends and the
/// indentation of its first line.
[[nodiscard]] std::string inside_of(const syntax::SyntaxTree& tree, syntax::NodeId node);

/// A doc comment of these words: lines that begin with `///`.
[[nodiscard]] std::string documentation_lines(std::string_view words);

/// Collects the changes of one edit to a text. Lines are inserted and removed so that the lines around them are
/// unchanged, including comments and empty lines. The changes must not touch each other.
class Patches {
 public:
  explicit Patches(const syntax::SyntaxTree& tree);

  void replace(source::Span span, std::string_view text) {
    patches_.push_back({span.offset, span.length, std::string(text)});
  }
  /// What is between the braces, as `inside_of` returns it. It stays on one line if it can.
  void replace_inside(Braces braces, std::string_view text);
  /// The doc comment before a node: empty for none. False if the node shares its line with what is before it.
  [[nodiscard]] bool replace_documentation(syntax::NodeId node, std::string_view text);
  /// The statements of a body.
  void replace_lines(syntax::NodeId node, std::string_view text);
  /// Whether an empty line separates new lines from the other contents of the braces.
  enum class Gap : std::uint8_t { None, EmptyLineBefore, EmptyLineAfter, EmptyLine };
  /// Inserts lines between the braces, after the node `anchor` or, without one, after the opening brace. `text` is not
  /// indented.
  void insert_lines(Braces braces, syntax::NodeId anchor, std::string_view text, Gap gap = Gap::None);
  /// Inserts a declaration of the file after another one, or at its end, with empty lines around it.
  void insert_declaration(syntax::NodeId anchor, std::string_view text);
  /// Inserts an element of `{ a, b }` after `anchor`, on a separate line if `anchor` has its own line.
  void insert_element(Braces braces, syntax::NodeId anchor, std::string_view text);
  /// Removes a part with its comma, and its line if nothing else is on it.
  void remove(syntax::NodeId node);
  /// The same with the doc comment and the empty lines around it.
  void remove_documented(syntax::NodeId node);
  /// The text of the node with its doc comment, without the indentation of the first line.
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

/// Indents each line, including the first. Lines within strings and comments are unchanged.
[[nodiscard]] std::string indented_lines(std::string_view lines, std::string_view indentation,
                                         std::string_view newline = "\n");

/// Removes the indentation of the first line from all lines. Lines within strings and comments are unchanged.
[[nodiscard]] std::string unindented_lines(std::string_view lines, std::string_view indentation,
                                           std::string_view newline = "\n");

/// The text with all patches applied, which are sorted by position.
[[nodiscard]] std::string patched(std::string_view text, const std::vector<Patch>& patches);

/// Joins the patches of several steps, each relative to the text that the step before has made, into patches of the
/// first text.
class PatchSteps {
 public:
  explicit PatchSteps(std::size_t length) : pieces_{{0, length, {}}}, length_(length) {}

  void add(const std::vector<Patch>& step);
  /// Sorted by position.
  [[nodiscard]] std::vector<Patch> joined() const;

 private:
  /// Of the text as it is now: a part of the first text, or inserted bytes.
  struct Piece {
    std::size_t offset = 0;  ///< in the first text
    std::size_t length = 0;
    std::string inserted;  ///< not empty: then the offset is unused
  };
  void replace(const Patch& patch);

  std::vector<Piece> pieces_;
  std::size_t length_;  ///< of the first text
};

}  // namespace tenon::graph
