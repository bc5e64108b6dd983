#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "journal/postgres/append_plan.h"
#include "journal/postgres/session.h"

namespace tenon::journal::postgres {

/// Makes the statement that performs a layer. It changes the rows of the runs whose id, epoch and number of records are
/// as planned, and adds what belongs to them; the other runs of the layer are left as they are. It returns the ids of
/// the runs that it has changed. If a note that is to be kept first has an older one, it fails with
/// `note_exists_state`. Its text depends on what the layer contains, so that a small one stays quick. Used by one
/// thread.
class AppendStatements {
 public:
  /// `owner`: of runs that are started. The layer outlives the parameters.
  [[nodiscard]] const Statement& fill(const Layer& layer, std::int64_t owner, Parameters& parameters);

 private:
  std::unordered_map<std::uint32_t, std::unique_ptr<const Statement>> statements_;
};

}  // namespace tenon::journal::postgres
