// What each kind of block becomes: functions of the agent, and the arm of `turn` that runs them.

#include <fmt/format.h>

#include <algorithm>

#include "blocks/block_lowering.h"
#include "blocks/left_out.h"

namespace tenon::blocks {

using syntax::NodeId;
using syntax::NodeKind;

/// Of each end of a text that a summary has no room for. A model that has no room for these has none at all.
static constexpr int kept_characters_min = 50;

void BlockLowering::write_functions(const Sequence& sequence, Place place) {
  for (const Block& block : sequence.blocks) {
    if (block.kind != nullptr && !is_inline(block, place)) write_functions(block);
  }
}

/// Text injected by the blocks around a turn is visible until the turn ends, so their statements are placed in `turn`
/// itself.
bool BlockLowering::is_inline(const Block& block, Place place) {
  return place == Place::AroundTurn && block.kind->has_statements;
}

void BlockLowering::write_functions(const Block& block) {
  out_.set_origin(tree_.main_span(block.node));
  switch (block.kind->kind) {
    case Kind::CoreLoop:
      return core_loop(block);
    case Kind::Route:
      return route(block);
    case Kind::Request:
      return request(block);
    case Kind::ToolCall:
    case Kind::Call:
      return call(block);
    case Kind::Reflect:
      return reflect(block);
    case Kind::Set:
    case Kind::Code:
      return code(block);
    case Kind::Compress:
      return compress(block);
    case Kind::ForEach:
      return for_each(block);
    case Kind::Parallel:
      return parallel(block);
    case Kind::Report:
      return report(block);
    case Kind::Delegate:
    case Kind::EditMessage:
    case Kind::Emit:
      return;  // only has an arm
  }
}

void BlockLowering::write_arm(const Block& block, Place place) {
  if (is_inline(block, place)) {
    if (block.statements.exists()) copy(block.statements);
    return glue("\n");
  }
  switch (block.kind->kind) {
    case Kind::CoreLoop:
    case Kind::Route:
      function_call(block);
      glue("\n");
      return;
    case Kind::Request:
    case Kind::Reflect: {
      const Destination to = destination(block);
      begin_deliver(to, Given::OfType);
      function_call(block);
      end_deliver();
      break;
    }
    case Kind::ToolCall:
    case Kind::Call:
    case Kind::Set:
    case Kind::Code:
    case Kind::Report:
      function_call(block);
      glue("\n");
      break;
    case Kind::Delegate: {
      if (is_handoff(tree_, block)) return hand_off(block);
      const NodeId agent = option(block, "agent");
      if (!agent.exists()) break;
      begin_deliver(destination(block), Given::ByCall);
      copy(agent, Names::Kept);
      glue("::run(");
      copy_or(option(block, "message"), "input");
      glue(")");
      end_deliver();
      break;
    }
    case Kind::Emit: {
      glue("$emit_text(");
      // A missing text is reported by the check.
      if (const NodeId text = option(block, "text"); text.exists()) {
        copy(text);
      } else {
        glue("\"\"");
      }
      glue(")\n");
      break;
    }
    case Kind::Compress:
      compress_arm(block);
      break;
    case Kind::EditMessage:
      edit_message_arm(block);
      break;
    case Kind::ForEach:
      for_each_arm(block);
      break;
    case Kind::Parallel:
      parallel_arm(block);
      break;
  }
}

bool BlockLowering::ends_with_next(const Block& block) const {
  return block.kind->kind == Kind::CoreLoop || block.kind->kind == Kind::Route || is_handoff(tree_, block);
}

void BlockLowering::code(const Block& block) {
  function_head(block);
  glue(" {\n");
  if (block.statements.exists()) {
    copy(block.statements);
    glue("\n");
  }
  glue("}\n");
}

void BlockLowering::request(const Block& block) {
  const Destination to = destination(block);
  function_head(block);
  glue(" -> ");
  type_of(to);
  glue(" {\n");
  inject(option(block, "prompt"));
  glue("}\n");
}

void BlockLowering::call(const Block& block) {
  function_head(block);
  glue(" {\n");
  inject(option(block, "prompt"));
  const NodeId call = option(block, "call");
  // A model's call without an argument for it is reported by the check.
  if (call.exists() && (block.kind->kind == Kind::Call || has_hole(tree_, call))) {
    const Destination to = destination(block);
    if (to.place.exists()) begin_deliver(to, Given::ByCall);
    copy(call);
    glue(to.place.exists() ? ")" : ";");
  }
  glue("\n}\n");
}

void BlockLowering::report(const Block& block) {
  function_head(block);
  glue(" {\n");
  const NodeId words = option(block, "template");
  const NodeId title = option(block, "title");
  const NodeId file = option(block, "name");
  const NodeId format = option(block, "format");
  const Destination to = destination(block);
  // Another value is reported by the check.
  const bool is_known =
      format.exists() && std::ranges::find(report_formats, tree_.text(format)) != report_formats.end();
  glue("let $name: String = ");
  copy_or(file, quoted(block.name));
  glue(fmt::format("\nlet $written = {}($name, ", out_.report_function()));
  copy_or(title, "$name");
  glue(", ");
  if (words.exists()) copy(words);
  glue(fmt::format(", {})\n", quoted(is_known ? tree_.text(format) : "markdown")));
  if (to.place.exists()) {
    out_.set_origin(tree_.span(to.place));
    begin_deliver(to, Given::OfType);
    glue("$written.path");
    end_deliver();
  }
  glue("}\n");
}

/// Injects the loop's earlier calls where they happened among the messages, which are counted from the start of the
/// conversation.
void BlockLowering::write_kept_calls() {
  glue(
      "let $messages = state.$blocks_entry.dropped\n"
      "let $at = 0\n"
      "let $seen = Context::new()\n"
      "for entry in ctx.entries() {\n"
      "if entry.role == \"user\" || entry.role == \"assistant\" {\n"
      "while $at < state.$blocks_entry.kept.len() && state.$blocks_entry.kept_at[$at] <= $messages {\n"
      "$seen.inject(state.$blocks_entry.kept[$at])\n$at += 1\n}\n"
      "$messages += 1\n}\n"
      "$seen.inject_as(entry.role, entry.text)\n}\n"
      "if !state.$blocks_entry.kept.is_empty() {\n"
      "while $at < state.$blocks_entry.kept.len() {\n$seen.inject(state.$blocks_entry.kept[$at])\n$at += 1\n}\n"
      "ctx = $seen\n}\n");
}

void BlockLowering::core_loop(const Block& block) {
  std::vector<std::string> own_tools;
  virtual_tools(block, own_tools);
  const NodeId tools = option(block, "tools");
  const bool has_tools = tools.exists() || !own_tools.empty();
  if (!has_tools) {
    function_head(block, "answer");
    glue(" -> String {\n");
    inject(option(block, "prompt"));
    glue("}\n");
  }
  // A condition that is judged after an answer can be about the answer.
  const bool is_judged = std::any_of(block.exits.begin(), block.exits.end(),
                                     [&](NodeId clause) { return is_judged_by_model(tree_, clause); });
  function_head(block);
  glue(" -> String {\n");
  const bool keeps_calls = has_tools && !is_around_turn(block);
  if (keeps_calls) {
    glue(fmt::format(
        "if state.$blocks_entry.kept_of != {0} {{\nstate.$blocks_entry.kept = []\nstate.$blocks_entry.kept_at = []\n"
        "state.$blocks_entry.kept_of = {0}\n}}\n",
        quoted(block.name)));
    if (const NodeId newest = option(block, "keep_calls"); newest.exists()) {
      glue("let $most_kept: i32 = ");
      copy(newest);
      glue(
          "\nlet $evicted = (state.$blocks_entry.kept.len() - $most_kept).max(0)\n"
          "state.$blocks_entry.kept = state.$blocks_entry.kept.slice($evicted, state.$blocks_entry.kept.len())\n"
          "state.$blocks_entry.kept_at = state.$blocks_entry.kept_at.slice($evicted, "
          "state.$blocks_entry.kept_at.len())\n");
    }
    write_kept_calls();
  }
  if (has_tools) inject(option(block, "prompt"));
  glue("let $most: i32 = ");
  copy_or(option(block, "limit"), "25");
  glue("\nfor $round in 0..$most {\n");
  if (has_tools) {
    glue("let $tool = \"\"\nlet $is_done = select {\n..(");
    if (tools.exists()) {
      glue("(");
      copy(tools);
      glue(") + ");
    }
    glue("tools { ");
    for (const std::string& tool : own_tools) glue(fmt::format("${0} as {0}, ", tool));
    glue(
        "$answer as answer }) as $result => {\n"
        "$tool = $result.tool\n"
        "if $tool == \"answer\" {\nlet $said = $result.outcome.unwrap()\n$emit_text($said)\n");
    if (is_judged) glue("ctx.say($said)\n");
    glue(
        "} else {\n"
        "let $seen = \"{{ $tool }} {{ $result.arguments }}\\n{{ $observe($result.outcome) }}\"\n"
        "$seen!\n");
    if (keeps_calls) glue("state.$blocks_entry.kept.push($seen)\nstate.$blocks_entry.kept_at.push($messages)\n");
    glue("}\n$tool == \"answer\"\n}\n}\n");
  } else {
    glue("let $said = ");
    function_call(block, "answer");
    glue("\n$emit_text($said)\n");
    if (is_judged) glue("ctx.say($said)\n");
    glue("let $is_done = true\n");
  }
  for (const NodeId clause : block.exits) {
    out_.set_origin(tree_.main_span(clause));
    if (tree_.kind(clause) == NodeKind::WhenClause) {
      when_clause(clause);
    } else if (tree_.kind(clause) == NodeKind::CalledClause && has_tools) {
      const auto tool = called_tool(tree_, clause);
      if (!tool) continue;
      glue("if $tool == \"");
      out_.copy(*tool);
      glue(fmt::format("\" {{ return {} }}\n", quoted(tree_.main_text(clause))));
    }
  }
  out_.set_origin(tree_.main_span(block.node));
  glue("if $is_done { return ");
  next(block);
  glue(" }\n}\n");
  glue(
      "let $calls = if $most == 1 { \"1 call\" } else { \"{{ $most }} calls\" }\n"
      "fail(\"no answer after {{ $calls }} of the model\") catch failure {\n"
      "failure.kind = FailureKind::BudgetSpent\n"
      "failure.blame = \"limit\"\n"
      "fail(failure)\n}\n}\n");
}

void BlockLowering::when_clause(NodeId clause) {
  const NodeId condition = tree_.first(clause);
  if (!condition.exists()) return;
  glue("if (");
  if (tree_.kind(condition) == NodeKind::StringExpression) {
    glue("judged(ctx, ");
    copy(condition);
    glue(")");
  } else {
    copy(condition, Names::Condition);
  }
  glue(fmt::format(") {{ return {} }}\n", quoted(tree_.main_text(clause))));
}

void BlockLowering::virtual_tools(const Block& block, std::vector<std::string>& names) {
  for (const bool is_write : {false, true}) {
    const NodeId list = option(block, is_write ? "write" : "read");
    if (!list.exists()) continue;
    for (const NodeId place : tree_.children(list)) {
      const auto named = find_field_name(tree_, place);
      if (!named || !named->is_whole) continue;
      const NodeId field = find_field(tree_, agent_, *named);
      if (!field.exists() || !tree_.first(field).exists()) continue;
      write_virtual_tool(*named, field, is_write, names);
    }
  }
}

void BlockLowering::write_virtual_tool(const FieldName& named, NodeId field, bool is_write,
                                       std::vector<std::string>& names) {
  const std::string tool = virtual_tool_name(named, is_write);
  names.push_back(tool);
  if (!virtual_tools_.insert(tool).second) return;
  std::string words = tree_.documentation(field);
  for (char& byte : words) {
    if (byte == '\n') byte = ' ';
  }
  const std::string place = state_place(named.owner, named.name);
  if (is_write) {
    out_.glue_as_is(fmt::format("/// Notes `{}`{}\n", named.name, words.empty() ? "." : ": " + words));
    glue(fmt::format("fn ${}(value: ", tool));
    copy(tree_.first(field), Names::Kept);
    glue(fmt::format(") -> String {{\n{} = value\n\"(noted)\"\n}}\n", place));
  } else {
    out_.glue_as_is(fmt::format("/// Looks up `{}`{}\n", named.name, words.empty() ? "." : ": " + words));
    glue(fmt::format("fn ${}() -> ", tool));
    copy(tree_.first(field), Names::Kept);
    glue(fmt::format(" {{ {} }}\n", place));
  }
}

void BlockLowering::route(const Block& block) {
  std::vector<NodeId> described;
  NodeId otherwise;
  for (const NodeId clause : block.exits) {
    if (tree_.kind(clause) == NodeKind::ToClause) described.push_back(clause);
    if (tree_.kind(clause) == NodeKind::ElseClause) otherwise = clause;
  }
  const bool is_target =
      std::any_of(described.begin(), described.end(), [&](NodeId clause) { return tree_.main_text(clause) == "none"; });
  const std::string none = is_target ? "none_of_these" : "none";
  if (!described.empty()) {
    function_head(block, "choice");
    glue(" -> ");
    for (std::size_t at = 0; at < described.size(); ++at) {
      glue((at == 0 ? "" : " | ") + quoted(tree_.main_text(described[at])));
    }
    if (otherwise.exists()) glue(" | " + quoted(none));
    glue(" {\n");
    inject(option(block, "prompt"));
    glue("\"Which of these fits what the user wants?\"!\n");
    for (const NodeId clause : described) {
      out_.set_origin(tree_.main_span(clause));
      glue(fmt::format("\"- {}: \" + ", tree_.main_text(clause)));
      inject(tree_.first(clause));
    }
    if (otherwise.exists()) glue(fmt::format("\"- {}: none of these\"!\n", none));
    glue("}\n");
  }
  function_head(block);
  glue(" -> String {\n");
  for (const NodeId clause : block.exits) {
    out_.set_origin(tree_.main_span(clause));
    if (tree_.kind(clause) == NodeKind::WhenClause) when_clause(clause);
    if (tree_.kind(clause) == NodeKind::OnClause && tree_.first(clause).exists()) {
      glue("return match (");
      copy(tree_.first(clause));
      glue(") {\n");
      for (const NodeId arm : tree_.children(clause, NodeKind::OnArm)) {
        out_.set_origin(tree_.main_span(arm));
        if (const NodeId pattern = tree_.first(arm); pattern.exists()) {
          copy(pattern, Names::Kept);
        } else {
          glue("_");
        }
        glue(fmt::format(" => {}\n", quoted(tree_.main_text(arm))));
      }
      glue("}\n}\n");
      return;
    }
  }
  out_.set_origin(tree_.main_span(block.node));
  if (!described.empty()) {
    glue("let $choice = ");
    function_call(block, "choice");
    glue("\n");
    if (otherwise.exists())
      glue(fmt::format("if $choice == {} {{ return {} }}\n", quoted(none), quoted(tree_.main_text(otherwise))));
    glue("$choice\n}\n");
    return;
  }
  glue(otherwise.exists() ? quoted(tree_.main_text(otherwise)) : "\"\"");
  glue("\n}\n");
}

void BlockLowering::reflect(const Block& block) {
  const Destination to = destination(block);
  const NodeId mode_node = option(block, "mode");
  const std::string_view mode = mode_node.exists() ? tree_.text(mode_node) : "improve";
  function_head(block, "draft");
  glue(" -> ");
  type_of(to);
  // Each draft is sampled with its own seed, so that drafts of the same prompt differ.
  glue(mode == "improve" ? " {\n" : " strategy(vote: 1) {\n");
  inject(option(block, "prompt"));
  inject(option(block, "criteria"));
  glue("}\n");
  const auto second = [&](std::string_view suffix, std::string_view parameters, std::string_view words) {
    function_head(block, suffix, parameters);
    glue(" -> ");
    type_of(to);
    glue(" {\n");
    inject(option(block, "prompt"));
    inject(option(block, "criteria"));
    glue(words);
    glue("}\n");
  };
  if (mode == "synthesize") {
    second("synthesis", ", $drafts: List<String>",
           "\"These are drafts:\"!\nfor $draft in $drafts { $draft! }\n"
           "\"Combine the best parts of them into one result.\"!\n");
    function_head(block);
    glue(" -> ");
    type_of(to);
    glue(" {\nlet $most: i32 = ");
    copy_or(option(block, "count"), "3");
    glue(
        "\nlet $numbers: List<i32> = []\nfor $number in 0..$most { $numbers.push($number) }\n"
        "let $drafts = for $number in $numbers parallel(8) {\nlet $draft = ");
    function_call(block, "draft");
    glue("\n\"{{ $draft }}\"\n}\n");
    function_call(block, "synthesis", ", $drafts");
    glue("\n}\n");
    return;
  }
  function_head(block, "critique", ", $result: String");
  glue(fmt::format(" -> ${}Critique {{\n\"The task:\"!\n", agent_.name));
  inject(option(block, "prompt"));
  inject(option(block, "criteria"));
  glue("\"A result:\"!\n$result!\n\"Judge strictly whether it does what the task asks for.\"!\n}\n");
  if (mode == "improve") {
    second("better", ", $result: String, $advice: String",
           "\"An earlier result:\"!\n$result!\n\"Make it better: {{ $advice }}\"!\n");
  }
  function_head(block);
  glue(" -> ");
  type_of(to);
  glue(" {\nlet $result = ");
  function_call(block, "draft");
  glue("\nlet $rounds: i32 = ");
  copy_or(option(block, "rounds"), "2");
  glue("\nfor $round in 0..$rounds {\nlet $critique = ");
  function_call(block, "critique", ", \"{{ $result }}\"");
  glue("\nif $critique.is_good { return $result }\n$result = ");
  if (mode == "improve") {
    function_call(block, "better", ", \"{{ $result }}\", $critique.advice");
  } else {
    function_call(block, "draft");
  }
  glue("\n}\n$result\n}\n");
}

void BlockLowering::compress(const Block& block) {
  function_head(block, "summary");
  glue(" -> String {\n");
  if (const NodeId prompt = option(block, "prompt"); prompt.exists()) {
    inject(prompt);
  } else {
    glue(
        "\"Summarise the conversation so far: what was asked, found out, decided and promised. Keep everything that is "
        "needed to continue.\"!\n");
  }
  glue("}\n");
  summarize_in_parts(block);
}

/// Texts that do not fit into one prompt are summarized in halves, whose summaries are summarized if they fit. A single
/// text that does not fit is shortened in its middle, again and again.
void BlockLowering::summarize_in_parts(const Block& block) {
  const auto summarize = [&](std::string_view suffix, std::string_view context) {
    function_name(block, suffix);
    glue(fmt::format("({}, input", context));
    variables_as_arguments();
    glue(")");
  };
  function_head(block, "parts");
  glue(" -> String {\n");
  summarize("summary", "ctx");
  glue(
      " catch $failure {\n"
      "let $entries = ctx.entries()\n"
      "if $failure.kind != FailureKind::ContextFull || $entries.is_empty() { fail($failure) }\n"
      "let $first = Context::new()\n"
      "if $entries.len() > 1 {\n"
      "let $second = Context::new()\n"
      "for $at in 0..$entries.len() {\n"
      "if $at < $entries.len() / 2 { $first.inject_as($entries[$at].role, $entries[$at].text) }\n"
      "else { $second.inject_as($entries[$at].role, $entries[$at].text) }\n}\n"
      "let $earlier = ");
  summarize("parts", "$first");
  glue("\nlet $later = ");
  summarize("parts", "$second");
  glue("\nlet $both = Context::new()\n$both.inject($earlier)\n$both.inject($later)\n");
  summarize("summary", "$both");
  glue(fmt::format(
      " catch $second_failure {{\n"
      "if $second_failure.kind != FailureKind::ContextFull {{ fail($second_failure) }}\n"
      "\"{{{{ $earlier }}}}\\n\\n{{{{ $later }}}}\"\n}}\n"
      "}} else {{\n"
      "let $text = $entries[0].text\nlet $kept = $text.len() / 4\n"
      "if $kept < {} {{ fail($failure) }}\n"
      "let $start = $text.slice(0, $kept)\nlet $rest = $text.slice($text.len() - $kept, $text.len())\n"
      "$first.inject_as($entries[0].role, \"{{{{ $start }}}} [… too long for the model …] {{{{ $rest }}}}\")\n",
      kept_characters_min));
  summarize("parts", "$first");
  glue("\n}\n}\n}\n");
}

/// The model sees the conversation as the context of the turn, which is rebuilt with the roles of its entries.
void BlockLowering::edit_message_arm(const Block& block) {
  const NodeId text = option(block, "text");
  if (is_nested(block) || !text.exists()) return;  // reported by the check
  glue("let $said: String = ");
  copy(text);
  glue(
      "\nlet $seen = Context::new()\nlet $entries = ctx.entries()\nlet $last = -1\n"
      "for $at in 0..$entries.len() {\n"
      "if $entries[$at].role == \"user\" && $entries[$at].text == input { $last = $at }\n}\n"
      "for $at in 0..$entries.len() {\n"
      "$seen.inject_as($entries[$at].role, if $at == $last { $said } else { $entries[$at].text })\n}\n"
      "ctx = $seen\ninput = $said\n"
      "state.$blocks_entry.edits.insert(($messages - 1).to_string(), $said)\n");
}

/// Messages are counted from the start of the conversation. The dropped messages, the calls of a core loop before or
/// between them, and the previous summary become the new summary. Pinned messages and all others are kept; after a turn
/// whose prompt did not fit, only the newest message.
/// The note of that turn is before the newest message; the same text after it is only data.
void BlockLowering::compress_arm(const Block& block) {
  if (is_nested(block)) return;  // reported by the check
  glue(
      fmt::format("let $has_note = false\nlet $is_full = false\n"
                  "for entry in ctx.entries() {{\n"
                  "if entry.role == \"assistant\" {{ $has_note = false }}\n"
                  "if entry.role == \"data\" && entry.text == {} {{ $has_note = true }}\n"
                  "if entry.role == \"user\" {{ $is_full = $has_note }}\n}}\n"
                  "let $keep: i32 = ",
                  quoted(left_out_entry)));
  copy_or(option(block, "keep"), "10");
  glue(
      "\nif $is_full { $keep = 1 }\n"
      "let $first_kept = $messages - $keep\n"
      "if $first_kept > state.$blocks_entry.dropped {\n"
      "let $number = state.$blocks_entry.dropped\nlet $older: List<String> = []\n"
      "for entry in ctx.entries() {\n"
      "if entry.role == \"user\" || entry.role == \"assistant\" {\n"
      "if $number < $first_kept { $older.push(entry.text) }\n$number += 1\n}\n}\n");
  glue("let $pinned: List<String> = ");
  if (const NodeId pinned = option(block, "pinned"); pinned.exists()) {
    glue("$older.filter(");
    copy(pinned);
    glue(")\n");
  } else {
    glue("[]\n");
  }
  glue(
      "let $seen = Context::new()\nlet $rest = Context::new()\nlet $gone = Context::new()\n"
      "if state.$blocks_entry.summary != \"\" { $gone.inject(state.$blocks_entry.summary) }\n"
      "$number = state.$blocks_entry.dropped\nlet $at = 0\n"
      "for entry in ctx.entries() {\n"
      "if entry.role == \"user\" || entry.role == \"assistant\" {\n"
      "while $number <= $first_kept && $at < state.$blocks_entry.kept.len() && "
      "state.$blocks_entry.kept_at[$at] <= $number {\n"
      "$gone.inject(state.$blocks_entry.kept[$at])\n$at += 1\n}\n"
      "if $number >= $first_kept { $rest.inject_as(entry.role, entry.text) }\n"
      "else if !$pinned.contains(entry.text) { $gone.inject_as(entry.role, entry.text) }\n"
      "$number += 1\n"
      "} else if entry.role == \"system\" { $seen.inject_as(entry.role, entry.text) }\n"
      "else if $number > state.$blocks_entry.dropped { $rest.inject_as(entry.role, entry.text) }\n"
      "}\n"
      "state.$blocks_entry.kept = state.$blocks_entry.kept.slice($at, state.$blocks_entry.kept.len())\n"
      "state.$blocks_entry.kept_at = state.$blocks_entry.kept_at.slice($at, state.$blocks_entry.kept_at.len())\n"
      "state.$blocks_entry.pinned = state.$blocks_entry.pinned + $pinned\n"
      "state.$blocks_entry.summary = ");
  function_name(block, "parts");
  glue("($gone, input");
  variables_as_arguments();
  glue(
      ")\nstate.$blocks_entry.dropped = $first_kept\n"
      "$seen.inject(state.$blocks_entry.summary)\n"
      "for text in state.$blocks_entry.pinned { $seen.inject(text) }\n"
      "for entry in $rest.entries() { $seen.inject_as(entry.role, entry.text) }\n"
      "ctx = $seen\n}\n");
}

}  // namespace tenon::blocks
