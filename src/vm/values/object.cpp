#include "vm/values/object.h"

#include <bit>
#include <new>

#include "base/ensure.h"

namespace tenon::vm {
namespace {

/// SipHash-1-3 (Aumasson, Bernstein): without the key, collisions cannot be prepared.
std::uint64_t sip_hash(std::string_view bytes, std::uint64_t key) {
  std::uint64_t v0 = key ^ 0x736f6d6570736575ULL;
  std::uint64_t v1 = (key * 0x9E3779B97F4A7C15ULL) ^ 0x646f72616e646f6dULL;
  std::uint64_t v2 = key ^ 0x6c7967656e657261ULL;
  std::uint64_t v3 = (key * 0x9E3779B97F4A7C15ULL) ^ 0x7465646279746573ULL;
  const auto round = [&] {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  };
  const auto take = [&](std::size_t offset, std::size_t count) {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < count; ++i) {
      word |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[offset + i])) << (8U * i);
    }
    return word;
  };
  std::size_t offset = 0;
  for (; offset + 8 <= bytes.size(); offset += 8) {
    const std::uint64_t word = take(offset, 8);
    v3 ^= word;
    round();
    v0 ^= word;
  }
  const std::uint64_t last = (static_cast<std::uint64_t>(bytes.size()) << 56U) | take(offset, bytes.size() - offset);
  v3 ^= last;
  round();
  v0 ^= last;
  v2 ^= 0xFFU;
  round();
  round();
  round();
  return v0 ^ v1 ^ v2 ^ v3;
}

}  // namespace

/// Keyed by the map's address, which is unknown outside the process. The hash only determines where a key is
/// looked up.
std::uint64_t MapObject::hash_of(std::string_view key) const {
  return sip_hash(key, std::bit_cast<std::uint64_t>(this));
}

std::uint32_t MapObject::find(std::string_view key) const {
  if (cells_.empty()) {
    for (std::uint32_t slot = 0; slot < slots.size(); ++slot) {
      const Value& there = slots[slot].key;
      if (there.tag() == Tag::String && text_of(there).bytes == key) return slot;
    }
    return no_slot;
  }
  const std::size_t mask = cells_.size() - 1;
  for (std::size_t cell = hash_of(key) & mask; cells_[cell] != free_cell; cell = (cell + 1) & mask) {
    if (cells_[cell] != removed_cell && text_of(slots[cells_[cell]].key).bytes == key) return cells_[cell];
  }
  return no_slot;
}

void MapObject::set(Value key, Value value) {
  const std::uint32_t known = find(text_of(key).bytes);
  if (known != no_slot) {
    slots[known].value = std::move(value);
    return;
  }
  const auto slot = static_cast<std::uint32_t>(slots.size());
  slots.push_back({std::move(key), std::move(value)});
  ++live;
  if (cells_.empty() && slots.size() < indexed_slots_min) return;
  if ((cells_used_ + 1) * 4 > cells_.size() * 3) {
    ENSURE(rebuild());
    return;
  }
  const std::size_t mask = cells_.size() - 1;
  std::size_t cell = hash_of(text_of(slots[slot].key).bytes) & mask;
  while (cells_[cell] != free_cell) cell = (cell + 1) & mask;
  cells_[cell] = slot;
  ++cells_used_;
}

Value MapObject::remove(std::uint32_t slot) {
  if (!cells_.empty()) {
    const std::size_t mask = cells_.size() - 1;
    std::size_t cell = hash_of(text_of(slots[slot].key).bytes) & mask;
    while (cells_[cell] != slot) cell = (cell + 1) & mask;
    cells_[cell] = removed_cell;
  }
  slots[slot].key = Value();
  --live;
  Value value = std::move(slots[slot].value);
  if (slots.size() > 2 * indexed_slots_min && live < slots.size() / 2) {
    std::erase_if(slots, [](const MapEntry& entry) { return entry.key.tag() == Tag::Unit; });
    ENSURE(rebuild());
  }
  return value;
}

MapObject* MapObject::clone() const {
  auto* const copy = new MapObject;
  copy->slots.reserve(live);
  for (const MapEntry& entry : slots) {
    if (entry.key.tag() != Tag::Unit) copy->slots.push_back(entry);
  }
  ENSURE(copy->rebuild());
  return copy;
}

bool MapObject::rebuild() {
  cells_.clear();
  cells_used_ = 0;
  live = 0;
  const bool is_indexed = slots.size() >= indexed_slots_min;
  if (is_indexed) cells_.assign(std::bit_ceil(slots.size() * 2), free_cell);
  for (std::uint32_t slot = 0; slot < slots.size(); ++slot) {
    const Value& key = slots[slot].key;
    if (key.tag() == Tag::Unit) continue;
    ++live;
    const std::string_view bytes = text_of(key).bytes;
    if (!is_indexed) {
      if (find(bytes) != slot) return false;
      continue;
    }
    const std::size_t mask = cells_.size() - 1;
    std::size_t cell = hash_of(bytes) & mask;
    for (; cells_[cell] != free_cell; cell = (cell + 1) & mask) {
      if (text_of(slots[cells_[cell]].key).bytes == bytes) return false;
    }
    cells_[cell] = slot;
    ++cells_used_;
  }
  return true;
}

FieldsObject* FieldsObject::create(Tag tag, types::TypeId type, std::uint32_t case_index, std::uint32_t count) {
  static_assert(sizeof(FieldsObject) % alignof(Value) == 0);
  void* const memory = ::operator new(sizeof(FieldsObject) + count * sizeof(Value));
  auto* const object = new (memory) FieldsObject(tag, type, case_index, count);
  std::uninitialized_default_construct_n(object->data(), count);
  return object;
}

void FieldsObject::free(FieldsObject* object) noexcept {
  std::destroy_n(object->data(), object->count);
  object->~FieldsObject();
  ::operator delete(object);
}

namespace {

/// Gives the value a copy of its object, with the label that it had.
void replace_object(Value& value, Object* copy) {
  const LabelId label = value.label();
  value = Value::adopt(value.tag(), copy);
  value.set_label(label);
}

}  // namespace

TextObject& own_text(Value& value) {
  const TextObject& old = text_of(value);
  if (old.is_shared()) {
    auto* const copy = new TextObject(old.bytes);
    copy->code_points = old.code_points;
    if (old.spans) copy->spans = std::make_unique<std::vector<TextSpan>>(*old.spans);
    replace_object(value, copy);
  }
  return text_of(value);
}

ListObject& own_list(Value& value) {
  if (list_of(value).is_shared()) replace_object(value, new ListObject(list_of(value).items));
  return list_of(value);
}

MapObject& own_map(Value& value) {
  if (map_of(value).is_shared()) replace_object(value, map_of(value).clone());
  return map_of(value);
}

FieldsObject& own_fields(Value& value) {
  const FieldsObject& old = fields_of(value);
  if (old.is_shared()) {
    FieldsObject* const copy = FieldsObject::create(old.tag, old.type, old.case_index, old.count);
    for (std::uint32_t i = 0; i < old.count; ++i) copy->data()[i] = old.data()[i];
    replace_object(value, copy);
  }
  return fields_of(value);
}

}  // namespace tenon::vm
