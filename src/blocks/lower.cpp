#include "blocks/lower.h"

#include <algorithm>

#include "blocks/agent_lowering.h"
#include "blocks/check.h"
#include "syntax/parse.h"

namespace tenon::blocks {

using syntax::NodeId;
using syntax::NodeKind;

std::optional<Lowered> lower(const syntax::SyntaxTree& written, source::SourceFile& file,
                             diagnostics::Diagnostics& diagnostics) {
  std::vector<NodeId> found;
  for (const NodeId item : written.children(written.root, NodeKind::AgentItem)) {
    if (is_block_agent(written, item)) found.push_back(item);
  }
  if (found.empty()) return std::nullopt;
  LoweredText out(written);
  const auto is_report = [&](const syntax::Node& node) {
    if (node.kind != NodeKind::BlockItem) return false;
    const auto kind = written.find_block_kind(NodeId{static_cast<std::uint32_t>(&node - written.nodes.data())});
    return kind && written.text(*kind) == "report";
  };
  if (const auto at = std::find_if(written.nodes.begin(), written.nodes.end(), is_report); at != written.nodes.end()) {
    out.set_origin(written.main_span(NodeId{static_cast<std::uint32_t>(at - written.nodes.begin())}));
    out.use_reports();
  }
  syntax::TokenIndex at = 0;
  for (const NodeId item : found) {
    const BlockAgent agent = read_agent(written, item);
    check(written, agent, diagnostics);
    out.copy_written(at, written[item].first_token);
    AgentLowering(written, agent, out).write();
    at = written[item].end_token;
  }
  out.copy_written(at, static_cast<syntax::TokenIndex>(written.tokens.size()));
  const source::SourceFile lowered(file.id(), file.path(), out.text());
  // Damaged parts have been reported at their locations.
  diagnostics::Diagnostics ignored;
  syntax::SyntaxTree parsed = syntax::parse(lowered, ignored);
  Lowered result{out.place(std::move(parsed), file), out.text()};
  if (ignored.has_errors() && !diagnostics.has_errors()) {
    for (const diagnostics::Diagnostic& diagnostic : ignored.all()) {
      diagnostics::Diagnostic moved = diagnostic;
      moved.span = result.tree.anchors.empty() ? source::Span{} : result.tree.anchors.front().origin;
      diagnostics.add(moved);
    }
  }
  return result;
}

}  // namespace tenon::blocks
