#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "source/source_file.h"
#include "syntax/tree.h"

namespace tenon::blocks {

/// A text composed of ranges that are copied from a source and generated text between them (glue). It records which is
/// which.
class LoweredText {
 public:
  /// How names are changed by copying.
  enum class Names : std::uint8_t {
    Kept,       ///< unchanged: outside of block agents
    Agent,      ///< `scratchpad` is a field of the state, `emit` is the agent's own function
    Condition,  ///< the same, and `judged(…)` gets the context as an argument
  };

  explicit LoweredText(const syntax::SyntaxTree& tree);

  /// Glue from now on has this origin in the source.
  void set_origin(source::Span place) { origin_ = place; }
  /// Whether a function, a type or an import of the file has that name.
  [[nodiscard]] bool is_declared(std::string_view name) const { return declared_.contains(name); }
  /// The function of `use std::report`, by its name in the file.
  [[nodiscard]] std::string_view report_function() const;
  /// Imports the standard library's reports, unless the file does.
  void use_reports();

  /// Appends generated text. `$word` in it is a generated name: `word`, or `word_2` if the source contains `word`.
  LoweredText& glue(std::string_view text);
  /// The same for texts from the source, in which a `$` has no meaning.
  LoweredText& glue_as_is(std::string_view text);
  /// The generated name for `key`: `wanted`, unless the source or another key has that name.
  [[nodiscard]] std::string_view own_name(const std::string& key, std::string_view wanted);
  /// From now on `$key` is `name`.
  void set_own_name(std::string key, std::string name) { own_names_.insert_or_assign(std::move(key), std::move(name)); }
  /// The node as it was written, without trivia before and after it.
  LoweredText& copy(syntax::NodeId node, Names names);
  LoweredText& copy(syntax::TokenIndex token);
  /// All tokens from `begin` to `end`, including trivia.
  LoweredText& copy_written(syntax::TokenIndex begin, syntax::TokenIndex end);

  [[nodiscard]] const std::string& text() const { return text_; }
  /// The tree of the text, whose tokens refer to `file`: copied tokens to their location in the source, the others to
  /// the glue, which is added to the file. `parsed` is the tree of `text()`.
  [[nodiscard]] syntax::SyntaxTree place(syntax::SyntaxTree parsed, source::SourceFile& file) const;

 private:
  struct Stretch {
    std::uint32_t begin;  ///< in the lowered text
    std::uint32_t length;
    std::uint32_t written;  ///< the offset in the source; meaningless for glue
    bool is_copied;
    source::Span origin;
  };
  void declare(syntax::NodeId item);
  void add(std::string_view text, bool is_copied, std::uint32_t written);

  const syntax::SyntaxTree& tree_;
  std::set<std::string, std::less<>> declared_;   ///< by the file
  bool uses_reports_ = false;                     ///< whether the file imports them
  std::set<std::string, std::less<>> taken_;      ///< names of the source, and those given to a key
  std::map<std::string, std::string> own_names_;  ///< by key
  std::string text_;
  std::vector<Stretch> stretches_;
  source::Span origin_;
};

}  // namespace tenon::blocks
