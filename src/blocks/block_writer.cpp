#include "blocks/block_writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "blocks/agent_needs.h"

namespace tenon::blocks {

using syntax::NodeId;
using syntax::NodeKind;

/// The `///` of the node, on separate lines.
void BlockWriter::documentation(NodeId node) {
  const std::string words = tree_.documentation(node);
  for (std::size_t begin = 0; begin < words.size();) {
    const std::size_t end = std::min(words.find('\n', begin), words.size());
    out_.glue_as_is(fmt::format("/// {}\n", std::string_view(words).substr(begin, end - begin)));
    begin = end + 1;
  }
}

void BlockWriter::copy_or(NodeId node, std::string_view fallback) {
  if (node.exists()) return copy(node);
  glue(fallback);
}

void BlockWriter::inject(NodeId text) {
  if (!text.exists()) return;
  copy(text);
  glue("!\n");
}

void BlockWriter::next(const Block& block) {
  if (!block.next.exists()) return glue("\"\"");
  out_.set_origin(tree_.main_span(block.next));
  glue(quoted(tree_.main_text(block.next)));
  out_.set_origin(tree_.main_span(block.node));
}

/// Whether the name refers to something else in blocks: a declaration of the file, a method of contexts, a variable, or
/// a function that blocks use.
bool BlockWriter::is_name_taken(const Block& block) const {
  const std::string_view name = block.name;
  if (name == "ctx" || name == "input" || name == "state" || name == "emit" || name == "turn") return true;
  if (name == "judged") return find_needs(tree_, agent_).judgement;
  return out_.is_declared(block.name) || is_context_method(name);
}

void BlockWriter::function_name(const Block& block, std::string_view suffix) {
  if (suffix.empty() && is_name_taken(block)) suffix = "block";
  glue(suffix.empty()
           ? block.name
           : out_.own_name(block.path + ":" + std::string(suffix), fmt::format("{}_{}", block.name, suffix)));
}

void BlockWriter::function_head(const Block& block, std::string_view suffix, std::string_view parameters) {
  if (suffix.empty()) documentation(block.node);
  glue("fn ");
  if (suffix.empty() && !is_name_taken(block)) {
    out_.copy(tree_[block.node].main_token);
  } else {
    function_name(block, suffix);
  }
  glue("(ctx: Context, input: String");
  variables_as_parameters();
  glue(parameters);
  glue(")");
}

void BlockWriter::function_call(const Block& block, std::string_view suffix, std::string_view arguments) {
  function_name(block, suffix);
  glue("(ctx, input");
  variables_as_arguments();
  glue(arguments);
  glue(")");
}

void BlockWriter::variables_as_parameters() {
  for (const NodeId item : items_) {
    glue(", ");
    out_.copy(tree_[item].main_token);
    glue(": ");
    copy(tree_.first(item), Names::Kept);
  }
}

void BlockWriter::variables_as_arguments() {
  for (const NodeId item : items_) {
    glue(", ");
    glue(tree_.main_text(item));
  }
}

void BlockWriter::begin_deliver(const Destination& destination, Given given) {
  if (!destination.place.exists()) return glue("$emit_text(");
  copy(destination.place);
  const std::string_view optional = given == Given::ByCall ? " = Option::from(" : " = Some(";
  glue(destination.is_optional ? optional : " = (");
}

void BlockWriter::end_deliver() {
  glue(")\n");
}

void BlockWriter::type_of(const Destination& destination) {
  if (destination.type.exists()) {
    copy(destination.type, Names::Kept);
  } else {
    glue("String");
  }
}

BlockWriter::Destination BlockWriter::destination(const Block& block) const {
  Destination found;
  found.place = option(block, "into");
  if (!found.place.exists()) return found;
  const auto named = find_field_name(tree_, found.place);
  if (!named || !named->is_whole) return found;
  const NodeId field = find_field(tree_, agent_, *named);
  if (!field.exists()) return found;
  found.type = tree_.first(field);
  if (!found.type.exists()) return found;
  const NodeId value = without_option(tree_, found.type);
  found.is_optional = value != found.type;
  found.type = value;
  return found;
}

}  // namespace tenon::blocks
