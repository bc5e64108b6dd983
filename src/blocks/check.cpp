#include "blocks/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "blocks/written.h"
#include "diagnostics/kinds.h"
#include "diagnostics/nearest.h"

namespace tenon::blocks {
namespace {

using syntax::NodeId;
using syntax::NodeKind;
using syntax::SyntaxTree;

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
        if (block.statements.exists()) refuse_return(block.statements);
      }
    }
  }

 private:
  diagnostics::Diagnostic& shape(source::Span span, const std::string& what) {
    return diagnostics_.report(diagnostics::BlockShape, span, what);
  }

  void sections() {
    const source::Span place = tree_.main_span(agent_.node);
    if (agent_.main.blocks.empty()) {
      diagnostics_.report(diagnostics::AgentShape, place, agent_.name, "no block")
          .hint("`block answer: core_loop { prompt: \"…\" }` is an agent that answers");
    }
    for (const NodeId function : tree_.children(agent_.node, NodeKind::FunctionItem)) {
      if (tree_.main_text(function) == "turn") {
        diagnostics_
            .report(diagnostics::AgentShape, tree_.main_span(function), agent_.name, "blocks and a function `turn`")
            .hint("an agent's turn is either its blocks or its function; what the function does can be a `code` block");
      }
    }
    for (const NodeKind kind : {NodeKind::ScratchpadSection, NodeKind::StartSection, NodeKind::NextTurnSection}) {
      const auto all = tree_.children(agent_.node, kind);
      if (all.size() > 1) {
        diagnostics_.report(diagnostics::AgentShape, tree_.main_span(all[1]), agent_.name,
                            "a section that stands there twice");
      }
    }
    if (!agent_.next_turn.exists()) return;
    const std::string manner(tree_.main_text(agent_.next_turn));
    if (manner != "restart" && manner != "resume" && manner != "smart") {
      diagnostics_
          .report(diagnostics::AgentShape, tree_.main_span(agent_.next_turn), agent_.name,
                  fmt::format("a next turn in the manner of `{}`", manner))
          .hint("`restart`, `resume` or `smart`");
      return;
    }
    const bool can_resume = std::any_of(agent_.main.blocks.begin(), agent_.main.blocks.end(),
                                        [&](const Block& block) { return is_restartable(tree_, block); });
    if (manner != "restart" && !can_resume) {
      diagnostics_.report(diagnostics::NothingToResume, tree_.main_span(agent_.next_turn), manner)
          .hint("mark a block `restartable: true`, or write `next_turn restart`");
    }
  }

  /// Names are unique in the agent: the graph, the events and the trace know a block by its name.
  void names(const Sequence& sequence) {
    for (const Block& block : sequence.blocks) {
      const auto [first, added] = declared_.emplace(block.name, block.node);
      if (!added && !block.name.empty()) {
        diagnostics_.report(diagnostics::DeclaredTwice, tree_.main_span(block.node), block.name)
            .label(tree_.main_span(first->second), "declared here first");
      }
      for (const Sequence& nested : block.nested) names(nested);
    }
  }

  void unknown_block(NodeId clause, std::string_view target, const Sequence& within, const std::string& where) {
    if (target.empty()) return;  // told by the parser
    const source::Span span = tree_.main_span(clause);
    if (const auto elsewhere = declared_.find(std::string(target)); elsewhere != declared_.end()) {
      diagnostics_.report(diagnostics::BlockElsewhere, span, std::string(target), where)
          .label(tree_.main_span(elsewhere->second), "it stands here")
          .hint("a transition leads to a block of the same sequence; what nests a sequence goes on when it ends");
      return;
    }
    auto& told = diagnostics_.report(diagnostics::UnknownBlock, span, std::string(target));
    std::vector<std::string_view> known;
    for (const Block& block : within.blocks) known.push_back(block.name);
    if (const auto near = diagnostics::find_nearest(target, known))
      told.hint(fmt::format("there is a block `{}`", *near));
  }

  void sequence(const Sequence& sequence, const std::string& where, NodeId begin) {
    for (const Block& block : sequence.blocks) {
      this->block(block, where);
      for (const Exit& exit : exits(tree_, block)) {
        if (sequence.find(exit.target) == nullptr) unknown_block(exit.node, exit.target, sequence, where);
      }
    }
    if (sequence.blocks.empty()) return;
    std::set<std::string> reached;
    std::vector<const Block*> open;
    for (const Block& block : sequence.blocks) {
      if (begin.exists() ? block.node == begin : &block == &sequence.blocks.front()) open.push_back(&block);
    }
    while (!open.empty()) {
      const Block* at = open.back();
      open.pop_back();
      if (!reached.insert(at->name).second) continue;
      for (const Exit& exit : exits(tree_, *at)) {
        if (const Block* next = sequence.find(exit.target)) open.push_back(next);
      }
    }
    for (const Block& block : sequence.blocks) {
      if (reached.contains(block.name) || block.name.empty()) continue;
      diagnostics_.report(diagnostics::UnreachableBlock, tree_.main_span(block.node), block.name)
          .hint("let a block lead to it, or remove it");
    }
  }

  void block(const Block& block, const std::string& where) {
    if (block.kind == nullptr) {
      const auto token = tree_.find_block_kind(block.node);
      if (!token) return;  // told by the parser
      auto& told =
          diagnostics_.report(diagnostics::UnknownBlockKind, tree_.span(*token), std::string(tree_.text(*token)));
      if (const auto near = diagnostics::find_nearest(tree_.text(*token), kind_names())) {
        told.hint(fmt::format("did you mean `{}`?", *near));
      } else {
        told.hint(fmt::format("there are {}", fmt::join(kind_names(), ", ")));
      }
      return;
    }
    options(block);
    parts(block);
    values(block, where);
    nested(block);
  }

  /// It would end the turn, and not the block.
  void refuse_return(NodeId node) {
    if (tree_.kind(node) == NodeKind::ReturnExpression) {
      shape(tree_.span(node), "`return` before or after a turn").hint("let a `route` block decide what comes next");
    }
    for (NodeId child = tree_.first(node); child.exists(); child = tree_.next(child)) refuse_return(child);
  }

  void options(const Block& block) {
    std::set<std::string_view> seen;
    for (const NodeId option : block.options) {
      const std::string_view name = tree_.main_text(option);
      if (block.kind->find_option(name) == nullptr) {
        auto& told =
            shape(tree_.main_span(option), fmt::format("a `{}` block has no option `{}`", block.kind->name, name));
        std::vector<std::string_view> known;
        for (const OptionRule& rule : block.kind->options) known.push_back(rule.name);
        told.hint(fmt::format("it has {}", fmt::join(known, ", ")));
      } else if (!seen.insert(name).second) {
        shape(tree_.main_span(option), fmt::format("the option `{}` stands there twice", name));
      }
      const NodeId value = tree_.first(option);
      if (value.exists() && tree_.kind(value) == NodeKind::StringExpression && tree_.text(value) == "\"\"") {
        shape(tree_.span(value), fmt::format("`{}` is empty", name)).hint("write a text, or leave the option out");
      }
    }
    for (const OptionRule& rule : block.kind->options) {
      if (rule.need == OptionRule::Need::Required && !seen.contains(rule.name)) {
        shape(tree_.main_span(block.node), fmt::format("a `{}` block needs `{}: …`", block.kind->name, rule.name))
            .hint(std::string(rule.meaning));
      }
    }
  }

  void parts(const Block& block) {
    const KindRule& kind = *block.kind;
    const auto refuse = [&](NodeId clause, std::string_view what) {
      shape(tree_.span(clause), fmt::format("a `{}` block has no {}", kind.name, what));
    };
    NodeId last_route;
    for (const NodeId clause : block.exits) {
      if (last_route.exists()) {
        shape(tree_.span(clause), "nothing comes after `on` and `else`")
            .label(tree_.span(last_route), "the way is decided here")
            .hint("let the conditions stand before");
        break;
      }
      switch (tree_.kind(clause)) {
        case NodeKind::WhenClause:
          if (!kind.allows(Part::When)) refuse(clause, "`when`");
          break;
        case NodeKind::ToClause:
          if (!kind.allows(Part::To)) refuse(clause, "described targets");
          break;
        case NodeKind::OnClause:
          if (!kind.allows(Part::On)) refuse(clause, "`on`");
          last_route = clause;
          break;
        case NodeKind::ElseClause:
          if (!kind.allows(Part::Else)) refuse(clause, "`else`");
          last_route = clause;
          break;
        case NodeKind::CalledClause:
          if (!kind.allows(Part::Called)) refuse(clause, "`called`");
          break;
        default:
          break;
      }
    }
    if (kind.kind == Kind::Route) {
      if (block.next.exists()) {
        shape(tree_.span(block.next), "a `route` block goes on by its conditions")
            .hint("write `else -> …` for what fits none of them");
      }
      if (block.exits.empty()) shape(tree_.main_span(block.node), "a `route` block needs `when`, `to`, `on` or `else`");
    }
    if (block.item.exists() && !kind.allows(Part::Items)) refuse(block.item, "items");
    if (kind.kind == Kind::ForEach && !block.item.exists()) {
      shape(tree_.main_span(block.node), "a `for_each` block needs `item NAME: Type in LIST`");
    }
    if ((kind.kind == Kind::ForEach || kind.kind == Kind::Parallel) && block.nested.empty()) {
      shape(tree_.main_span(block.node), kind.kind == Kind::ForEach
                                             ? "a `for_each` block needs nested blocks"
                                             : "a `parallel` block needs branches: `branch NAME { … }`");
    }
    if (!block.nested.empty() && kind.kind != Kind::ForEach && kind.kind != Kind::Parallel) {
      shape(tree_.span(block.nested.front().node), fmt::format("a `{}` block nests no blocks", kind.name));
    }
  }

  void one_of(const Block& block, std::string_view option, std::initializer_list<std::string_view> words) {
    const NodeId value = find_option(tree_, block, option);
    if (!value.exists() || std::find(words.begin(), words.end(), tree_.text(value)) != words.end()) return;
    shape(tree_.span(value), fmt::format("`{}` is one of {}", option, fmt::join(words, ", ")));
  }

  void values(const Block& block, const std::string& where) {
    one_of(block, "restartable", {"true", "false"});
    one_of(block, "handoff", {"true", "false"});
    one_of(block, "mode", {"improve", "retry", "synthesize"});
    one_of(block, "format", {"markdown", "html", "pdf"});
    const Kind kind = block.kind->kind;
    const bool needs_type =
        kind == Kind::Request || kind == Kind::Reflect || kind == Kind::ForEach || kind == Kind::Report;
    if (const NodeId place = find_option(tree_, block, "into"); place.exists()) {
      const auto entry = find_entry(tree_, place);
      if (!entry) {
        shape(tree_.span(place), "`into` is an entry of `state` or `scratchpad`");
      } else if (needs_type && !entry->is_whole) {
        shape(tree_.span(place), "this is a part of an entry").hint("the value's type is the entry's: name the entry");
      } else if (kind == Kind::ForEach) {
        list_entry(*entry, place);
      }
      if (kind == Kind::ForEach && !find_option(tree_, block, "gather").exists())
        shape(tree_.main_span(block.node), "`into` needs `gather: …`, the value of an item");
    } else if (kind == Kind::ForEach) {
      if (const NodeId gather = find_option(tree_, block, "gather"); gather.exists())
        shape(tree_.span(gather), "what is gathered goes nowhere").hint("write `into: state.NAME`");
    }
    for (const std::string_view option : {"read", "write"}) {
      const NodeId list = find_option(tree_, block, option);
      if (!list.exists()) continue;
      for (const NodeId place :
           tree_.kind(list) == NodeKind::ListExpression ? tree_.children(list) : std::vector<NodeId>{list}) {
        const auto entry = find_entry(tree_, place);
        if (tree_.kind(list) != NodeKind::ListExpression || !entry || !entry->is_whole) {
          shape(tree_.span(place), fmt::format("`{}` is a list of entries, such as `[state.customer]`", option));
        } else if (!find_field(tree_, agent_, *entry).exists()) {
          shape(tree_.span(place), fmt::format("`{}` has no entry `{}`", entry->owner, entry->name));
        }
      }
    }
    if (const NodeId handoff = find_option(tree_, block, "handoff");
        handoff.exists() && tree_.text(handoff) == "true" && where != "the agent") {
      diagnostics_.report(diagnostics::BlockElsewhere, tree_.span(handoff), "a handoff", where)
          .hint("only a block of the agent itself can leave the turn to another agent");
    }
  }

  void list_entry(const Entry& entry, NodeId place) {
    NodeId field = find_field(tree_, agent_, entry);
    if (!field.exists() || !tree_.first(field).exists()) return;  // told by the types
    const NodeId type = tree_.first(field);
    if (tree_.kind(type) == NodeKind::NamedType && tree_.main_text(type) == "List") return;
    shape(tree_.span(place), fmt::format("`{}` is no list", entry.name)).label(tree_.span(type), "its type");
  }

  void nested(const Block& block) {
    const bool is_parallel = block.kind->kind == Kind::Parallel;
    std::map<std::pair<std::string, std::string>, const Sequence*> writers;
    for (const Sequence& sequence : block.nested) {
      const std::string where =
          is_parallel ? fmt::format("the branch `{}`", sequence.name) : fmt::format("the block `{}`", block.name);
      this->sequence(sequence, where, {});
      for (const WrittenEntry& entry : find_written(tree_, agent_, sequence)) {
        const std::string shown = entry.owner + "." + entry.name;
        if (!is_parallel && entry.owner == "state") {
          diagnostics_.report(diagnostics::WrittenApart, tree_.span(entry.place), shown, "each item works on a copy")
              .hint("write to the scratchpad, and `gather` what an item has found");
        }
        if (!is_parallel) continue;
        const auto [first, added] = writers.emplace(std::pair(entry.owner, entry.name), &sequence);
        if (added) continue;
        diagnostics_
            .report(diagnostics::WrittenApart, tree_.span(entry.place), shown,
                    fmt::format("the branch `{}` writes it too", first->second->name))
            .hint("let each branch have an entry of its own, and bring them together behind the block");
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
