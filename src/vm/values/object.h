#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vm/values/value.h"

namespace tenon::vm {

/// The text up to `end` (a byte offset), starting at the end of the previous span, has this label.
struct TextSpan {
  std::uint32_t end = 0;
  LabelId label;
  friend bool operator==(const TextSpan&, const TextSpan&) = default;
};

/// The object of a String. Without spans, the entire text has the label of the value that refers to it; with spans,
/// that label is their join.
struct TextObject : Object {
  static constexpr std::uint32_t not_counted = UINT32_MAX;

  explicit TextObject(std::string text) : Object(Tag::String), bytes(std::move(text)) {}

  std::string bytes;                             ///< valid UTF-8, at most text_bytes_max
  std::uint32_t code_points = not_counted;       ///< cached; always known for immortal objects
  std::unique_ptr<std::vector<TextSpan>> spans;  ///< ascending ends; the last is the end of a non-empty text
};

struct SecretObject : Object {
  SecretObject(std::string where, std::string bytes)
      : Object(Tag::Secret), origin(std::move(where)), sealed(std::move(bytes)) {}

  std::string origin;
  std::string sealed;
};

struct ListObject : Object {
  explicit ListObject(std::vector<Value> values) : Object(Tag::List), items(std::move(values)) {}

  std::vector<Value> items;
};

struct MapObject : Object {
  static constexpr std::uint32_t no_slot = UINT32_MAX;
  /// From this many slots on, keys are found with a hash index.
  static constexpr std::size_t indexed_slots_min = 9;

  MapObject() : Object(Tag::Map) {}

  [[nodiscard]] std::uint32_t find(std::string_view key) const;
  /// A new key is added at the end; an existing key keeps its position and its own labels.
  void set(Value key, Value value);
  /// Returns the content of the slot. The slot becomes a hole, so that nothing moves; when more than half are holes,
  /// they are removed.
  Value remove(std::uint32_t slot);
  /// A copy without holes.
  [[nodiscard]] MapObject* clone() const;
  /// Creates the index of the content of `slots`; false if a key occurs twice.
  bool rebuild();

  std::vector<MapEntry> slots;
  std::uint32_t live = 0;  ///< slots that are not holes

 private:
  [[nodiscard]] std::uint64_t hash_of(std::string_view key) const;

  static constexpr std::uint32_t free_cell = UINT32_MAX;
  static constexpr std::uint32_t removed_cell = UINT32_MAX - 1;
  std::vector<std::uint32_t> cells_;  ///< open addressing, a power of two long; slots, or empty if there are few
  std::size_t cells_used_ = 0;        ///< cells that are not free
};

/// The object of a Record or Variant; the fields follow it in the same allocation.
struct alignas(Value) FieldsObject : Object {
  /// All fields are initially ().
  static FieldsObject* create(Tag tag, types::TypeId type, std::uint32_t case_index, std::uint32_t count);
  static void free(FieldsObject* object) noexcept;

  [[nodiscard]] Value* data() { return reinterpret_cast<Value*>(this + 1); }
  [[nodiscard]] const Value* data() const { return reinterpret_cast<const Value*>(this + 1); }
  [[nodiscard]] std::span<Value> fields() { return {data(), count}; }
  [[nodiscard]] std::span<const Value> fields() const { return {data(), count}; }

  types::TypeId type;
  std::uint32_t case_index = 0;
  std::uint32_t count = 0;

 private:
  FieldsObject(Tag kind, types::TypeId of, std::uint32_t index, std::uint32_t fields)
      : Object(kind), type(of), case_index(index), count(fields) {}
};

// The objects of values whose tags are known.
[[nodiscard]] inline TextObject& text_of(const Value& value) {
  return *static_cast<TextObject*>(value.object());
}
[[nodiscard]] inline const SecretObject& secret_of(const Value& value) {
  return *static_cast<const SecretObject*>(value.object());
}
[[nodiscard]] inline ListObject& list_of(const Value& value) {
  return *static_cast<ListObject*>(value.object());
}
[[nodiscard]] inline MapObject& map_of(const Value& value) {
  return *static_cast<MapObject*>(value.object());
}
[[nodiscard]] inline FieldsObject& fields_of(const Value& value) {
  return *static_cast<FieldsObject*>(value.object());
}

// The same for an in-place change: the object is copied first if there are other references to it.
[[nodiscard]] TextObject& own_text(Value& value);
[[nodiscard]] ListObject& own_list(Value& value);
[[nodiscard]] MapObject& own_map(Value& value);
[[nodiscard]] FieldsObject& own_fields(Value& value);

}  // namespace tenon::vm
