#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "types/check/bodies/body_keys.h"
#include "types/check/bodies/merge_bodies.h"
#include "types/table/type_import.h"

namespace tenon::types {

/// What a later check needs to know about the bodies of a program, apart from the program itself.
struct CheckedBodies {
  struct Entry {
    BodyKey key;
    MergedBody body;
  };
  TypeExtent declared;         ///< the types of the declarations
  std::vector<Entry> entries;  ///< by function
};

/// Finds the results of an earlier check that are those of the bodies of a new program too.
class BodyReuse {
 public:
  BodyReuse(const CheckedProgram& before, const CheckedBodies& bodies, const ProgramIndex& index);

  /// The result for a function of the new program, or nothing if its body must be checked.
  [[nodiscard]] std::optional<BodyResult> find(FunctionId function, const BodyKey& key) const;

 private:
  const CheckedProgram& before_;
  const CheckedBodies& bodies_;
  const ProgramIndex& index_;
  std::vector<FunctionId> earlier_;    ///< by function of the new program; absent for new ones
  std::vector<FunctionId> functions_;  ///< by function of the earlier program; absent for removed ones
  std::vector<ExternId> externs_;      ///< by extern of the earlier program
  std::uint32_t equal_types_ = 0;      ///< types with smaller handles are the same in both programs
  SameTypes same_types_;
};

}  // namespace tenon::types
