#include <algorithm>

#include "blocks/kinds.h"
#include "completion/suggestions.h"

namespace tenon::completion {
namespace {

using syntax::NodeId;
using syntax::NodeKind;
using types::TargetKind;
using types::TypeKind;

/// Finds the words for one name.
class MeaningReader {
 public:
  explicit MeaningReader(CheckedText& text) : text_(text) {}

  [[nodiscard]] std::optional<Meaning> find() {
    const NodeId node = text_.path().back();
    const syntax::SyntaxTree& tree = text_.tree();
    const source::Span span = tree.span(text_.token());
    meaning_.from = span.offset;
    meaning_.to = span.end();
    name_ = tree.text(text_.token());
    const bool is_main = tree[node].main_token == text_.token();
    if (tree.kind(node) == NodeKind::BlockItem && tree.find_block_kind(node) == text_.token()) return of_kind();
    if (tree.kind(node) == NodeKind::BlockOption && is_main) return of_option();
    if (tree.kind(node) == NodeKind::NamedType) return of_type();
    if (is_main && is_edge(tree.kind(node))) return of_block();
    return of_facts(tree.kind(node));
  }

 private:
  static bool is_edge(NodeKind kind) {
    return kind == NodeKind::NextClause || kind == NodeKind::WhenClause || kind == NodeKind::ToClause ||
           kind == NodeKind::ElseClause || kind == NodeKind::OnArm || kind == NodeKind::CalledClause ||
           kind == NodeKind::StartSection;
  }

  std::optional<Meaning> make(std::string title, std::string documentation) {
    meaning_.title = std::move(title);
    meaning_.documentation = std::move(documentation);
    return meaning_;
  }

  std::optional<Meaning> of_kind() {
    const blocks::KindRule* const rule = blocks::find_kind(name_);
    return rule == nullptr ? std::nullopt : make(std::string(name_), std::string(rule->meaning));
  }

  std::optional<Meaning> of_option() {
    const NodeId block = text_.find_around(NodeKind::BlockItem);
    const auto kind = text_.tree().find_block_kind(block);
    const blocks::KindRule* const rule = kind ? blocks::find_kind(text_.tree().text(*kind)) : nullptr;
    const blocks::OptionRule* const found = rule == nullptr ? nullptr : rule->find_option(name_);
    return found == nullptr ? std::nullopt : make(std::string(name_), std::string(found->meaning));
  }

  std::optional<Meaning> of_type() {
    const types::CheckedProgram& program = text_.program();
    const auto& names = text_.module().type_names;
    const auto found = names.find(std::string(name_));
    if (found == names.end()) return std::nullopt;
    const bool is_struct = program.types.kind(found->second) == TypeKind::Struct;
    if (is_struct) return make("struct " + found->first, program.types.struct_type(found->second).documentation);
    if (program.types.kind(found->second) != TypeKind::Enum) return std::nullopt;
    return make("enum " + found->first, program.types.enum_type(found->second).documentation);
  }

  std::optional<Meaning> of_block() {
    const syntax::SyntaxTree& tree = text_.tree();
    for (auto node = text_.path().rbegin(); node != text_.path().rend(); ++node) {
      for (const NodeId block : tree.children(*node, NodeKind::BlockItem)) {
        if (tree.main_text(block) != name_) continue;
        const auto kind = tree.find_block_kind(block);
        return make(std::string(name_) + (kind ? ": " + std::string(tree.text(*kind)) : ""), tree.documentation(block));
      }
    }
    return std::nullopt;
  }

  std::optional<Meaning> of_facts(NodeKind kind) {
    // The name of a called function is the first part of the call, whose facts have the function.
    const types::NodeFacts* facts = text_.find_facts(kind, CheckedText::Part::Whole);
    const syntax::SyntaxTree& tree = text_.tree();
    const NodeId call = text_.find_around(NodeKind::CallExpression);
    if (kind == NodeKind::NameExpression && call.exists() && tree.first(call) == text_.path().back()) {
      facts = text_.find_facts(NodeKind::CallExpression, CheckedText::Part::Whole);
    }
    if (facts == nullptr) return std::nullopt;
    const types::CheckedProgram& program = text_.program();
    switch (facts->target.kind) {
      case TargetKind::Function: {
        const types::FunctionDeclaration& function = program.functions[facts->target.index];
        return make(function.name + signature_of(program, function.parameters, function.result),
                    function.documentation);
      }
      case TargetKind::Extern: {
        const types::ExternDeclaration& native = program.externs[facts->target.index];
        return make(native.name + signature_of(program, native.parameters, native.result), native.documentation);
      }
      default:
        break;
    }
    if (facts->type == types::TypeTable::error || facts->type == types::TypeTable::unit) return std::nullopt;
    return make(std::string(name_) + ": " + program.types.describe_briefly(facts->type), of_field(kind));
  }

  /// The doc comment of a field, if the name is one.
  std::string of_field(NodeKind kind) {
    if (kind != NodeKind::FieldExpression) return "";
    const types::NodeFacts* const owner = text_.find_facts(kind, CheckedText::Part::First);
    const types::CheckedProgram& program = text_.program();
    if (owner == nullptr) return "";
    const types::TypeId base = program.types.base(owner->type);
    if (program.types.kind(base) != TypeKind::Struct) return "";
    const std::vector<types::Field>& fields = program.types.struct_type(base).fields;
    const auto found = std::ranges::find(fields, name_, &types::Field::name);
    return found == fields.end() ? "" : found->documentation;
  }

  CheckedText& text_;
  std::string_view name_;
  Meaning meaning_;
};

}  // namespace

std::optional<Meaning> find_meaning(const std::string& path, std::string_view text, std::size_t offset,
                                    FileSystem& files) {
  CheckedText checked(path, text, offset, files);
  if (!checked.has_name()) return std::nullopt;
  return MeaningReader(checked).find();
}

}  // namespace tenon::completion
