#pragma once

#include <string_view>
#include <unordered_set>

#include "types/check.h"
#include "types/checked_program.h"
#include "types/declarations/member_positions.h"

namespace tenon::types {

/// All that a check of a body knows about the rest of the program: the result of the declarations phase. It does not
/// change while bodies are checked, so they can be checked in any order, and each of them alone.
class ProgramIndex {
 public:
  /// `program` has its declarations (see declare). What checks of bodies add to it later is not part of the index.
  ProgramIndex(const CheckedProgram& program, Strictness strictness);

  [[nodiscard]] const CheckedProgram& program() const { return program_; }
  [[nodiscard]] Strictness strictness() const { return strictness_; }
  /// The types that the declarations have made: the first ones of the program's table.
  [[nodiscard]] const TypeExtent& types() const { return types_; }
  [[nodiscard]] const MemberPositions& members() const { return members_; }
  /// For messages: types whose names several modules declare, with their module: `shop::Order`.
  [[nodiscard]] const TypeNames& qualified_names() const { return qualified_names_; }
  /// Whether a tool of any set, or an action of a `pursue`, was given that name. Only known if the program has tests,
  /// whose scripts use such names.
  [[nodiscard]] bool is_tool_name(std::string_view name) const { return tool_names_.contains(name); }

 private:
  const CheckedProgram& program_;
  Strictness strictness_;
  TypeExtent types_;
  MemberPositions members_;
  TypeNames qualified_names_;
  std::unordered_set<std::string_view> tool_names_;
};

}  // namespace tenon::types
