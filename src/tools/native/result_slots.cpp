#include "tools/native/result_slots.h"

#include <fmt/format.h>

#include <utility>

#include "base/ensure.h"
#include "base/utf8.h"
#include "diagnostics/nearest.h"
#include "inference/answers/value_reader.h"
#include "json/reader.h"
#include "tools/native/promises.h"
#include "types/table/type_parts.h"

namespace tenon::tools {
namespace {

using types::TypeId;
using types::TypeKind;
using types::TypeTable;
using vm::Tag;
using vm::Value;

constexpr std::uint32_t err_case = 1;  // of a Result

}  // namespace

ResultSlots::ResultSlots(const vm::Refinements& refinements, TypeId result, std::string_view blame)
    : refinements_(refinements), types_(refinements.types()), blame_(blame) {
  slots_.emplace_back().type = result;
}

ResultSlots::ResultSlots(const vm::Refinements& refinements, std::span<const TypeId> parameters,
                         std::span<const std::string> names)
    : refinements_(refinements), types_(refinements.types()), roots_(parameters.size()), root_names_(names) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    Slot& slot = slots_.emplace_back();
    slot.type = parameters[i];
    slot.position = static_cast<std::uint32_t>(i);
  }
}

void ResultSlots::fail(std::string message) {
  if (!failure_) failure_ = replace_invalid_utf8(std::move(message));
}

std::string ResultSlots::describe_whole(const Slot* slot) const {
  while (slot->parent != nullptr) slot = slot->parent;
  return root_names_.empty() ? "the result" : fmt::format("argument `{}`", root_names_[slot->position]);
}

std::string ResultSlots::describe(const Slot* slot) const {
  std::vector<const Slot*> way;
  for (; slot->parent != nullptr; slot = slot->parent) way.push_back(slot);
  std::string path;
  for (std::size_t i = way.size(); i-- > 0;) {
    const Slot* const part = way[i];
    const TypeId owner = base(part->parent);
    const TypeKind kind = types_.kind(owner);
    // The value in an Option or a Result has the name of the whole. A map that was started again has no keys.
    if (kind == TypeKind::Struct) path += "." + types_.struct_type(owner).fields[part->position].name;
    if (kind == TypeKind::List) path += fmt::format("[{}]", part->position);
    if (kind == TypeKind::Tuple) path += fmt::format(".{}", part->position);
    if (kind == TypeKind::Map && part->position < part->parent->keys.size()) {
      path += fmt::format("[\"{}\"]", part->parent->keys[part->position]);
    }
    if (kind == TypeKind::Enum) {
      path += fmt::format(".{}({})", types_.enum_type(owner).variants[part->parent->case_index].name, part->position);
    }
  }
  const std::string whole = describe_whole(slot);
  return path.empty() ? whole : fmt::format("`{}` of {}", path, whole);
}

bool ResultSlots::accepts(const Slot* slot, bool fits, std::string_view what) {
  if (slot == nullptr || has_failed()) return false;
  if (!fits)
    fail(fmt::format("{} is stored in {}, which is declared `{}`", what, describe(slot), types_.describe(slot->type)));
  return fits;
}

void ResultSlots::clear(Slot* slot) {
  slot->whole = Value();
  slot->parts.clear();
  slot->keys.clear();
  keys_.erase(slot);
  slot->state = SlotState::Empty;
}

void ResultSlots::set_whole(Slot* slot, Value value) {
  if (const auto broken = find_broken_promise(refinements_, slot->type, value)) {
    fail(fmt::format("{}: {}", describe(slot), *broken));
    return;
  }
  if (slot->state == SlotState::Parts) clear(slot);
  slot->whole = std::move(value);
  slot->state = SlotState::Whole;
}

void ResultSlots::put_boolean(Slot* slot, bool value) {
  if (!accepts(slot, slot != nullptr && types_.kind(base(slot)) == TypeKind::Boolean, "a Boolean")) return;
  set_whole(slot, Value::boolean(value));
}

void ResultSlots::put_integer(Slot* slot, std::int64_t value) {
  if (!accepts(slot, slot != nullptr && types::is_integer(types_, base(slot)), "an integer")) return;
  set_whole(slot, Value::integer(value));
}

void ResultSlots::put_float(Slot* slot, double value) {
  if (!accepts(slot, slot != nullptr && types_.kind(base(slot)) == TypeKind::F64, "a float")) return;
  set_whole(slot, Value::floating(value));
}

std::optional<std::string> ResultSlots::take_text(const Slot* slot, const char* data, std::size_t length) {
  if (data == nullptr && length > 0) {
    fail(fmt::format("{}: the text is NULL", describe(slot)));
    return std::nullopt;
  }
  if (length > vm::text_bytes_max) {
    fail(fmt::format("{}: a text of {} bytes (maximum {})", describe(slot), length, vm::text_bytes_max));
    return std::nullopt;
  }
  std::string text(data == nullptr ? "" : data, length);
  if (const std::size_t invalid = find_invalid_utf8(text); invalid != std::string_view::npos) {
    fail(fmt::format("{}: the text is not UTF-8 at byte {}", describe(slot), invalid));
    return std::nullopt;
  }
  return text;
}

void ResultSlots::put_text(Slot* slot, const char* data, std::size_t length) {
  if (!accepts(slot, slot != nullptr && types::is_text(types_, base(slot)), "a text")) return;
  if (data == nullptr) return fail(fmt::format("{}: the text is NULL", describe(slot)));
  if (auto text = take_text(slot, data, length)) set_whole(slot, Value::string(std::move(*text)));
}

bool ResultSlots::accepts_numbers(const Slot* slot, TypeKind kind, std::size_t count, std::string_view what) {
  if (slot == nullptr || has_failed()) return false;
  const TypeId list = base(slot);
  const bool is_list = types_.kind(list) == TypeKind::List;
  const TypeKind item = is_list ? types_.kind(types_.base(types_.get(list).arguments[0])) : TypeKind::Error;
  if (!accepts(slot, item == kind || (kind == TypeKind::I64 && item == TypeKind::I32), what)) return false;
  if (count > vm::list_items_max) {
    fail(fmt::format("{}: {} items (maximum {})", describe(slot), count, vm::list_items_max));
  }
  return !has_failed();
}

void ResultSlots::put_json(Slot* slot, std::string_view text) {
  if (slot == nullptr || has_failed()) return;
  const auto json = parse_json(text);
  if (!json) return fail(fmt::format("{} is not JSON: {}", describe(slot), json.error().message));
  auto value = inference::answers::ValueReader(refinements_).read(slot->type, *json);
  if (!value) return fail(inference::answers::describe(value.error().front(), describe(slot)));
  set_whole(slot, std::move(*value));
}

void ResultSlots::put_integers(Slot* slot, const std::int64_t* items, std::size_t count) {
  if (!accepts_numbers(slot, TypeKind::I64, count, "a list of integers")) return;
  if (items == nullptr && count > 0) return fail(fmt::format("{}: the items are NULL", describe(slot)));
  const TypeId item = types_.get(base(slot)).arguments[0];
  std::vector<Value> values;
  values.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(Value::integer(items[i]));
    if (const auto broken = find_broken_promise(refinements_, item, values.back())) {
      return fail(fmt::format("{}: item {}: {}", describe(slot), i, *broken));
    }
  }
  set_whole(slot, Value::list(std::move(values)));
}

void ResultSlots::put_floats(Slot* slot, const double* items, std::size_t count) {
  if (!accepts_numbers(slot, TypeKind::F64, count, "a list of floats")) return;
  if (items == nullptr && count > 0) return fail(fmt::format("{}: the items are NULL", describe(slot)));
  const TypeId item = types_.get(base(slot)).arguments[0];
  std::vector<Value> values;
  values.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(Value::floating(items[i]));
    if (const auto broken = find_broken_promise(refinements_, item, values.back())) {
      return fail(fmt::format("{}: item {}: {}", describe(slot), i, *broken));
    }
  }
  set_whole(slot, Value::list(std::move(values)));
}

Slot* ResultSlots::new_slot(Slot* parent, TypeId type, std::size_t position) {
  if (parent->depth + 1 > extern_depth_max) {
    fail(fmt::format("{} is nested more than {} levels deep", describe_whole(parent), extern_depth_max));
    return nullptr;
  }
  if (slots_.size() >= extern_slots_max) {
    fail(fmt::format("{} has more than {} values", describe_whole(parent), extern_slots_max));
    return nullptr;
  }
  Slot& slot = slots_.emplace_back();
  slot.type = type;
  slot.parent = parent;
  slot.position = static_cast<std::uint32_t>(position);
  slot.depth = parent->depth + 1;
  return &slot;
}

void ResultSlots::open_parts(Slot* slot, std::span<const TypeId> part_types) {
  if (slot->state == SlotState::Parts) return;
  clear(slot);
  slot->state = SlotState::Parts;
  for (std::size_t i = 0; i < part_types.size(); ++i) {
    Slot* const part = new_slot(slot, part_types[i], i);
    if (part == nullptr) return;
    slot->parts.push_back(part);
  }
}

void ResultSlots::put_list(Slot* slot) {
  if (!accepts(slot, slot != nullptr && types_.kind(base(slot)) == TypeKind::List, "a list")) return;
  clear(slot);
  slot->state = SlotState::Parts;
}

void ResultSlots::put_map(Slot* slot) {
  if (!accepts(slot, slot != nullptr && types_.kind(base(slot)) == TypeKind::Map, "a map")) return;
  clear(slot);
  slot->state = SlotState::Parts;
}

Slot* ResultSlots::item(Slot* slot) {
  if (!accepts(slot, slot != nullptr && types_.kind(base(slot)) == TypeKind::List, "an item")) return nullptr;
  open_parts(slot, {});
  Slot* const part = new_slot(slot, types_.get(base(slot)).arguments[0], slot->parts.size());
  if (part != nullptr) slot->parts.push_back(part);
  return part;
}

Slot* ResultSlots::entry(Slot* slot, const char* key, std::size_t length) {
  if (!accepts(slot, slot != nullptr && types_.kind(base(slot)) == TypeKind::Map, "an entry")) return nullptr;
  auto text = take_text(slot, key, length);
  if (!text) return nullptr;
  open_parts(slot, {});
  const auto [found, is_new] = keys_[slot].try_emplace(*text, static_cast<std::uint32_t>(slot->parts.size()));
  if (!is_new) {
    Slot* const part = slot->parts[found->second];
    clear(part);
    return part;
  }
  slot->keys.push_back(std::move(*text));
  Slot* const part = new_slot(slot, types_.get(base(slot)).arguments[0], slot->parts.size());
  if (part != nullptr) slot->parts.push_back(part);
  return part;
}

Slot* ResultSlots::field(Slot* slot, std::string_view name) {
  const bool is_struct = slot != nullptr && types_.kind(base(slot)) == TypeKind::Struct;
  if (!is_struct) {
    static_cast<void>(accepts(slot, false, fmt::format("the field `{}`", name)));
    return nullptr;
  }
  if (has_failed()) return nullptr;
  const types::StructType& type = types_.struct_type(base(slot));
  for (std::size_t i = 0; i < type.fields.size(); ++i) {
    if (type.fields[i].name != name) continue;
    if (slot->state != SlotState::Parts) open_parts(slot, types::list_parts(types_, base(slot)));
    return has_failed() ? nullptr : slot->parts[i];
  }
  std::vector<std::string_view> names;
  for (const types::Field& field : type.fields) names.push_back(field.name);
  const auto nearest = diagnostics::find_nearest(name, names);
  fail(fmt::format("{}: `{}` has no field `{}`{}", describe(slot), type.name, name,
                   nearest ? fmt::format("; did you mean `{}`?", *nearest) : ""));
  return nullptr;
}

Slot* ResultSlots::position(Slot* slot, std::size_t index) {
  if (slot == nullptr || has_failed()) return nullptr;
  const TypeId type = base(slot);
  const bool is_tuple = types_.kind(type) == TypeKind::Tuple;
  const bool is_case = types_.kind(type) == TypeKind::Enum && slot->state == SlotState::Parts;
  if (!is_tuple && !is_case) {
    static_cast<void>(accepts(slot, false, fmt::format("position {}", index)));
    return nullptr;
  }
  if (is_tuple) open_parts(slot, types_.get(type).arguments);
  if (has_failed()) return nullptr;
  if (index >= slot->parts.size()) {
    fail(fmt::format("{}: position {} does not exist: `{}` has {}", describe(slot), index, types_.describe(slot->type),
                     slot->parts.size()));
    return nullptr;
  }
  return slot->parts[index];
}

void ResultSlots::put_case(Slot* slot, std::string_view name) {
  const bool is_enum = slot != nullptr && types_.kind(base(slot)) == TypeKind::Enum;
  if (!is_enum) return static_cast<void>(accepts(slot, false, fmt::format("the case `{}`", name)));
  if (has_failed()) return;
  const types::EnumType& type = types_.enum_type(base(slot));
  std::vector<std::string_view> names;
  for (std::uint32_t i = 0; i < type.variants.size(); ++i) {
    names.push_back(type.variants[i].name);
    if (type.variants[i].name != name) continue;
    clear(slot);
    slot->case_index = i;
    if (type.variants[i].payload.empty()) {
      set_whole(slot, Value::plain_case(base(slot), i));
    } else {
      open_parts(slot, type.variants[i].payload);
    }
    return;
  }
  const auto nearest = diagnostics::find_nearest(name, names);
  fail(fmt::format("{}: `{}` has no case `{}`{}", describe(slot), type.name, name,
                   nearest ? fmt::format("; did you mean `{}`?", *nearest) : ""));
}

void ResultSlots::put_none(Slot* slot) {
  if (!accepts(slot, slot != nullptr && types_.kind(base(slot)) == TypeKind::Option, "None")) return;
  set_whole(slot, Value::none());
}

Slot* ResultSlots::some(Slot* slot) {
  if (!accepts(slot, slot != nullptr && types_.kind(base(slot)) == TypeKind::Option, "Some")) return nullptr;
  open_parts(slot, std::span(types_.get(base(slot)).arguments).first(1));
  return has_failed() ? nullptr : slot->parts[0];
}

Slot* ResultSlots::ok(Slot* slot) {
  if (!accepts(slot, slot != nullptr && types_.kind(base(slot)) == TypeKind::Result, "Ok")) return nullptr;
  open_parts(slot, std::span(types_.get(base(slot)).arguments).first(1));
  return has_failed() ? nullptr : slot->parts[0];
}

void ResultSlots::put_err(Slot* slot, std::string message) {
  if (!accepts(slot, slot != nullptr && types_.kind(base(slot)) == TypeKind::Result, "Err")) return;
  set_whole(slot, Value::err(Value::failure(types::FailureKind::ToolFailed, replace_invalid_utf8(std::move(message)),
                                            "", std::string(blame_))));
}

void ResultSlots::put_value(Slot* slot, const Value* value) {
  if (slot == nullptr || value == nullptr || has_failed()) return;
  auto copied = copy(slot, slot->type, *value, slot->depth);
  if (copied) set_whole(slot, std::move(*copied));
}

std::optional<std::vector<Value>> ResultSlots::copy_all(const Slot* slot, std::span<const TypeId> types,
                                                        std::span<const Value> values, std::uint32_t depth) {
  std::vector<Value> copies;
  copies.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    auto copied = copy(slot, types.size() == 1 ? types[0] : types[i], values[i], depth + 1);
    if (!copied) return std::nullopt;
    copies.push_back(std::move(*copied));
  }
  return copies;
}

std::optional<Value> ResultSlots::copy(const Slot* slot, TypeId declared, const Value& value, std::uint32_t depth) {
  if (depth > extern_depth_max) {
    fail(fmt::format("{} is nested more than {} levels deep", describe_whole(slot), extern_depth_max));
    return std::nullopt;
  }
  const TypeId type = types_.opened(declared);
  const auto mismatch = [&]() -> std::optional<Value> {
    fail(fmt::format("{}: {} is copied to where `{}` is declared", describe(slot),
                     types_.kind(declared) == TypeKind::Secret ? "a secret of another form" : describe_value(value),
                     types_.describe(declared)));
    return std::nullopt;
  };
  const bool is_option_or_result = value.tag() == Tag::Variant || value.tag() == Tag::Case;
  std::optional<Value> copied;
  switch (types_.kind(type)) {
    case TypeKind::Unit:
      if (value.tag() == Tag::Unit) copied = Value::unit();
      break;
    case TypeKind::Boolean:
      if (value.tag() == Tag::Boolean) copied = Value::boolean(value.as_boolean());
      break;
    case TypeKind::I32:
    case TypeKind::I64:
    case TypeKind::F64:
    case TypeKind::String:
    case TypeKind::Text:
    case TypeKind::Union:
      if (value.tag() == Tag::Integer && types::is_integer(types_, type)) copied = Value::integer(value.as_integer());
      if (value.tag() == Tag::Float && types_.kind(type) == TypeKind::F64) copied = Value::floating(value.as_float());
      if (value.tag() == Tag::String && types::is_text(types_, type))
        copied = Value::string(std::string(value.as_text()));
      break;
    case TypeKind::List: {
      if (value.tag() != Tag::List) break;
      auto items = copy_all(slot, types_.get(type).arguments, value.items(), depth);
      if (!items) return std::nullopt;
      copied = Value::list(std::move(*items));
      break;
    }
    case TypeKind::Map: {
      if (value.tag() != Tag::Map) break;
      std::vector<std::pair<Value, Value>> entries;
      for (const vm::MapEntry& entry : value.entries()) {
        auto item = copy(slot, types_.get(type).arguments[0], entry.value, depth + 1);
        if (!item) return std::nullopt;
        entries.emplace_back(Value::string(std::string(entry.key.as_text())), std::move(*item));
      }
      copied = Value::map(std::move(entries));
      break;
    }
    case TypeKind::Struct:
    case TypeKind::Tuple: {
      if (value.tag() != Tag::Record || value.type() != type) break;
      auto fields = copy_all(slot, types::list_parts(types_, type), value.fields(), depth);
      if (!fields) return std::nullopt;
      copied = Value::record(type, std::move(*fields));
      break;
    }
    case TypeKind::Enum: {
      if (!is_option_or_result || value.type() != type) break;
      auto payload = copy_all(slot, types_.enum_type(type).variants[value.case_index()].payload, value.fields(), depth);
      if (!payload) return std::nullopt;
      copied = payload->empty() ? Value::plain_case(type, value.case_index())
                                : Value::variant(type, value.case_index(), std::move(*payload));
      break;
    }
    case TypeKind::Option:
    case TypeKind::Result: {
      const TypeId erased = types_.kind(type) == TypeKind::Option ? TypeTable::any_option : TypeTable::any_result;
      if (!is_option_or_result || value.type() != erased) break;
      const bool is_err = erased == TypeTable::any_result && value.case_index() == err_case;
      const TypeId held = is_err ? TypeTable::failure : types_.get(type).arguments[0];
      auto payload = copy_all(slot, std::span(&held, 1), value.fields(), depth);
      if (!payload) return std::nullopt;
      copied = payload->empty() ? Value::none() : Value::variant(erased, value.case_index(), std::move(*payload));
      break;
    }
    case TypeKind::Error:
    case TypeKind::Never:
    case TypeKind::Refined:
    case TypeKind::Context:
    case TypeKind::Range:
    case TypeKind::Parameter:
    case TypeKind::Closure:
    case TypeKind::Tools:
    case TypeKind::Secret:
      break;
  }
  if (!copied) return mismatch();
  if (const auto broken = find_broken_promise(refinements_, declared, *copied)) {
    fail(fmt::format("{}: {}", describe(slot), *broken));
    return std::nullopt;
  }
  return copied;
}

std::optional<std::string> ResultSlots::find_missing(std::size_t root_index) const {
  const Slot* const missing = has_failed() ? nullptr : find_missing_in(&slots_[root_index]);
  return missing == nullptr ? std::nullopt : std::optional(describe_missing(missing));
}

const Slot* ResultSlots::find_missing_in(const Slot* slot) const {
  if (slot->state == SlotState::Empty) {
    const TypeKind kind = types_.kind(base(slot));
    const bool has_default = kind == TypeKind::Unit || kind == TypeKind::Option ||
                             (kind == TypeKind::Struct && types_.struct_type(base(slot)).fields.empty());
    return has_default ? nullptr : slot;
  }
  if (slot->state == SlotState::Whole) return nullptr;
  for (const Slot* const part : slot->parts) {
    if (const Slot* const missing = find_missing_in(part)) return missing;
  }
  return nullptr;
}

std::string ResultSlots::describe_missing(const Slot* slot) const {
  return fmt::format("nothing was stored in {}, which is declared `{}`", describe(slot), types_.describe(slot->type));
}

std::optional<Value> ResultSlots::finish(std::size_t root_index) {
  if (has_failed()) return std::nullopt;
  return finish_slot(root(root_index));
}

std::optional<Value> ResultSlots::finish_slot(Slot* slot) {
  switch (slot->state) {
    case SlotState::Whole:
      return std::move(slot->whole);
    case SlotState::Empty: {
      const TypeKind kind = types_.kind(base(slot));
      if (kind == TypeKind::Unit) return Value::unit();
      if (kind == TypeKind::Option) return Value::none();
      if (kind == TypeKind::Struct && types_.struct_type(base(slot)).fields.empty())
        return Value::record(base(slot), {});
      fail(describe_missing(slot));
      return std::nullopt;
    }
    case SlotState::Parts:
      break;
  }
  std::vector<Value> parts;
  parts.reserve(slot->parts.size());
  for (Slot* const part : slot->parts) {
    auto value = finish_slot(part);
    if (!value) return std::nullopt;
    parts.push_back(std::move(*value));
  }
  return assemble(slot, std::move(parts));
}

std::optional<Value> ResultSlots::assemble(const Slot* slot, std::vector<Value> parts) {
  const TypeId type = base(slot);
  const TypeKind kind = types_.kind(type);
  Value value;
  if (kind == TypeKind::List) {
    value = Value::list(std::move(parts));
  } else if (kind == TypeKind::Map) {
    std::vector<std::pair<Value, Value>> entries;
    entries.reserve(parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      entries.emplace_back(Value::string(slot->keys[i]), std::move(parts[i]));
    }
    value = Value::map(std::move(entries));
  } else if (kind == TypeKind::Struct || kind == TypeKind::Tuple) {
    value = Value::record(type, std::move(parts));
  } else if (kind == TypeKind::Enum) {
    value = Value::variant(type, slot->case_index, std::move(parts));
  } else {
    ENSURE((kind == TypeKind::Option || kind == TypeKind::Result) && parts.size() == 1);
    value = kind == TypeKind::Option ? Value::some(std::move(parts[0])) : Value::ok(std::move(parts[0]));
  }
  if (const auto broken = find_broken_promise(refinements_, slot->type, value)) {
    fail(fmt::format("{}: {}", describe(slot), *broken));
    return std::nullopt;
  }
  return value;
}

}  // namespace tenon::tools
