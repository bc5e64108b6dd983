#include "tools/native/plain_call.h"

#include <ffi.h>
#include <fmt/format.h>

#include <cstring>
#include <exception>
#include <string_view>
#include <utility>

#include "base/ensure.h"
#include "base/utf8.h"
#include "vm/limits.h"

namespace tenon::tools {
namespace {

using vm::Value;

/// Calls with at most this many arguments need no memory of the heap.
constexpr std::size_t arguments_on_stack_max = 8;

ffi_type* ffi_type_of(PlainType type) {
  static_assert(sizeof(bool) == 1);
  switch (type) {
    case PlainType::Void:
      return &ffi_type_void;
    case PlainType::Bool:
      return &ffi_type_uint8;
    case PlainType::Int32:
      return &ffi_type_sint32;
    case PlainType::Int64:
      return &ffi_type_sint64;
    case PlainType::Double:
      return &ffi_type_double;
    case PlainType::String:
      return &ffi_type_pointer;
  }
  return &ffi_type_void;
}

union Cell {
  std::uint8_t boolean;
  std::int32_t i32;
  std::int64_t i64;
  double f64;
  const char* text;
};

/// libffi widens results that are narrower than a register.
union ResultCell {
  ffi_arg narrow;
  std::int64_t i64;
  double f64;
  const char* text;
};

Result<Value, std::string> take_text(const char* text, void (*free_text)(void*)) {
  if (text == nullptr) return failure(std::string("it returned NULL, but a text is declared"));
  const std::size_t length = strnlen(text, vm::text_bytes_max + 1);
  std::string copy(text, length);
  if (free_text != nullptr) free_text(const_cast<char*>(text));
  auto value = Value::try_string(std::move(copy));
  if (value) return std::move(*value);
  switch (value.error().kind) {
    case vm::TextError::Kind::NotUtf8:
      return failure(fmt::format("it returned a text that is not UTF-8 at byte {}", value.error().offset));
    case vm::TextError::Kind::TooLong:
      return failure(fmt::format("it returned a text of more than {} bytes", vm::text_bytes_max));
  }
  return failure(std::string());
}

}  // namespace

struct PlainFunction::Prepared {
  ffi_cif interface;
  std::vector<ffi_type*> parameters;
};

PlainFunction::PlainFunction(void (*address)(), std::vector<PlainType> parameters, PlainType result,
                             void (*free_text)(void*))
    : address_(address),
      parameters_(std::move(parameters)),
      result_(result),
      free_text_(free_text),
      prepared_(std::make_unique<Prepared>()) {
  for (const PlainType type : parameters_) prepared_->parameters.push_back(ffi_type_of(type));
  const ffi_status status =
      ffi_prep_cif(&prepared_->interface, FFI_DEFAULT_ABI, static_cast<unsigned>(parameters_.size()),
                   ffi_type_of(result_), prepared_->parameters.data());
  ENSURE(status == FFI_OK);
}

PlainFunction::~PlainFunction() = default;

Result<Value, std::string> PlainFunction::call(std::span<const Value> arguments) const {
  ENSURE(arguments.size() == parameters_.size());
  Cell cells_on_stack[arguments_on_stack_max];
  void* addresses_on_stack[arguments_on_stack_max];
  std::vector<Cell> cells_on_heap;
  std::vector<void*> addresses_on_heap;
  Cell* cells = cells_on_stack;
  void** addresses = addresses_on_stack;
  if (arguments.size() > arguments_on_stack_max) {
    cells_on_heap.resize(arguments.size());
    addresses_on_heap.resize(arguments.size());
    cells = cells_on_heap.data();
    addresses = addresses_on_heap.data();
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    addresses[i] = &cells[i];
    switch (parameters_[i]) {
      case PlainType::Void:
        break;
      case PlainType::Bool:
        cells[i].boolean = arguments[i].as_boolean() ? 1 : 0;
        break;
      case PlainType::Int32:
        cells[i].i32 = static_cast<std::int32_t>(arguments[i].as_integer());
        break;
      case PlainType::Int64:
        cells[i].i64 = arguments[i].as_integer();
        break;
      case PlainType::Double:
        cells[i].f64 = arguments[i].as_float();
        break;
      case PlainType::String: {
        const std::string_view text = arguments[i].as_text();
        if (const void* const nul = std::memchr(text.data(), 0, text.size())) {
          return failure(fmt::format("argument {} has a NUL at byte {}, which would end a C string", i + 1,
                                     static_cast<const char*>(nul) - text.data()));
        }
        cells[i].text = text.data();  // a string's bytes, which a NUL follows
        break;
      }
    }
  }
  ResultCell result{};
  try {
    ffi_call(&prepared_->interface, address_, &result, addresses);
  } catch (const BrokenCondition&) {
    throw;
  } catch (const std::exception& exception) {
    return failure(replace_invalid_utf8(exception.what()));
  } catch (...) {
    return failure(std::string("an exception without a message"));
  }
  switch (result_) {
    case PlainType::Void:
      return Value::unit();
    // C leaves the bits above a narrow result open.
    case PlainType::Bool:
      return Value::boolean((result.narrow & 0xFFU) != 0);
    case PlainType::Int32:
      return Value::integer(static_cast<std::int32_t>(result.narrow));
    case PlainType::Int64:
      return Value::integer(result.i64);
    case PlainType::Double:
      return Value::floating(result.f64);
    case PlainType::String:
      return take_text(result.text, free_text_);
  }
  return Value::unit();
}

}  // namespace tenon::tools
