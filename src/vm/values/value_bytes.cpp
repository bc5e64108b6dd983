#include "vm/values/value_bytes.h"

#include <string>

#include "vm/values/context.h"

namespace tenon::vm {
namespace {

/// What a text takes beyond its object.
std::size_t bytes_of(const std::string& text) {
  return text.capacity() >= sizeof(std::string) ? text.capacity() : 0;
}

}  // namespace

void ValueBytes::add(const Value& value) {
  visit(value);
  while (!waiting_.empty()) {
    const Value* const next = waiting_.back();
    waiting_.pop_back();
    add_object(*next);
  }
}

void ValueBytes::visit(const Value& value) {
  if (!value.is_object() || value.object() == nullptr) return;
  const Object& object = *value.object();
  if (object.references == Object::immortal) return;
  if (object.is_shared() && !shared_.insert(&object).second) return;
  waiting_.push_back(&value);
}

void ValueBytes::add_object(const Value& value) {
  switch (value.tag()) {
    case Tag::String: {
      const TextObject& text = text_of(value);
      bytes_ += sizeof text + bytes_of(text.bytes);
      if (text.spans) bytes_ += text.spans->capacity() * sizeof(TextSpan);
      break;
    }
    case Tag::Secret:
      bytes_ += sizeof(SecretObject) + bytes_of(secret_of(value).origin) + bytes_of(secret_of(value).sealed);
      break;
    case Tag::List: {
      const ListObject& list = list_of(value);
      bytes_ += sizeof list + list.items.capacity() * sizeof(Value);
      for (const Value& item : list.items) visit(item);
      break;
    }
    case Tag::Map: {
      const MapObject& map = map_of(value);
      bytes_ += sizeof map + map.slots.capacity() * (sizeof(MapEntry) + sizeof(std::uint32_t));
      for (const MapEntry& entry : map.slots) {
        visit(entry.key);
        visit(entry.value);
      }
      break;
    }
    case Tag::Record:
    case Tag::Variant: {
      const FieldsObject& object = fields_of(value);
      bytes_ += sizeof object + object.count * sizeof(Value);
      for (const Value& field : object.fields()) visit(field);
      break;
    }
    case Tag::Context:
      // The nodes before it belong to this chain alone up to the first shared one.
      for (const ContextNode* node = &node_of(value); node != nullptr; node = node->parent) {
        const bool is_first = node == &node_of(value);
        if (node->references == Object::immortal) break;
        if (!is_first && node->is_shared() && !shared_.insert(node).second) break;
        // The text of the chain is shared by its nodes, and about as long as that of the newest.
        bytes_ += sizeof *node + (is_first && node->buffer != nullptr ? node->text_bytes : 0);
        visit(node->entry);
      }
      break;
    case Tag::Unit:
    case Tag::Boolean:
    case Tag::Integer:
    case Tag::Float:
    case Tag::Case:
      break;
  }
}

}  // namespace tenon::vm
