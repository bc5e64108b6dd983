#include "types/check/rules/consequences.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "diagnostics/kinds.h"
#include "syntax/builtin_types.h"
#include "syntax/damage.h"

namespace tenon::types {
namespace {

using source::Span;
using syntax::NodeId;
using syntax::NodeKind;
using syntax::SyntaxTree;
using syntax::TokenKind;

/// Codes from here on are of names and types; those below of characters, tokens and grammar.
constexpr std::uint16_t first_semantic_code = 2000;

/// If a file is damaged in more places, only the damage is reported.
constexpr std::size_t damage_max = 1'000;

bool is_syntax_error(const diagnostics::Diagnostic& found) {
  return found.code.severity == diagnostics::Severity::Error && found.code.number < first_semantic_code;
}

using Names = std::set<std::string, std::less<>>;

bool overlaps(const Span& left, const Span& right) {
  return left.offset <= right.end() && right.offset <= left.end();
}

/// The words in backticks of a message, without what is not part of a name.
Names quoted_names(std::string_view message) {
  Names names;
  bool is_quoted = false;
  std::string word;
  for (const char character : message) {
    const bool is_part = (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
                         (character >= '0' && character <= '9') || character == '_';
    if (is_quoted && is_part) {
      word += character;
      continue;
    }
    if (!word.empty()) names.insert(std::move(word));
    word.clear();
    if (character == '`') is_quoted = !is_quoted;
  }
  return names;
}

std::span<const syntax::Token> tokens_in(const SyntaxTree& tree, const Span& span) {
  const auto begin = std::ranges::lower_bound(tree.tokens, span.offset, {}, &syntax::Token::offset);
  const auto end = std::ranges::lower_bound(begin, tree.tokens.end(), span.end(), {}, &syntax::Token::offset);
  return {begin, end};
}

void add_names_in(const SyntaxTree& tree, const Span& span, Names& names) {
  for (const syntax::Token& token : tokens_in(tree, span)) {
    if (token.kind != TokenKind::Identifier) continue;
    names.emplace(tree.file().text().substr(token.offset, token.length));
  }
}

bool have_common(const Names& left, const Names& right) {
  return std::ranges::any_of(left, [&](const std::string& name) { return right.contains(name); });
}

/// A declaration at the top of a file, or a part of an agent or an `impl`.
struct Unit {
  Span whole;
  Span head;  ///< up to the body of a function or test, or the whole
  NodeKind kind = NodeKind::Error;
  std::string name;
  bool has_damaged_head = false;
  bool is_damaged = false;        ///< in itself
  bool has_damaged_part = false;  ///< a function of an agent or of an `impl`
};

/// What the damage of one file makes unreliable.
class DamagedFile {
 public:
  DamagedFile(const Module& module, const SyntaxTree& tree, const diagnostics::Diagnostics& diagnostics) : tree_(tree) {
    for (NodeId item = tree.first(tree.root); item.exists(); item = tree.next(item)) {
      add_unit(item);
      if (tree.kind(item) != NodeKind::AgentItem && tree.kind(item) != NodeKind::ImplItem) continue;
      for (NodeId part = tree.first(item); part.exists(); part = tree.next(part)) {
        if (tree.kind(part) == NodeKind::FunctionItem) add_unit(part);
      }
    }
    is_cut_ = !tree.damage.empty() && tree.damage.back().end() >= tree.file().text().size();
    if (tree.damage.size() > damage_max) {
      is_cut_ = true;
      return;
    }
    for (const Span& damage : tree.damage) mark(damage);
    // A block whose end is missing damages no line: its layout tells where it ends.
    for (const diagnostics::Diagnostic& found : diagnostics.all()) {
      if (!is_syntax_error(found) || found.span.file != tree.file().id()) continue;
      has_syntax_errors_ = true;
      mark(found.span);
    }
    mark_defaults(diagnostics);
    forget_declared(module);
  }

  /// Names within the heads of declarations that are damaged, for other files too.
  [[nodiscard]] const Names& names() const { return names_; }
  /// Those that are names of declarations.
  [[nodiscard]] const Names& declarations() const { return declarations_; }
  /// Whether a declaration has no name, so that any name may be its.
  [[nodiscard]] bool lacks_name() const { return lacks_name_; }
  [[nodiscard]] bool is_cut() const { return is_cut_; }
  [[nodiscard]] bool is_trusted() const {
    return !has_syntax_errors_ && tree_.damage.empty() && doubtful_lines_.empty();
  }
  /// Whether the error is the one that makes a declaration doubtful.
  [[nodiscard]] bool is_cause(const Span& span) const {
    return std::ranges::any_of(doubtful_lines_, [&](const Span& line) { return overlaps(line, span); });
  }

  /// Whether it is in a declaration with an error of the lexer or parser, whose meaning is unknown.
  [[nodiscard]] bool is_in_damage(const Span& span) const {
    if (is_cut_) return true;
    if (std::ranges::any_of(tree_.damage, [&](const Span& damage) { return overlaps(damage, span); })) return true;
    return std::ranges::any_of(units_, [&](const Unit& unit) {
      if (span.offset < unit.whole.offset || span.offset >= unit.whole.end()) return false;
      return unit.is_damaged || (unit.has_damaged_part && overlaps(unit.head, span));
    });
  }

 private:
  void add_unit(NodeId node) {
    Unit unit{.whole = tree_.span(node), .head = tree_.span(node), .kind = tree_.kind(node), .name = {}};
    const bool has_name = unit.kind != NodeKind::TestItem && unit.kind != NodeKind::UseItem;
    if (has_name && unit.kind != NodeKind::Error) {
      unit.name = std::string(tree_.main_text(node));
      const syntax::TokenIndex name = tree_[node].main_token;
      lacks_name_ = lacks_name_ || tree_.tokens[name].kind != TokenKind::Identifier || name >= tree_[node].end_token;
    }
    lacks_name_ = lacks_name_ || unit.kind == NodeKind::Error;
    NodeId body = tree_.find_child(node, NodeKind::Block);
    if (unit.kind == NodeKind::ImplItem || unit.kind == NodeKind::AgentItem) {
      body = tree_.find_child(node, NodeKind::FunctionItem);
    }
    if (body.exists()) unit.head.length = tree_.span(body).offset - unit.head.offset;
    units_.push_back(std::move(unit));
  }

  /// Marks the innermost units as damaged: those within an agent come after the agent's.
  void mark(const Span& damage) {
    Unit* innermost = nullptr;
    const auto close = [&] {
      if (innermost != nullptr) innermost->is_damaged = true;
    };
    for (Unit& unit : units_) {
      if (!overlaps(unit.whole, damage)) continue;
      if (innermost != nullptr && innermost->whole.end() > unit.whole.offset) {
        innermost->has_damaged_part = true;
      } else {
        close();
      }
      innermost = &unit;
      const bool is_in_body = damage.offset >= unit.head.end();
      const bool is_function = unit.kind == NodeKind::FunctionItem || unit.kind == NodeKind::TestItem;
      if (!is_in_body) unit.has_damaged_head = true;
      if (!is_in_body && !unit.name.empty()) declarations_.insert(unit.name);
      if (is_in_body && is_function) continue;
      // Only its own part: one damage may reach over many declarations.
      Span own = damage;
      own.offset = std::max(own.offset, unit.whole.offset);
      own.length = std::min(damage.end(), unit.whole.end()) - own.offset;
      add_names(own, names_);
    }
    close();
    if (innermost == nullptr) add_names(damage, names_);
  }

  void add_names(const Span& damage, Names& names) const { add_names_in(tree_, damage, names); }

  /// A field of an agent's state whose default does not fit its type: either of the two may be wrong.
  void mark_defaults(const diagnostics::Diagnostics& diagnostics) {
    for (NodeId item = tree_.first(tree_.root); item.exists(); item = tree_.next(item)) {
      if (tree_.kind(item) != NodeKind::AgentItem) continue;
      for (NodeId section = tree_.first(item); section.exists(); section = tree_.next(section)) {
        const NodeKind kind = tree_.kind(section);
        if (kind != NodeKind::StateSection && kind != NodeKind::ScratchpadSection) continue;
        for (const NodeId field : tree_.children(section, NodeKind::StateField)) {
          const bool is_refused = std::ranges::any_of(diagnostics.all(), [&](const diagnostics::Diagnostic& found) {
            return found.code == diagnostics::TypeMismatch.code && found.span.file == tree_.file().id() &&
                   found.span.offset >= tree_.span(field).offset && found.span.offset < tree_.span(field).end();
          });
          if (!is_refused) continue;
          doubtful_lines_.push_back(syntax::line_at(tree_.file(), tree_.span(field).offset));
          declarations_.emplace(tree_.main_text(field));
        }
      }
    }
  }

  /// Names of declarations without damage are known, whatever else mentions them.
  void forget_declared(const Module& module) {
    Names declared;
    for (const Unit& unit : units_) {
      if (unit.has_damaged_head || unit.name.empty()) continue;
      if (module.type_names.contains(unit.name) || module.functions.contains(unit.name) ||
          module.externs.contains(unit.name)) {
        declared.insert(unit.name);
      }
    }
    const auto is_declared = [&](const std::string& name) { return declared.contains(name); };
    std::erase_if(names_, is_declared);
    std::erase_if(declarations_, is_declared);
  }

  const SyntaxTree& tree_;
  std::vector<Unit> units_;
  Names names_, declarations_;
  std::vector<Span> doubtful_lines_;
  bool has_syntax_errors_ = false;
  bool is_cut_ = false;
  bool lacks_name_ = false;
};

/// Errors whose message names their cause: two with one text are of one mistake.
bool names_cause(diagnostics::Code code) {
  namespace kinds = diagnostics;
  return code == kinds::UnknownField.code || code == kinds::UnknownMethod.code || code == kinds::UnknownCase.code ||
         code == kinds::UnknownType.code || code == kinds::ArgumentCount.code || code == kinds::LiteralNotInType.code;
}
/// How often such an error is reported.
constexpr std::size_t repetitions_max = 2;

}  // namespace

void drop_consequences(const CheckedProgram& program, diagnostics::Diagnostics& diagnostics) {
  const auto tree_of = [&](std::size_t module) -> const SyntaxTree& {
    return program.modules[module].written ? *program.modules[module].written : *program.modules[module].tree;
  };
  std::vector<DamagedFile> damaged;
  std::vector<std::size_t> by_module(program.modules.size(), SIZE_MAX);
  Names names, declarations;
  bool is_cut = false;
  bool lacks_name = false;
  for (std::size_t at = 0; at < program.modules.size(); ++at) {
    if (tree_of(at).damage.empty() && !diagnostics.has_errors()) continue;
    by_module[at] = damaged.size();
    const DamagedFile& file = damaged.emplace_back(program.modules[at], tree_of(at), diagnostics);
    if (file.is_trusted()) {
      damaged.pop_back();
      by_module[at] = SIZE_MAX;
      continue;
    }
    names.insert(file.names().begin(), file.names().end());
    declarations.insert(file.declarations().begin(), file.declarations().end());
    is_cut = is_cut || file.is_cut();
    lacks_name = lacks_name || file.lacks_name();
  }
  std::erase_if(names, [](std::string_view name) {
    return syntax::is_builtin_type(name) || name == "Some" || name == "None" || name == "Ok" || name == "Err";
  });
  const auto file_of = [&](const diagnostics::Diagnostic& found) -> const DamagedFile* {
    const std::size_t module = found.span.file.exists() ? found.span.file.index : SIZE_MAX;
    return module != SIZE_MAX && by_module[module] != SIZE_MAX ? &damaged[by_module[module]] : nullptr;
  };
  const auto is_consequence = [&](const diagnostics::Diagnostic& found) {
    if (is_cut || lacks_name) return true;
    // What a program can call depends on all of it.
    if (found.code == diagnostics::UnknownScriptTarget.code) return true;
    const std::size_t module = found.span.file.exists() ? found.span.file.index : SIZE_MAX;
    const DamagedFile* const file = file_of(found);
    if (file != nullptr && file->is_cause(found.span)) return false;
    const Names quoted = quoted_names(found.message);
    if (have_common(quoted, names) || have_common(quoted, declarations)) return true;
    if (module == SIZE_MAX) return false;
    Names around;
    add_names_in(tree_of(module), syntax::line_at(tree_of(module).file(), found.span.offset), around);
    // An unknown name is what the message says, whatever else is on the line.
    if (found.code != diagnostics::UnknownName.code && have_common(around, declarations)) return true;
    return file != nullptr && file->is_in_damage(found.span);
  };
  diagnostics::Diagnostics kept;
  std::map<std::string, std::size_t> repetitions;
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::string>> seen;
  for (const diagnostics::Diagnostic& found : diagnostics.all()) {
    // Lowering has a text of a block in several functions.
    const bool has_place = found.span.file.exists();
    if (has_place && !seen.emplace(found.span.file.index, found.span.offset, found.message).second) continue;
    const bool is_semantic = found.code.number >= first_semantic_code;
    if (is_semantic && found.code.severity != diagnostics::Severity::Error) {
      const DamagedFile* const file = file_of(found);
      if (file != nullptr && file->is_in_damage(found.span)) continue;
    } else if (is_semantic) {
      if (!damaged.empty() && is_consequence(found)) continue;
      if (names_cause(found.code) && ++repetitions[found.message] > repetitions_max) continue;
    }
    kept.add(found);
  }
  diagnostics = std::move(kept);
}

}  // namespace tenon::types
