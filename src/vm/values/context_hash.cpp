#include "base/ensure.h"
#include "base/wire.h"
#include "bytecode/program.h"
#include "vm/values/context.h"

namespace tenon::vm {
namespace {

enum : std::uint32_t { field_parent = 1, field_role = 2, field_text = 3 };

std::string node_bytes(const ContextNode& node) {
  wire::Writer out;
  const ContextNode& parent = *node.parent;
  if (parent.length > 0) out.present_field(field_parent, parent.hash->view());
  out.field(field_role, std::uint64_t{node.role});
  out.present_field(field_text, node.entry.as_text());
  return out.take();
}

const Hash& hash_of(ContextNode& newest) {
  std::vector<ContextNode*> missing;
  for (ContextNode* node = &newest; node != nullptr && !node->hash; node = node->parent) missing.push_back(node);
  for (auto node = missing.rbegin(); node != missing.rend(); ++node) {
    (*node)->hash = std::make_unique<Hash>(sha256((*node)->length == 0 ? std::string() : node_bytes(**node)));
  }
  return *newest.hash;
}

}  // namespace

Hash context_hash(const Value& context) {
  return hash_of(node_of(context));
}

std::vector<RecordedNode> take_unrecorded(const Value& context) {
  hash_of(node_of(context));
  std::vector<ContextNode*> missing;
  for (ContextNode* node = &node_of(context); node->length > 0 && !node->is_recorded; node = node->parent) {
    missing.push_back(node);
  }
  std::vector<RecordedNode> nodes;
  nodes.reserve(missing.size());
  for (auto at = missing.rbegin(); at != missing.rend(); ++at) {
    ContextNode& node = **at;
    node.is_recorded = true;
    nodes.push_back({*node.hash, node_bytes(node), node.parent->length > 0 ? *node.parent->hash : Hash{}});
  }
  return nodes;
}

bool read_recorded_node(std::string_view bytes, Hash& parent, std::uint8_t& role, std::string& text) {
  wire::Reader in(bytes);
  parent = {};
  role = 0;
  text.clear();
  while (in.next_field()) {
    switch (in.number()) {
      case field_parent: {
        const auto hash = Hash::from_bytes(in.bytes_value());
        if (!hash) return false;
        parent = *hash;
        break;
      }
      case field_role:
        role = static_cast<std::uint8_t>(in.value_up_to(bytecode::entry_role_count - 1));
        break;
      case field_text:
        text = in.bytes_value();
        break;
      default:
        return false;
    }
  }
  return in.is_good();
}

}  // namespace tenon::vm
