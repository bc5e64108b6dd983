#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "source/source_file.h"
#include "syntax/tree.h"

namespace tenon::blocks {

/// A text that is put together of stretches of a source and of glue between them, and knows which is which.
class LoweredText {
 public:
  /// What becomes of names on the way.
  enum class Names : std::uint8_t {
    Kept,       ///< as they are: outside of block agents
    Agent,      ///< `scratchpad` is an entry of the state, `emit` the agent's own function
    Condition,  ///< the same, and `judged(…)` is given the context
  };

  explicit LoweredText(const syntax::SyntaxTree& tree) : tree_(tree) {}

  /// Glue from now on stands for that place.
  void stand_for(source::Span place) { stands_for_ = place; }
  LoweredText& glue(std::string_view text);
  /// The node as it was written, without trivia before and behind it.
  LoweredText& copy(syntax::NodeId node, Names names);
  LoweredText& copy(syntax::TokenIndex token);
  /// All tokens from `begin` to `end`, trivia too.
  LoweredText& copy_written(syntax::TokenIndex begin, syntax::TokenIndex end);

  [[nodiscard]] const std::string& text() const { return text_; }
  /// The tree of the text, whose tokens refer to `file`: those that were copied to where they were written, the others
  /// to the glue, which is added to the file. `parsed` is the tree of `text()`.
  [[nodiscard]] syntax::SyntaxTree place(syntax::SyntaxTree parsed, source::SourceFile& file) const;

 private:
  struct Stretch {
    std::uint32_t begin;  ///< in the lowered text
    std::uint32_t length;
    std::uint32_t written;  ///< where it was written; of glue, nothing
    bool is_copied;
    source::Span stands_for;
  };
  void add(std::string_view text, bool is_copied, std::uint32_t written);

  const syntax::SyntaxTree& tree_;
  std::string text_;
  std::vector<Stretch> stretches_;
  source::Span stands_for_;
};

}  // namespace tenon::blocks
