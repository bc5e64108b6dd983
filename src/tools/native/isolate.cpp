#include "tools/native/isolate.h"

#include <cstdint>

#include "tools/native/result_slots.h"
#include "vm/values/object.h"

namespace tenon::tools {
namespace {

using vm::Tag;
using vm::Value;

/// Each `own_…` copies an object that others refer to; its parts are then shared with the original, and copied in their
/// turn.
bool isolate_at(Value& value, std::uint32_t depth) {
  if (!value.is_object()) return true;
  if (depth > extern_depth_max) return false;
  switch (value.tag()) {
    case Tag::String:
      static_cast<void>(vm::own_text(value));
      return true;
    case Tag::List:
      for (Value& item : vm::own_list(value).items) {
        if (!isolate_at(item, depth + 1)) return false;
      }
      return true;
    case Tag::Map:
      for (vm::MapEntry& entry : vm::own_map(value).slots) {
        if (!isolate_at(entry.key, depth + 1) || !isolate_at(entry.value, depth + 1)) return false;
      }
      return true;
    case Tag::Record:
    case Tag::Variant:
      for (Value& field : vm::own_fields(value).fields()) {
        if (!isolate_at(field, depth + 1)) return false;
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

}  // namespace

bool isolate(Value& value) {
  return isolate_at(value, 0);
}

}  // namespace tenon::tools
