// The sections of a block agent, and its `turn`.

#include <fmt/format.h>

#include <algorithm>

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

/// Chooses other names for the added fields of the state if the agent has fields of these names.
void AgentLowering::name_added_fields() {
  for (const std::string_view added : {"scratchpad", "blocks"}) {
    std::string name(added);
    for (int number = 2; find_field(tree_, agent_, {"state", name}).exists(); ++number) {
      name = fmt::format("{}_{}", added, number);
    }
    out_.set_own_name(fmt::format("{}_entry", added), std::move(name));
  }
}

void AgentLowering::write() {
  name_added_fields();
  out_.set_origin(tree_.main_span(agent_.node));
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
  out_.set_origin(tree_.main_span(agent_.node));
  glue("}\n");
  write_types();
}

/// The types that only the generated functions use.
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
  if (has_handoff_before_post_turn(tree_, agent_)) glue("let $has_ended = false\n");
  if (agent_.post_turn) glue("{\n");
  if (agent_.pre_turn && !agent_.pre_turn->blocks.empty()) {
    glue(fmt::format("let $next_block = {}\n", quoted(agent_.pre_turn->blocks.front().name)));
    write_sequence(*agent_.pre_turn, "pre_turn/", Place::AroundTurn);
    glue("state.$scratchpad_entry = $blank\n");
  }
  if (agent_.next_turn.exists()) out_.set_origin(tree_.main_span(agent_.next_turn));
  glue("let $next_block = $first_block(ctx, input)\n");
  out_.set_origin(tree_.main_span(agent_.node));
  write_sequence(agent_.main, "", Place::Main);
  if (agent_.post_turn) {
    glue("} finally {\n");
    if (has_handoff_before_post_turn(tree_, agent_)) glue("if !$has_ended {\n");
    write_post_turn();
    glue(has_handoff_before_post_turn(tree_, agent_) ? "}\n}\n" : "}\n");
  }
  glue("let $answer_text = state.$blocks_entry.said.join(\"\\n\\n\")\n");
  write_turn_end();
  glue("$answer_text\n}\n");
}

/// The conversation as the model sees it if messages were edited or summarized in earlier turns.
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
      "} else if entry.role != \"data\" || $number > state.$blocks_entry.dropped {\n"
      "$seen.inject_as(entry.role, entry.text)\n}\n"
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
  if (agent_.next_turn.exists()) out_.set_origin(tree_.main_span(agent_.next_turn));
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
  out_.set_origin(tree_.main_span(agent_.node));
}

/// The model decides whether the message continues the block in which the last turn ended, or starts anew. It sees the
/// doc comments of both blocks.
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
        "/// Answers the person. Call it when no other tool is needed first.\n"
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

}  // namespace tenon::blocks
