#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "types/check/bodies/body_result.h"

namespace tenon::types {

/// Where the result for a body is in its program, and what the program does not keep of it.
struct MergedBody {
  syntax::NodeId first_node;
  std::uint32_t node_count = 0;
  std::uint32_t first_local = 0;
  std::uint32_t local_count = 0;
  std::vector<TypeId> requested;  ///< see TypeTable::requested
  diagnostics::Diagnostics diagnostics;
  std::vector<StrategicCall> strategic_calls;
  std::vector<ContractCall> contract_calls;
};

/// Puts the results for bodies into the program, in the order of the functions, which decides the order of diagnostics
/// and of new types.
class BodyMerger {
 public:
  BodyMerger(CheckedProgram& program, diagnostics::Diagnostics& diagnostics);

  MergedBody add(FunctionId function, BodyResult result);
  /// When all bodies have been added: reports what depends on several of them.
  void finish();

 private:
  void check_contract_calls();

  CheckedProgram& program_;
  diagnostics::Diagnostics& diagnostics_;
  std::set<std::pair<std::uint32_t, std::string>> text_types_;  ///< reported ones, by file and message
  std::vector<StrategicCall> strategic_calls_;
  std::vector<ContractCall> contract_calls_;
};

}  // namespace tenon::types
