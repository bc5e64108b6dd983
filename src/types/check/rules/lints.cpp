// Warnings about code that is allowed but most likely a mistake, mainly in the use of contexts.

#include "types/check/rules/lints.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>

#include "base/ascii.h"
#include "diagnostics/kinds.h"
#include "syntax/literals.h"
#include "types/check/body_checker.h"

namespace tenon::types {
namespace {

using syntax::NodeId;
using syntax::NodeKind;

bool is_injection(BuiltinMethod method) {
  return method == BuiltinMethod::Inject || method == BuiltinMethod::InjectAs || method == BuiltinMethod::Say;
}

/// What happens to the own context of a function, in the order of the program.
class ContextSteps {
 public:
  ContextSteps(const Body& body, std::uint32_t own_context) : tree_(body.tree()), body_(body), own_(own_context) {}

  std::vector<ContextStep> steps;

  void visit(NodeId node) {
    const NodeKind kind = tree_.kind(node);
    // The hole of a tool is filled where the model chooses the tool.
    if (kind == NodeKind::HoleExpression && tools_depth_ > 0) return;
    const bool is_given = kind == NodeKind::ToolEntry || kind == NodeKind::PursueExpression;
    if (is_given) ++tools_depth_;
    const bool loop =
        kind == NodeKind::WhileStatement || kind == NodeKind::ForExpression || kind == NodeKind::TemplateFor;
    if (loop) steps.push_back({ContextStep::Kind::LoopStart, node});
    for (NodeId child = tree_.first(node); child.exists(); child = tree_.next(child)) visit(child);
    if (is_given) --tools_depth_;
    const Target& target = body_.facts_of(node).target;
    if (kind == NodeKind::InjectStatement || kind == NodeKind::InjectBody) {
      steps.push_back({ContextStep::Kind::Inject, node});
    } else if (kind == NodeKind::HoleExpression) {
      steps.push_back({ContextStep::Kind::Hole, node});
      steps.push_back({ContextStep::Kind::View, node});
    } else if (target.kind == TargetKind::Method && is_injection(static_cast<BuiltinMethod>(target.index))) {
      steps.push_back({ContextStep::Kind::Written, node});  // by `inject`, maybe to the own context
    } else if (kind == NodeKind::SelectExpression || kind == NodeKind::PursueExpression) {
      steps.push_back({ContextStep::Kind::View, node});
    } else if (kind == NodeKind::NameExpression && target.kind == TargetKind::Local && target.index == own_) {
      steps.push_back({ContextStep::Kind::View, node});  // goes to a callee, or is kept
    }
    if (loop) steps.push_back({ContextStep::Kind::LoopEnd, node});
  }

 private:
  const syntax::SyntaxTree& tree_;
  const Body& body_;
  std::uint32_t own_;
  std::size_t tools_depth_ = 0;
};

/// The variables that something is injected into: their injections, and whether they are used otherwise.
class OtherContexts {
 public:
  OtherContexts(const Body& body, NodeId block) : tree_(body.tree()), body_(body) { visit(block); }

  [[nodiscard]] const std::vector<std::pair<std::uint32_t, NodeId>>& injections() const { return injections_; }
  [[nodiscard]] bool is_used(std::uint32_t local, std::string_view name) const {
    return used_.contains(local) || used_names_.contains(name);
  }

 private:
  void visit(NodeId node) {
    const Target& target = body_.facts_of(node).target;
    const NodeId receiver = tree_.first(node);
    const bool is_injected = tree_.kind(node) == NodeKind::MethodCallExpression && receiver.exists() &&
                             target.kind == TargetKind::Method &&
                             is_injection(static_cast<BuiltinMethod>(target.index)) && local_of(receiver);
    if (is_injected) injections_.emplace_back(*local_of(receiver), node);
    if (const auto local = local_of(node)) used_.insert(*local);
    const bool is_short = tree_.kind(node) == NodeKind::FieldInitializer && !receiver.exists();
    if (is_short) used_names_.insert(tree_.main_text(node));  // `S { x }` is `S { x: x }`
    for (NodeId child = receiver; child.exists(); child = tree_.next(child)) {
      if (!is_injected || child != receiver) visit(child);
    }
  }
  [[nodiscard]] std::optional<std::uint32_t> local_of(NodeId node) const {
    const Target& target = body_.facts_of(node).target;
    const bool is_local = target.kind == TargetKind::Local && tree_.kind(node) != NodeKind::NamePattern;
    return is_local ? std::optional(target.index) : std::nullopt;
  }

  const syntax::SyntaxTree& tree_;
  const Body& body_;
  std::vector<std::pair<std::uint32_t, NodeId>> injections_;
  std::set<std::uint32_t> used_;
  std::set<std::string_view> used_names_;
};

/// A shorter word of a name (`x`, `id`) occurs in any text, or is written out there (`n`: "number"): it proves nothing.
constexpr std::size_t telling_letters_min = 3;

/// The words of a name by which a text would speak of it, in lower case and without a plural's `s`.
std::vector<std::string> telling_words(std::string_view name) {
  std::vector<std::string> words;
  std::string word;
  for (const char letter : lower_case(name) + "_") {
    if (letter != '_') {
      word += letter;
      continue;
    }
    if (word.size() > telling_letters_min && word.ends_with('s')) word.pop_back();
    if (word.size() >= telling_letters_min) words.push_back(word);
    word.clear();
  }
  return words;
}

/// Whether `text` speaks of a parameter: by one word of its name.
bool mentions(std::string_view text, std::string_view name) {
  const std::string where = lower_case(text);
  const std::vector<std::string> words = telling_words(name);
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return where.find(word) != std::string::npos; });
}

/// Whether a text may well say what a value of the type is: a digit for a number, a literal of a union for it.
bool may_hold(const TypeTable& types, TypeId type, std::string_view text) {
  const TypeId base = types.base(type);
  switch (types.kind(base)) {
    case TypeKind::I32:
    case TypeKind::I64:
    case TypeKind::F64:
      return text.find_first_of("0123456789") != std::string_view::npos;
    case TypeKind::Union: {
      const auto* const literals = std::get_if<std::vector<std::string>>(&types.union_type(base).literals);
      if (literals == nullptr) return text.find_first_of("0123456789") != std::string_view::npos;
      const std::string where = lower_case(text);
      return std::any_of(literals->begin(), literals->end(), [&](const std::string& literal) {
        return where.find(lower_case(literal)) != std::string::npos;
      });
    }
    default:
      return false;
  }
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char byte) { return static_cast<unsigned char>(byte) < 0x80; });
}

/// Whether `known`, all that the model sees, certainly says nothing of a parameter. An empty context is certain. Words
/// are only compared where they can be: a name without a telling word is not, nor a text in another script or with
/// accents, which may well be of another language than the name.
bool says_nothing(const TypeTable& types, std::string_view known, const Parameter& parameter,
                  std::string_view documentation) {
  if (mentions(documentation, parameter.name)) return false;
  if (known.empty()) return true;
  if (telling_words(parameter.name).empty() || !is_ascii(known) || !is_ascii(parameter.name)) return false;
  return !mentions(known, parameter.name) && !mentions(known, types.describe(parameter.type)) &&
         !may_hold(types, parameter.type, known);
}

/// The name at the start of an expression such as `name`, `order.items[0]` or `name.trim()`; empty for other texts.
std::string_view first_name(std::string_view text) {
  const auto is_part = [](char byte) { return is_letter(byte) || is_digit(byte) || byte == '_'; };
  if (text.empty() || !is_part(text.front())) return {};
  const auto length = static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_part) - text.begin());
  // Only a field, a method or an item can follow the name.
  const bool is_whole = length == text.size();
  const bool is_access = !is_whole && (text[length] == '[' ||
                                       (text[length] == '.' && length + 1 < text.size() && is_part(text[length + 1])));
  return is_whole || is_access ? text.substr(0, length) : std::string_view();
}

/// `{name}` in a text where `name` is a variable: most likely a template with a brace too few on each side.
void warn_of_single_braces(const Body& body, diagnostics::Diagnostics& diagnostics) {
  const syntax::SyntaxTree& tree = body.tree();
  std::set<std::string_view> names;
  for (const Local& local : body.result.locals) names.insert(local.name);
  const syntax::Node& whole = tree[body.function.node];
  for (syntax::TokenIndex at = whole.first_token; at < whole.end_token; ++at) {
    if (tree.tokens[at].kind != syntax::TokenKind::StringText || !tree.is_written(at)) continue;
    const std::string_view text = tree.text(at);
    for (std::size_t open = text.find('{'); open != std::string_view::npos; open = text.find('{', open + 1)) {
      const std::size_t close = text.find_first_of("{}\\\n", open + 1);
      if (close == std::string_view::npos || text[close] != '}' || (open > 0 && text[open - 1] == '\\')) continue;
      // `\{{ name }}` is meant literally.
      if ((open > 0 && text[open - 1] == '{') || text.substr(close + 1).starts_with('}')) continue;
      const std::string_view name = trimmed(text.substr(open + 1, close - open - 1));
      if (!names.contains(first_name(name))) continue;
      source::Span span = tree.span(at);
      span.offset += static_cast<std::uint32_t>(open);
      span.length = static_cast<std::uint32_t>(close + 1 - open);
      diagnostics.report(diagnostics::SingleBraces, span, std::string(name))
          .hint(fmt::format("`{{{{ {0} }}}}` inserts the value; plain braces are written `\\{{{0}}}`", name))
          .fix = {span, fmt::format("{{{{ {} }}}}", name)};
    }
  }
}

}  // namespace

bool Lints::is_unreachable(NodeId node) const {
  const source::Span span = tree().span(node);
  return std::any_of(body_.reported.unreachable.begin(), body_.reported.unreachable.end(),
                     [&](const source::Span& stretch) {
                       return stretch.file == span.file && stretch.offset <= span.offset && span.end() <= stretch.end();
                     });
}

/// Injections into contexts that are variables, such as a new one or a copy, of which nothing else is ever done.
void Lints::lint_other_contexts(NodeId body, std::uint32_t own) {
  const OtherContexts others(body_, body);
  for (const auto& [local, injection] : others.injections()) {
    const Local& variable = body_.local(LocalId{local});
    const bool is_context = variable.type.exists() && types_.base(variable.type) == TypeTable::context;
    if (local == own || !is_context || others.is_used(local, variable.name) || is_unreachable(injection)) continue;
    diagnostics_.report(diagnostics::UnusedInjection, tree().span(injection))
        .hint(fmt::format("pass `{}` to a call that asks a model, or remove the injection", variable.name));
  }
}

void Lints::lint_texts() {
  warn_of_single_braces(body_, diagnostics_);
}

void Lints::lint_function() {
  const FunctionDeclaration& function = body_.function;
  const NodeId block = tree().find_child(function.node, NodeKind::Block);
  if (!block.exists()) return;
  lint_texts();
  // Parameters are the first locals of the body.
  const auto own = static_cast<std::uint32_t>(function.own_context.value_or(UINT32_MAX));
  lint_other_contexts(block, own);
  if (!function.own_context) return;
  ContextSteps walk(body_, own);
  walk.visit(block);
  lint_injections(walk.steps);
  lint_duplicates(block);
  // Only an entry's context is known as a whole: others see their callers' too.
  if (function.name == "main") lint_holes(walk.steps);
}

/// An injection is seen by a later step of the function, by an earlier one of a loop around it, or by its completion.
void Lints::lint_injections(std::span<const ContextStep> steps) {
  bool seen = body_.result.is_completed;
  std::vector<bool> views_ahead(steps.size());
  std::vector<std::size_t> loop_start(steps.size(), SIZE_MAX);
  std::vector<std::size_t> open;
  for (std::size_t at = 0; at < steps.size(); ++at) {
    if (steps[at].kind == ContextStep::Kind::LoopStart) open.push_back(at);
    if (steps[at].kind == ContextStep::Kind::LoopEnd && !open.empty()) open.pop_back();
    if (!open.empty()) loop_start[at] = open.front();
  }
  std::vector<std::size_t> views_before(steps.size() + 1, 0);
  for (std::size_t at = 0; at < steps.size(); ++at) {
    views_before[at + 1] = views_before[at] + (steps[at].kind == ContextStep::Kind::View ? 1 : 0);
  }
  for (std::size_t at = steps.size(); at-- > 0;) {
    views_ahead[at] = seen;
    if (steps[at].kind == ContextStep::Kind::View) seen = true;
  }
  for (std::size_t at = 0; at < steps.size(); ++at) {
    if (steps[at].kind != ContextStep::Kind::Inject || views_ahead[at]) continue;
    const bool in_loop = loop_start[at] != SIZE_MAX && views_before[at] > views_before[loop_start[at]];
    if (in_loop || is_unreachable(steps[at].node)) continue;
    diagnostics_.report(diagnostics::UnusedInjection, tree().span(steps[at].node))
        .hint("remove it, or ask a model with this context afterwards");
  }
}

/// Two injections of the same literal, or of the same variable, in one block without anything between them that could
/// change it.
void Lints::lint_duplicates(NodeId block) {
  std::unordered_map<std::string_view, NodeId> injected;
  for (const NodeId statement : tree().children(block)) {
    const NodeKind kind = tree().kind(statement);
    if (kind == NodeKind::AssignStatement || kind == NodeKind::WhileStatement) {
      if (!injected.empty()) injected = {};
      continue;
    }
    if (kind != NodeKind::InjectStatement || !tree().first(statement).exists()) continue;
    const NodeId value = tree().first(statement);
    const NodeKind value_kind = tree().kind(value);
    if (value_kind != NodeKind::StringExpression && value_kind != NodeKind::NameExpression) continue;
    if (value_kind == NodeKind::StringExpression && !syntax::plain_string(tree(), value)) continue;
    const auto [before, is_new] = injected.emplace(tree().text(value), statement);
    if (!is_new && !is_unreachable(statement)) {
      diagnostics_.report(diagnostics::DuplicateInjection, tree().span(statement))
          .label(tree().span(before->second), "first injected here");
    }
  }
}

/// The texts that are injected before a hole should mention what the model has to supply.
void Lints::lint_holes(std::span<const ContextStep> steps) {
  // The call around a hole knows its parameter.
  std::unordered_map<std::uint32_t, std::pair<Target, std::size_t>> parameters;
  for (std::uint32_t at = 0; at < body_.result.facts.size(); ++at) {
    const NodeId call{body_.result.first_node.index + at};
    const bool is_method = tree().kind(call) == NodeKind::MethodCallExpression;
    if (tree().kind(call) != NodeKind::CallExpression && !is_method) continue;
    const Target& target = facts(call).target;
    const NodeId list = tree().find_child(call, NodeKind::Arguments);
    if (!list.exists() || (target.kind != TargetKind::Function && target.kind != TargetKind::Extern)) continue;
    std::size_t position = is_method ? 1 : 0;
    for (NodeId argument = tree().first(list); argument.exists(); argument = tree().next(argument), ++position) {
      if (tree().kind(argument) == NodeKind::HoleExpression)
        parameters.emplace(argument.index, std::pair(target, position));
    }
  }
  std::string known;
  bool has_data = false;
  for (const ContextStep& step : steps) {
    if (step.kind == ContextStep::Kind::Inject) {
      const NodeId value = tree().first(step.node);
      const auto text = value.exists() && tree().kind(value) == NodeKind::StringExpression
                            ? syntax::plain_string(tree(), value)
                            : std::nullopt;
      has_data = has_data || !text;
      if (text) known += *text + "\n";
    }
    has_data = has_data || step.kind == ContextStep::Kind::Written;
    if (step.kind != ContextStep::Kind::Hole || has_data) continue;
    if (const auto filled = parameters.find(step.node.index); filled != parameters.end()) {
      lint_hole(step.node, filled->second.first, filled->second.second, known);
    }
  }
}

/// `target`, `position`: the parameter that it is given for. `known`: all that the model sees.
void Lints::lint_hole(NodeId hole, const Target& target, std::size_t position, std::string_view known) {
  const bool is_function = target.kind == TargetKind::Function;
  const std::vector<Parameter>& parameters =
      is_function ? program_.functions[target.index].parameters : program_.externs[target.index].parameters;
  const std::string& documentation =
      is_function ? program_.functions[target.index].documentation : program_.externs[target.index].documentation;
  if (position >= parameters.size()) return;
  if (!says_nothing(types_, known, parameters[position], documentation)) return;
  diagnostics_.report(diagnostics::HoleWithoutHint, tree().span(hole), parameters[position].name)
      .hint("inject the information before the call, or pass the argument yourself");
}

}  // namespace tenon::types
