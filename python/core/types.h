#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <tenon/tenon.h>

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

// The types of a program as Python has them, and the values that cross between the two.

namespace tenon::python {

namespace nb = nanobind;

enum class TypeKind {
  Unit,
  Boolean,
  Integer,
  Float,
  Text,
  List,
  Map,
  Option,
  Result,
  Tuple,
  Struct,
  Enum,
  Literal,   ///< a union, or an enum whose cases have no payload
  Internal,  ///< has no values in Python
};

struct Type;

/// A field of a struct, or a part of a case's payload.
struct Member {
  std::string name;
  nb::object key;  ///< the attribute's name as an interned Python text
  const Type* type = nullptr;
  nb::object declared_key = {};  ///< the same of the name
  /// Whether dictionaries may use the attribute's name: it is no other field's name.
  bool may_use_key = true;
};

struct EnumCase {
  std::string name;
  nb::object python_class;  ///< not of a Literal
  std::vector<Member> members;
};

struct Type {
  TypeKind kind = TypeKind::Internal;
  std::string text;                ///< as the program writes it
  const Type* item = nullptr;      ///< of a list, a map, an option or a result
  std::vector<const Type*> items;  ///< of a tuple
  nb::object python_class;         ///< of a struct
  std::vector<Member> members;     ///< of a struct
  std::vector<EnumCase> cases;     ///< of an enum
  bool is_enum = false;            ///< of a Literal
  bool is_read_by_name = false;    ///< of a struct: its fields, which other programs may have in another order
};

/// The types of a program. A type refers to others, and is never destroyed before them.
class TypeList {
 public:
  /// `descriptions` is the list `types` of `tenon_program_describe`. `classes` has, at the same index, the class of a
  /// struct, a list of classes for the cases of an enum with payloads, and otherwise None. `is_shared`: values of other
  /// programs are read, too, such as earlier versions of this one.
  TypeList(const nb::list& descriptions, const nb::list& classes, bool is_shared);
  TypeList(const TypeList&) = delete;
  TypeList& operator=(const TypeList&) = delete;

  [[nodiscard]] const Type& at(std::size_t index) const { return *types_.at(index); }

 private:
  void describe(Type& type, const nb::dict& description, const nb::handle& python_class);

  std::vector<std::unique_ptr<Type>> types_;
};

/// The classes `Ok` and `Err` of the package, and `err_of(json)`, which makes an `Err` from a failure.
void set_result_classes(const nb::object& ok, const nb::object& err, const nb::object& err_of);

/// A value as Python has it. After a mistake the call has failed (`tenon_failed`), and parts are None.
nb::object read(tenon_call* call, const tenon_value* value, const Type& type);

/// Why an object is not of the type of its slot.
class WrongValue : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Stores a Python object in a slot. An object of another type fails the call, or throws WrongValue.
void write(tenon_call* call, tenon_slot* slot, nb::handle object, const Type& type);

}  // namespace tenon::python
