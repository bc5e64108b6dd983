#include "vm/values/text_size.h"

#include <unordered_map>
#include <vector>

#include "vm/values/object.h"

namespace tenon::vm {
namespace {

using types::TypeTable;

struct Size {
  std::uint64_t bytes = 0;
  std::uint64_t parts = 0;
};

class TextSize {
 public:
  TextSize(const TypeTable& types, std::size_t bytes_max, std::size_t parts_max)
      : types_(types), bytes_max_(bytes_max), parts_max_(parts_max) {}

  bool is_over(const Value& root) {
    count(root);
    while (!open_.empty() && !is_over_) {
      Open& innermost = open_.back();
      const Value* const part = next_part(innermost);
      if (part != nullptr) {
        count(*part);  // may invalidate `innermost`
        continue;
      }
      const Open closed = innermost;
      open_.pop_back();
      if (closed.value->object()->is_shared()) known_.emplace(closed.value->object(), closed.size);
      add(closed.size);
    }
    return is_over_;
  }

 private:
  struct Open {
    const Value* value;
    Size size;             ///< of the parts so far
    std::size_t next = 0;  ///< item, field or slot; twice for a slot: its key and its value
  };

  /// Adds a part's size to the innermost open aggregate, which is at least as large as each of its parts.
  void add(Size size) {
    if (!open_.empty()) {
      Size& whole = open_.back().size;
      whole = size = {whole.bytes + size.bytes, whole.parts + size.parts};
    }
    is_over_ = is_over_ || size.bytes > bytes_max_ || size.parts > parts_max_;
  }

  /// Adds the size of a value, or opens it.
  void count(const Value& value) {
    switch (value.tag()) {
      case Tag::String:
        return add({text_of(value).bytes.size() + 2, 1});
      case Tag::List:
      case Tag::Map:
      case Tag::Record:
      case Tag::Variant:
        break;
      case Tag::Unit:
      case Tag::Boolean:
      case Tag::Integer:
      case Tag::Float:
      case Tag::Case:
      case Tag::Context:
      case Tag::Secret:
        return add({1, 1});
    }
    if (value.object()->is_shared()) {
      if (const auto known = known_.find(value.object()); known != known_.end()) return add(known->second);
    }
    open_.push_back({&value, {bytes_around_parts(value), 1}});
  }

  /// Brackets, commas and the names of fields.
  [[nodiscard]] std::uint64_t bytes_around_parts(const Value& value) const {
    const auto brackets = [](std::size_t parts) { return 2 + parts - (parts > 0 ? 1 : 0); };
    switch (value.tag()) {
      case Tag::List:
        return brackets(list_of(value).items.size());
      case Tag::Map:
        return brackets(map_of(value).live) + map_of(value).live;  // a colon or more for each
      case Tag::Record: {
        std::uint64_t bytes = brackets(value.fields().size());
        if (types_.kind(value.type()) != types::TypeKind::Struct) return bytes;
        for (const types::Field& field : types_.struct_type(value.type()).fields) bytes += field.name.size() + 3;
        return bytes;
      }
      default:
        // Some(x) may be written as x alone.
        return value.type() == TypeTable::any_option ? 0 : brackets(1);
    }
  }

  /// Nothing at the end.
  static const Value* next_part(Open& open) {
    if (open.value->tag() == Tag::Map) {
      const std::vector<MapEntry>& slots = map_of(*open.value).slots;
      while (open.next < 2 * slots.size() && slots[open.next / 2].key.tag() == Tag::Unit) open.next += 2;
      if (open.next == 2 * slots.size()) return nullptr;
      const MapEntry& entry = slots[open.next / 2];
      return open.next++ % 2 == 0 ? &entry.key : &entry.value;
    }
    const std::span<const Value> parts =
        open.value->tag() == Tag::List ? std::span<const Value>(list_of(*open.value).items) : open.value->fields();
    return open.next == parts.size() ? nullptr : &parts[open.next++];
  }

  const TypeTable& types_;
  const std::size_t bytes_max_;
  const std::size_t parts_max_;
  std::vector<Open> open_;
  std::unordered_map<const Object*, Size> known_;  ///< of shared objects
  bool is_over_ = false;
};

}  // namespace

bool is_text_over(const Value& value, const TypeTable& types, std::size_t bytes_max, std::size_t parts_max) {
  return TextSize(types, bytes_max, parts_max).is_over(value);
}

}  // namespace tenon::vm
