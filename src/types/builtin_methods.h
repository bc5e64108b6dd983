#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "types/checked_program.h"

namespace tenon::types {

/// The signature of a built-in method for the check of a call.
struct MethodSignature {
  Target target;
  std::vector<TypeId>
      parameters;  ///< without the receiver; a Closure for `|x| …`, with Error for a type that only the call determines
  TypeId result;  ///< absent: `result_form` depends on the closure
  enum class ResultForm : std::uint8_t { Given, ListOfClosure, OptionOfClosure, Initial } form = ResultForm::Given;
  bool changes_receiver = false;
};

/// The method `name` of a value of type `receiver`, or nothing. Refinements of the receiver do not matter.
[[nodiscard]] std::optional<MethodSignature> find_builtin_method(TypeTable& types, TypeId receiver,
                                                                 std::string_view name);

/// Whether the method modifies its receiver, instead of returning a modified copy.
[[nodiscard]] bool changes_receiver(BuiltinMethod method);

/// The names of all methods of the receiver's type, for suggestions.
[[nodiscard]] std::vector<std::string_view> builtin_method_names(const TypeTable& types, TypeId receiver);

/// The built-in method for another language's function `name`: `to_uppercase` for `upper`. Nothing if there is none.
[[nodiscard]] std::optional<std::string_view> find_known_elsewhere(std::string_view name);

/// The hint on what to write for another language's `name` of a method or field of the receiver, which has `methods`.
[[nodiscard]] std::optional<std::string> find_advice(const TypeTable& types, TypeId receiver, std::string_view name,
                                                     std::span<const std::string_view> methods);

/// The built-in method for a misspelled name of other languages, such as `len` for `lenght`, if `methods` has the
/// built-in method.
[[nodiscard]] std::optional<std::string_view> find_nearest_elsewhere(std::string_view name,
                                                                     std::span<const std::string_view> methods);

/// The one of `methods`, which the receiver has, that is meant by its name, that of another language or a misspelled
/// one. Nothing if something else than a method is written for it.
[[nodiscard]] std::optional<std::string_view> find_meant_method(const TypeTable& types, TypeId receiver,
                                                                std::string_view name,
                                                                std::span<const std::string_view> methods);

/// Whether values of any type have a built-in method with this name.
[[nodiscard]] bool is_builtin_method(std::string_view name);

}  // namespace tenon::types
