// for_each and parallel: nested sequences, which run on copies of the state and return what they change.

#include <fmt/format.h>

#include "blocks/block_lowering.h"

namespace tenon::blocks {

using syntax::NodeId;
using syntax::NodeKind;

void BlockLowering::nested_function(const Block& block, const Sequence& sequence, std::string_view suffix,
                                    const std::vector<WrittenField>& results, NodeId value, NodeId value_type) {
  function_head(block, suffix);
  glue(" -> (");
  if (value.exists()) {
    copy(value_type, Names::Kept);
    glue(", ");
  }
  for (const WrittenField& field : results) {
    copy(field.type, Names::Kept);
    glue(", ");
  }
  glue("i32, List<String>) {\nlet $sent = state.$blocks_entry.said.len()\nstate.$blocks_entry.shown = $sent\n");
  if (!sequence.blocks.empty()) {
    glue(fmt::format("let $next_block = {}\n", quoted(sequence.blocks.front().name)));
    write_sequence(sequence, sequence.blocks.front().path.substr(0, sequence.blocks.front().path.rfind('/') + 1),
                   Place::Nested);
  }
  glue("(");
  if (value.exists()) {
    copy(value);
    glue(", ");
  }
  for (const WrittenField& field : results) {
    glue(state_place(field.owner, field.name) + ", ");
  }
  // A tuple has at least two items.
  glue("0, state.$blocks_entry.said.slice($sent, state.$blocks_entry.said.len()))\n}\n");
}

void BlockLowering::for_each(const Block& block) {
  if (!block.item.exists() || !tree_.first(block.item).exists() || block.nested.empty()) return;
  items_.push_back(block.item);
  const NodeId gather = option(block, "gather");
  const Destination to = destination(block);
  const NodeId value_type = item_type(tree_, to.type);
  const bool has_value = gather.exists() && value_type.exists();
  nested_function(block, block.nested.front(), "item", {}, has_value ? gather : NodeId{}, value_type);
  write_functions(block.nested.front(), Place::Nested);
  items_.pop_back();
  out_.set_origin(tree_.main_span(block.node));
}

void BlockLowering::for_each_arm(const Block& block) {
  if (!block.item.exists() || block.nested.empty()) return;
  const NodeId list = tree_.find_child(block.item, 1);
  const NodeId limit = option(block, "parallel");
  const Destination to = destination(block);
  const bool has_value = option(block, "gather").exists() && item_type(tree_, to.type).exists();
  glue("let $gathered = for ");
  glue(tree_.main_text(block.item));
  glue(" in (");
  if (list.exists()) copy(list);
  glue(") parallel(");
  if (limit.exists()) {
    copy(limit);
  } else {
    glue("1");
  }
  glue(") {\n");
  items_.push_back(block.item);
  if (list.exists()) out_.set_origin(tree_.span(list));
  function_call(block, "item");
  out_.set_origin(tree_.main_span(block.node));
  items_.pop_back();
  glue("\n}\n");
  glue(fmt::format("for result in $gathered {{ for text in result.{} {{ state.$blocks_entry.said.push(text) }} }}\n",
                   has_value ? 2 : 1));
  if (!has_value) return;
  copy(to.place);
  glue(to.is_optional ? " = Some($gathered.map(|result| result.0))\n" : " = $gathered.map(|result| result.0)\n");
}

void BlockLowering::parallel(const Block& block) {
  for (const Sequence& branch : block.nested) {
    out_.set_origin(tree_.main_span(branch.node));
    nested_function(block, branch, branch.name, find_written(tree_, agent_, branch), {}, {});
    write_functions(branch, Place::Nested);
  }
  out_.set_origin(tree_.main_span(block.node));
}

void BlockLowering::parallel_arm(const Block& block) {
  if (block.nested.empty()) return;
  glue("let $branches = parallel {\n");
  for (const Sequence& branch : block.nested) {
    glue(branch.name + " = ");
    function_call(block, branch.name);
    glue("\n");
  }
  glue("}\n");
  for (const Sequence& branch : block.nested) {
    std::size_t at = 0;
    for (const WrittenField& field : find_written(tree_, agent_, branch)) {
      glue(fmt::format("{} = $branches.{}.{}\n", state_place(field.owner, field.name), branch.name, at++));
    }
    glue(fmt::format("for text in $branches.{}.{} {{ state.$blocks_entry.said.push(text) }}\n", branch.name, at + 1));
  }
}

}  // namespace tenon::blocks
