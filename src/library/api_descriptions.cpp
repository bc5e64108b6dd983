// Descriptions of programs as structures of tenon/tenon.h.
#include <array>
#include <new>
#include <string_view>
#include <vector>

#include "base/ensure.h"
#include "json/json.h"
#include "library/handles.h"
#include "library/program_description.h"

using namespace tenon;

namespace {

struct Member {
  std::string name, documentation;
  std::size_t type = TENON_NO_TYPE;
  std::vector<std::size_t> payload;
};

struct Callable {
  std::string name, documentation;
  std::vector<Member> parameters;
  std::size_t result = TENON_NO_TYPE;
};

struct DescribedType {
  std::int32_t kind = TENON_TYPE_INTERNAL;
  std::string text, name, documentation;
  std::size_t item = TENON_NO_TYPE;
  std::vector<Member> members;
  std::string minimum, maximum, exclusive_maximum, length_minimum, length_maximum, pattern;
};

/// In the order of TENON_TYPE_UNIT and so on.
constexpr std::array<std::string_view, TENON_TYPE_INTERNAL + 1> kinds = {
    "unit",   "boolean", "i32",    "i64",   "f64",    "string", "text",  "context", "list",    "map",
    "option", "result",  "secret", "tuple", "struct", "enum",   "union", "refined", "internal"};

std::size_t index_or_none(const Json& described, std::string_view name) {
  return described.count_or(name, TENON_NO_TYPE);
}

std::string text_of(const Json& described, std::string_view name) {
  return described.text_or(name, "");
}

/// As JSON; empty if there is none.
std::string json_of(const Json& described, std::string_view name) {
  const Json* const found = described.find(name);
  return found == nullptr ? "" : found->dump();
}

Member read_member(const Json& described) {
  Member member{text_of(described, "name"), text_of(described, "documentation"), index_or_none(described, "type"), {}};
  for (const Json& type : described.get("payload").items_or_none()) member.payload.push_back(type.as_count());
  return member;
}

Callable read_callable(const Json& described) {
  Callable callable{
      text_of(described, "name"), text_of(described, "documentation"), {}, index_or_none(described, "result")};
  for (const Json& parameter : described.get("parameters").items_or_none()) {
    callable.parameters.push_back(read_member(parameter));
  }
  if (described.contains("input")) callable.parameters.push_back({"input", "", index_or_none(described, "input"), {}});
  return callable;
}

DescribedType read_type(const Json& described) {
  DescribedType type;
  const auto kind = std::ranges::find(kinds, text_of(described, "kind"));
  ENSURE(kind != kinds.end());
  type.kind = static_cast<std::int32_t>(kind - kinds.begin());
  type.text = text_of(described, "text");
  type.name = text_of(described, "name");
  type.documentation = text_of(described, "documentation");
  type.item = index_or_none(described, type.kind == TENON_TYPE_REFINED ? "base" : "item");
  for (const char* const members : {"fields", "cases"}) {
    for (const Json& member : described.get(members).items_or_none()) type.members.push_back(read_member(member));
  }
  for (const Json& item : described.get("items").items_or_none()) type.members.push_back({"", "", item.as_count(), {}});
  for (const Json& literal : described.get("literals").items_or_none()) {
    type.members.push_back({literal.dump(), "", TENON_NO_TYPE, {}});
  }
  type.minimum = json_of(described, "minimum");
  type.maximum = json_of(described, "maximum");
  type.exclusive_maximum = json_of(described, "exclusive_maximum");
  type.length_minimum = json_of(described, "length_minimum");
  type.length_maximum = json_of(described, "length_maximum");
  type.pattern = text_of(described, "pattern");
  return type;
}

template <class Item, class Read>
std::vector<Item> read_list(const Json& list, Read read) {
  std::vector<Item> items;
  for (const Json& item : list.items_or_none()) items.push_back(read(item));
  return items;
}

template <class Item>
const Item* find(const std::vector<Item>& items, std::size_t index) {
  return index < items.size() ? &items[index] : nullptr;
}

bool give_member(const Member* member, tenon_member* to) {
  if (member == nullptr) return false;
  tenon_member made = {};
  made.name = library::view(member->name);
  made.documentation = library::view(member->documentation);
  made.type = member->type;
  made.payload = member->payload.size();
  return library::give(made, to);
}

}  // namespace

struct tenon_description {
  explicit tenon_description(const Json& described)
      : callables{read_list<Callable>(described.get("functions"), read_callable),
                  read_list<Callable>(described.get("agents"), read_callable),
                  read_list<Callable>(described.get("externs"), read_callable)},
        types(read_list<DescribedType>(described.get("types"), read_type)) {}

  [[nodiscard]] const Callable* find_callable(std::int32_t list, std::size_t index) const {
    return list < 0 || list > TENON_EXTERNS ? nullptr : find(callables[static_cast<std::size_t>(list)], index);
  }
  [[nodiscard]] const Member* find_member(std::size_t type, std::size_t index) const {
    const DescribedType* const found = find(types, type);
    return found == nullptr ? nullptr : find(found->members, index);
  }

  std::array<std::vector<Callable>, TENON_EXTERNS + 1> callables;
  std::vector<DescribedType> types;
};

tenon_description* tenon_program_description(const tenon_program* program) {
  if (program == nullptr) return nullptr;
  try {
    return new tenon_description(library::describe_program(program->program.code()));
  } catch (...) {
    return nullptr;
  }
}

void tenon_description_free(tenon_description* description) {
  delete description;
}

bool tenon_description_callable(const tenon_description* description, int32_t list, size_t index,
                                tenon_callable* callable) {
  const Callable* const found = description == nullptr ? nullptr : description->find_callable(list, index);
  if (found == nullptr) return false;
  tenon_callable made = {};
  made.name = library::view(found->name);
  made.documentation = library::view(found->documentation);
  made.parameters = found->parameters.size();
  made.result = found->result;
  return library::give(made, callable);
}

bool tenon_description_parameter(const tenon_description* description, int32_t list, size_t callable, size_t index,
                                 tenon_member* parameter) {
  const Callable* const found = description == nullptr ? nullptr : description->find_callable(list, callable);
  return found != nullptr && give_member(find(found->parameters, index), parameter);
}

bool tenon_description_type(const tenon_description* description, size_t index, tenon_type* type) {
  const DescribedType* const found = description == nullptr ? nullptr : find(description->types, index);
  if (found == nullptr) return false;
  tenon_type made = {};
  made.kind = found->kind;
  made.text = library::view(found->text);
  made.name = library::view(found->name);
  made.documentation = library::view(found->documentation);
  made.item = found->item;
  made.members = found->members.size();
  made.minimum = library::view(found->minimum);
  made.maximum = library::view(found->maximum);
  made.exclusive_maximum = library::view(found->exclusive_maximum);
  made.length_minimum = library::view(found->length_minimum);
  made.length_maximum = library::view(found->length_maximum);
  made.pattern = library::view(found->pattern);
  return library::give(made, type);
}

bool tenon_description_member(const tenon_description* description, size_t type, size_t index, tenon_member* member) {
  return description != nullptr && give_member(description->find_member(type, index), member);
}

bool tenon_description_payload(const tenon_description* description, size_t enumeration, size_t which, size_t index,
                               size_t* type) {
  const Member* const found = description == nullptr ? nullptr : description->find_member(enumeration, which);
  const std::size_t* const held = found == nullptr ? nullptr : find(found->payload, index);
  if (held == nullptr || type == nullptr) return false;
  *type = *held;
  return true;
}
