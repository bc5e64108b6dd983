// Type expressions.

#include "types/declarations/type_resolver.h"

#include <fmt/format.h>
#include <re2/re2.h>
#include <algorithm>
#include <charconv>
#include <unordered_set>
#include <utility>

#include "base/counted.h"
#include "diagnostics/kinds.h"
#include "diagnostics/nearest.h"
#include "syntax/literals.h"
#include "types/declarations/numeric_range.h"
#include "types/suggestions.h"
#include "types/table/type_parts.h"

namespace tenon::types {
namespace {

struct BuiltinType {
  std::string_view name;
  TypeId type;
};
constexpr BuiltinType builtin_types[] = {
    {"String", TypeTable::string},   {"Boolean", TypeTable::boolean},
    {"i32", TypeTable::i32},         {"i64", TypeTable::i64},
    {"f64", TypeTable::f64},         {"Context", TypeTable::context},
    {"Failure", TypeTable::failure}, {"FailureKind", TypeTable::failure_kind},
};
constexpr std::string_view generic_types[] = {"List", "Map", "Option", "Result"};

/// What people write who come from elsewhere.
constexpr std::pair<std::string_view, std::string_view> foreign_type_names[] = {
    {"bool", "Boolean"}, {"boolean", "Boolean"}, {"int", "i64"},         {"integer", "i64"},   {"float", "f64"},
    {"double", "f64"},   {"number", "f64"},      {"str", "String"},      {"string", "String"}, {"Vec", "List"},
    {"Array", "List"},   {"list", "List"},       {"HashMap", "Map"},     {"Dict", "Map"},      {"dict", "Map"},
    {"usize", "i64"},    {"u32", "i64"},         {"u64", "i64"},         {"f32", "f64"},       {"Bool", "Boolean"},
    {"Int", "i64"},      {"Float", "f64"},       {"Optional", "Option"}, {"void", "()"},       {"None", "Option<…>"},
};

/// Words that are not types here, with what is written instead.
constexpr std::pair<std::string_view, std::string_view> foreign_type_hints[] = {
    {"any", "there is no type of all values: write the type, or a type parameter as in `fn f<T>(x: T)`"},
    {"object", "there is no type of all values: declare a `struct`, or use `Map<…>`"},
    {"unknown", "there is no type of all values: write the type, or a type parameter as in `fn f<T>(x: T)`"},
    {"null", "a value that can be absent has a type such as `String?`, and is then `None`"},
    {"nil", "a value that can be absent has a type such as `String?`, and is then `None`"},
    {"none", "a value that can be absent has a type such as `String?`, and is then `None`"},
    {"undefined", "a value that can be absent has a type such as `String?`, and is then `None`"},
    {"auto", "omit the type of a variable: `let x = 1`"},
    {"var", "omit the type of a variable: `let x = 1`"},
    {"char", "use `String`: a character is a `String` of length 1"},
};

bool is_generic_name(std::string_view name) {
  return std::find(std::begin(generic_types), std::end(generic_types), name) != std::end(generic_types);
}

/// `missing `)` in `a(b``, which RE2 calls `missing ): a(b`.
std::string describe_error(const RE2& pattern) {
  const std::string& all = pattern.error();
  const std::string& where = pattern.error_arg();
  std::string what = all.substr(0, all.rfind(": " + where));
  if (pattern.error_code() == RE2::ErrorMissingParen) what = "missing `)`";
  if (pattern.error_code() == RE2::ErrorMissingBracket) what = "missing `]`";
  if (pattern.error_code() == RE2::ErrorUnexpectedParen) what = "unexpected `)`";
  return where.empty() ? what : fmt::format("{} in `{}`", what, where);
}

/// Whether a part of the type, as it is written, has been reported.
bool contains_error(const TypeTable& types, TypeId type) {
  return find_within(types, type, TypeParts::AsWritten, [](TypeId part) { return part == TypeTable::error; }).exists();
}

}  // namespace

std::vector<std::string_view> builtin_type_names() {
  std::vector<std::string_view> names(std::begin(generic_types), std::end(generic_types));
  for (const BuiltinType& builtin : builtin_types) names.push_back(builtin.name);
  names.insert(names.end(), {"Tools", "ToolResult", "ContextEntry"});
  return names;
}

std::optional<TypeId> TypeResolver::find_type_in(ModuleId module, const std::string& name) {
  const Module& in = program_.modules[module.index];
  if (const auto found = in.type_names.find(name); found != in.type_names.end()) return found->second;
  if (const auto found = in.aliases.find(name); found != in.aliases.end()) return found->second;
  if (has_alias(module, name)) return resolve_alias(module, name);
  return std::nullopt;
}

std::vector<std::string_view> TypeResolver::type_names_in_scope() const {
  std::vector<std::string_view> names = builtin_type_names();
  for (const auto& [name, type] : module_->type_names) names.push_back(name);
  for (const auto& [name, type] : module_->aliases) names.push_back(name);
  if (const auto open = open_aliases_.find(module_id_.index); open != open_aliases_.end()) {
    for (const auto& [name, alias] : open->second) names.push_back(name);
  }
  for (const auto& [name, imported] : module_->imports) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

void TypeResolver::enter(ModuleId module) {
  module_id_ = module;
  module_ = &program_.modules[module.index];
}

void TypeResolver::set_type_parameters(const FunctionDeclaration& function) {
  type_parameters_.clear();
  for (std::size_t at = 0; at < function.type_parameters.size(); ++at) {
    type_parameters_.emplace_back(function.type_parameters[at], function.type_parameter_types[at]);
  }
}

void TypeResolver::add_alias(ModuleId module, const std::string& name, NodeId item) {
  open_aliases_[module.index].emplace(name, Alias{item, false, std::nullopt});
  alias_items_.emplace(std::pair(module.index, name), item);
}

bool TypeResolver::has_alias(ModuleId module, const std::string& name) const {
  const auto aliases = open_aliases_.find(module.index);
  return aliases != open_aliases_.end() && aliases->second.contains(name);
}

bool TypeResolver::is_alias(ModuleId module, const std::string& name, NodeId item) const {
  return has_alias(module, name) && open_aliases_.at(module.index).at(name).item == item;
}

std::unordered_map<std::string, TypeId> TypeResolver::take_aliases(ModuleId module) {
  std::unordered_map<std::string, TypeId> resolved;
  for (const auto& [name, alias] : open_aliases_[module.index]) resolved.emplace(name, *alias.type);
  open_aliases_.erase(module.index);
  return resolved;
}

TypeId TypeResolver::resolve_alias(ModuleId module, const std::string& name) {
  Alias& alias = open_aliases_.at(module.index).at(name);
  if (alias.type) return *alias.type;
  const ModuleId before = module_id_;
  enter(module);
  TypeId type = TypeTable::error;
  if (alias.is_in_progress) {
    diagnostics_.report(diagnostics::RecursiveType, tree().main_span(alias.item), name);
    alias.type = type;
  } else if (alias_depth_ >= type_parts_max) {
    diagnostics_.report(diagnostics::TypeTooLarge, tree().main_span(alias.item), name, std::size_t{type_parts_max});
    alias.type = type;
  } else {
    alias.is_in_progress = true;
    ++alias_depth_;
    if (const NodeId node = tree().first(alias.item); node.exists()) {
      const NodeKind kind = tree().kind(node);
      if (kind == NodeKind::RefinedType) {
        type = resolve_refined(node, name, tree().documentation(alias.item));
      } else if (kind == NodeKind::UnionType || kind == NodeKind::LiteralType) {
        type = resolve_union(node, name, tree().documentation(alias.item));
      } else {
        type = resolve_type(node);
      }
    }
    --alias_depth_;
    alias.is_in_progress = false;
    if (!alias.type) alias.type = type;
    type = *alias.type;
  }
  enter(before);
  return type;
}

std::optional<TypeResolver::AliasItem> TypeResolver::find_alias_item(NodeId named_type) const {
  const std::vector<syntax::TokenIndex> path = tree().path(named_type);
  if (path.empty() || path.size() > 2) return std::nullopt;
  const std::string name(tree().text(path.back()));
  const auto find_in = [&](ModuleId module) -> std::optional<AliasItem> {
    const auto found = alias_items_.find({module.index, name});
    return found == alias_items_.end() ? std::nullopt : std::optional(AliasItem{module, found->second});
  };
  const auto imported = module_->imports.find(std::string(tree().text(path[0])));
  const bool is_imported = imported != module_->imports.end();
  if (path.size() == 2) {
    return is_imported && imported->second.is_module ? find_in(imported->second.module) : std::nullopt;
  }
  for (const auto& [parameter, type] : type_parameters_) {
    if (parameter == name) return std::nullopt;
  }
  if (const auto own = find_in(module_id_)) return own;
  return is_imported && !imported->second.is_module ? find_in(imported->second.module) : std::nullopt;
}

std::string TypeResolver::documentation_of_enum(NodeId named_type) {
  const std::vector<syntax::TokenIndex> path = tree().path(named_type);
  const auto found = find_type(path);
  return found && types_.kind(*found) == TypeKind::Enum ? types_.enum_type(*found).documentation : "";
}

std::string TypeResolver::documentation_of_name(NodeId type_node, Enums enums) {
  const ModuleId before = module_id_;
  std::string words;
  // Names that mean each other in a circle are reported elsewhere.
  for (std::size_t steps = 0; type_node.exists() && steps < type_parts_max; ++steps) {
    const NodeKind kind = tree().kind(type_node);
    const bool is_named = kind == NodeKind::NamedType;
    const auto alias = is_named ? find_alias_item(type_node) : std::nullopt;
    if (alias) {
      enter(alias->module);
      words = tree().documentation(alias->item);
      type_node = tree().first(alias->item);
      if (words.empty()) continue;
      const NodeKind meant = type_node.exists() ? tree().kind(type_node) : NodeKind::Error;
      const bool has_own_words =
          meant == NodeKind::RefinedType || meant == NodeKind::UnionType || meant == NodeKind::LiteralType;
      if (has_own_words) words.clear();
      break;
    }
    const bool is_around = is_named ? is_generic_name(tree().main_text(type_node))
                                    : kind == NodeKind::OptionalType || kind == NodeKind::SecretType ||
                                          kind == NodeKind::TrustedType || kind == NodeKind::RefinedType;
    if (!is_around) {
      if (is_named && enums == Enums::Included) words = documentation_of_enum(type_node);
      break;
    }
    const std::vector<NodeId> inner = tree().children(type_node);
    if (inner.empty()) break;
    type_node = is_named ? inner.back() : inner.front();
  }
  enter(before);
  return words;
}

std::optional<TypeId> TypeResolver::find_type(const std::string& name) {
  for (const auto& [parameter, type] : type_parameters_) {
    if (parameter == name) return type;
  }
  if (name == "Self" && self_type_.exists()) return self_type_;
  for (const BuiltinType& builtin : builtin_types) {
    if (builtin.name == name) return builtin.type;
  }
  if (const auto found = find_type_in(module_id_, name)) return found;
  if (const auto imported = module_->imports.find(name);
      imported != module_->imports.end() && !imported->second.is_module) {
    return find_type_in(imported->second.module, name);
  }
  // A program may have types of its own with these names.
  if (name == "Tools") return types_.tools();
  if (name == "ToolResult") return types_.tool_result();
  if (name == "ContextEntry") return types_.context_entry();
  return std::nullopt;
}

std::optional<TypeId> TypeResolver::find_type(std::span<const syntax::TokenIndex> path) {
  if (path.empty() || path.size() > 2) return std::nullopt;
  const std::string name(tree().text(path.back()));
  if (path.size() == 1) return find_type(name);
  const auto imported = module_->imports.find(std::string(tree().text(path[0])));
  if (imported == module_->imports.end() || !imported->second.is_module) return std::nullopt;
  return find_type_in(imported->second.module, name);
}

TypeId TypeResolver::resolve_type(NodeId node) {
  return reject_large_type(read_type(node), node);
}

TypeId TypeResolver::reject_large_type(TypeId type, NodeId node) {
  if (types_.count_parts(type) <= type_parts_max) return type;
  if (!contains_error(types_, type)) {
    diagnostics_.report(diagnostics::TypeTooLarge, tree().span(node), describe(type), std::size_t{type_parts_max})
        .hint("declare a `struct` for a part of it: a struct counts as one");
  }
  return TypeTable::error;
}

/// A doc comment within a type describes nothing, except for alternatives of unions.
void TypeResolver::report_unused_documentation(NodeId type_node) {
  const NodeKind kind = tree().kind(type_node);
  const syntax::TokenIndex first = tree()[type_node].first_token;
  if (kind == NodeKind::LiteralType || kind == NodeKind::UnionType || tree().documentation_before(first).empty())
    return;
  syntax::TokenIndex comment = first - 1;
  while (tree().tokens[comment].kind != syntax::TokenKind::DocComment) --comment;
  if (!unused_documentation_.emplace(module_id_.index, comment).second) return;
  diagnostics_.report(diagnostics::UnusedDocComment, tree().span(comment))
      .hint("write it before the name of a parameter, a field, a case or a `type`");
}

TypeId TypeResolver::read_type(NodeId node) {
  report_unused_documentation(node);
  switch (tree().kind(node)) {
    case NodeKind::NamedType:
      return resolve_named_type(node);
    case NodeKind::OptionalType: {
      const NodeId inner = tree().first(node);
      if (!inner.exists()) return TypeTable::error;
      const TypeId type = resolve_type(inner);
      return reject_context(type, node, "stored in an `Option`") ? TypeTable::error : types_.option(type);
    }
    case NodeKind::TupleType: {
      std::vector<TypeId> items;
      std::vector<NodeId> nodes;
      for (NodeId item = tree().first(node); item.exists(); item = tree().next(item)) {
        nodes.push_back(item);
        items.push_back(resolve_type(item));
      }
      if (items.empty()) return TypeTable::unit;
      if (items.size() == 1) return items[0];
      for (std::size_t at = 0; at < items.size(); ++at) {
        if (reject_context(items[at], nodes[at], "stored in a tuple")) items[at] = TypeTable::error;
      }
      return types_.tuple(std::move(items));
    }
    case NodeKind::SecretType: {
      const NodeId inner = tree().first(node);
      return inner.exists() ? make_secret(resolve_type(inner), node) : TypeTable::error;
    }
    case NodeKind::TrustedType:
      diagnostics_.report(diagnostics::TrustedNotPossible, tree().span(node))
          .hint("write it before the type of a parameter, a result or a field of a struct: `to: trusted String`");
      return tree().first(node).exists() ? resolve_type(tree().first(node)) : TypeTable::error;
    case NodeKind::LiteralType:
    case NodeKind::UnionType:
      return resolve_union(node, "", "");
    case NodeKind::RefinedType:
      return resolve_refined(node, "", "");
    default:
      return TypeTable::error;
  }
}

/// `secret T`. One seal holds all of a value: there is none in another.
TypeId TypeResolver::make_secret(TypeId type, NodeId node) {
  if (reject_context(type, node, "secret")) return TypeTable::error;
  if (type == TypeTable::unit) {
    diagnostics_.report(diagnostics::SecretNotPossible, tree().span(node), describe(type));
    return TypeTable::error;
  }
  return types_.secret(type);
}

syntax::NodeId TypeResolver::without_trusted(NodeId type_node, bool& is_trusted, bool* asks_approval) {
  is_trusted = type_node.exists() && tree().kind(type_node) == NodeKind::TrustedType;
  if (!is_trusted) return type_node;
  const NodeId inner = tree().first(type_node);
  const bool asks = inner.exists() && tree()[type_node].end_token > tree()[inner].end_token;
  if (asks && asks_approval == nullptr) {
    diagnostics_.report(diagnostics::ApprovalNotPossible, tree().span(type_node));
  }
  if (asks_approval != nullptr) *asks_approval = asks;
  return inner;
}

/// The type of a field, an entry or a parameter: that of its type's node, sealed if `secret` is before the name.
TypeId TypeResolver::resolve_declared_type(NodeId declaration, NodeId type_node) {
  const TypeId type = resolve_type(type_node);
  const bool is_secret = tree()[declaration].main_token != tree()[declaration].first_token;
  return is_secret ? make_secret(type, type_node) : type;
}

TypeId TypeResolver::resolve_named_type(NodeId node) {
  const std::vector<syntax::TokenIndex> path = tree().path(node);
  if (path.empty()) return TypeTable::error;
  const std::string name(tree().text(path.back()));
  std::vector<TypeId> arguments;
  for (NodeId argument = tree().first(node); argument.exists(); argument = tree().next(argument)) {
    arguments.push_back(resolve_type(argument));
  }
  if (path.size() >= 2) {
    const std::string qualifier(tree().text(path[0]));
    const auto imported = module_->imports.find(qualifier);
    if (path.size() > 2) {
      diagnostics_.report(diagnostics::UnknownType, tree().span(node), std::string(tree().text(node)))
          .hint("write the type as `Name` or `module::Name`");
      return TypeTable::error;
    }
    if (imported == module_->imports.end() || !imported->second.is_module) {
      if (!module_->missing_imports.contains(qualifier)) {
        diagnostics_.report(diagnostics::UnknownModule, tree().span(path[0]), qualifier);
      }
      return TypeTable::error;
    }
    if (const auto found = find_type_in(imported->second.module, name)) return *found;
    report_not_in_module(tree().span(path[1]), imported->second.module, qualifier, name);
    return TypeTable::error;
  }
  const auto count = [&](std::size_t expected) {
    if (arguments.size() == expected) return true;
    diagnostics_.report(diagnostics::TypeArgumentCount, tree().span(node), name, counted(expected, "type argument"),
                        counted_were(arguments.size()));
    return false;
  };
  if (is_generic_name(name)) {
    if (name == "Map" && arguments.size() == 2 && types_.base(arguments[0]) == TypeTable::string) {
      arguments.erase(arguments.begin());  // `Map<String, T>`: the keys are strings anyway
    }
    if (name == "Result" && arguments.size() == 2 && arguments[1] == TypeTable::failure) arguments.pop_back();
    if (!count(1)) return TypeTable::error;
    if (reject_context(arguments[0], node, (name == "Option" ? "stored in an `" : "stored in a `") + name + "`"))
      return TypeTable::error;
    if (name == "List") return types_.list(arguments[0]);
    if (name == "Map") return types_.map(arguments[0]);
    if (name == "Option") return types_.option(arguments[0]);
    return types_.result(arguments[0]);
  }
  if (const auto found = find_type(name)) {
    count(0);
    return *found;
  }
  if (module_->imports.contains(name)) return TypeTable::error;  // reported at the `use`
  return undeclared_type(node, name);
}

std::vector<TypeId> TypeResolver::resolve_type_arguments(NodeId list) {
  std::vector<TypeId> arguments;
  if (!list.exists()) return arguments;
  for (NodeId node = tree().first(list); node.exists(); node = tree().next(node)) {
    const TypeId type = resolve_type(node);
    arguments.push_back(reject_context(type, node, "used as a type argument") ? TypeTable::error : type);
  }
  return arguments;
}

void TypeResolver::report_context(source::Span span, std::string what) {
  diagnostics_.report(diagnostics::ContextNotAllowed, span, std::move(what))
      .hint("keep a context in a variable or a parameter and pass it separately");
}

bool TypeResolver::reject_context(TypeId type, NodeId node, std::string what) {
  if (reject_tools(type, node, what)) return true;
  if (!type.exists() || types_.base(type) != TypeTable::context) return false;
  report_context(tree().span(node), std::move(what));
  return true;
}

TypeId TypeResolver::undeclared_type(NodeId node, const std::string& name) {
  const source::Span span = tree().span(node);
  for (const auto& [other, ours] : foreign_type_names) {
    if (name == other) {
      diagnostics_.report(diagnostics::UnknownType, span, name).hint(fmt::format("use `{}` instead", ours));
      return TypeTable::error;
    }
  }
  for (const auto& [other, hint] : foreign_type_hints) {
    if (name == other) {
      diagnostics_.report(diagnostics::UnknownType, span, name).hint(std::string(hint));
      return TypeTable::error;
    }
  }
  const std::vector<std::string_view> candidates =
      diagnostics_.is_full() ? std::vector<std::string_view>() : type_names_in_scope();
  const std::optional<std::string> nearest = diagnostics::find_nearest(name, candidates);
  const bool is_generic = tree().first(node).exists();
  const bool is_capital = name[0] >= 'A' && name[0] <= 'Z';
  if (is_generic || !is_capital) {
    auto& report = diagnostics_.report(diagnostics::UnknownType, span, name);
    if (nearest) {
      report.hint(fmt::format("did you mean `{}`?", *nearest));
    } else if (!is_capital) {
      report.hint("start the name with a capital letter to make it a text type");
    }
    return TypeTable::error;
  }
  if (strictness_ == Strictness::Strict) {
    auto& report = diagnostics_.report(diagnostics::UndeclaredTextType, span, name);
    report.hint(nearest ? fmt::format("did you mean `{}`?", *nearest) : "declare it with `struct`, `enum` or `type`");
  } else if (text_types_.emplace(module_id_.index, name).second) {
    auto& report = diagnostics_.report(diagnostics::TextType, span, name);
    if (nearest) report.hint(fmt::format("did you mean `{}`?", *nearest));
  }
  return types_.text(name);
}

/// The doc comment of a union's alternative, before it or before the `|` in front of it.
std::string TypeResolver::documentation_of_literal(NodeId literal) const {
  std::string text = tree().documentation(literal);
  syntax::TokenIndex before = tree()[literal].first_token;
  if (!text.empty() || before == 0) return text;
  do --before;
  while (before > 0 && syntax::is_trivia(tree().tokens[before].kind));
  return tree().tokens[before].kind == syntax::TokenKind::Pipe ? tree().documentation_before(before) : text;
}

TypeId TypeResolver::resolve_union(NodeId node, const std::string& alias, std::string documentation) {
  std::vector<NodeId> literals = tree().children(node, NodeKind::LiteralType);
  if (tree().kind(node) == NodeKind::LiteralType) literals = {node};
  std::vector<std::string> texts;
  std::unordered_set<std::string> seen;
  std::vector<std::int64_t> numbers;
  std::vector<std::string> words;
  for (const NodeId literal : literals) {
    const NodeId value = tree().first(literal);
    if (!value.exists()) continue;
    if (tree().kind(value) == NodeKind::StringExpression) {
      const auto parts = syntax::string_parts(tree(), value);
      std::string text;
      for (const auto& part : parts) {
        if (const auto* piece = std::get_if<std::string>(&part)) {
          text += *piece;
        } else {
          diagnostics_.report(diagnostics::TemplateInType, tree().span(value));
        }
      }
      if (!seen.insert(text).second) continue;
      texts.push_back(std::move(text));
    } else {
      const bool negative = tree().kind(value) == NodeKind::UnaryExpression;
      const NodeId digits = negative ? tree().first(value) : value;
      const auto number = syntax::integer_value(tree().text(digits));
      if (!number || *number > std::uint64_t{INT64_MAX}) {
        diagnostics_.report(diagnostics::NumberOutOfRange, tree().span(value), std::string(tree().text(value)), "i64");
        continue;
      }
      const auto signed_number = static_cast<std::int64_t>(*number);
      numbers.push_back(negative ? -signed_number : signed_number);
    }
    words.push_back(documentation_of_literal(literal));
  }
  if (!texts.empty() && !numbers.empty()) {
    diagnostics_.report(diagnostics::MixedUnion, tree().span(node));
    return TypeTable::error;
  }
  if (numbers.empty() && texts.empty()) return TypeTable::error;
  if (std::ranges::all_of(words, [](const std::string& text) { return text.empty(); })) words.clear();
  UnionType type{alias, {}, std::move(documentation), std::move(words)};
  if (numbers.empty()) {
    type.literals = std::move(texts);
  } else {
    type.literals = std::move(numbers);
  }
  return types_.make_union(std::move(type));
}

TypeId TypeResolver::resolve_refined(NodeId node, const std::string& alias, std::string documentation) {
  const NodeId base_node = tree().first(node);
  TypeId base = resolve_type(base_node);
  if (base == TypeTable::error) return base;
  Refinement refinement;
  if (types_.kind(base) == TypeKind::Refined) {
    refinement = types_.refinement(base);
    base = types_.base(base);
  }
  refinement.name = alias;
  refinement.documentation = std::move(documentation);
  for (NodeId constraint = tree().next(base_node); constraint.exists(); constraint = tree().next(constraint)) {
    switch (tree().kind(constraint)) {
      case NodeKind::RangeConstraint:
        apply_range(constraint, base, refinement);
        break;
      case NodeKind::LengthConstraint:
        apply_length(constraint, base, refinement);
        break;
      case NodeKind::PatternConstraint:
        apply_pattern(constraint, base, refinement);
        break;
      default:
        break;
    }
  }
  return types_.refined(base, std::move(refinement));
}

void TypeResolver::apply_range(NodeId constraint, TypeId base, Refinement& refinement) {
  const source::Span span = tree().span(constraint);
  std::optional<NumericRange> bounds = read_range(tree(), tree().first(constraint));
  if (!bounds) {
    diagnostics_.report(diagnostics::ConstraintRangeExpected, span, "in", "numbers", "in 1..=10");
    return;
  }
  if (!is_number(types_, base)) {
    diagnostics_.report(diagnostics::ConstraintNotApplicable, span, "in", "numbers", describe(base));
    return;
  }
  const bool is_float = types_.kind(types_.base(base)) == TypeKind::F64;
  for (Bound* bound : {&bounds->low, &bounds->high}) {
    if (is_float && std::holds_alternative<std::int64_t>(*bound))
      *bound = static_cast<double>(std::get<std::int64_t>(*bound));
    if (!is_float && std::holds_alternative<double>(*bound)) {
      diagnostics_.report(diagnostics::FloatBound, span);
      return;
    }
  }
  if (!is_float && bounds->high_is_exclusive) {
    if (auto* high = std::get_if<std::int64_t>(&bounds->high); high != nullptr && *high > INT64_MIN) --*high;
    bounds->high_is_exclusive = false;
  }
  const bool empty = bounds->low.index() != 0 && bounds->high.index() != 0 &&
                     (bounds->low > bounds->high || (bounds->high_is_exclusive && bounds->low == bounds->high));
  if (empty) {
    diagnostics_.report(diagnostics::EmptyRange, span);
    return;
  }
  if (bounds->low.index() != 0) refinement.low = bounds->low;
  if (bounds->high.index() != 0) {
    refinement.high = bounds->high;
    refinement.high_is_exclusive = bounds->high_is_exclusive;
  }
}

void TypeResolver::apply_length(NodeId constraint, TypeId base, Refinement& refinement) {
  const source::Span span = tree().span(constraint);
  const std::optional<NumericRange> bounds = read_range(tree(), tree().first(constraint));
  const TypeKind kind = types_.kind(types_.base(base));
  if (kind != TypeKind::List && !is_text(types_, base)) {
    diagnostics_.report(diagnostics::ConstraintNotApplicable, span, "len", "texts and lists", describe(base));
    return;
  }
  const auto length = [](const Bound& bound) -> std::optional<std::uint64_t> {
    const auto* number = std::get_if<std::int64_t>(&bound);
    if (number == nullptr || *number < 0) return std::nullopt;
    return static_cast<std::uint64_t>(*number);
  };
  if (bounds) {
    const bool is_low = bounds->low.index() != 0;
    const bool is_high = bounds->high.index() != 0;
    const auto low = length(bounds->low);
    auto high = length(bounds->high);
    if (high && bounds->high_is_exclusive) high = *high == 0 ? std::nullopt : std::optional(*high - 1);
    if ((!is_low || low) && (!is_high || high) && !(low && high && *low > *high)) {
      if (low) refinement.length_low = low;
      if (high) refinement.length_high = high;
      return;
    }
  }
  diagnostics_.report(diagnostics::ConstraintRangeExpected, span, "len", "lengths", "len 1..=80");
}

void TypeResolver::apply_pattern(NodeId constraint, TypeId base, Refinement& refinement) {
  const source::Span span = tree().span(constraint);
  if (!is_text(types_, base)) {
    diagnostics_.report(diagnostics::ConstraintNotApplicable, span, "matching", "texts", describe(base));
    return;
  }
  const NodeId text = tree().first(constraint);
  if (!text.exists()) return;
  std::string pattern;
  for (const auto& part : syntax::string_parts(tree(), text)) {
    if (const auto* piece = std::get_if<std::string>(&part)) pattern += *piece;
  }
  if (pattern.empty()) {
    diagnostics_.report(diagnostics::InvalidRegularExpression, span, "an empty pattern matches only the empty string");
    return;
  }
  RE2::Options options;
  options.set_log_errors(false);
  const RE2 compiled(pattern, options);
  if (!compiled.ok()) {
    diagnostics_.report(diagnostics::InvalidRegularExpression, tree().span(text), describe_error(compiled))
        .hint("use RE2 syntax, without lookaround or backreferences");
    return;
  }
  refinement.pattern = std::move(pattern);
}

void TypeResolver::report_not_in_module(source::Span span, ModuleId from, const std::string& shown,
                                        const std::string& name) {
  auto& report = diagnostics_.report(diagnostics::NotInModule, span, shown, name);
  if (diagnostics_.is_full()) return;
  const syntax::SyntaxTree& other = *program_.modules[from.index].tree;
  std::vector<std::string_view> candidates;
  for (NodeId item = other.first(other.root); item.exists(); item = other.next(item)) {
    const NodeKind kind = other.kind(item);
    if (kind == NodeKind::FunctionItem || kind == NodeKind::ExternItem || kind == NodeKind::StructItem ||
        kind == NodeKind::EnumItem || kind == NodeKind::AgentItem || kind == NodeKind::TypeItem) {
      candidates.push_back(other.main_text(item));
    }
  }
  std::sort(candidates.begin(), candidates.end());
  if (const auto meant = find_meant(name, candidates)) {
    report.hint(fmt::format("did you mean `{}`?", *meant)).fix = {span, *meant};
  }
}

bool TypeResolver::reject_tools(TypeId type, NodeId node, std::string what) {
  if (!type.exists() || types_.kind(type) != TypeKind::Tools) return false;
  diagnostics_.report(diagnostics::ToolsNotAllowed, tree().span(node), std::move(what))
      .hint("keep a set of tools in a variable or a parameter, or return it from a function");
  return true;
}

}  // namespace tenon::types
