#pragma once

#include <memory>

#include "algebra/artifacts.h"
#include "base/result.h"
#include "effects/secret_vault.h"
#include "journal/store.h"
#include "runtime/program_image.h"

namespace tenon::effects {
class SecretVault;
}

namespace tenon::algebra {

struct ForkOptions {
  journal::RunName from;
  std::uint64_t at = 0;                     ///< the number of the last record from which something is taken
  journal::RunName name;                    ///< of the new run
  std::string model;                        ///< for the record; empty: the model of the run that it comes from
  std::string judge;                        ///< the same of the judge
  std::vector<std::string> libraries;       ///< for the record; empty: likewise
  std::int64_t now_ms = 0;                  ///< milliseconds since 1970
  effects::SecretVault* secrets = nullptr;  ///< seals for the new run what is sealed for the other; as World::secrets
};

struct Forked {
  std::uint64_t taken = 0;     ///< outcomes that stand in the new run's journal already
  std::size_t turns_left = 0;  ///< of a conversation: turns after one that is not over with what is known
};

/// Begins a new run that has what another one has learnt: it starts with the same arguments, in the given program, and
/// takes each outcome that is recorded up to `at` for a request of the same identity (effects::DescribedRequest), each
/// once, first that of the same key. It is in the store with all that is known up to the first thing that is not,
/// in one commit, ready to be resumed. What remains is a content of its journal, since something may be known again
/// after what is performed. With another model what is taken costs nothing, so that its script begins with the rest.
[[nodiscard]] Result<Forked, AlgebraError> fork(journal::Store& store, const ForkOptions& options,
                                                const std::shared_ptr<const runtime::ProgramImage>& image);

}  // namespace tenon::algebra
