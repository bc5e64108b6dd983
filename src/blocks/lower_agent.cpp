// The sections of a block agent, and its `turn`.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "blocks/agent_lowering.h"

namespace tenon::blocks {

using syntax::NodeId;
using syntax::NodeKind;

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char byte : text) {
    if (byte == '"' || byte == '\\' || byte == '{') out += '\\';
    if (byte == '\n') {
      out += "\\n";
    } else {
      out += byte;
    }
  }
  return out + '"';
}

NodeId item_type(const syntax::SyntaxTree& tree, NodeId type) {
  if (!type.exists() || tree.kind(type) != NodeKind::NamedType || tree.main_text(type) != "List") return {};
  return tree.first(type);
}

/// The entries that lowering adds to the state are called otherwise where the agent has an entry of that name.
void AgentLowering::name_added_entries() {
  for (const std::string_view added : {"scratchpad", "blocks"}) {
    std::string name(added);
    for (int number = 2; find_field(tree_, agent_, {"state", name}).exists(); ++number) {
      name = fmt::format("{}_{}", added, number);
    }
    out_.set_own_name(fmt::format("{}_entry", added), std::move(name));
  }
}

void AgentLowering::write() {
  name_added_entries();
  find_needs(agent_.main);
  if (agent_.pre_turn) find_needs(*agent_.pre_turn);
  if (agent_.post_turn) find_needs(*agent_.post_turn);
  out_.stand_for(tree_.main_span(agent_.node));
  glue("agent ");
  out_.copy(tree_[agent_.node].main_token);
  glue(" {\n");
  write_state();
  for (const NodeId part : tree_.children(agent_.node)) {
    const NodeKind kind = tree_.kind(part);
    if (kind != NodeKind::InstructionsSection && kind != NodeKind::FunctionItem) continue;
    // The generated `turn` replaces a written one, which the check of the blocks reports.
    if (kind == NodeKind::FunctionItem && tree_.main_text(part) == "turn") continue;
    documentation(part);
    copy(part);
    glue("\n");
  }
  write_turn();
  write_first_block();
  write_helpers();
  write_functions(agent_.main, Place::Main);
  if (agent_.pre_turn) write_functions(*agent_.pre_turn, Place::AroundTurn);
  if (agent_.post_turn) write_functions(*agent_.post_turn, Place::AroundTurn);
  out_.stand_for(tree_.main_span(agent_.node));
  glue("}\n");
  write_types();
}

void AgentLowering::find_needs(const Sequence& sequence) {
  for (const Block& block : sequence.blocks) {
    if (block.kind == nullptr) continue;
    needs_.edits |= block.kind->kind == Kind::Compress || block.kind->kind == Kind::EditMessage;
    needs_.critique |= block.kind->kind == Kind::Reflect;
    needs_.tools |=
        block.kind->kind == Kind::CoreLoop &&
        (option(block, "tools").exists() || option(block, "read").exists() || option(block, "write").exists());
    for (const NodeId clause : block.exits) {
      needs_.judgement |= is_judged_by_model(clause);
    }
    for (const Sequence& nested : block.nested) find_needs(nested);
  }
}

bool AgentLowering::is_judged_by_model(NodeId clause) const {
  if (tree_.kind(clause) != NodeKind::WhenClause || !tree_.first(clause).exists()) return false;
  const NodeId condition = tree_.first(clause);
  return tree_.kind(condition) == NodeKind::StringExpression ||
         tree_.text(condition).find("judged") != std::string_view::npos;
}

/// The types that the agent's functions have of their own.
void AgentLowering::write_types() {
  const std::string& name = agent_.name;
  glue(fmt::format("struct ${}Scratchpad {{\n", name));
  if (agent_.scratchpad.exists()) {
    for (const NodeId field : tree_.children(agent_.scratchpad, NodeKind::StateField)) {
      const NodeId type = tree_.first(field);
      if (!type.exists()) continue;
      out_.copy(tree_[field].main_token);
      glue(": ");
      copy(type, Names::Kept);
      glue("\n");
    }
  }
  glue("}\n");
  glue(fmt::format(
      "struct ${}Blocks {{ said: List<String>, shown: i32, last: String, kept: List<String>, kept_at: List<i32>, "
      "kept_of: String, dropped: i32, summary: String, pinned: List<String>, edits: Map<String> }}\n",
      name));
  if (needs_.critique) {
    glue(
        fmt::format("struct ${}Critique {{\n/// What is to be changed, in a sentence or two; empty when it is good.\n"
                    "advice: String\n/// Whether the result is good as it is.\nis_good: Boolean\n}}\n",
                    name));
  }
  if (agent_.next_turn.exists() && tree_.main_text(agent_.next_turn) == "smart") {
    glue(
        fmt::format("struct ${}NextTurn {{\n/// Why, in a sentence.\nreason: String\n"
                    "/// Whether the message continues the last step.\ncontinues: Boolean\n}}\n",
                    name));
  }
}

void AgentLowering::write_state() {
  glue("state {\n");
  if (agent_.state.exists()) {
    for (const NodeId field : tree_.children(agent_.state)) {
      documentation(field);
      copy(field, Names::Kept);
      glue("\n");
    }
  }
  glue(fmt::format("$scratchpad_entry: ${0}Scratchpad = ${0}Scratchpad {{\n", agent_.name));
  if (agent_.scratchpad.exists()) {
    for (const NodeId field : tree_.children(agent_.scratchpad, NodeKind::StateField)) {
      const NodeId type = tree_.first(field);
      const NodeId value = type.exists() ? tree_.next(type) : NodeId{};
      if (!value.exists()) continue;
      out_.copy(tree_[field].main_token);
      glue(": ");
      copy(value, Names::Kept);
      glue(",\n");
    }
  }
  glue("}\n");
  glue(fmt::format(
      "$blocks_entry: ${}Blocks = ${}Blocks {{ said: [], shown: 0, last: \"\", kept: [], kept_at: [], kept_of: \"\", "
      "dropped: 0, summary: \"\", pinned: [], edits: Map::new() }}\n}}\n",
      agent_.name, agent_.name));
}

void AgentLowering::write_turn() {
  glue("fn turn(ctx: Context, input: String) -> String {\n");
  glue("let $blank = state.$scratchpad_entry\n");
  if (needs_.edits) write_conversation_view();
  if (has_handoff_before_post_turn()) glue("let $has_ended = false\n");
  if (agent_.post_turn) glue("{\n");
  if (agent_.pre_turn && !agent_.pre_turn->blocks.empty()) {
    glue(fmt::format("let $next_block = {}\n", quoted(agent_.pre_turn->blocks.front().name)));
    write_sequence(*agent_.pre_turn, "pre_turn/", Place::AroundTurn);
    glue("state.$scratchpad_entry = $blank\n");
  }
  if (agent_.next_turn.exists()) out_.stand_for(tree_.main_span(agent_.next_turn));
  glue("let $next_block = $first_block(ctx, input)\n");
  out_.stand_for(tree_.main_span(agent_.node));
  write_sequence(agent_.main, "", Place::Main);
  if (agent_.post_turn) {
    glue("} finally {\n");
    if (has_handoff_before_post_turn()) glue("if !$has_ended {\n");
    write_post_turn();
    glue(has_handoff_before_post_turn() ? "}\n}\n" : "}\n");
  }
  glue("let $answer_text = state.$blocks_entry.said.join(\"\\n\\n\")\n");
  write_turn_end();
  glue("$answer_text\n}\n");
}

bool AgentLowering::has_handoff_before_post_turn() const {
  return agent_.post_turn && !agent_.post_turn->blocks.empty() &&
         std::any_of(agent_.main.blocks.begin(), agent_.main.blocks.end(),
                     [&](const Block& block) { return is_handoff(tree_, block); });
}

void AgentLowering::write_post_turn() {
  if (!agent_.post_turn || agent_.post_turn->blocks.empty()) return;
  glue("state.$scratchpad_entry = $blank\n");
  glue(fmt::format("let $next_block = {}\n", quoted(agent_.post_turn->blocks.front().name)));
  write_sequence(*agent_.post_turn, "post_turn/", Place::AroundTurn);
}

/// What lives no longer than the turn is not kept with the conversation.
void AgentLowering::write_turn_end() {
  glue(
      "state.$scratchpad_entry = $blank\n"
      "if state.$blocks_entry.kept_of != state.$blocks_entry.last {\n"
      "state.$blocks_entry.kept = []\nstate.$blocks_entry.kept_at = []\n}\n"
      "state.$blocks_entry.said = []\n"
      "state.$blocks_entry.shown = 0\n");
}

/// The agent's own turn is over before the other agent's begins: `post_turn` has run, and its state is as after any
/// turn.
void AgentLowering::hand_off(const Block& block) {
  const NodeId agent = option(block, "agent");
  glue("block_left($block)\nlet $message = ");
  copy_or(option(block, "message"), "input");
  glue("\n");
  if (has_handoff_before_post_turn()) {
    // A failure of `post_turn` does not run it again.
    glue("$has_ended = true\n");
    write_post_turn();
    out_.stand_for(tree_.main_span(block.node));
  }
  write_turn_end();
  if (agent.exists()) copy(agent, Names::Kept);
  glue("::handoff($message)\n");
}

/// What the model sees of the conversation, where messages were edited or summed up in earlier turns.
void AgentLowering::write_conversation_view() {
  glue(
      "let $messages = 0\n"
      "for entry in ctx.entries() { if entry.role == \"user\" || entry.role == \"assistant\" { $messages += 1 } }\n"
      "if state.$blocks_entry.dropped > 0 || !state.$blocks_entry.edits.is_empty() {\n"
      "let $seen = Context::new()\n"
      "let $number = 0\n"
      "for entry in ctx.entries() {\n"
      "if entry.role == \"user\" || entry.role == \"assistant\" {\n"
      "if $number == state.$blocks_entry.dropped && $number > 0 {\n"
      "$seen.inject(state.$blocks_entry.summary)\n"
      "for kept in state.$blocks_entry.pinned { $seen.inject(kept) }\n"
      "}\n"
      "if $number >= state.$blocks_entry.dropped {\n"
      "$seen.inject_as(entry.role, state.$blocks_entry.edits.get($number.to_string()) ?? entry.text)\n"
      "}\n"
      "$number += 1\n"
      "} else { $seen.inject_as(entry.role, entry.text) }\n"
      "}\n"
      "ctx = $seen\n"
      "}\n");
}

void AgentLowering::write_first_block() {
  const Sequence& main = agent_.main;
  std::string start = main.blocks.empty() ? "" : main.blocks.front().name;
  if (agent_.start.exists() && main.find(tree_.main_text(agent_.start)) != nullptr)
    start = tree_.main_text(agent_.start);
  const std::string_view mode = agent_.next_turn.exists() ? tree_.main_text(agent_.next_turn) : "restart";
  if (agent_.next_turn.exists()) out_.stand_for(tree_.main_span(agent_.next_turn));
  glue("fn $first_block(ctx: Context, input: String) -> String {\n");
  if (mode == "resume" || mode == "smart") {
    glue("let last = match state.$blocks_entry.last {\n");
    for (const Block& block : main.blocks) {
      if (is_restartable(tree_, block)) glue(fmt::format("{0} => {0}\n", quoted(block.name)));
    }
    glue("_ => \"\"\n}\n");
    if (mode == "smart") {
      glue("if last != \"\" && $choose_next_turn(ctx, last).continues { return last }\n");
    } else {
      glue("if last != \"\" { return last }\n");
    }
  }
  glue("state.$blocks_entry.kept = []\nstate.$blocks_entry.kept_at = []\nstate.$blocks_entry.kept_of = \"\"\n");
  glue(fmt::format("{}\n}}\n", quoted(start)));
  if (mode == "smart") write_next_turn_choice(start);
  out_.stand_for(tree_.main_span(agent_.node));
}

/// The model decides whether the message continues the block in which the last turn ended, or begins at the start. It
/// is shown the doc comments of both.
void AgentLowering::write_next_turn_choice(std::string_view start) {
  glue(fmt::format("fn $choose_next_turn(ctx: Context, last: String) -> ${}NextTurn {{\n", agent_.name));
  glue("\"The last turn ended in the step `{{ last }}`{{ $describe_block(last) }}.\"!\n");
  glue(fmt::format("\"Otherwise the turn begins at the step `{0}`{{{{ $describe_block(\"{0}\") }}}}.\"!\n", start));
  glue("\"Does the newest message continue the last step, or does it begin something else?\"!\n}\n");
  glue("fn $describe_block(name: String) -> String {\nmatch name {\n");
  for (const Block& block : agent_.main.blocks) {
    const std::string words = tree_.documentation(block.node);
    if (!words.empty() && (is_restartable(tree_, block) || block.name == start))
      out_.glue_as_is(fmt::format("{} => {}\n", quoted(block.name), quoted(" (" + words + ")")));
  }
  glue("_ => \"\"\n}\n}\n");
}

void AgentLowering::write_helpers() {
  glue("fn $emit_text(text: String) {\nemit(text)\nstate.$blocks_entry.said.push(text)\n}\n");
  if (needs_.tools) {
    glue(
        "/// Answers the person. Call it when nothing more is to be looked up or done first.\n"
        "fn $answer(text: String) -> String { text }\n"
        "fn $observe(outcome: Result<String>) -> String {\n"
        "match outcome {\n"
        "Ok(text) => if text.is_empty() { \"(done)\" } else { text }\n"
        "Err(failure) => \"It failed: {{ failure.message }}\"\n"
        "}\n}\n");
  }
  if (needs_.judgement) {
    glue(
        "fn judged(ctx: Context, condition: String) -> Boolean {\n"
        "\"Does this hold? {{ condition }}\"!\n}\n");
  }
}

/// Whether what the block tells may have grown.
bool AgentLowering::may_tell(const Block& block) const {
  switch (block.kind->kind) {
    case Kind::Set:
    case Kind::Compress:
    case Kind::EditMessage:
    case Kind::Route:
    case Kind::ToolCall:
    case Kind::Call:
    case Kind::Report:
      return false;
    case Kind::Request:
    case Kind::Reflect:
    case Kind::Delegate:
      return !option(block, "into").exists();
    case Kind::Code:
    case Kind::CoreLoop:
    case Kind::ForEach:
    case Kind::Parallel:
    case Kind::Emit:
      return true;
  }
  return true;
}

/// The blocks that are reached from one block alone, which leads nowhere else: they come after it, and no dispatch
/// comes between.
std::set<std::string> AgentLowering::find_followers(const Sequence& sequence, Place place) const {
  std::map<std::string, std::size_t> ways;
  std::set<std::string> followers;
  for (const Block& block : sequence.blocks) {
    const std::vector<Exit> all = exits(tree_, block);
    for (const Exit& exit : all) ++ways[exit.target];
    if (block.next.exists() && all.size() == 1 && block.kind != nullptr && block.kind->kind != Kind::CoreLoop)
      followers.insert(all.front().target);
  }
  for (const Block& block : sequence.blocks) {
    const bool is_entry =
        &block == &sequence.blocks.front() ||
        (place == Place::Main && agent_.start.exists() && tree_.main_text(agent_.start) == block.name) ||
        (place == Place::Main && is_restartable(tree_, block));
    if (is_entry || ways[block.name] != 1 || block.kind == nullptr) followers.erase(block.name);
  }
  return followers;
}

void AgentLowering::write_sequence(const Sequence& sequence, std::string_view path, Place place) {
  const auto notice = [&](std::string_view what) {
    glue(path.empty() ? fmt::format("{}($block)\n", what) : fmt::format("{}({} + $block)\n", what, quoted(path)));
  };
  const auto enter = [&] {
    notice("block_entered");
    if (place == Place::Main) glue("state.$blocks_entry.last = $block\n");
  };
  const auto leave = [&](const Block* block) {
    if (block == nullptr || may_tell(*block)) {
      glue(
          "while state.$blocks_entry.shown < state.$blocks_entry.said.len() {\n"
          "ctx.say(state.$blocks_entry.said[state.$blocks_entry.shown])\n"
          "state.$blocks_entry.shown += 1\n}\n");
    }
    notice("block_left");
  };
  const std::set<std::string> followers = find_followers(sequence, place);
  glue("while $next_block != \"\" {\nlet $block = $next_block\n");
  enter();
  glue("$next_block = match $block {\n");
  for (const Block& head : sequence.blocks) {
    if (head.kind == nullptr || followers.contains(head.name)) continue;
    out_.stand_for(tree_.main_span(head.node));
    glue(quoted(head.name) + " => {\n");
    const Block* at = &head;
    while (true) {
      write_arm(*at, place);
      const Block* follower = at->next.exists() ? sequence.find(tree_.main_text(at->next)) : nullptr;
      if (follower == nullptr || !followers.contains(follower->name)) break;
      leave(at);
      at = follower;
      out_.stand_for(tree_.main_span(at->node));
      glue(fmt::format("$block = {}\n", quoted(at->name)));
      enter();
    }
    if (!ends_with_next(*at)) {
      next(*at);
      glue("\n");
    }
    glue("}\n");
  }
  out_.stand_for(tree_.main_span(agent_.node));
  glue("_ => \"\"\n}\n");
  leave(nullptr);
  glue("}\n");
}

}  // namespace tenon::blocks
