#include "core/types.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/errors.h"

namespace tenon::python {
namespace {

/// As for arguments that are given to another thread, which the library limits.
constexpr std::uint32_t depth_max = 1'000;

nb::object& ok_class() {
  static auto* const held = new nb::object();  // never destroyed: the interpreter may have ended
  return *held;
}

nb::object& err_class() {
  static auto* const held = new nb::object();
  return *held;
}

nb::object& err_maker() {
  static auto* const held = new nb::object();
  return *held;
}

std::string text_at(const nb::dict& description, const char* key) {
  return nb::cast<std::string>(nb::str(description[key]));
}

std::size_t index_at(const nb::dict& description, const char* key) {
  return nb::cast<std::size_t>(description[key]);
}

std::string key_of(const Member& member) {
  return nb::cast<std::string>(nb::str(member.key));
}

nb::object interned(const std::string& name) {
  return nb::steal(PyUnicode_InternFromString(name.c_str()));
}

TypeKind kind_of(std::string_view name) {
  struct Named {
    std::string_view name;
    TypeKind kind;
  };
  static constexpr std::array kinds = {
      Named{"unit", TypeKind::Unit},     Named{"boolean", TypeKind::Boolean}, Named{"i32", TypeKind::Integer},
      Named{"i64", TypeKind::Integer},   Named{"f64", TypeKind::Float},       Named{"string", TypeKind::Text},
      Named{"text", TypeKind::Text},     Named{"list", TypeKind::List},       Named{"map", TypeKind::Map},
      Named{"option", TypeKind::Option}, Named{"result", TypeKind::Result},   Named{"tuple", TypeKind::Tuple},
      Named{"struct", TypeKind::Struct}, Named{"enum", TypeKind::Enum},       Named{"union", TypeKind::Literal},
  };
  for (const Named& known : kinds) {
    if (known.name == name) return known.kind;
  }
  return TypeKind::Internal;
}

/// Fails a call whose value has parts on more levels than the library copies for another thread.
bool is_too_deep(tenon_call* call, std::uint32_t depth) {
  if (depth <= depth_max) return false;
  tenon_fail(call, "an argument is nested more than %u levels deep", static_cast<unsigned>(depth_max));
  return true;
}

std::string_view view(tenon_text text) {
  return {text.data, text.length};
}

nb::object python_text(tenon_text text) {
  return nb::steal(PyUnicode_FromStringAndSize(text.data, static_cast<Py_ssize_t>(text.length)));
}

/// Makes an object of a struct's or a case's class, and sets its fields: as the class itself does, whose `__init__` is
/// that of a dataclass, without entering Python. `read_at(index)` is the value of a field.
template <class ReadAt>
nb::object construct(const nb::object& python_class, const std::vector<Member>& members, ReadAt read_at) {
  auto* const type = reinterpret_cast<PyTypeObject*>(python_class.ptr());
  const auto make = reinterpret_cast<newfunc>(PyType_GetSlot(type, Py_tp_new));
  const nb::object nothing = nb::steal(PyTuple_New(0));
  nb::object made = nb::steal(make(type, nothing.ptr(), nullptr));
  if (!made.is_valid()) throw nb::python_error();
  for (std::size_t at = 0; at < members.size(); ++at) {
    const nb::object value = read_at(at);
    if (PyObject_SetAttr(made.ptr(), members[at].key.ptr(), value.ptr()) != 0) throw nb::python_error();
  }
  return made;
}

nb::object read_at(tenon_call* call, const tenon_value* value, const Type& type, std::uint32_t depth);

nb::object read_members(tenon_call* call, const tenon_value* value, const nb::object& python_class,
                        const std::vector<Member>& members, std::uint32_t depth) {
  return construct(python_class, members, [&](std::size_t at) {
    return read_at(call, tenon_item(call, value, at), *members[at].type, depth + 1);
  });
}

nb::object read_struct(tenon_call* call, const tenon_value* value, const Type& type, std::uint32_t depth) {
  if (is_too_deep(call, depth)) return nb::none();
  if (!type.is_read_by_name) return read_members(call, value, type.python_class, type.members, depth);
  return construct(type.python_class, type.members, [&](std::size_t at) {
    const Member& member = type.members[at];
    return read(call, tenon_field(call, value, member.name.c_str()), *member.type);
  });
}

nb::object read_list(tenon_call* call, const tenon_value* value, const Type& item, std::uint32_t depth) {
  if (is_too_deep(call, depth)) return nb::none();
  const std::size_t length = tenon_length(call, value);
  nb::object list = nb::steal(PyList_New(static_cast<Py_ssize_t>(length)));
  for (std::size_t at = 0; at < length; ++at) {
    PyList_SetItem(list.ptr(), static_cast<Py_ssize_t>(at),
                   read_at(call, tenon_item(call, value, at), item, depth + 1).release().ptr());
  }
  return list;
}

nb::object read_map(tenon_call* call, const tenon_value* value, const Type& item, std::uint32_t depth) {
  if (is_too_deep(call, depth)) return nb::none();
  nb::dict map;
  std::size_t cursor = 0;
  tenon_text key;
  const tenon_value* found = nullptr;
  while (tenon_next_entry(call, value, &cursor, &key, &found)) {
    map[python_text(key)] = read_at(call, found, item, depth + 1);
  }
  return map;
}

nb::object read_tuple(tenon_call* call, const tenon_value* value, const std::vector<const Type*>& items,
                      std::uint32_t depth) {
  if (is_too_deep(call, depth)) return nb::none();
  nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(items.size())));
  for (std::size_t at = 0; at < items.size(); ++at) {
    PyTuple_SetItem(tuple.ptr(), static_cast<Py_ssize_t>(at),
                    read_at(call, tenon_item(call, value, at), *items[at], depth + 1).release().ptr());
  }
  return tuple;
}

nb::object read_enum(tenon_call* call, const tenon_value* value, const Type& type, std::uint32_t depth) {
  const std::string_view name = view(tenon_case_of(call, value));
  for (const EnumCase& known : type.cases) {
    if (known.name != name) continue;
    if (!known.members.empty() && is_too_deep(call, depth)) break;
    return read_members(call, value, known.python_class, known.members, depth);
  }
  return nb::none();
}

nb::object read_result(tenon_call* call, const tenon_value* value, const Type& type, std::uint32_t depth) {
  if (is_too_deep(call, depth)) return nb::none();
  const bool is_ok = view(tenon_case_of(call, value)) == "Ok";
  const tenon_value* const held = tenon_item(call, value, 0);
  if (is_ok) return ok_class()(read_at(call, held, *type.item, depth + 1));
  return err_maker()(python_text(tenon_as_json(call, held)));
}

/// The name of a class, with its module if that is not `builtins`.
std::string name_of(nb::handle python_class) {
  const std::string module = shown(nb::getattr(python_class, "__module__", nb::none()));
  const std::string name = shown(python_class.attr("__name__"));
  return module == "builtins" ? name : module + "." + name;
}

/// Fails the call because of an object of another type. What Tenon has, too, is stored, for a message with the place.
void fail_type(tenon_call* call, tenon_slot* slot, nb::handle object, const Type& type) {
  if (PyBool_Check(object.ptr())) return tenon_put_boolean(call, slot, object.ptr() == Py_True);
  if (PyLong_Check(object.ptr())) return tenon_put_i64(call, slot, 0);
  if (PyFloat_Check(object.ptr())) return tenon_put_f64(call, slot, 0);
  if (PyUnicode_Check(object.ptr())) return tenon_put_string(call, slot, "");
  if (PyList_Check(object.ptr())) return tenon_put_list(call, slot);
  if (PyDict_Check(object.ptr())) return tenon_put_map(call, slot);
  if (object.is_none()) return tenon_put_none(call, slot);
  throw WrongValue("expected `" + type.text + "`, got a Python `" + name_of(object.type()) + "`");
}

void write_integer(tenon_call* call, tenon_slot* slot, nb::handle object, const Type& type) {
  nb::object number = nb::borrow(object);
  if (!PyLong_CheckExact(object.ptr())) {
    if (PyBool_Check(object.ptr()) || !PyIndex_Check(object.ptr())) return fail_type(call, slot, object, type);
    number = nb::steal(PyNumber_Index(object.ptr()));
    if (!number.is_valid()) throw nb::python_error();
  }
  int overflow = 0;
  const long long found = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow != 0) throw WrongValue("the number is out of range for `" + type.text + "`");
  tenon_put_i64(call, slot, found);
}

void write_float(tenon_call* call, tenon_slot* slot, nb::handle object, const Type& type) {
  if (PyFloat_CheckExact(object.ptr())) return tenon_put_f64(call, slot, PyFloat_AsDouble(object.ptr()));
  const bool is_number = PyFloat_Check(object.ptr()) || PyIndex_Check(object.ptr()) ||
                         (!PyUnicode_Check(object.ptr()) && nb::hasattr(object, "__float__"));
  if (PyBool_Check(object.ptr()) || !is_number) return fail_type(call, slot, object, type);
  const nb::object number = nb::steal(PyNumber_Float(object.ptr()));
  if (!number.is_valid()) throw nb::python_error();
  tenon_put_f64(call, slot, PyFloat_AsDouble(number.ptr()));
}

/// A truth value of NumPy, which is none of Python's.
void write_other_boolean(tenon_call* call, tenon_slot* slot, nb::handle object, const Type& type) {
  const std::string name = name_of(object.type());
  if (name != "numpy.bool" && name != "numpy.bool_") return fail_type(call, slot, object, type);
  tenon_put_boolean(call, slot, PyObject_IsTrue(object.ptr()) == 1);
}

std::string_view utf8_of(nb::handle object) {
  Py_ssize_t length = 0;
  const char* const data = PyUnicode_AsUTF8AndSize(object.ptr(), &length);
  if (data != nullptr) return {data, static_cast<std::size_t>(length)};
  if (PyErr_ExceptionMatches(PyExc_UnicodeEncodeError) == 0) throw nb::python_error();
  PyErr_Clear();
  throw WrongValue("a text with surrogates, which UTF-8 does not have");
}

void write_text(tenon_call* call, tenon_slot* slot, nb::handle object) {
  const std::string_view text = utf8_of(object);
  tenon_put_text(call, slot, text.data(), text.size());
}

void write_list(tenon_call* call, tenon_slot* slot, nb::handle object, const Type& type) {
  if (PyUnicode_Check(object.ptr()) || PyBytes_Check(object.ptr()) || PyDict_Check(object.ptr()) ||
      !nb::hasattr(object, "__iter__")) {
    return fail_type(call, slot, object, type);
  }
  tenon_put_list(call, slot);
  const nb::object items = nb::steal(PyObject_GetIter(object.ptr()));
  if (!items.is_valid()) throw nb::python_error();
  while (PyObject* const item = PyIter_Next(items.ptr())) {
    const nb::object owned = nb::steal(item);
    write(call, tenon_put_item(call, slot), owned, *type.item);
    if (tenon_failed(call)) return;
  }
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
}

void write_map(tenon_call* call, tenon_slot* slot, nb::handle object, const Type& type) {
  if (!nb::hasattr(object, "items")) return fail_type(call, slot, object, type);
  tenon_put_map(call, slot);
  for (const nb::handle entry : object.attr("items")()) {
    const nb::object key = entry[0];
    if (!PyUnicode_Check(key.ptr())) {
      throw WrongValue("the keys of `" + type.text + "` are texts, got a Python `" + name_of(key.type()) + "`");
    }
    const std::string_view name = utf8_of(key);
    write(call, tenon_put_entry(call, slot, name.data(), name.size()), nb::object(entry[1]), *type.item);
    if (tenon_failed(call)) return;
  }
}

void write_tuple(tenon_call* call, tenon_slot* slot, nb::handle object, const Type& type) {
  if (!PyTuple_Check(object.ptr()) && !PyList_Check(object.ptr())) return fail_type(call, slot, object, type);
  if (nb::len(object) != type.items.size()) {
    throw WrongValue("expected `" + type.text + "`, got " + std::to_string(nb::len(object)) + " items");
  }
  for (std::size_t at = 0; at < type.items.size(); ++at) {
    write(call, tenon_put_position(call, slot, at), nb::object(object[at]), *type.items[at]);
  }
}

/// A struct from a dictionary: each key is a field.
void write_dictionary(tenon_call* call, tenon_slot* slot, nb::handle object, const Type& type) {
  std::size_t used = 0;
  for (const Member& member : type.members) {
    PyObject* found = PyDict_GetItemWithError(object.ptr(), member.declared_key.ptr());
    if (found == nullptr && member.may_use_key) found = PyDict_GetItemWithError(object.ptr(), member.key.ptr());
    if (found == nullptr) continue;  // reported where the value is used, unless it is an option
    ++used;
    const nb::object value = nb::borrow(found);  // reading it may remove it from the dictionary
    write(call, tenon_put_field(call, slot, member.name.c_str()), value, *member.type);
  }
  if (used == nb::len(object)) return;
  for (const nb::handle key : nb::borrow<nb::dict>(object).keys()) {
    const std::string name = shown(key);
    bool is_known = false;
    for (const Member& member : type.members) {
      is_known = is_known || member.name == name || (member.may_use_key && key_of(member) == name);
    }
    if (!is_known) throw WrongValue("`" + type.text + "` has no field `" + name + "`");
  }
}

void write_struct(tenon_call* call, tenon_slot* slot, nb::handle object, const Type& type) {
  if (PyDict_Check(object.ptr())) return write_dictionary(call, slot, object, type);
  for (const Member& member : type.members) {
    const nb::object value = nb::steal(PyObject_GetAttr(object.ptr(), member.key.ptr()));
    if (!value.is_valid()) {
      if (PyErr_ExceptionMatches(PyExc_AttributeError) == 0) throw nb::python_error();
      PyErr_Clear();
      return fail_type(call, slot, object, type);
    }
    write(call, tenon_put_field(call, slot, member.name.c_str()), value, *member.type);
  }
}

/// Whether an object is of the same case of the same enum in another program that was loaded, or was unpickled.
bool is_of_equal_class(nb::handle object, const EnumCase& known) {
  const nb::handle found = object.type();
  if (!nb::hasattr(found, "tenon_case")) return false;
  return found.attr("tenon_case").equal(known.python_class.attr("tenon_case")) &&
         found.attr("__name__").equal(known.python_class.attr("__name__"));
}

void write_enum(tenon_call* call, tenon_slot* slot, nb::handle object, const Type& type) {
  for (const EnumCase& known : type.cases) {
    if (!object.type().is(known.python_class) && !is_of_equal_class(object, known)) continue;
    tenon_put_case(call, slot, known.name.c_str());
    for (std::size_t at = 0; at < known.members.size(); ++at) {
      const Member& member = known.members[at];
      const nb::object value = nb::steal(PyObject_GetAttr(object.ptr(), member.key.ptr()));
      if (!value.is_valid()) throw nb::python_error();
      write(call, tenon_put_position(call, slot, at), value, *member.type);
    }
    return;
  }
  fail_type(call, slot, object, type);
}

void write_literal(tenon_call* call, tenon_slot* slot, nb::handle object, const Type& type) {
  if (!type.is_enum && !PyUnicode_Check(object.ptr())) return write_integer(call, slot, object, type);
  if (!PyUnicode_Check(object.ptr())) return fail_type(call, slot, object, type);
  if (!type.is_enum) return write_text(call, slot, object);
  const std::string_view name = utf8_of(object);
  tenon_put_case_text(call, slot, name.data(), name.size());
}

}  // namespace

TypeList::TypeList(const nb::list& descriptions, const nb::list& classes, bool is_shared) {
  for (std::size_t at = 0; at < descriptions.size(); ++at) types_.push_back(std::make_unique<Type>());
  for (const auto& type : types_) type->is_read_by_name = is_shared;
  for (std::size_t at = 0; at < descriptions.size(); ++at) {
    describe(*types_[at], nb::cast<nb::dict>(descriptions[at]), classes[at]);
  }
  // A refined type has the values of its base, and a secret is a plain value in Python.
  const auto base_of = [&](const nb::dict& description) {
    const std::string kind = text_at(description, "kind");
    return kind == "refined" ? "base" : kind == "secret" ? "item" : nullptr;
  };
  for (std::size_t at = 0; at < descriptions.size(); ++at) {
    auto description = nb::cast<nb::dict>(descriptions[at]);
    if (base_of(description) == nullptr) continue;
    std::size_t base = at;
    while (const char* const part = base_of(description)) {
      base = index_at(description, part);
      description = nb::cast<nb::dict>(descriptions[base]);
    }
    Type& type = *types_[at];
    const std::string text = type.text;
    type = *types_[base];
    type.text = text;
  }
}

void TypeList::describe(Type& type, const nb::dict& description, const nb::handle& python_class) {
  type.text = text_at(description, "text");
  type.kind = kind_of(text_at(description, "kind"));
  if (description.contains("item")) type.item = types_.at(index_at(description, "item")).get();
  if (description.contains("items")) {
    for (const nb::handle item : description["items"])
      type.items.push_back(types_.at(nb::cast<std::size_t>(item)).get());
  }
  if (type.kind == TypeKind::Struct) {
    type.python_class = nb::borrow(python_class);
    for (const nb::handle field : description["fields"]) {
      const auto described = nb::cast<nb::dict>(field);
      const std::string name = text_at(described, "name");
      const nb::object key = interned(text_at(described, "attribute"));
      type.members.push_back({name, key, types_.at(index_at(described, "type")).get(), interned(name)});
    }
    for (Member& member : type.members) {
      const std::string key = key_of(member);
      member.may_use_key = std::ranges::none_of(type.members, [&](const Member& other) { return other.name == key; });
    }
  }
  if (type.kind != TypeKind::Enum) return;
  if (python_class.is_none()) {
    type.kind = TypeKind::Literal;
    type.is_enum = true;
    return;
  }
  std::size_t at = 0;
  for (const nb::handle described : description["cases"]) {
    const auto named = nb::cast<nb::dict>(described);
    EnumCase& added = type.cases.emplace_back(EnumCase{text_at(named, "name"), nb::object(python_class[at++]), {}});
    const auto payload = nb::cast<nb::list>(named["payload"]);
    const auto attributes = nb::cast<nb::list>(named["attributes"]);
    for (std::size_t part = 0; part < payload.size(); ++part) {
      const std::string name = nb::cast<std::string>(nb::str(attributes[part]));
      added.members.push_back(
          {name, interned(name), types_.at(nb::cast<std::size_t>(payload[part])).get(), interned(name)});
    }
  }
}

void set_result_classes(const nb::object& ok, const nb::object& err, const nb::object& err_of) {
  ok_class() = ok;
  err_class() = err;
  err_maker() = err_of;
}

nb::object read(tenon_call* call, const tenon_value* value, const Type& type) {
  return read_at(call, value, type, 1);
}

namespace {

nb::object read_at(tenon_call* call, const tenon_value* value, const Type& type, std::uint32_t depth) {
  if (tenon_failed(call)) return nb::none();
  switch (type.kind) {
    case TypeKind::Unit:
      return nb::none();
    case TypeKind::Boolean:
      return nb::bool_(tenon_as_boolean(call, value));
    case TypeKind::Integer:
      return nb::int_(tenon_as_i64(call, value));
    case TypeKind::Float:
      return nb::float_(tenon_as_f64(call, value));
    case TypeKind::Text:
      return python_text(tenon_as_text(call, value));
    case TypeKind::List:
      return read_list(call, value, *type.item, depth);
    case TypeKind::Map:
      return read_map(call, value, *type.item, depth);
    case TypeKind::Option: {
      const tenon_value* const some = tenon_some(call, value);
      if (some == nullptr || is_too_deep(call, depth)) return nb::none();
      return read_at(call, some, *type.item, depth + 1);
    }
    case TypeKind::Result:
      return read_result(call, value, type, depth);
    case TypeKind::Tuple:
      return read_tuple(call, value, type.items, depth);
    case TypeKind::Struct:
      return read_struct(call, value, type, depth);
    case TypeKind::Enum:
      return read_enum(call, value, type, depth);
    case TypeKind::Literal:
      if (type.is_enum) return python_text(tenon_case_of(call, value));
      if (tenon_kind_of(call, value) == TENON_INTEGER) return nb::int_(tenon_as_i64(call, value));
      return python_text(tenon_as_text(call, value));
    case TypeKind::Internal:
      break;
  }
  tenon_fail(call, "a value of the type `%s` cannot be passed to Python", type.text.c_str());
  return nb::none();
}

}  // namespace

void write(tenon_call* call, tenon_slot* slot, nb::handle object, const Type& type) {
  if (slot == nullptr || tenon_failed(call)) return;  // for one, the value is nested too deep
  switch (type.kind) {
    case TypeKind::Unit:
      if (!object.is_none()) fail_type(call, slot, object, type);
      return;
    case TypeKind::Boolean:
      if (!PyBool_Check(object.ptr())) return write_other_boolean(call, slot, object, type);
      return tenon_put_boolean(call, slot, object.ptr() == Py_True);
    case TypeKind::Integer:
      return write_integer(call, slot, object, type);
    case TypeKind::Float:
      return write_float(call, slot, object, type);
    case TypeKind::Text:
      if (!PyUnicode_Check(object.ptr())) return fail_type(call, slot, object, type);
      return write_text(call, slot, object);
    case TypeKind::List:
      return write_list(call, slot, object, type);
    case TypeKind::Map:
      return write_map(call, slot, object, type);
    case TypeKind::Option:
      if (object.is_none()) return tenon_put_none(call, slot);
      return write(call, tenon_put_some(call, slot), object, *type.item);
    case TypeKind::Result:
      if (object.type().is(err_class())) {
        const std::string message = shown(object.attr("message"));
        return tenon_put_err_text(call, slot, message.data(), message.size());
      }
      if (object.type().is(ok_class())) {
        return write(call, tenon_put_ok(call, slot), nb::object(object.attr("value")), *type.item);
      }
      return write(call, tenon_put_ok(call, slot), object, *type.item);
    case TypeKind::Tuple:
      return write_tuple(call, slot, object, type);
    case TypeKind::Struct:
      return write_struct(call, slot, object, type);
    case TypeKind::Enum:
      return write_enum(call, slot, object, type);
    case TypeKind::Literal:
      return write_literal(call, slot, object, type);
    case TypeKind::Internal:
      break;
  }
  throw WrongValue("a value of the type `" + type.text + "` cannot be given from Python");
}

}  // namespace tenon::python
