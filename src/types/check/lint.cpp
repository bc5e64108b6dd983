// What is allowed and most likely not meant, in a function's dealings with its context.

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>

#include "diagnostics/kinds.h"
#include "syntax/literals.h"
#include "types/check/checker.h"

namespace tenon::types {
namespace {

using syntax::NodeId;
using syntax::NodeKind;

/// What happens to the function's own context, in the order of the program.
struct Step {
  enum class Kind : std::uint8_t { Inject, Written, View, Hole, LoopStart, LoopEnd } kind;
  NodeId node;
};

bool is_injection(BuiltinMethod method) {
  return method == BuiltinMethod::Inject || method == BuiltinMethod::InjectAs || method == BuiltinMethod::Say;
}

class Walk {
 public:
  Walk(const Module& module, std::uint32_t own_context) : tree_(*module.tree), module_(module), own_(own_context) {}

  std::vector<Step> steps;

  void visit(NodeId node) {
    const NodeKind kind = tree_.kind(node);
    // The hole of a tool is filled where the model chooses the tool.
    if (kind == NodeKind::HoleExpression && tools_depth_ > 0) return;
    const bool is_given = kind == NodeKind::ToolEntry || kind == NodeKind::PursueExpression;
    if (is_given) ++tools_depth_;
    const bool loop =
        kind == NodeKind::WhileStatement || kind == NodeKind::ForExpression || kind == NodeKind::TemplateFor;
    if (loop) steps.push_back({Step::Kind::LoopStart, node});
    for (NodeId child = tree_.first(node); child.exists(); child = tree_.next(child)) visit(child);
    if (is_given) --tools_depth_;
    const Target& target = module_.facts_of(node).target;
    if (kind == NodeKind::InjectStatement || kind == NodeKind::InjectBody) {
      steps.push_back({Step::Kind::Inject, node});
    } else if (kind == NodeKind::HoleExpression) {
      steps.push_back({Step::Kind::Hole, node});
      steps.push_back({Step::Kind::View, node});
    } else if (target.kind == TargetKind::Method && is_injection(static_cast<BuiltinMethod>(target.index))) {
      steps.push_back({Step::Kind::Written, node});  // by `inject`, maybe to the own context
    } else if (kind == NodeKind::SelectExpression || kind == NodeKind::PursueExpression) {
      steps.push_back({Step::Kind::View, node});
    } else if (kind == NodeKind::NameExpression && target.kind == TargetKind::Local && target.index == own_) {
      steps.push_back({Step::Kind::View, node});  // goes to a callee, or is kept
    }
    if (loop) steps.push_back({Step::Kind::LoopEnd, node});
  }

 private:
  const syntax::SyntaxTree& tree_;
  const Module& module_;
  std::uint32_t own_;
  std::size_t tools_depth_ = 0;
};

/// Of variables that something is injected into: the injections, and whether anything else is done with them.
class OtherContexts {
 public:
  OtherContexts(const Module& module, NodeId body) : tree_(*module.tree), module_(module) { visit(body); }

  [[nodiscard]] const std::vector<std::pair<std::uint32_t, NodeId>>& injections() const { return injections_; }
  [[nodiscard]] bool is_used(std::uint32_t local, std::string_view name) const {
    return used_.contains(local) || used_names_.contains(name);
  }

 private:
  void visit(NodeId node) {
    const Target& target = module_.facts_of(node).target;
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
    const Target& target = module_.facts_of(node).target;
    const bool is_local = target.kind == TargetKind::Local && tree_.kind(node) != NodeKind::NamePattern;
    return is_local ? std::optional(target.index) : std::nullopt;
  }

  const syntax::SyntaxTree& tree_;
  const Module& module_;
  std::vector<std::pair<std::uint32_t, NodeId>> injections_;
  std::set<std::uint32_t> used_;
  std::set<std::string_view> used_names_;
};

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& letter : result) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return result;
}

/// A shorter word of a name (`x`, `id`) occurs in any text, or is written out there (`n`: "number"): it tells nothing.
constexpr std::size_t telling_letters_min = 3;

/// The words of a name by which a text would speak of it, in lower case and without a plural's `s`.
std::vector<std::string> telling_words(std::string_view name) {
  std::vector<std::string> words;
  std::string word;
  for (const char letter : lower(name) + "_") {
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
  const std::string where = lower(text);
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
      const std::string where = lower(text);
      return std::any_of(literals->begin(), literals->end(),
                         [&](const std::string& literal) { return where.find(lower(literal)) != std::string::npos; });
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

/// `{name}` in a text where `name` is a variable: most likely a template with a brace too few on each side.
void warn_of_single_braces(const CheckedProgram& program, FunctionId function, const Module& module,
                           diagnostics::Diagnostics& diagnostics) {
  const syntax::SyntaxTree& tree = *module.tree;
  // The variables of the function that has been checked last are the last ones.
  std::set<std::string_view> names;
  for (std::size_t at = program.locals.size(); at-- > 0 && program.locals[at].function == function;) {
    names.insert(program.locals[at].name);
  }
  const syntax::Node& whole = tree[program.functions[function.index].node];
  for (syntax::TokenIndex at = whole.first_token; at < whole.end_token; ++at) {
    if (tree.tokens[at].kind != syntax::TokenKind::StringText || !tree.is_written(at)) continue;
    const std::string_view text = tree.text(at);
    for (std::size_t open = text.find('{'); open != std::string_view::npos; open = text.find('{', open + 1)) {
      const std::size_t close = text.find_first_of("{}\\\n", open + 1);
      if (close == std::string_view::npos || text[close] != '}' || (open > 0 && text[open - 1] == '\\')) continue;
      const std::string_view name = text.substr(open + 1, close - open - 1);
      if (!names.contains(name)) continue;
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

bool Checker::is_unreachable(NodeId node) const {
  const source::Span span = tree().span(node);
  return std::any_of(unreachable_.begin(), unreachable_.end(), [&](const source::Span& stretch) {
    return stretch.file == span.file && stretch.offset <= span.offset && span.end() <= stretch.end();
  });
}

/// Injections into contexts that are variables, such as a new one or a copy, of which nothing else is ever done.
void Checker::lint_other_contexts(NodeId body, std::uint32_t own) {
  const OtherContexts others(*module_, body);
  for (const auto& [local, injection] : others.injections()) {
    const TypeId type = program_.locals[local].type;
    const bool is_context = type.exists() && types_.base(type) == TypeTable::context;
    if (local == own || !is_context || others.is_used(local, program_.locals[local].name) || is_unreachable(injection))
      continue;
    diagnostics_.report(diagnostics::UnusedInjection, tree().span(injection))
        .hint(
            fmt::format("pass `{}` to a call that asks a model, or remove the injection", program_.locals[local].name));
  }
}

void Checker::lint_function(const FunctionDeclaration& function) {
  const NodeId body = tree().find_child(function.node, NodeKind::Block);
  if (!body.exists()) return;
  warn_of_single_braces(program_, function_, *module_, diagnostics_);
  // Parameters are the first locals of the function.
  std::size_t first = program_.locals.size();
  while (first > 0 && program_.locals[first - 1].function == function_) --first;
  const auto own = static_cast<std::uint32_t>(function.own_context ? first + *function.own_context : UINT32_MAX);
  lint_other_contexts(body, own);
  if (!function.own_context) return;
  Walk walk(*module_, own);
  walk.visit(body);
  std::vector<Step>& steps = walk.steps;

  // An injection is seen by a later step of the function, by an earlier one of a loop around it, or by its completion.
  bool seen = function.is_completed;
  std::vector<std::pair<std::size_t, bool>>
      loops;  // of loops, from the end: the step count, and whether anything views
  std::vector<bool> views_ahead(steps.size());
  std::vector<std::size_t> loop_start(steps.size(), SIZE_MAX);
  std::vector<std::size_t> open;
  for (std::size_t at = 0; at < steps.size(); ++at) {
    if (steps[at].kind == Step::Kind::LoopStart) open.push_back(at);
    if (steps[at].kind == Step::Kind::LoopEnd && !open.empty()) open.pop_back();
    if (!open.empty()) loop_start[at] = open.front();
  }
  for (std::size_t at = steps.size(); at-- > 0;) {
    views_ahead[at] = seen;
    if (steps[at].kind == Step::Kind::View) seen = true;
  }
  for (std::size_t at = 0; at < steps.size(); ++at) {
    if (steps[at].kind != Step::Kind::Inject || views_ahead[at]) continue;
    bool in_loop = false;
    for (std::size_t before = loop_start[at]; before != SIZE_MAX && before < at; ++before) {
      in_loop = in_loop || steps[before].kind == Step::Kind::View;
    }
    if (in_loop || is_unreachable(steps[at].node)) continue;
    diagnostics_.report(diagnostics::UnusedInjection, tree().span(steps[at].node))
        .hint("remove it, or ask a model with this context afterwards");
  }

  // Two injections of the same literal, or of the same variable, in one block without anything between them that could
  // change it.
  std::vector<std::pair<std::string, NodeId>> injected;
  for (const NodeId statement : tree().children(body)) {
    const NodeKind kind = tree().kind(statement);
    if (kind == NodeKind::AssignStatement || kind == NodeKind::WhileStatement) {
      injected.clear();
      continue;
    }
    if (kind != NodeKind::InjectStatement || !tree().first(statement).exists()) continue;
    const NodeId value = tree().first(statement);
    const NodeKind value_kind = tree().kind(value);
    if (value_kind != NodeKind::StringExpression && value_kind != NodeKind::NameExpression) continue;
    if (value_kind == NodeKind::StringExpression && !syntax::plain_string(tree(), value)) continue;
    const std::string text(tree().text(value));
    const auto before =
        std::find_if(injected.begin(), injected.end(), [&](const auto& other) { return other.first == text; });
    if (before == injected.end()) {
      injected.emplace_back(text, statement);
    } else if (!is_unreachable(statement)) {
      diagnostics_.report(diagnostics::DuplicateInjection, tree().span(statement))
          .label(tree().span(before->second), "first injected here");
    }
  }

  // What the model has to give should be spoken of. Only an entry's context is known as a whole: others see their
  // callers' too.
  if (function.name != "main") return;
  std::string known;
  bool has_data = false;
  for (const Step& step : steps) {
    if (step.kind == Step::Kind::Inject) {
      const NodeId value = tree().first(step.node);
      const auto text = value.exists() && tree().kind(value) == NodeKind::StringExpression
                            ? syntax::plain_string(tree(), value)
                            : std::nullopt;
      has_data = has_data || !text;
      if (text) known += *text + "\n";
    }
    has_data = has_data || step.kind == Step::Kind::Written;
    if (step.kind != Step::Kind::Hole || has_data) continue;
    // The parameter: the call around the hole knows it.
    for (std::uint32_t at = 0; at < tree().nodes.size(); ++at) {
      const NodeId call{at};
      if (tree().kind(call) != NodeKind::CallExpression && tree().kind(call) != NodeKind::MethodCallExpression)
        continue;
      const Target& target = module_->facts_of(call).target;
      const NodeId list = tree().find_child(call, NodeKind::Arguments);
      if (!list.exists() || (target.kind != TargetKind::Function && target.kind != TargetKind::Extern)) continue;
      std::size_t position = tree().kind(call) == NodeKind::MethodCallExpression ? 1 : 0;
      for (NodeId argument = tree().first(list); argument.exists(); argument = tree().next(argument), ++position) {
        if (argument != step.node) continue;
        const std::vector<Parameter>& parameters = target.kind == TargetKind::Function
                                                       ? program_.functions[target.index].parameters
                                                       : program_.externs[target.index].parameters;
        const std::string& documentation = target.kind == TargetKind::Function
                                               ? program_.functions[target.index].documentation
                                               : program_.externs[target.index].documentation;
        if (position >= parameters.size()) continue;
        if (!says_nothing(types_, known, parameters[position], documentation)) continue;
        diagnostics_.report(diagnostics::HoleWithoutHint, tree().span(step.node), parameters[position].name)
            .hint("inject the information before the call, or pass the argument yourself");
      }
    }
  }
}

}  // namespace tenon::types
