// A test's script: what the model and the externs answer.

#include "types/check/rules/scripts.h"

#include <algorithm>
#include <utility>

#include "base/counted.h"
#include "diagnostics/kinds.h"
#include "diagnostics/nearest.h"
#include "syntax/literals.h"
#include "types/check/body_checker.h"

namespace tenon::types {

/// Reports a name in a script, at `span`, of which there is no function or extern.
void ScriptChecker::report_unknown_script(source::Span span, std::string_view name) {
  auto& report = diagnostics_.report(diagnostics::UnknownScriptTarget, span, std::string(name));
  if (diagnostics_.is_full()) return;
  std::vector<std::string_view> names;
  for (const FunctionDeclaration& function : program_.functions) {
    if (function.is_test) continue;
    names.push_back(function.name);
    if (function.name.ends_with("::" + std::string(name))) {
      report.hint(fmt::format("write the method with its type: `{}`", function.name));
      return;
    }
  }
  for (const ExternDeclaration& native : program_.externs) {
    const bool has_name = native.builtin_effect < BuiltinEffect::AgentCalled;
    if (has_name) names.push_back(native.name);
  }
  if (const auto nearest = diagnostics::find_nearest(name, names))
    report.hint(fmt::format("did you mean `{}`?", *nearest));
}

/// `model { classify => "billing", _ => add(2, 3), select => add(2, 3) }`, `extern { fetch => None }`.
void ScriptChecker::check_test_script(NodeId section) {
  const bool was_in_script = std::exchange(body_.in_script, true);
  check_script_entries(section);
  body_.in_script = was_in_script;
}

void ScriptChecker::check_script_entries(NodeId section) {
  const bool is_model = tree().main_text(section) == "model";
  const bool is_person = tree().main_text(section) == "person";
  for (const NodeId entry : tree().children(section, NodeKind::ScriptEntry)) {
    const NodeId value = syntax::scripted_answer(tree(), entry);
    if (!value.exists()) continue;
    check_condition(entry, is_model || is_person || tree().main_text(entry).starts_with("ask"));
    const TokenKind head = tree().tokens[tree()[entry].main_token].kind;
    if (head == TokenKind::FatArrow || (!is_model && syntax::is_unanswered(tree(), value))) {
      check_unanswered(entry, value);
      continue;
    }
    const bool is_hole_or_choice = head == TokenKind::Select || head == TokenKind::Underscore;
    const bool fails = tree().kind(value) == NodeKind::CallExpression && tree().text(tree().first(value)) == "fail";
    if (fails) check_value(value, TypeTable::unit);
    if (fails && is_hole_or_choice) continue;
    if (is_model && is_hole_or_choice) {
      check_scripted_call(entry, value);
      continue;
    }
    const std::vector<syntax::TokenIndex> path = tree().path(entry);
    const Target target = checker_.names.find_callee(path);
    // The judge of contracts: whether all holds, or what does.
    if (target.kind == TargetKind::None && is_model && path.size() == 1 && tree().text(path[0]) == "judge" &&
        (program_.judge.exists() || program_.pursuit_module.exists())) {
      if (fails) continue;
      const bool is_list = tree().kind(value) == NodeKind::ListExpression;
      const NodeId first = is_list ? tree().first(value) : NodeId{};
      const bool has_reasons = first.exists() && tree().kind(first) == NodeKind::StructExpression;
      const TypeId one = has_reasons && program_.verdict.exists() ? program_.verdict : TypeTable::boolean;
      check_value(value, is_list ? types_.list(one) : TypeTable::boolean);
      continue;
    }
    const bool is_notified =
        target.kind == TargetKind::Extern && is_notification(program_.externs[target.index].builtin_effect);
    const bool is_other =
        is_person && target.kind == TargetKind::Extern && !asks_person(program_.externs[target.index].builtin_effect);
    if (target.kind != (is_model ? TargetKind::Function : TargetKind::Extern) || is_notified || is_other) {
      const source::Span first = tree().main_span(entry);
      const std::uint32_t end = path.empty() ? first.end() : tree().span(path.back()).end();
      const source::Span whole{first.file, first.offset, end - first.offset};
      report_unknown_script(whole, module_->file->text().substr(whole.offset, whole.length));
      continue;
    }
    facts(entry).target = target;
    check_arguments(entry, target);
    if (fails) continue;
    if (!is_model) {
      const ExternDeclaration& answered = program_.externs[target.index];
      if (answered.type_parameters.empty()) {
        check_value(value, answered.result);
      } else {
        check_expression(value, Expectation::any());  // held against the type of the call when it is given
      }
      continue;
    }
    const FunctionDeclaration& completed = program_.functions[target.index];
    if (!completed.type_parameters.empty()) {
      check_expression(value, Expectation::any());  // held against the type of the call when it is given
      continue;
    }
    const bool is_text = types_.kind(types_.base(completed.result)) == TypeKind::Text;
    check_value(value, is_text ? TypeTable::string : completed.result);
  }
}

/// `person => nobody`, or `ask_within => nobody` in a section.
void ScriptChecker::check_unanswered(NodeId entry, NodeId value) {
  const bool is_for_all = tree().tokens[tree()[entry].main_token].kind == TokenKind::FatArrow;
  const Target target = is_for_all ? find_ask_within() : checker_.names.find_callee(tree().path(entry));
  const bool has_deadline =
      target.kind == TargetKind::Extern && program_.externs[target.index].builtin_effect == BuiltinEffect::AskWithin;
  if (!syntax::is_unanswered(tree(), value)) {
    diagnostics_.report(diagnostics::PersonAnswer, tree().span(value), std::string(tree().text(value)))
        .hint(fmt::format("write it in braces, with the function that asks: `person {{ ask => {} }}`",
                          tree().text(value)));
  } else if (!has_deadline) {
    diagnostics_.report(diagnostics::NoDeadline, tree().main_span(entry), std::string(tree().main_text(entry)))
        .hint("only `ask_within` ends without an answer, when its time is up");
  } else {
    facts(entry).target = target;
    check_arguments(entry, target);
  }
}

/// `when "text"`: only what a model or a person is asked is a text.
void ScriptChecker::check_condition(NodeId entry, bool is_prompted) {
  const NodeId condition = tree().find_child(entry, NodeKind::ScriptCondition);
  if (!condition.exists()) return;
  for (const NodeId text : tree().children(condition)) check_value(text, TypeTable::string);
  if (is_prompted) return;
  const std::string_view name = tree().main_text(entry);
  diagnostics_.report(diagnostics::ScriptLimit, tree().main_span(condition), "an extern", "its arguments")
      .hint(fmt::format("write them after the name: `{}(\"tea\", _) => …`", name));
}

/// `price("tea", _)`: the arguments with which an extern is called, `_` for any.
void ScriptChecker::check_arguments(NodeId entry, const Target& target) {
  const NodeId list = tree().find_child(entry, NodeKind::Arguments);
  if (!list.exists()) return;
  if (target.kind != TargetKind::Extern) {
    diagnostics_.report(diagnostics::ScriptLimit, tree().span(list), "a model", "its prompt")
        .hint(fmt::format("write what the prompt contains: `{} when \"text\" => …`", tree().main_text(entry)));
    return;
  }
  const ExternDeclaration& callee = program_.externs[target.index];
  const std::vector<NodeId> arguments = tree().children(list);
  if (arguments.size() != callee.parameters.size()) {
    diagnostics_.report(diagnostics::ArgumentCount, tree().span(list), callee.name,
                        counted(callee.parameters.size(), "argument"), counted_were(arguments.size()));
    return;
  }
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    if (tree().kind(arguments[at]) != NodeKind::HoleExpression) check_value(arguments[at], callee.parameters[at].type);
  }
}

Target ScriptChecker::find_ask_within() const {
  for (std::uint32_t at = 0; at < program_.externs.size(); ++at) {
    if (program_.externs[at].builtin_effect == BuiltinEffect::AskWithin) return {TargetKind::Extern, at, 0};
  }
  return {};
}

/// After `select =>` or `_ =>`: the call with its missing arguments, in order.
void ScriptChecker::check_scripted_call(NodeId entry, NodeId value) {
  const NodeId callee = tree().kind(value) == NodeKind::CallExpression ? tree().first(value) : NodeId{};
  Target target;
  if (callee.exists()) {
    const NodeId list = tree().find_child(value, NodeKind::Arguments);
    for (NodeId argument = tree().first(list); argument.exists(); argument = tree().next(argument)) {
      check_expression(argument, Expectation::any());
    }
    if (tree().kind(callee) == NodeKind::NameExpression) target = checker_.names.find_callee(tree().path(callee));
  }
  if (target.kind != TargetKind::None) {
    facts(entry).target = target;
    return;
  }
  // A tool may have another name than what it calls.
  const bool is_choice = tree().tokens[tree()[entry].main_token].kind == TokenKind::Select;
  if (is_choice && callee.exists() && tree().kind(callee) == NodeKind::NameExpression) {
    const std::vector<syntax::TokenIndex> path = tree().path(callee);
    if (checker_.names.find_agent(path) || (path.size() == 1 && body_.index.is_tool_name(tree().text(path[0])))) return;
  }
  if (callee.exists()) {
    report_unknown_script(tree().span(callee), tree().text(callee));
  } else {
    diagnostics_.report(diagnostics::ScriptTargetNotCall, tree().span(value), std::string(tree().text(value)))
        .hint("write the call with the arguments that the model supplies: `select => add(2, 3)`");
  }
}

}  // namespace tenon::types
