#pragma once

#include <memory>

#include "algebra/artifacts.h"
#include "base/result.h"
#include "bytecode/bounds.h"
#include "effects/secret_vault.h"
#include "journal/store.h"
#include "runtime/program_image.h"

namespace tenon::effects {
class SecretVault;
}

namespace tenon::algebra {

struct ForkOptions {
  journal::RunName from;
  std::uint64_t at = 0;                     ///< the number of the last record whose outcome may be reused
  journal::RunName name;                    ///< of the new run
  std::string model;                        ///< for the record; empty: the model of the original run
  std::string judge;                        ///< likewise
  std::vector<std::string> libraries;       ///< for the record; empty: likewise
  bytecode::Bounds budgets;                 ///< of the new run; those that are absent are the original run's
  std::int64_t now_ms = 0;                  ///< milliseconds since 1970
  effects::SecretVault* secrets = nullptr;  ///< re-encrypts the secrets of the original run for the new one
};

struct Forked {
  std::uint64_t taken = 0;     ///< outcomes that are already in the new run's journal
  std::size_t turns_left = 0;  ///< of a conversation: turns after the first one that the known outcomes do not complete
};

/// A fork before it is stored.
struct PreparedFork {
  journal::Append append;  ///< the new run's first records
  Forked forked;
};

/// Makes a new run that reuses the outcomes of another one: it starts with the same arguments, in the given program,
/// and reuses each outcome that is recorded up to `at` for a request of the same identity (effects::DescribedRequest),
/// each once, preferably that of the same key. It has all known outcomes up to the first unknown one and, once its
/// append is committed, is ready to be resumed. The remaining outcomes are a content of its journal, because they may
/// match requests after those that are performed. With another model, reused outcomes cost nothing, so its script
/// starts with the rest. Only reads the store.
[[nodiscard]] Result<PreparedFork, AlgebraError> prepare_fork(
    journal::Store& store, const ForkOptions& options, const std::shared_ptr<const runtime::ProgramImage>& image);
/// Stores it.
[[nodiscard]] Result<void, AlgebraError> commit_fork(journal::Store& store, const PreparedFork& prepared);

}  // namespace tenon::algebra
