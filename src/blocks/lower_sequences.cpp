// Sequences of blocks, and the end of a turn.

#include <fmt/format.h>

#include <set>
#include <string>

#include "blocks/block_lowering.h"

namespace tenon::blocks {

using syntax::NodeId;

void BlockLowering::write_sequence(const Sequence& sequence, std::string_view path, Place place) {
  const auto notice = [&](std::string_view what) {
    glue(path.empty() ? fmt::format("{}($block)\n", what) : fmt::format("{}({} + $block)\n", what, quoted(path)));
  };
  const auto enter = [&] {
    notice("block_entered");
    if (place == Place::Main) glue("state.$blocks_entry.last = $block\n");
  };
  const auto leave = [&](const Block* block) {
    if (block == nullptr || can_emit(tree_, *block)) {
      glue(
          "while state.$blocks_entry.shown < state.$blocks_entry.said.len() {\n"
          "ctx.say(state.$blocks_entry.said[state.$blocks_entry.shown])\n"
          "state.$blocks_entry.shown += 1\n}\n");
    }
    notice("block_left");
  };
  const std::set<std::string> followers = find_followers(tree_, agent_, sequence, place);
  glue("while $next_block != \"\" {\nlet $block = $next_block\n");
  enter();
  glue("$next_block = match $block {\n");
  for (const Block& head : sequence.blocks) {
    if (head.kind == nullptr || followers.contains(head.name)) continue;
    out_.set_origin(tree_.main_span(head.node));
    glue(quoted(head.name) + " => {\n");
    const Block* at = &head;
    while (true) {
      write_arm(*at, place);
      const Block* follower = at->next.exists() ? sequence.find(tree_.main_text(at->next)) : nullptr;
      if (follower == nullptr || !followers.contains(follower->name)) break;
      leave(at);
      at = follower;
      out_.set_origin(tree_.main_span(at->node));
      glue(fmt::format("$block = {}\n", quoted(at->name)));
      enter();
    }
    if (!ends_with_next(*at)) {
      next(*at);
      glue("\n");
    }
    glue("}\n");
  }
  out_.set_origin(tree_.main_span(agent_.node));
  glue("_ => \"\"\n}\n");
  leave(nullptr);
  glue("}\n");
}

void BlockLowering::write_post_turn() {
  if (!agent_.post_turn || agent_.post_turn->blocks.empty()) return;
  glue("state.$scratchpad_entry = $blank\n");
  glue(fmt::format("let $next_block = {}\n", quoted(agent_.post_turn->blocks.front().name)));
  write_sequence(*agent_.post_turn, "post_turn/", Place::AroundTurn);
}

/// Resets the fields that must not outlive the turn.
void BlockLowering::write_turn_end() {
  glue(
      "state.$scratchpad_entry = $blank\n"
      "if state.$blocks_entry.kept_of != state.$blocks_entry.last {\n"
      "state.$blocks_entry.kept = []\nstate.$blocks_entry.kept_at = []\n}\n"
      "state.$blocks_entry.said = []\n"
      "state.$blocks_entry.shown = 0\n");
}

/// The agent's turn ends before the other agent's starts: `post_turn` has run, and the state is the same as after any
/// turn.
void BlockLowering::hand_off(const Block& block) {
  const NodeId agent = option(block, "agent");
  glue("block_left($block)\nlet $message = ");
  copy_or(option(block, "message"), "input");
  glue("\n");
  if (has_handoff_before_post_turn(tree_, agent_)) {
    // A failure of `post_turn` does not run it again.
    glue("$has_ended = true\n");
    write_post_turn();
    out_.set_origin(tree_.main_span(block.node));
  }
  write_turn_end();
  if (!agent.exists()) return glue("fail(\"\")\n");
  copy(agent, Names::Kept);
  glue("::handoff(");
  if (const NodeId message = option(block, "message"); message.exists()) out_.set_origin(tree_.span(message));
  glue("$message");
  out_.set_origin(tree_.main_span(block.node));
  glue(")\n");
}

}  // namespace tenon::blocks
