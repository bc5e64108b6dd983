#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/native/plain_types.h"
#include "vm/values/value.h"

namespace tenon::tools {

/// A C function with its prototype, ready to be called through libffi. Immutable; called from several threads at once,
/// if the function allows it.
class PlainFunction final {
 public:
  /// `free_text` frees a text that the function returned; null: the text belongs to the library.
  PlainFunction(void (*address)(), std::vector<PlainType> parameters, PlainType result, void (*free_text)(void*));
  ~PlainFunction();
  PlainFunction(const PlainFunction&) = delete;
  PlainFunction& operator=(const PlainFunction&) = delete;

  /// The function's result as a value of the kind of its C type, or why there is none: an argument contains a NUL, or
  /// a returned text is NULL or not UTF-8. Exceptions of the function are failures too.
  [[nodiscard]] Result<vm::Value, std::string> call(std::span<const vm::Value> arguments) const;

 private:
  struct Prepared;

  void (*address_)();
  std::vector<PlainType> parameters_;
  PlainType result_;
  void (*free_text_)(void*);
  std::unique_ptr<Prepared> prepared_;
};

}  // namespace tenon::tools
