#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/sha256.h"
#include "vm/values/object.h"
#include "vm/values/value.h"

namespace tenon::vm {

/// The text of a chain of context entries, to which newer nodes of the chain add in place.
struct ContextBuffer {
  std::uint32_t references = 0;
  std::string text;                 ///< entries joined by newlines
  std::vector<std::uint32_t> ends;  ///< where each entry ends, its newline not counted
};

/// One entry of a context and, through `parent`, all entries before it. Contexts share their nodes: an injection
/// makes one node and changes none. The text of the chain is made when it is needed.
struct ContextNode : Object {
  ContextNode() : Object(Tag::Context) {}

  ContextNode* parent = nullptr;  ///< counted; null for the empty context
  Value entry;                    ///< String; () of the empty context
  LabelId label;                  ///< the join of all entries up to here, and of `count_label`
  std::uint32_t length = 0;       ///< entries up to here
  std::uint64_t text_bytes = 0;   ///< of the text up to here
  std::uint8_t role = 0;          ///< whose words the entry is: a bytecode::EntryRole
  bool has_roles = false;         ///< an entry up to here is more than program text and data
  /// Of what has decided, before the run, which entries there are up to here. An entry that may be missing has it, too.
  LabelId count_label;
  ContextBuffer* buffer = nullptr;
  std::unique_ptr<Hash> hash;  ///< made when it is needed
  bool is_recorded = false;    ///< the journal has it, and with it all before it
};

[[nodiscard]] inline ContextNode& node_of(const Value& context) {
  return *static_cast<ContextNode*>(context.object());
}

/// The context with one more entry, a String. All that `context` holds is shared. False, and nothing done, when the
/// text would be longer than text_bytes_max. `count`: joins ContextNode::count_label.
[[nodiscard]] bool push_entry(Value& context, Value entry, LabelTable& labels, std::uint8_t role = 0,
                              LabelId count = {});

/// Entries that follow one another with the same role.
struct ContextRun {
  std::uint8_t role = 0;
  std::uint32_t entries = 0;
};
/// Oldest first; one run of role 0 if no entry has another role.
[[nodiscard]] std::vector<ContextRun> context_runs(const Value& context);

/// What a model would be sent: the entries, joined by newlines. Takes time for what was pushed since the chain was
/// asked last. Valid until the next `context_text` of any context of the run, and while the context lives.
[[nodiscard]] std::string_view context_text(const Value& context);
/// Byte offsets in the text at which each entry ends, with its newline where one follows.
[[nodiscard]] std::vector<std::uint32_t> context_entry_ends(const Value& context);
[[nodiscard]] std::uint32_t context_length(const Value& context);
/// For each entry, oldest first: whether the program injected it and data from outside of the program is in it.
[[nodiscard]] std::vector<bool> context_data_entries(const Value& context);
/// The join of the value's own label and its entries'.
[[nodiscard]] LabelId context_label(const Value& context, LabelTable& labels);
/// Of what has decided how many entries there are.
[[nodiscard]] LabelId context_count_label(const Value& context, LabelTable& labels);
/// The context without the entries for whose labels `is_trusted` does not hold, and without such labels of what has
/// decided, before the run, which entries there are: so it does not depend on any of that. Has the value's own label.
[[nodiscard]] Value trusted_context(const Value& context, LabelTable& labels,
                                    const std::function<bool(LabelId)>& is_trusted);
/// The newest entry of the role, or null. Valid while the context lives.
[[nodiscard]] const Value* newest_entry(const Value& context, std::uint8_t role);
/// The entries, oldest first.
[[nodiscard]] std::vector<Value> context_entries(const Value& context);

/// Names the context by what a model sees of it: the SHA-256 of the newest node's message (base/wire.h) of 1 the hash
/// of the node before it (absent in the first), 2 the role, 3 the text. Labels play no part. Takes time for what was
/// pushed since the chain was asked last.
[[nodiscard]] Hash context_hash(const Value& context);

/// A context's node as it is kept under its hash.
struct RecordedNode {
  Hash hash;
  std::string bytes;
  Hash parent;  ///< of the node before it; zero in the first
};
/// The nodes that are not recorded yet, oldest first; from now on they are.
[[nodiscard]] std::vector<RecordedNode> take_unrecorded(const Value& context);
/// The inverse of RecordedNode::bytes; false when they are not those of a node.
[[nodiscard]] bool read_recorded_node(std::string_view bytes, Hash& parent, std::uint8_t& role, std::string& text);

/// Frees the node's hold on its text; the text is cut back to the parent's when the node was its newest.
void release_buffer(ContextNode& node) noexcept;

}  // namespace tenon::vm
