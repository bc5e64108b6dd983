#include "blocks/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <span>

#include "blocks/written.h"
#include "diagnostics/kinds.h"
#include "diagnostics/nearest.h"
#include "syntax/limited_call.h"
#include "syntax/literals.h"

namespace tenon::blocks {
namespace {

using syntax::NodeId;
using syntax::NodeKind;
using syntax::SyntaxTree;

/// `a`, `b` or `c`, in backticks.
std::string one_of(std::span<const std::string_view> names) {
  std::string list;
  for (std::size_t at = 0; at < names.size(); ++at) {
    if (at > 0) list += at + 1 == names.size() ? " or " : ", ";
    list += fmt::format("`{}`", names[at]);
  }
  return list;
}

class Check {
 public:
  Check(const SyntaxTree& tree, const BlockAgent& agent, diagnostics::Diagnostics& diagnostics)
      : tree_(tree), agent_(agent), diagnostics_(diagnostics) {}

  void run() {
    sections();
    names(agent_.main);
    if (agent_.pre_turn) names(*agent_.pre_turn);
    if (agent_.post_turn) names(*agent_.post_turn);
    NodeId begin = agent_.main.blocks.empty() ? NodeId{} : agent_.main.blocks.front().node;
    if (agent_.start.exists()) {
      const std::string_view start = tree_.main_text(agent_.start);
      if (const Block* block = agent_.main.find(start)) {
        begin = block->node;
      } else {
        unknown_block(agent_.start, start, agent_.main, "the agent");
      }
    }
    sequence(agent_.main, "the agent", begin);
    for (const auto* around : {&agent_.pre_turn, &agent_.post_turn}) {
      if (!*around) continue;
      sequence(**around, around == &agent_.pre_turn ? "`pre_turn`" : "`post_turn`", {});
      for (const Block& block : (*around)->blocks) {
        if (block.statements.exists()) refuse_jumps(block.statements, false);
      }
    }
  }

 private:
  /// `name` has a meaning in every block.
  void refuse_reserved(NodeId declaration, std::initializer_list<std::string_view> reserved, std::string_view why) {
    const std::string_view name = tree_.main_text(declaration);
    if (std::find(reserved.begin(), reserved.end(), name) == reserved.end()) return;
    diagnostics_.report(diagnostics::ReservedInBlocks, tree_.main_span(declaration), std::string(name))
        .hint(fmt::format("rename it: {}", why));
  }

  /// The function can be called as a method of a context.
  [[nodiscard]] bool takes_context(NodeId function) const {
    const NodeId parameters = tree_.find_child(function, NodeKind::Parameters);
    const NodeId first = parameters.exists() ? tree_.find_child(parameters, NodeKind::Parameter) : NodeId{};
    const NodeId type = first.exists() ? tree_.find_child(first, NodeKind::NamedType) : NodeId{};
    return type.exists() && tree_.main_text(type) == "Context";
  }

  void reserved_names() {
    for (const NodeId owner : {agent_.node, tree_.root}) {
      for (const NodeId function : tree_.children(owner, NodeKind::FunctionItem)) {
        if (takes_context(function) && is_context_method(tree_.main_text(function))) {
          refuse_reserved(function, {tree_.main_text(function)}, "blocks call the context's method of that name");
        }
        refuse_reserved(function, {"emit", "judged"},
                        "in blocks, `emit` sends text to the user and `judged` asks the model");
      }
    }
  }

  void sections() {
    reserved_names();
    const source::Span place = tree_.main_span(agent_.node);
    if (agent_.main.blocks.empty()) {
      diagnostics_.report(diagnostics::AgentWithoutBlocks, place, agent_.name)
          .hint("add a block such as `block answer: core_loop { prompt: \"…\" }`");
    }
    for (const NodeId function : tree_.children(agent_.node, NodeKind::FunctionItem)) {
      if (tree_.main_text(function) == "turn") {
        diagnostics_.report(diagnostics::TurnAndBlocks, tree_.main_span(function), agent_.name)
            .hint("remove one of them; the code of `turn` can go into a `code` block");
      }
    }
    std::set<std::pair<NodeKind, std::string_view>> seen;
    for (const NodeId section : tree_.children(agent_.node)) {
      const NodeKind kind = tree_.kind(section);
      if (kind == NodeKind::BlockItem || kind == NodeKind::FunctionItem || kind == NodeKind::Error) continue;
      const bool has_name = kind == NodeKind::TurnSection;
      if (seen.emplace(kind, has_name ? tree_.main_text(section) : "").second) continue;
      diagnostics_.report(diagnostics::DuplicateSection, tree_.main_span(section), agent_.name,
                          std::string(tree_.text(tree_[section].first_token)));
    }
    if (!agent_.next_turn.exists()) return;
    const std::string mode(tree_.main_text(agent_.next_turn));
    if (mode != "restart" && mode != "resume" && mode != "smart") {
      diagnostics_.report(diagnostics::UnknownNextTurn, tree_.main_span(agent_.next_turn), mode)
          .hint("use `restart`, `resume` or `smart`");
      return;
    }
    const auto ends_turns = [&](const Block& block) { return is_restartable(tree_, block) && !block.next.exists(); };
    if (mode != "restart" && std::none_of(agent_.main.blocks.begin(), agent_.main.blocks.end(), ends_turns)) {
      diagnostics_.report(diagnostics::NothingToResume, tree_.main_span(agent_.next_turn), mode)
          .hint("end the turn in a block that can be resumed, such as a `core_loop`, or write `next_turn restart`");
    }
  }

  /// Names are unique in the agent: the graph, the events and the trace identify a block by its name.
  void names(const Sequence& sequence) {
    for (const Block& block : sequence.blocks) {
      const auto [first, added] = declared_.emplace(block.name, block.node);
      if (!added && !block.name.empty()) {
        diagnostics_.report(diagnostics::DeclaredTwice, tree_.main_span(block.node), block.name)
            .label(tree_.main_span(first->second), "first declared here");
      }
      std::map<std::string_view, NodeId> branches;
      for (const Sequence& nested : block.nested) {
        const auto [branch, is_new] = branches.emplace(nested.name, nested.node);
        if (!is_new && !nested.name.empty()) {
          diagnostics_.report(diagnostics::DeclaredTwice, tree_.main_span(nested.node), nested.name)
              .label(tree_.main_span(branch->second), "first declared here");
        }
        names(nested);
      }
    }
  }

  void unknown_block(NodeId clause, std::string_view target, const Sequence& within, const std::string& where) {
    if (target.empty()) return;  // the parser has reported it
    const source::Span span = tree_.main_span(clause);
    if (const auto elsewhere = declared_.find(std::string(target)); elsewhere != declared_.end()) {
      diagnostics_.report(diagnostics::BlockInOtherSequence, span, std::string(target), where)
          .label(tree_.main_span(elsewhere->second), "the block is declared here")
          .hint("edges lead to blocks of the same sequence; the enclosing block continues when the sequence ends");
      return;
    }
    auto& report = diagnostics_.report(diagnostics::UnknownBlock, span, std::string(target));
    std::vector<std::string_view> known;
    for (const Block& block : within.blocks) known.push_back(block.name);
    if (const auto near = diagnostics::find_nearest(target, known))
      report.hint(fmt::format("did you mean `{}`?", *near));
  }

  void sequence(const Sequence& sequence, const std::string& where, NodeId begin) {
    bool has_unknown = false;
    for (const Block& block : sequence.blocks) {
      this->block(block, where);
      for (const Exit& exit : exits(tree_, block)) {
        if (sequence.find(exit.target) != nullptr) continue;
        unknown_block(exit.node, exit.target, sequence, where);
        has_unknown = true;
      }
    }
    // An edge whose block is unknown may be meant to lead to any of them.
    if (sequence.blocks.empty() || has_unknown) return;
    std::set<std::string> reached;
    for (const Block& block : sequence.blocks) {
      if (begin.exists() ? block.node == begin : &block == &sequence.blocks.front()) follow(sequence, block, reached);
    }
    report_unreachable(sequence, std::move(reached));
  }

  /// Adds the block and those that are reachable from it.
  void follow(const Sequence& sequence, const Block& from, std::set<std::string>& reached) const {
    std::vector<const Block*> open = {&from};
    while (!open.empty()) {
      const Block* at = open.back();
      open.pop_back();
      if (!reached.insert(at->name).second) continue;
      for (const Exit& exit : exits(tree_, *at)) {
        if (const Block* next = sequence.find(exit.target)) open.push_back(next);
      }
    }
  }

  /// Reports only the first of several connected blocks; in a cycle, the first one in the text.
  void report_unreachable(const Sequence& sequence, std::set<std::string> reached) {
    std::set<std::string> led_to;
    for (const Block& block : sequence.blocks) {
      if (reached.contains(block.name)) continue;
      for (const Exit& exit : exits(tree_, block)) {
        if (exit.target != block.name) led_to.emplace(exit.target);
      }
    }
    for (const bool is_circle : {false, true}) {
      for (const Block& block : sequence.blocks) {
        const bool is_first = is_circle || !led_to.contains(block.name);
        if (reached.contains(block.name) || block.name.empty() || !is_first) continue;
        diagnostics_.report(diagnostics::UnreachableBlock, tree_.main_span(block.node), block.name)
            .hint("add an edge to it, or remove it");
        follow(sequence, block, reached);
      }
    }
  }

  void block(const Block& block, const std::string& where) {
    if (block.kind == nullptr) {
      const auto token = tree_.find_block_kind(block.node);
      if (!token) return;  // the parser has reported it
      auto& report =
          diagnostics_.report(diagnostics::UnknownBlockKind, tree_.span(*token), std::string(tree_.text(*token)));
      if (const auto near = diagnostics::find_nearest(tree_.text(*token), kind_names())) {
        report.hint(fmt::format("did you mean `{}`?", *near));
      } else {
        report.hint("use " + one_of(kind_names()));
      }
      return;
    }
    options(block);
    parts(block);
    values(block, where);
    nested(block);
  }

  /// They would end the turn, or leave the loop that runs its blocks.
  void refuse_jumps(NodeId node, bool is_in_loop) {
    const NodeKind kind = tree_.kind(node);
    if (kind == NodeKind::ReturnExpression) {
      diagnostics_.report(diagnostics::ReturnInTurnSection, tree_.span(node))
          .hint("use a `route` block to choose the next block");
    }
    if (!is_in_loop && (kind == NodeKind::BreakExpression || kind == NodeKind::ContinueExpression)) {
      diagnostics_.report(diagnostics::OutsideLoop, tree_.span(node), std::string(tree_.text(tree_[node].first_token)));
    }
    is_in_loop |= kind == NodeKind::ForExpression || kind == NodeKind::WhileStatement;
    for (NodeId child = tree_.first(node); child.exists(); child = tree_.next(child)) refuse_jumps(child, is_in_loop);
  }

  /// Whether a text contains neither a word nor a template.
  [[nodiscard]] bool is_blank_text(NodeId value) const {
    if (!value.exists() || tree_.kind(value) != NodeKind::StringExpression) return false;
    return tree_.text(value).find_first_not_of("\" \t\r\n") == std::string_view::npos;
  }

  void refuse_blank(NodeId value, NodeId shown, const std::string& what) {
    if (!is_blank_text(value)) return;
    diagnostics_.report(diagnostics::EmptyBlockText, tree_.span(shown), what).hint("write a text, or remove it");
  }

  void at_least(const Block& block, std::string_view name, int least) {
    const NodeId value = find_option(tree_, block, name);
    if (!value.exists()) return;
    const std::string_view text = tree_.text(value);
    const bool is_negative = tree_.kind(value) == NodeKind::UnaryExpression && text.starts_with('-');
    if (is_negative || (text == "0" && least > 0))
      diagnostics_.report(diagnostics::OptionTooSmall, tree_.span(value), std::string(name), least);
  }

  void options(const Block& block) {
    std::set<std::string_view> seen;
    std::set<std::string, std::less<>> misspelt;
    for (const NodeId option : block.options) {
      const std::string_view name = tree_.main_text(option);
      if (block.kind->find_option(name) == nullptr) {
        auto& report = diagnostics_.report(diagnostics::UnknownBlockOption, tree_.main_span(option),
                                           std::string(block.kind->name), std::string(name));
        std::vector<std::string_view> known;
        for (const OptionRule& rule : block.kind->options) known.push_back(rule.name);
        if (const auto near = diagnostics::find_nearest(name, known)) {
          report.hint(fmt::format("did you mean `{}`?", *near));
          misspelt.insert(*near);
        } else {
          report.hint("use " + one_of(known));
        }
      } else if (!seen.insert(name).second) {
        diagnostics_.report(diagnostics::SpecifiedTwice, tree_.main_span(option), std::string(name));
      }
      refuse_blank(tree_.first(option), tree_.first(option), fmt::format("`{}`", name));
    }
    at_least(block, "limit", 1);
    at_least(block, "parallel", 1);
    at_least(block, "count", 1);
    at_least(block, "rounds", 0);
    at_least(block, "keep", 0);
    at_least(block, "keep_calls", 0);
    for (const OptionRule& rule : block.kind->options) {
      if (rule.need == OptionRule::Need::Required && !seen.contains(rule.name) && !misspelt.contains(rule.name)) {
        diagnostics_
            .report(diagnostics::MissingBlockOption, tree_.main_span(block.node), std::string(block.kind->name),
                    std::string(rule.name))
            .hint(fmt::format("add `{}: …`: {}", rule.name, rule.meaning));
      }
    }
  }

  void parts(const Block& block) {
    const KindRule& kind = *block.kind;
    const auto refuse = [&](NodeId clause, std::string_view what) {
      diagnostics_.report(diagnostics::BlockPartNotAllowed, tree_.span(clause), std::string(kind.name),
                          std::string(what));
    };
    const auto require = [&](const std::string& part) {
      diagnostics_.report(diagnostics::MissingBlockPart, tree_.main_span(block.node), std::string(kind.name), part);
    };
    NodeId last_route, described;
    std::set<std::string_view> targets;
    for (const NodeId clause : block.exits) {
      if (last_route.exists()) {
        diagnostics_.report(diagnostics::TransitionAfterElse, tree_.span(clause))
            .label(tree_.span(last_route), "this covers all remaining cases")
            .hint("move it before `on` or `else`");
        break;
      }
      switch (tree_.kind(clause)) {
        case NodeKind::WhenClause:
          if (!kind.allows(Part::When)) refuse(clause, "`when`");
          refuse_blank(tree_.first(clause), clause, "the condition");
          break;
        case NodeKind::ToClause:
          if (!kind.allows(Part::To)) refuse(clause, "described targets");
          refuse_blank(tree_.first(clause), clause, "the description");
          if (!targets.insert(tree_.main_text(clause)).second)
            diagnostics_.report(diagnostics::DuplicateTarget, tree_.span(clause), std::string(tree_.main_text(clause)));
          described = clause;
          break;
        case NodeKind::OnClause:
          if (!kind.allows(Part::On)) refuse(clause, "`on`");
          if (described.exists()) {
            diagnostics_.report(diagnostics::OnWithDescribedTargets, tree_.span(clause))
                .label(tree_.span(described), "the model chooses this target")
                .hint("put `on` into a second `route` block after this one");
          }
          last_route = clause;
          break;
        case NodeKind::ElseClause:
          if (!kind.allows(Part::Else)) refuse(clause, "`else`");
          last_route = clause;
          break;
        case NodeKind::CalledClause:
          if (!kind.allows(Part::Called)) {
            refuse(clause, "`called`");
          } else {
            called(block, clause);
          }
          break;
        default:
          break;
      }
    }
    if (kind.kind == Kind::Route) {
      if (block.next.exists()) {
        diagnostics_.report(diagnostics::RouteWithNext, tree_.span(block.next))
            .hint("write `else -> …` for the remaining cases");
      }
      if (block.exits.empty()) {
        require("`when`, `to`, `on` or `else`");
      } else if (!block.next.exists() && !covers_all(block)) {
        diagnostics_.report(diagnostics::RouteWithoutDefault, tree_.main_span(block.node), block.name)
            .hint("add `else -> …` as the last edge");
      }
    }
    if (block.item.exists() && !kind.allows(Part::Items)) refuse(block.item, "items");
    if (block.item.exists())
      refuse_reserved(block.item, {"ctx", "input", "state", "scratchpad"},
                      "in blocks this name refers to the context, the user's input or the agent's state");
    if (kind.kind == Kind::ForEach && !block.item.exists()) require("`item NAME: Type in LIST`");
    if (kind.kind == Kind::ForEach && block.nested.empty()) require("nested blocks");
    if (kind.kind == Kind::Parallel && block.nested.empty()) require("branches: `branch NAME { … }`");
    for (const NodeId part : tree_.children(block.node)) {
      if (tree_.kind(part) == NodeKind::BranchItem && !kind.allows(Part::Branches)) refuse(part, "branches");
      if (tree_.kind(part) == NodeKind::BlockItem && !kind.allows(Part::Items))
        refuse(part, kind.allows(Part::Branches) ? "blocks outside of its branches" : "nested blocks");
    }
  }

  /// The tools with which the model reads and writes fields, and the option that each comes from.
  [[nodiscard]] std::map<std::string, std::string> virtual_tools(const Block& block) const {
    std::map<std::string, std::string> names;
    for (const std::string_view option : {"read", "write"}) {
      const NodeId list = find_option(tree_, block, option);
      if (!list.exists()) continue;
      for (const NodeId place : tree_.children(list)) {
        if (const auto named = find_field_name(tree_, place)) {
          names.emplace(virtual_tool_name(*named, option == "write"),
                        fmt::format("{}: [{}.{}]", option, named->owner, named->name));
        }
      }
    }
    return names;
  }

  struct NamedTool {
    std::string name;
    source::Span span;
  };
  /// Adds the tools of a set that is written with `tools { … }`. Returns whether the text shows the names of all.
  bool add_tools(NodeId set, std::vector<NamedTool>& tools) const {
    bool is_complete = true;
    for (const NodeId entry : tree_.children(set, NodeKind::ToolEntry)) {
      NodeId tool = syntax::read_limited_call(tree_, tree_.first(entry)).call;
      if (const std::string_view name = tree_.main_text(entry); !name.empty()) {
        tools.push_back({std::string(name), tree_.main_span(entry)});
        continue;
      }
      if (tool.exists() && tree_.kind(tool) == NodeKind::CallExpression) tool = tree_.first(tool);
      const auto path = tool.exists() && tree_.kind(tool) == NodeKind::NameExpression
                            ? tree_.path(tool)
                            : std::vector<syntax::TokenIndex>();
      if (path.size() == 1) {
        tools.push_back({std::string(tree_.text(path.back())), tree_.span(path.back())});
      } else {
        is_complete = false;
      }
    }
    return is_complete;
  }

  /// The function of the agent or the file that a call names; may be absent.
  [[nodiscard]] NodeId called_function(NodeId call) const {
    const NodeId callee = tree_.first(call);
    if (!callee.exists() || tree_.kind(callee) != NodeKind::NameExpression) return {};
    const auto path = tree_.path(callee);
    if (path.size() != 1) return {};
    for (const NodeId owner : {agent_.node, tree_.root}) {
      for (const NodeId function : tree_.children(owner, NodeKind::FunctionItem)) {
        if (tree_.main_text(function) == tree_.text(path.back())) return function;
      }
    }
    return {};
  }

  /// Adds the tools that the text shows of a set: of written sets, their sums, and functions that only return such a
  /// set.
  void add_visible_tools(NodeId set, std::vector<NamedTool>& tools, std::vector<NodeId> within = {}) const {
    if (!set.exists()) return;
    switch (tree_.kind(set)) {
      case NodeKind::ToolsExpression:
        add_tools(set, tools);
        return;
      case NodeKind::ParenthesizedExpression:
      case NodeKind::ExpressionStatement:
        return add_visible_tools(tree_.first(set), tools, std::move(within));
      case NodeKind::BinaryExpression:
        if (tree_.main_text(set) != "+") return;
        for (const NodeId side : tree_.children(set)) add_visible_tools(side, tools, within);
        return;
      case NodeKind::CallExpression: {
        const NodeId function = called_function(set);
        const NodeId body = function.exists() ? tree_.find_child(function, NodeKind::Block) : NodeId{};
        if (!body.exists() || std::find(within.begin(), within.end(), function) != within.end()) return;
        within.push_back(function);
        const std::vector<NodeId> statements = tree_.children(body);
        if (statements.size() == 1) add_visible_tools(statements.front(), tools, std::move(within));
        return;
      }
      default:
        return;
    }
  }

  /// The names of a core loop's tools as the model sees them; nothing if the text does not show all of them.
  [[nodiscard]] std::optional<std::set<std::string>> tool_names(const Block& block) const {
    std::vector<NamedTool> written;
    const NodeId tools = find_option(tree_, block, "tools");
    if (tools.exists() && tree_.kind(tools) != NodeKind::ToolsExpression) return std::nullopt;
    if (tools.exists() && !add_tools(tools, written)) return std::nullopt;
    std::set<std::string> names;
    for (const NamedTool& tool : written) names.insert(tool.name);
    for (const auto& [name, option] : virtual_tools(block)) names.insert(name);
    return names;
  }

  /// Reports tools that have the name of one of the core loop's own tools.
  void reserved_tools(const Block& block) {
    const auto virtual_names = virtual_tools(block);
    std::vector<NamedTool> tools;
    add_visible_tools(find_option(tree_, block, "tools"), tools);
    for (const NamedTool& tool : tools) {
      const auto taken = virtual_names.find(tool.name);
      if (tool.name != "answer" && taken == virtual_names.end()) continue;
      diagnostics_
          .report(diagnostics::ReservedToolName, tool.span, tool.name,
                  taken == virtual_names.end() ? "the tool that ends the loop with an answer"
                                               : fmt::format("the tool of `{}`", taken->second))
          .hint(fmt::format("give it another name: `{0} as other_{0}`", tool.name));
    }
  }

  /// Whether a `route` block always takes one of its edges. The cases of an `on` are checked by the type checker.
  [[nodiscard]] bool covers_all(const Block& block) const {
    std::set<std::string_view> conditions, negated;
    for (const NodeId clause : block.exits) {
      if (tree_.kind(clause) != NodeKind::WhenClause) return true;
      NodeId condition = tree_.first(clause);
      if (!condition.exists() || tree_.text(condition) == "true") return true;
      const bool is_negation = tree_.kind(condition) == NodeKind::UnaryExpression && tree_.text(condition)[0] == '!';
      if (is_negation) condition = tree_.first(condition);
      while (condition.exists() && tree_.kind(condition) == NodeKind::ParenthesizedExpression) {
        condition = tree_.first(condition);
      }
      if (!condition.exists()) return true;  // damaged, reported by the parser
      (is_negation ? negated : conditions).insert(tree_.text(condition));
    }
    return std::any_of(negated.begin(), negated.end(),
                       [&](std::string_view condition) { return conditions.contains(condition); });
  }

  void called(const Block& block, NodeId clause) {
    const auto names = tool_names(block);
    const auto token = called_tool(tree_, clause);
    if (!names || !token || names->contains(std::string(tree_.text(*token)))) return;
    const std::string_view tool = tree_.text(*token);
    auto& report = diagnostics_.report(diagnostics::UnknownCalledTool, tree_.span(*token), std::string(tool));
    const std::vector<std::string_view> known(names->begin(), names->end());
    if (const auto near = diagnostics::find_nearest(tool, known)) {
      report.hint(fmt::format("did you mean `{}`?", *near));
    } else if (!known.empty()) {
      report.hint("use " + one_of(known));
    }
  }

  void expect_one_of(const Block& block, std::string_view option, std::span<const std::string_view> words) {
    const NodeId value = find_option(tree_, block, option);
    if (!value.exists() || std::find(words.begin(), words.end(), tree_.text(value)) != words.end()) return;
    auto& report =
        diagnostics_.report(diagnostics::InvalidOptionValue, tree_.span(value), std::string(option), one_of(words));
    const std::optional<std::string> text =
        tree_.kind(value) == NodeKind::StringExpression ? syntax::plain_string(tree_, value) : std::nullopt;
    const std::string_view word = text ? std::string_view(*text) : tree_.text(value);
    const bool is_word = std::find(words.begin(), words.end(), word) != words.end();
    if (is_word) {
      report.hint(fmt::format("remove the quotation marks: `{}`", word)).fix = {tree_.span(value), std::string(word)};
    } else if (const auto near = diagnostics::find_nearest(word, words)) {
      report.hint(fmt::format("did you mean `{}`?", *near)).fix = {tree_.span(value), *near};
    }
  }

  void values(const Block& block, const std::string& where) {
    expect_one_of(block, "restartable", std::array<std::string_view, 2>{"true", "false"});
    expect_one_of(block, "handoff", std::array<std::string_view, 2>{"true", "false"});
    expect_one_of(block, "mode", std::array<std::string_view, 3>{"improve", "retry", "synthesize"});
    expect_one_of(block, "format", report_formats);
    const Kind kind = block.kind->kind;
    if (kind == Kind::ToolCall || kind == Kind::Call) tool_call(block);
    if (kind == Kind::CoreLoop) reserved_tools(block);
    if (kind == Kind::Delegate) delegated_agent(block);
    if (kind == Kind::Reflect) {
      const NodeId mode = find_option(tree_, block, "mode");
      const bool is_synthesis = mode.exists() && tree_.text(mode) == "synthesize";
      const NodeId needless = find_option(tree_, block, is_synthesis ? "rounds" : "count");
      if (mode.exists() && needless.exists()) {
        diagnostics_.report(diagnostics::OptionWithoutEffect, tree_.span(needless), is_synthesis ? "rounds" : "count",
                            std::string(tree_.text(mode)));
      }
    }
    if ((kind == Kind::Compress || kind == Kind::EditMessage) && is_nested(block)) {
      diagnostics_
          .report(diagnostics::BlockNotAllowedInside, tree_.main_span(block.node), std::string(block.kind->name), where)
          .hint("move it before the enclosing block: it changes the conversation of the whole turn");
    }
    const bool needs_type =
        kind == Kind::Request || kind == Kind::Reflect || kind == Kind::ForEach || kind == Kind::Report;
    if (const NodeId place = find_option(tree_, block, "into"); place.exists()) {
      const auto named = find_field_name(tree_, place);
      if (!named) {
        into_no_field(place);
      } else if (needs_type && !named->is_whole) {
        diagnostics_.report(diagnostics::IntoPartOfField, tree_.span(place))
            .hint("name the field itself: the type of the value is the type of the field");
      } else if (kind == Kind::ForEach) {
        list_field(*named, place);
      }
      if (kind == Kind::ForEach && !find_option(tree_, block, "gather").exists())
        diagnostics_.report(diagnostics::OptionRequiresOption, tree_.main_span(block.node), "into", "gather")
            .hint("add `gather: …`, the value to collect from each item");
    } else if (kind == Kind::ForEach) {
      if (const NodeId gather = find_option(tree_, block, "gather"); gather.exists())
        diagnostics_.report(diagnostics::OptionRequiresOption, tree_.span(gather), "gather", "into")
            .hint("add `into: state.NAME`");
    }
    for (const std::string_view option : {"read", "write"}) {
      const NodeId list = find_option(tree_, block, option);
      if (!list.exists()) continue;
      for (const NodeId place :
           tree_.kind(list) == NodeKind::ListExpression ? tree_.children(list) : std::vector<NodeId>{list}) {
        const auto named = find_field_name(tree_, place);
        if (tree_.kind(list) != NodeKind::ListExpression || !named || !named->is_whole) {
          diagnostics_.report(diagnostics::FieldListExpected, tree_.span(place), std::string(option));
        } else if (!find_field(tree_, agent_, *named).exists()) {
          unknown_field(*named, place);
        }
      }
    }
    const NodeId handoff = find_option(tree_, block, "handoff");
    if (!is_handoff(tree_, block)) return;
    const NodeId into = find_option(tree_, block, "into");
    if (into.exists() || block.next.exists()) {
      diagnostics_.report(diagnostics::AfterHandoff, tree_.span(into.exists() ? into : block.next))
          .hint("remove `handoff` to let the agent answer and continue the turn here");
    }
    if (where != "the agent") {
      diagnostics_.report(diagnostics::NestedHandoff, tree_.span(handoff), where)
          .hint("only a top-level block of the agent can hand off the turn");
    }
  }

  void tool_call(const Block& block) {
    const NodeId call = find_option(tree_, block, "call");
    if (!call.exists()) return;
    const bool is_models = block.kind->kind == Kind::ToolCall;
    if (!has_usable_form(tree_, call, "call")) {
      diagnostics_.report(diagnostics::BlockCallExpected, tree_.span(call), std::string(block.kind->name))
          .hint("write `call: tool(argument)`, or use a `code` block");
    } else if (is_models && !has_hole(tree_, call)) {
      diagnostics_.report(diagnostics::ToolCallWithoutHole, tree_.span(call))
          .hint("write `_` for an argument, or use a `call` block");
    } else if (!is_models && has_hole(tree_, call)) {
      diagnostics_.report(diagnostics::HoleInCallBlock, tree_.span(call))
          .hint("use a `tool_call` block, or write the argument");
    }
  }

  /// The path in the value of `agent` that can be meant: in a text, in brackets or in a call.
  [[nodiscard]] std::string find_agent_path(NodeId value) const {
    while (value.exists() && tree_.kind(value) != NodeKind::NameExpression &&
           tree_.kind(value) != NodeKind::StringExpression) {
      value = tree_.first(value);
    }
    if (!value.exists()) return "";
    if (tree_.kind(value) == NodeKind::NameExpression) return std::string(tree_.text(value));
    std::string text = syntax::plain_string(tree_, value).value_or("");
    const bool is_path = std::all_of(text.begin(), text.end(), [](unsigned char byte) {
      return std::isalnum(byte) != 0 || byte == '_' || byte == ':';
    });
    return is_path ? text : "";
  }

  void delegated_agent(const Block& block) {
    const NodeId value = find_option(tree_, block, "agent");
    if (!value.exists() || tree_.kind(value) == NodeKind::Error || has_usable_form(tree_, value, "agent")) return;
    const std::string path = find_agent_path(value);
    const std::string name = path.substr(0, path.find("::"));
    const NodeId item = find_item(tree_, name);
    const bool names_agent = item.exists() && tree_.kind(item) == NodeKind::AgentItem;
    auto& report = diagnostics_.report(diagnostics::InvalidOptionValue, tree_.span(value), std::string("agent"),
                                       std::string("the name of an agent"));
    if (item.exists() && !names_agent) report.label(tree_.main_span(item), "declared here, but it is not an agent");
    const bool is_quoted = tree_.kind(value) == NodeKind::StringExpression;
    if (!names_agent && !(is_quoted && !item.exists() && path.find("::") != std::string::npos)) {
      report.hint("write `agent: NAME`, where `agent NAME { … }` declares the agent");
      return;
    }
    const std::string& meant = names_agent ? name : path;
    report
        .hint(is_quoted ? fmt::format("remove the quotation marks: `{}`", meant)
                        : fmt::format("write only its name: `{}`", meant))
        .fix = {tree_.span(value), meant};
  }

  void into_no_field(NodeId place) {
    auto& report = diagnostics_.report(diagnostics::IntoNotField, tree_.span(place));
    const bool is_text = tree_.kind(place) == NodeKind::StringExpression;
    const std::string written =
        is_text ? syntax::plain_string(tree_, place).value_or("") : std::string(tree_.text(place));
    for (const std::string_view owner : {"state", "scratchpad"}) {
      const std::string prefix = fmt::format("{}.", owner);
      const std::string name = written.starts_with(prefix) ? written.substr(prefix.size()) : written;
      if (!find_field(tree_, agent_, {owner, name}).exists()) continue;
      report.hint(fmt::format("write `into: {}{}`", prefix, name)).fix = {tree_.span(place), prefix + name};
      return;
    }
    report.hint("write `into: state.NAME`");
  }

  void unknown_field(const FieldName& named, NodeId place) {
    auto& report = diagnostics_.report(diagnostics::UnknownField, tree_.span(place), std::string(named.owner),
                                       std::string(named.name));
    const NodeId section = named.owner == "state" ? agent_.state : agent_.scratchpad;
    std::vector<std::string_view> known;
    if (section.exists()) {
      for (const NodeId field : tree_.children(section, NodeKind::StateField)) known.push_back(tree_.main_text(field));
    }
    if (const auto near = diagnostics::find_nearest(named.name, known)) {
      report.hint(fmt::format("did you mean `{}`?", *near));
    } else {
      report.hint(fmt::format("declare it in `{} {{ … }}`", named.owner));
    }
  }

  void list_field(const FieldName& named, NodeId place) {
    const NodeId field = find_field(tree_, agent_, named);
    if (!field.exists()) return unknown_field(named, place);
    if (!tree_.first(field).exists()) return;  // reported by the parser
    const NodeId type = without_option(tree_, tree_.first(field));
    if (tree_.kind(type) == NodeKind::NamedType && tree_.main_text(type) == "List") return;
    diagnostics_.report(diagnostics::GatherIntoNonList, tree_.span(place), std::string(named.name))
        .label(tree_.span(type), "the type of the field");
  }

  void nested(const Block& block) {
    const bool is_parallel = block.kind->kind == Kind::Parallel;
    std::map<std::pair<std::string, std::string>, const Sequence*> writers;
    for (const Sequence& sequence : block.nested) {
      const std::string where =
          is_parallel ? fmt::format("branch `{}`", sequence.name) : fmt::format("block `{}`", block.name);
      this->sequence(sequence, where, {});
      for (const WrittenField& field : find_written(tree_, agent_, sequence)) {
        const std::string shown = field.owner + "." + field.name;
        if (!is_parallel && field.owner == "state") {
          diagnostics_
              .report(diagnostics::ConflictingWrite, tree_.span(field.place), shown,
                      "each item works on its own copy of the state")
              .hint("write to the scratchpad and `gather` the result of each item");
        }
        if (!is_parallel) continue;
        const auto [first, added] = writers.emplace(std::pair(field.owner, field.name), &sequence);
        if (added) continue;
        diagnostics_
            .report(diagnostics::ConflictingWrite, tree_.span(field.place), shown,
                    fmt::format("branch `{}` writes to it too", first->second->name))
            .hint("let each branch write to its own field, and combine them after the block");
      }
    }
  }

  const SyntaxTree& tree_;
  const BlockAgent& agent_;
  diagnostics::Diagnostics& diagnostics_;
  std::map<std::string, NodeId> declared_;
};

}  // namespace

void check(const SyntaxTree& tree, const BlockAgent& agent, diagnostics::Diagnostics& diagnostics) {
  Check(tree, agent, diagnostics).run();
}

}  // namespace tenon::blocks
