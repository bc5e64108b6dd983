#pragma once

#include <map>
#include <set>
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

  explicit LoweredText(const syntax::SyntaxTree& tree);

  /// Glue from now on belongs to that place of the source.
  void stand_for(source::Span place) { stands_for_ = place; }
  /// Whether a function, a type or an import of the file has that name.
  [[nodiscard]] bool is_declared(std::string_view name) const { return declared_.contains(name); }
  /// What `use std::report` offers, however the file names it.
  [[nodiscard]] std::string_view report_function() const;
  /// Brings the standard library's reports into the file, unless it has them.
  void use_reports();

  /// Text of the lowering's own. `$word` in it is a name of its own: `word`, or `word_2` where the source has a `word`.
  LoweredText& glue(std::string_view text);
  /// The same for texts out of the source, where a `$` is a `$`.
  LoweredText& glue_as_is(std::string_view text);
  /// The name that belongs to `key`: `wanted`, unless the source or another key has that name.
  [[nodiscard]] std::string_view own_name(const std::string& key, std::string_view wanted);
  /// From now on `$key` is `name`.
  void set_own_name(std::string key, std::string name) { own_names_.insert_or_assign(std::move(key), std::move(name)); }
  /// The node as it was written, without trivia before and after it.
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
  void declare(syntax::NodeId item);
  void add(std::string_view text, bool is_copied, std::uint32_t written);

  const syntax::SyntaxTree& tree_;
  std::set<std::string, std::less<>> declared_;   ///< by the file
  bool uses_reports_ = false;                     ///< the file itself does
  std::set<std::string, std::less<>> taken_;      ///< names of the source, and those given to a key
  std::map<std::string, std::string> own_names_;  ///< by key
  std::string text_;
  std::vector<Stretch> stretches_;
  source::Span stands_for_;
};

}  // namespace tenon::blocks
