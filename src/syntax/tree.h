#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "source/source_file.h"
#include "syntax/token.h"

namespace tenon::syntax {

using NodeId = Id<struct NodeTag>;
using TokenIndex = std::uint32_t;

// clang-format off
/// X(Name, children): `*` any number, `?` may be absent. In damaged text any child may be missing.
#define TENON_NODES(X)                                                                                     \
  X(File, "items*") X(Error, "anything that could be parsed*")                                                     \
  /* items */                                                                                              \
  X(UseItem, "Path UseList?") X(UseList, "UseName*") X(UseName, "; token: name")                            \
  X(FunctionItem, "TypeParameters? Parameters ReturnType? clause* Block; token: name")                      \
  X(ExternItem, "ExternOptions? Parameters ReturnType? ContractClause*; token: name")                      \
  X(ExternOptions, "ExternOption*") X(ExternOption, "expression?; token: name")                             \
  X(StructItem, "FieldItem*; token: name") X(FieldItem, "type; token: name")                                \
  X(EnumItem, "VariantItem*; token: name") X(VariantItem, "type*; token: name")                             \
  X(ImplItem, "FunctionItem*; token: name") X(TypeItem, "type; token: name")                                \
  X(TestItem, "StringExpression Block") X(TrustItem, "; token: source")                                      \
  /* an agent's parts are in the order of the source; the grammar allows repeated sections */                 \
  X(AgentItem, "section* BlockItem* FunctionItem*; token: name")                                            \
  X(StateSection, "StateField*") X(StateField, "type expression; token: name")                              \
  X(InstructionsSection, "Block") X(ScratchpadSection, "StateField*")                                       \
  X(StartSection, "; token: target") X(NextTurnSection, "; token: restart, resume or smart")                \
  X(TurnSection, "BlockItem*; token: pre_turn, post_turn")                                                  \
  /* a block of an agent; the body of `code` and `set` is a Block without its own braces */                  \
  X(BlockItem, "part*; tokens: name, then `:` and the kind") X(BlockOption, "expression; token: name")      \
  X(WhenClause, "expression; token: target") X(ToClause, "StringExpression; token: target")                 \
  X(OnClause, "expression OnArm*") X(OnArm, "pattern?; token: target") X(ElseClause, "; token: target")     \
  X(CalledClause, "; tokens: tool, target") X(ItemClause, "type expression; token: name")                   \
  X(BranchItem, "BlockItem*; token: name") X(NextClause, "; token: target")                                 \
  X(ScriptSection, "ScriptEntry*; token: model, extern, person") X(ScriptEntry, "Arguments? ScriptCondition? expression; tokens: path") \
  X(ScriptCondition, "StringExpression*; token: when")                                                      \
  X(TypeParameters, "TypeParameter*") X(TypeParameter, "; token: name")                                     \
  X(Parameters, "Parameter*") X(Parameter, "type?; token: name") X(ReturnType, "type")                      \
  X(BudgetClause, "NamedArgument*") X(NamedArgument, "expression; token: name")                             \
  X(ContractClause, "expression words?; token: requires, ensures or check") X(StrategyClause, "NamedArgument*") \
  X(Path, "; tokens: names and `::`")                                                                      \
  /* types */                                                                                              \
  X(NamedType, "type*; token: name") X(OptionalType, "type") X(TupleType, "type*") X(LiteralType, "expression") \
  X(UnionType, "LiteralType*") X(RefinedType, "type constraint*") X(SecretType, "type") X(TrustedType, "type") \
  X(RangeConstraint, "RangeExpression") X(LengthConstraint, "RangeExpression") X(PatternConstraint, "StringExpression") \
  /* statements */                                                                                         \
  /* a test's block starts with its ScriptSections */                                                       \
  X(Block, "statement*") X(LetStatement, "pattern type? expression?")                                      \
  X(AssignStatement, "place expression; token: operator") X(ExpressionStatement, "expression")              \
  X(InjectStatement, "expression") X(AssertStatement, "expression")                                        \
  X(WhileStatement, "condition Block")                                                                    \
  /* expressions */                                                                                        \
  X(IntegerExpression, "") X(FloatExpression, "") X(BooleanExpression, "")                                  \
  /* pieces: TemplateHole, TemplateFor, TemplateIf */                                                       \
  X(StringExpression, "piece*; tokens: text") X(TemplateHole, "expression")                                 \
  X(TemplateFor, "pattern expression TemplateBody") X(TemplateIf, "condition TemplateBody else?")            \
  X(TemplateBody, "piece*; tokens: text")                                                                   \
  X(NameExpression, "TypeArguments?; tokens: names and `::`") X(TypeArguments, "type*")                     \
  X(HoleExpression, "") X(ParenthesizedExpression, "expression") X(TupleExpression, "expression*")          \
  X(ListExpression, "expression*") X(StructExpression, "NameExpression FieldInitializer*")                  \
  X(FieldInitializer, "expression?; token: name") X(UnaryExpression, "expression; token: operator")         \
  X(BinaryExpression, "expression expression; token: operator") X(RangeExpression, "expression? expression?; token: operator") \
  X(CastExpression, "expression type") X(CallExpression, "expression Arguments") X(Arguments, "expression*") \
  X(MethodCallExpression, "expression TypeArguments? Arguments; token: name")                              \
  X(FieldExpression, "expression; token: name") X(IndexExpression, "expression expression")                 \
  X(IfExpression, "condition Block else?") X(LetCondition, "pattern expression")                            \
  X(MatchExpression, "expression MatchArm*") X(MatchArm, "pattern Guard? body") X(Guard, "expression")       \
  X(SelectExpression, "SelectClause*") X(SelectClause, "call or spread? body; token: name after `as`, or else") \
  X(SpreadExpression, "expression") X(ToolsExpression, "ToolEntry*") X(ToolEntry, "expression; token: name after `as`?") \
  X(InjectBody, "expression") X(TryExpression, "expression")                                               \
  X(CatchExpression, "expression Block; token: name") X(ClosureExpression, "pattern* expression")           \
  X(FinallyExpression, "expression Block") X(ShieldExpression, "Block")                                      \
  X(ParallelExpression, "ParallelBranch*") X(ParallelBranch, "expression; token: name?")                    \
  X(ForExpression, "pattern expression ParallelClause? Block") X(ParallelClause, "expression")              \
  X(BudgetExpression, "expression BudgetClause") X(StrategyExpression, "expression StrategyClause")          \
  X(PursueExpression, "goal start PursueLimit* PursueAction*") X(PursueLimit, "expression; token: limit, width") \
  X(PursueAction, "call; token: name after `as`?")                                                          \
  X(ReturnExpression, "expression?")                                                                      \
  X(BreakExpression, "") X(ContinueExpression, "")                                                        \
  /* patterns */                                                                                           \
  X(WildcardPattern, "") X(NamePattern, "; token: name") X(LiteralPattern, "expression")                     \
  X(PathPattern, "pattern*; tokens: names and `::`") X(TuplePattern, "pattern*") X(OrPattern, "pattern*")    \
  X(StructPattern, "FieldPattern*; tokens: names and `::`") X(FieldPattern, "pattern?; token: name")
// clang-format on

enum class NodeKind : std::uint8_t {
#define TENON_NODE(name, children) name,
  TENON_NODES(TENON_NODE)
#undef TENON_NODE
};

[[nodiscard]] std::string_view name_of(NodeKind kind);

/// Higher trees are rejected, so that traversals can recurse. A chain `a + b + c` is one level higher for each operand.
inline constexpr std::uint16_t tree_height_max = 1'000;
/// The same for nested constructs, while they are parsed.
inline constexpr std::size_t nesting_depth_max = 256;

struct Node {
  NodeKind kind = NodeKind::Error;
  std::uint16_t height = 0;
  TokenIndex first_token = 0;
  TokenIndex end_token = 0;   ///< one past the last
  TokenIndex main_token = 0;  ///< what the table above calls `token`; else the first
  NodeId first_child;
  NodeId next_sibling;
};

/// The origin of generated text (glue): what is at `offset`, up to the next anchor, was generated for `origin`.
struct GlueAnchor {
  std::uint32_t offset = 0;
  source::Span origin;
};

/// The lossless syntax of one file: the concatenated tokens are the file's text, and nodes only group them. In a
/// lowered tree (blocks/lower.h) tokens refer to the file's text in any order, and to its glue.
class SyntaxTree {
 public:
  std::vector<Token> tokens;
  std::vector<Node> nodes;
  NodeId root;
  std::vector<GlueAnchor> anchors;   ///< by offset; empty in a tree that is not lowered
  std::vector<source::Span> damage;  ///< what errors of lexer and parser have made unreliable (damage.h)

  explicit SyntaxTree(const source::SourceFile& file) : file_(&file) {}

  [[nodiscard]] const source::SourceFile& file() const { return *file_; }
  [[nodiscard]] const Node& operator[](NodeId id) const { return nodes[id.index]; }
  [[nodiscard]] NodeKind kind(NodeId id) const { return nodes[id.index].kind; }
  [[nodiscard]] std::string_view text(TokenIndex token) const {
    return file_->text({file_->id(), tokens[token].offset, tokens[token].length});
  }
  [[nodiscard]] std::string_view text(NodeId id) const;
  /// The main token's text: a name, an operator.
  [[nodiscard]] std::string_view main_text(NodeId id) const { return text(nodes[id.index].main_token); }
  /// Whether it is in the file's text, and not in the glue.
  [[nodiscard]] bool is_written(TokenIndex token) const { return tokens[token].offset < file_->text().size(); }
  /// In the file's text; for glue, its origin.
  [[nodiscard]] source::Span span(TokenIndex token) const {
    if (!anchors.empty() && !is_written(token)) return anchor(token);
    return {file_->id(), tokens[token].offset, tokens[token].length};
  }
  [[nodiscard]] source::Span span(NodeId id) const;
  [[nodiscard]] source::Span main_span(NodeId id) const { return span(nodes[id.index].main_token); }

  [[nodiscard]] NodeId first(NodeId parent) const { return nodes[parent.index].first_child; }
  [[nodiscard]] NodeId next(NodeId child) const { return nodes[child.index].next_sibling; }
  [[nodiscard]] std::vector<NodeId> children(NodeId parent) const;
  [[nodiscard]] std::vector<NodeId> children(NodeId parent, NodeKind kind) const;
  /// The child at `position`, of any kind; it may be absent.
  [[nodiscard]] NodeId find_child(NodeId parent, std::size_t position) const;
  /// The first child of that kind; it may be absent.
  [[nodiscard]] NodeId find_child(NodeId parent, NodeKind kind) const;
  /// The expression inside any number of parentheses; the node itself if there are none. It may be absent.
  [[nodiscard]] NodeId without_parentheses(NodeId id) const;
  /// The outermost expression of a place such as `order.items[0]`: usually a variable.
  [[nodiscard]] NodeId root_of_place(NodeId place) const;
  /// The names of a path: `["Mood", "Bad"]` for `Mood::Bad`.
  [[nodiscard]] std::vector<TokenIndex> path(NodeId id) const;
  /// The lines of `///` directly before the node, joined by newlines.
  [[nodiscard]] std::string documentation(NodeId id) const { return documentation_before(nodes[id.index].first_token); }
  /// The same, directly before a token.
  [[nodiscard]] std::string documentation_before(TokenIndex token) const;
  /// The next token that is not trivia.
  [[nodiscard]] TokenIndex next_significant(TokenIndex token) const;
  /// The kind in `block name: kind {`; nothing if it is missing.
  [[nodiscard]] std::optional<TokenIndex> find_block_kind(NodeId block) const;
  /// Whether the statement is closed by a `;`.
  [[nodiscard]] bool ends_with_semicolon(NodeId statement) const;

 private:
  [[nodiscard]] source::Span anchor(TokenIndex token) const;

  const source::SourceFile* file_;
};

[[nodiscard]] constexpr bool is_type(NodeKind kind) {
  return kind >= NodeKind::NamedType && kind <= NodeKind::TrustedType;
}
[[nodiscard]] constexpr bool is_pattern(NodeKind kind) {
  return kind >= NodeKind::WildcardPattern && kind <= NodeKind::StructPattern;
}

}  // namespace tenon::syntax
