#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "types/declarations/program_index.h"

namespace tenon::types {

/// The key of a body: if it is the same in two programs, so is the result of its check, apart from positions and ids.
struct BodyKey {
  /// The hash of the body's tokens and tree, and of the meaning of each name in it: the signature of a function, a type
  /// with all types that it consists of.
  std::uint64_t body = 0;
  /// The hash of all names in the program, for suggestions: only relevant for a body with diagnostics.
  std::uint64_t names = 0;
  friend bool operator==(const BodyKey&, const BodyKey&) = default;
};

/// Computes the keys of a program's bodies.
class BodyKeys {
 public:
  explicit BodyKeys(const ProgramIndex& index);

  [[nodiscard]] BodyKey key_of(FunctionId function);

 private:
  void add_meaning(std::string_view name, std::uint64_t meaning);
  [[nodiscard]] std::uint64_t hash_of_signature(const FunctionDeclaration& function);
  /// The hash of the type as it is written: of a struct or an enum only its name.
  [[nodiscard]] std::uint64_t hash_of_name(TypeId type);
  /// The hash of the type with the declarations of all structs and enums in it.
  [[nodiscard]] std::uint64_t hash_of_type(TypeId type);
  [[nodiscard]] std::uint64_t hash_of_declaration(TypeId type);

  const ProgramIndex& index_;
  const CheckedProgram& program_;
  std::unordered_map<TypeId, std::string> declared_names_;  ///< of structs and enums, with their modules
  std::unordered_map<TypeId, std::uint64_t> type_hashes_;   ///< see hash_of_type
  /// Finds names without making a string of each.
  struct NameHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>{}(name); }
  };
  std::unordered_map<std::string, std::uint64_t, NameHash, std::equal_to<>> meanings_;  ///< by name
  std::uint64_t environment_ = 0;
  std::uint64_t names_ = 0;
};

}  // namespace tenon::types
