#include "vm/values/context.h"

#include <algorithm>

#include "base/ensure.h"

namespace tenon::vm {
namespace {

ContextBuffer* prefix_copy(const ContextBuffer& buffer, std::uint32_t length) {
  auto* const copy = new ContextBuffer;
  if (length > 0) {
    copy->ends.assign(buffer.ends.begin(), buffer.ends.begin() + length);
    copy->text.assign(buffer.text, 0, copy->ends.back());
  }
  return copy;
}

/// Gives the node, and those before it that have none, a buffer.
void make_text(ContextNode& newest) {
  std::vector<ContextNode*> missing;
  ContextNode* node = &newest;
  for (; node->buffer == nullptr && node->length > 0; node = node->parent) missing.push_back(node);
  if (missing.empty()) return;
  ContextBuffer* buffer = node->buffer;
  if (buffer == nullptr) {
    buffer = new ContextBuffer;
  } else if (buffer->ends.size() != node->length) {
    buffer = prefix_copy(*buffer, node->length);
  }
  for (auto at = missing.rbegin(); at != missing.rend(); ++at) {
    if (!buffer->ends.empty()) buffer->text += '\n';
    buffer->text += (*at)->entry.as_text();
    buffer->ends.push_back(static_cast<std::uint32_t>(buffer->text.size()));
    (*at)->buffer = buffer;
    ++buffer->references;
  }
}

}  // namespace

bool push_entry(Value& context, Value entry, LabelTable& labels, std::uint8_t role, LabelId count) {
  ContextNode& parent = node_of(context);
  const std::uint64_t text_bytes = parent.text_bytes + (parent.length > 0 ? 1 : 0) + entry.as_text().size();
  if (text_bytes > text_bytes_max) return false;
  auto* const node = new ContextNode;
  node->label = labels.join(labels.join(parent.label, entry.label()), count);
  node->count_label = labels.join(parent.count_label, count);
  node->length = parent.length + 1;
  node->text_bytes = text_bytes;
  node->entry = std::move(entry);
  node->role = role;
  node->has_roles = parent.has_roles || role != 0;
  const LabelId label = context.label();
  node->parent = static_cast<ContextNode*>(context.forget_counted());
  context = Value::adopt(Tag::Context, node);
  context.set_label(label);
  return true;
}

std::string_view context_text(const Value& context) {
  ContextNode& node = node_of(context);
  if (node.length == 0) return {};
  make_text(node);
  return std::string_view(node.buffer->text).substr(0, node.buffer->ends[node.length - 1]);
}

std::vector<std::uint32_t> context_entry_ends(const Value& context) {
  ContextNode& node = node_of(context);
  if (node.length == 0) return {};
  make_text(node);
  std::vector<std::uint32_t> ends(node.buffer->ends.begin(), node.buffer->ends.begin() + node.length);
  for (std::size_t i = 0; i + 1 < ends.size(); ++i) ++ends[i];
  return ends;
}

std::uint32_t context_length(const Value& context) {
  return node_of(context).length;
}

std::vector<bool> context_data_entries(const Value& context) {
  std::vector<bool> has_data(context_length(context));
  std::size_t at = has_data.size();
  for (const ContextNode* node = &node_of(context); node->length > 0; node = node->parent) {
    has_data[--at] = node->role == 0 && node->entry.label() != LabelTable::program_text;
  }
  return has_data;
}

LabelId context_label(const Value& context, LabelTable& labels) {
  return labels.join(context.label(), node_of(context).label);
}

LabelId context_count_label(const Value& context, LabelTable& labels) {
  return labels.join(context.label(), node_of(context).count_label);
}

Value trusted_context(const Value& context, LabelTable& labels, const std::function<bool(LabelId)>& is_trusted) {
  ContextNode* const newest = &node_of(context);
  if (is_trusted(newest->label)) return context;
  std::vector<const ContextNode*> kept;
  ContextNode* shared = newest;
  for (; shared->length > 0 && !is_trusted(shared->label); shared = shared->parent) {
    if (is_trusted(shared->entry.label())) kept.push_back(shared);
  }
  LabelId count;
  const std::span<const std::uint32_t> known = labels.sources_of(newest->count_label);
  for (const std::uint32_t source : std::vector(known.begin(), known.end())) {
    const LabelId label = labels.intern(Source(labels.sources()[source]));
    if (is_trusted(label)) count = labels.join(count, label);
  }
  Value owner = Value::adopt(Tag::Context, shared);
  Value trusted = owner;
  static_cast<void>(owner.forget_counted());
  for (auto node = kept.rbegin(); node != kept.rend(); ++node) {
    // It is not longer than the context is.
    ENSURE(push_entry(trusted, (*node)->entry, labels, (*node)->role, count));
  }
  trusted.set_label(context.label());
  return trusted;
}

const Value* newest_entry(const Value& context, std::uint8_t role) {
  const ContextNode* node = &node_of(context);
  while (node->length > 0 && node->role != role) node = node->parent;
  return node->length > 0 ? &node->entry : nullptr;
}

std::vector<Value> context_entries(const Value& context) {
  std::vector<Value> entries;
  entries.reserve(context_length(context));
  for (const ContextNode* node = &node_of(context); node->length > 0; node = node->parent) {
    entries.push_back(node->entry);
  }
  std::ranges::reverse(entries);
  return entries;
}

std::vector<ContextRun> context_runs(const Value& context) {
  const ContextNode* node = &node_of(context);
  if (!node->has_roles) return {{0, node->length}};
  std::vector<ContextRun> runs;
  for (; node->length > 0; node = node->parent) {
    if (runs.empty() || runs.back().role != node->role) runs.push_back({node->role, 0});
    ++runs.back().entries;
  }
  std::ranges::reverse(runs);
  return runs;
}

void release_buffer(ContextNode& node) noexcept {
  ContextBuffer* const buffer = std::exchange(node.buffer, nullptr);
  if (buffer == nullptr) return;
  if (--buffer->references == 0) {
    delete buffer;
  } else if (buffer->ends.size() == node.length) {
    buffer->ends.pop_back();
    buffer->text.resize(buffer->ends.empty() ? 0 : buffer->ends.back());
  }
}

}  // namespace tenon::vm
