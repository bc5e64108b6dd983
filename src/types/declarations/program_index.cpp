#include "types/declarations/program_index.h"

namespace tenon::types {

using syntax::NodeId;
using syntax::NodeKind;

ProgramIndex::ProgramIndex(const CheckedProgram& program, Strictness strictness)
    : program_(program), strictness_(strictness), types_(program.types.extent()) {
  cases_.add_all(program.types);
  if (program.tests.empty()) return;
  for (const Module& module : program.modules) {
    const syntax::SyntaxTree& tree = *module.tree;
    for (std::uint32_t at = 0; at < tree.nodes.size(); ++at) {
      const NodeId entry{at};
      const bool has_name = tree.kind(entry) == NodeKind::ToolEntry || tree.kind(entry) == NodeKind::PursueAction;
      if (has_name && tree.first(entry).exists()) tool_names_.insert(tree.main_text(entry));
    }
  }
}

}  // namespace tenon::types
