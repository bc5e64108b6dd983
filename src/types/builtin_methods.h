#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "types/checked_program.h"

namespace tenon::types {

/// A built-in method as a call of it is checked.
struct MethodSignature {
  Target target;
  std::vector<TypeId>
      parameters;  ///< without the receiver; a Closure for `|x| …`, with Error for what only the call tells
  TypeId result;   ///< absent: `result_form` depends on the closure
  enum class ResultForm : std::uint8_t { Given, ListOfClosure, OptionOfClosure, Initial } form = ResultForm::Given;
  bool changes_receiver = false;
};

/// The method `name` of a value of type `receiver`, or nothing. Refinements of the receiver do not matter.
[[nodiscard]] std::optional<MethodSignature> find_builtin_method(TypeTable& types, TypeId receiver,
                                                                 std::string_view name);

/// Whether the method changes what it is called on, instead of giving a changed copy.
[[nodiscard]] bool changes_receiver(BuiltinMethod method);

/// The names of all methods of the receiver's type, for suggestions.
[[nodiscard]] std::vector<std::string_view> builtin_method_names(const TypeTable& types, TypeId receiver);

/// The built-in method that another language's `name` stands for: `to_uppercase` for `upper`. Nothing when none does.
[[nodiscard]] std::optional<std::string_view> find_known_elsewhere(std::string_view name);

/// The same for a misspelt one, as `len` for `lenght`, where `methods` has the built-in method.
[[nodiscard]] std::optional<std::string_view> find_nearest_elsewhere(std::string_view name,
                                                                     std::span<const std::string_view> methods);

/// Whether values of some type have a built-in method of that name.
[[nodiscard]] bool is_builtin_method(std::string_view name);

}  // namespace tenon::types
