#include "vm/values/value.h"

#include <unordered_set>

#include "base/ensure.h"
#include "vm/values/context.h"
#include "vm/values/object.h"
#include "vm/values/text.h"

namespace tenon::vm {
namespace {

/// Releases a value's reference; adds the object to `dying` if it was the last.
void let_go(Value& value, std::vector<Object*>& dying) {
  if (!value.is_object()) return;
  Object* const object = value.forget_counted();
  if (object->references != Object::immortal && --object->references == 0) dying.push_back(object);
}

/// Frees one object; adds those that only it referred to to `dying`.
void free_object(Object* object, std::vector<Object*>& dying) {
  switch (object->tag) {
    case Tag::String:
      delete static_cast<TextObject*>(object);
      return;
    case Tag::Secret:
      delete static_cast<SecretObject*>(object);
      return;
    case Tag::List: {
      auto* const list = static_cast<ListObject*>(object);
      for (Value& item : list->items) let_go(item, dying);
      delete list;
      return;
    }
    case Tag::Map: {
      auto* const map = static_cast<MapObject*>(object);
      for (MapEntry& entry : map->slots) {
        let_go(entry.key, dying);
        let_go(entry.value, dying);
      }
      delete map;
      return;
    }
    case Tag::Record:
    case Tag::Variant: {
      auto* const record = static_cast<FieldsObject*>(object);
      for (Value& field : record->fields()) let_go(field, dying);
      FieldsObject::free(record);
      return;
    }
    case Tag::Context: {
      auto* const node = static_cast<ContextNode*>(object);
      release_buffer(*node);
      let_go(node->entry, dying);
      ContextNode* const parent = std::exchange(node->parent, nullptr);
      if (parent != nullptr && --parent->references == 0) dying.push_back(parent);
      delete node;
      return;
    }
    case Tag::Unit:
    case Tag::Boolean:
    case Tag::Integer:
    case Tag::Float:
    case Tag::Case:
      break;
  }
  ENSURE(false);
}

struct PairHash {
  std::size_t operator()(const std::pair<const Object*, const Object*>& pair) const {
    const std::hash<const Object*> hash;
    return hash(pair.first) * 0x9E3779B97F4A7C15ULL ^ hash(pair.second);
  }
};

/// Compares values pair by pair. A pair of shared objects is visited once: values are acyclic, so it can be assumed to
/// be equal until a difference is found elsewhere in it.
class Comparison {
 public:
  bool run(const Value& a, const Value& b) {
    pending_.push_back({&a, &b});
    while (!pending_.empty()) {
      const auto [left, right] = pending_.back();
      pending_.pop_back();
      if (!compare(*left, *right)) return false;
    }
    return true;
  }

 private:
  bool compare(const Value& a, const Value& b) {
    if (a.tag() != b.tag()) return false;
    if (!a.is_object()) {
      if (a.tag() == Tag::Float) return a.as_float() == b.as_float();
      return a.bits() == b.bits();
    }
    if (a.tag() == Tag::String) return a.object() == b.object() || text_of(a).bytes == text_of(b).bytes;
    if (a.object()->is_shared() && b.object()->is_shared() && !seen_.emplace(a.object(), b.object()).second)
      return true;
    switch (a.tag()) {
      case Tag::List:
        return push_all(list_of(a).items, list_of(b).items);
      case Tag::Map:
        return compare_maps(map_of(a), map_of(b));
      case Tag::Record:
      case Tag::Variant:
        return fields_of(a).type == fields_of(b).type && fields_of(a).case_index == fields_of(b).case_index &&
               push_all(fields_of(a).fields(), fields_of(b).fields());
      case Tag::Context:
        return compare_contexts(node_of(a), node_of(b));
      case Tag::Secret:
        // A secret that was encrypted elsewhere is different, whatever its content: comparing must not reveal anything.
        return secret_of(a).origin == secret_of(b).origin && secret_of(a).sealed == secret_of(b).sealed;
      case Tag::Unit:
      case Tag::Boolean:
      case Tag::Integer:
      case Tag::Float:
      case Tag::Case:
      case Tag::String:
        break;
    }
    ENSURE(false);
  }

  bool push_all(std::span<const Value> a, std::span<const Value> b) {
    if (a.size() != b.size()) return false;
    // From the back, so that the first items are compared first.
    for (std::size_t i = a.size(); i-- > 0;) pending_.push_back({&a[i], &b[i]});
    return true;
  }

  /// The insertion order affects how a map is shown, but not its identity.
  bool compare_maps(const MapObject& a, const MapObject& b) {
    if (a.live != b.live) return false;
    for (const MapEntry& entry : a.slots) {
      if (entry.key.tag() == Tag::Unit) continue;
      const std::uint32_t slot = b.find(text_of(entry.key).bytes);
      if (slot == MapObject::no_slot) return false;
      pending_.push_back({&entry.value, &b.slots[slot].value});
    }
    return true;
  }

  static bool compare_contexts(const ContextNode& a, const ContextNode& b) {
    if (a.length != b.length || a.text_bytes != b.text_bytes) return false;
    const ContextNode* left = &a;
    const ContextNode* right = &b;
    for (; left != right && left->length > 0; left = left->parent, right = right->parent) {
      if (left->role != right->role || text_of(left->entry).bytes != text_of(right->entry).bytes) return false;
    }
    return true;
  }

  std::vector<std::pair<const Value*, const Value*>> pending_;
  std::unordered_set<std::pair<const Object*, const Object*>, PairHash> seen_;
};

}  // namespace

std::string_view tag_name(Tag tag) {
  switch (tag) {
    case Tag::Unit:
      return "()";
    case Tag::Boolean:
      return "Boolean";
    case Tag::Integer:
      return "integer";
    case Tag::Float:
      return "f64";
    case Tag::Case:
      return "case";
    case Tag::String:
      return "String";
    case Tag::List:
      return "list";
    case Tag::Map:
      return "map";
    case Tag::Record:
      return "record";
    case Tag::Variant:
      return "variant";
    case Tag::Context:
      return "Context";
    case Tag::Secret:
      return "secret";
  }
  return "?";
}

Result<Value, TextError> Value::try_string(std::string bytes) {
  if (bytes.size() > text_bytes_max) return tenon::failure(TextError{TextError::Kind::TooLong, text_bytes_max});
  const std::size_t offset = find_invalid_utf8(bytes);
  if (offset != std::string_view::npos) return tenon::failure(TextError{TextError::Kind::NotUtf8, offset});
  return adopt(Tag::String, new TextObject(std::move(bytes)));
}

Value Value::string(std::string bytes) {
  ENSURE(bytes.size() <= text_bytes_max);
  return adopt(Tag::String, new TextObject(std::move(bytes)));
}

Value Value::secret(std::string origin, std::string sealed) {
  return adopt(Tag::Secret, new SecretObject(std::move(origin), std::move(sealed)));
}

Value Value::list(std::vector<Value> items) {
  return adopt(Tag::List, new ListObject(std::move(items)));
}

Value Value::map(std::vector<std::pair<Value, Value>> entries) {
  auto* const object = new MapObject;
  Value map = adopt(Tag::Map, object);
  for (auto& [key, value] : entries) {
    ENSURE(key.tag() == Tag::String);
    object->set(std::move(key), std::move(value));
  }
  return map;
}

Value Value::record(types::TypeId type, std::vector<Value> fields) {
  auto* const object = FieldsObject::create(Tag::Record, type, 0, static_cast<std::uint32_t>(fields.size()));
  for (std::size_t i = 0; i < fields.size(); ++i) object->data()[i].swap(fields[i]);
  return adopt(Tag::Record, object);
}

Value Value::variant(types::TypeId type, std::uint32_t index, std::vector<Value> payload) {
  ENSURE(!payload.empty());
  auto* const object = FieldsObject::create(Tag::Variant, type, index, static_cast<std::uint32_t>(payload.size()));
  for (std::size_t i = 0; i < payload.size(); ++i) object->data()[i].swap(payload[i]);
  return adopt(Tag::Variant, object);
}

namespace {

/// A case of an Option or a Result that holds one value.
Value make_holder(types::TypeId type, std::uint32_t index, Value& held) {
  auto* const object = FieldsObject::create(Tag::Variant, type, index, 1);
  object->data()->swap(held);
  return Value::adopt(Tag::Variant, object);
}

}  // namespace

Value Value::some(Value value) {
  return make_holder(types::TypeTable::any_option, 1, value);
}

Value Value::ok(Value value) {
  return make_holder(types::TypeTable::any_result, 0, value);
}

Value Value::err(Value failure) {
  return make_holder(types::TypeTable::any_result, 1, failure);
}

Value Value::failure(types::FailureKind kind, std::string message, std::string place, std::string blame) {
  auto* const object = FieldsObject::create(Tag::Record, types::TypeTable::failure, 0, 4);
  object->data()[0] = plain_case(types::TypeTable::failure_kind, static_cast<std::uint32_t>(kind));
  object->data()[1] = string(std::move(message));
  object->data()[2] = string(std::move(place));
  object->data()[3] = string(std::move(blame));
  return adopt(Tag::Record, object);
}

Value Value::empty_context() {
  return adopt(Tag::Context, new ContextNode);
}

bool Value::as_boolean() const {
  ENSURE(tag() == Tag::Boolean);
  return payload_ != 0;
}

std::int64_t Value::as_integer() const {
  ENSURE(tag() == Tag::Integer);
  return static_cast<std::int64_t>(payload_);
}

double Value::as_float() const {
  ENSURE(tag() == Tag::Float);
  return std::bit_cast<double>(payload_);
}

std::string_view Value::as_text() const {
  ENSURE(tag() == Tag::String);
  return text_of(*this).bytes;
}

std::span<const Value> Value::items() const {
  ENSURE(tag() == Tag::List);
  return list_of(*this).items;
}

MapEntries Value::entries() const {
  ENSURE(tag() == Tag::Map);
  return {map_of(*this).slots, map_of(*this).live};
}

const Value* Value::find_entry(std::string_view key) const {
  ENSURE(tag() == Tag::Map);
  const MapObject& map = map_of(*this);
  const std::uint32_t slot = map.find(key);
  return slot == MapObject::no_slot ? nullptr : &map.slots[slot].value;
}

std::span<const Value> Value::fields() const {
  if (tag() == Tag::Case) return {};
  ENSURE(tag() == Tag::Record || tag() == Tag::Variant);
  return static_cast<const FieldsObject&>(fields_of(*this)).fields();
}

types::TypeId Value::type() const {
  if (tag() == Tag::Case) return {static_cast<std::uint32_t>(payload_)};
  ENSURE(tag() == Tag::Record || tag() == Tag::Variant);
  return fields_of(*this).type;
}

std::uint32_t Value::case_index() const {
  if (tag() == Tag::Case) return static_cast<std::uint32_t>(payload_ >> 32U);
  ENSURE(tag() == Tag::Variant);
  return fields_of(*this).case_index;
}

void destroy(Object* object) noexcept {
  if (object->tag == Tag::String) {
    delete static_cast<TextObject*>(object);
    return;
  }
  std::vector<Object*> dying;
  for (;;) {
    free_object(object, dying);
    if (dying.empty()) return;
    object = dying.back();
    dying.pop_back();
  }
}

void add_label(Value& value, LabelId label, LabelTable& labels) {
  const LabelId joined = labels.join(value.label(), label);
  if (joined == value.label() && (value.tag() != Tag::String || !text_of(value).spans)) return;
  if (label == LabelTable::program_text) return;
  if (value.tag() == Tag::String && text_of(value).spans) {
    TextBuilder raised(labels);
    raised.append(value, label);
    value = raised.finish();
  }
  value.set_label(labels.join(value.label(), joined));
}

void replace_labels(Value& value, LabelId label) {
  std::vector<Value*> pending{&value};
  while (!pending.empty()) {
    Value& next = *pending.back();
    pending.pop_back();
    next.set_label(label);
    switch (next.tag()) {
      case Tag::String:
        if (text_of(next).spans) own_text(next).spans.reset();
        break;
      case Tag::List:
        for (Value& item : own_list(next).items) pending.push_back(&item);
        break;
      case Tag::Map:
        for (MapEntry& entry : own_map(next).slots) {
          pending.push_back(&entry.key);
          pending.push_back(&entry.value);
        }
        break;
      case Tag::Record:
      case Tag::Variant:
        for (Value& field : own_fields(next).fields()) pending.push_back(&field);
        break;
      default:
        break;
    }
  }
}

LabelId whole_label(const Value& value, LabelTable& labels) {
  std::uint64_t values = 0;
  return whole_label(value, labels, values);
}

LabelId whole_label(const Value& value, LabelTable& labels, std::uint64_t& values) {
  LabelId label;
  std::vector<const Value*> pending{&value};
  std::unordered_set<const Object*> seen;
  while (!pending.empty()) {
    const Value& next = *pending.back();
    pending.pop_back();
    ++values;
    label = labels.join(label, next.label());
    if (!next.is_object() || next.tag() == Tag::String || next.tag() == Tag::Secret) continue;
    if (next.tag() == Tag::Context) {
      label = labels.join(label, node_of(next).label);
      continue;
    }
    if (next.object()->is_shared() && !seen.insert(next.object()).second) continue;
    if (next.tag() == Tag::List) {
      for (const Value& item : list_of(next).items) pending.push_back(&item);
    } else if (next.tag() == Tag::Map) {
      for (const MapEntry& entry : map_of(next).slots) {
        pending.push_back(&entry.key);
        pending.push_back(&entry.value);
      }
    } else {
      for (const Value& field : fields_of(next).fields()) pending.push_back(&field);
    }
  }
  return label;
}

bool equal(const Value& a, const Value& b) {
  if (a.tag() != b.tag()) return false;
  if (a.tag() == Tag::String) return a.object() == b.object() || text_of(a).bytes == text_of(b).bytes;
  return Comparison().run(a, b);
}

}  // namespace tenon::vm
