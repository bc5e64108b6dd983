#include "tools/native/isolate.h"

#include <cstdint>
#include <unordered_map>

#include "tools/native/result_slots.h"
#include "vm/values/object.h"

namespace tenon::tools {
namespace {

using vm::Tag;
using vm::Value;

class Isolation {
 public:
  /// Each `own_…` copies an object that others refer to; its parts are then shared with the original, and copied in
  /// their turn.
  bool isolate(Value& value, std::uint32_t depth) {
    if (!value.is_object()) return true;
    if (depth > extern_depth_max) return false;
    if (!value.object()->is_shared()) return isolate_parts(value, depth);
    if (const auto known = copies_.find(value.object()); known != copies_.end()) {
      const vm::LabelId label = value.label();
      value = known->second.copy;
      value.set_label(label);
      return true;
    }
    const Value original = value;
    if (!isolate_parts(value, depth)) return false;
    copies_.emplace(original.object(), Copied{original, value});
    return true;
  }

 private:
  bool isolate_parts(Value& value, std::uint32_t depth) {
    switch (value.tag()) {
      case Tag::String:
        static_cast<void>(vm::own_text(value));
        return true;
      case Tag::List:
        for (Value& item : vm::own_list(value).items) {
          if (!isolate(item, depth + 1)) return false;
        }
        return true;
      case Tag::Map:
        for (vm::MapEntry& entry : vm::own_map(value).slots) {
          if (!isolate(entry.key, depth + 1) || !isolate(entry.value, depth + 1)) return false;
        }
        return true;
      case Tag::Record:
      case Tag::Variant:
        for (Value& field : vm::own_fields(value).fields()) {
          if (!isolate(field, depth + 1)) return false;
        }
        return true;
      case Tag::Unit:
      case Tag::Boolean:
      case Tag::Integer:
      case Tag::Float:
      case Tag::Case:
      case Tag::Secret:
      case Tag::Context:
        break;
    }
    return false;
  }

  /// An original that is kept here cannot leave its address to another object.
  struct Copied {
    Value original;
    Value copy;
  };
  std::unordered_map<const vm::Object*, Copied> copies_;  ///< by the original
};

}  // namespace

bool isolate(Value& value) {
  return Isolation().isolate(value, 0);
}

}  // namespace tenon::tools
