#include "engine/fork.h"

#include <fmt/format.h>

#include <utility>
#include <variant>

#include "base/counted.h"
#include "effects/record.h"
#include "effects/secret_vault.h"
#include "engine/program.h"
#include "engine/secret_key.h"
#include "engine/store_access.h"
#include "engine/stored_run.h"

namespace tenon::engine {
namespace {

/// Whether the run's last record says that it has failed because a budget was spent.
bool has_spent_budget(journal::Store& store, const journal::RunHead& head) {
  if (head.summary.state != journal::RunState::Failed) return false;
  const auto last = store.read(head.run, head.records - 1, 1);
  if (!last || last->empty()) return false;
  const auto record = effects::decode_record(last->front().bytes);
  const auto* const ended = record ? std::get_if<effects::Ended>(&record->body) : nullptr;
  return ended != nullptr && ended->failure.kind == types::FailureKind::BudgetSpent;
}

/// A run to fork.
struct Origin {
  StoredRun stored;
  std::uint64_t at = 0;  ///< as in algebra::ForkOptions
};

Result<Origin, EngineError> find_origin(journal::Store& store, const ForkChoice& choice) {
  auto stored = read_stored_run(store, choice.from);
  if (!stored) return failure(std::move(stored.error()));
  const auto head = store.head(choice.from);
  if (!head) return failure(engine::to_error(head.error()));
  if (choice.forkable == ForkableRuns::BudgetSpent && !has_spent_budget(store, *head)) {
    return failure(EngineError{
        EngineError::Kind::Conflict,
        fmt::format("run {} is {}: only a run that has failed because its budget was spent continues with a larger one",
                    choice.from.text, journal::name_of(head->summary.state))});
  }
  if (choice.at > head->records) {
    return failure(EngineError{EngineError::Kind::Usage,
                               fmt::format("run {} has {}", choice.from.text, counted(head->records, "record")), "at"});
  }
  return Origin{std::move(*stored), choice.at.value_or(head->records)};
}

/// That of the choice, or else the run's own.
std::shared_ptr<const runtime::ProgramImage> image_of(const ForkChoice& choice, StoredRun& stored) {
  return make_image(choice.program != nullptr ? choice.program : stored.program.loaded,
                    std::move(stored.program.templates));
}

}  // namespace

Result<algebra::PreparedFork, EngineError> prepare_fork(journal::Store& store, const journal::RunName& name,
                                                        const ForkChoice& choice, const std::string& store_path,
                                                        const System& system) {
  auto origin = find_origin(store, choice);
  if (!origin) return failure(std::move(origin.error()));
  effects::SecretVault secrets(secret_keys(store_path, system));
  const algebra::ForkOptions options{.from = choice.from,
                                     .at = origin->at,
                                     .name = name,
                                     .model = choice.model,
                                     .judge = choice.judge,
                                     .libraries = choice.libraries,
                                     .budgets = choice.budgets,
                                     .now_ms = wall_ms(system.clock),
                                     .secrets = &secrets};
  const auto image = image_of(choice, origin->stored);
  auto prepared = algebra::prepare_fork(store, options, image);
  if (prepared) return std::move(*prepared);
  return failure(EngineError{EngineError::Kind::Failed, std::move(prepared.error().message)});
}

Result<algebra::ForkEstimate, EngineError> estimate_fork(journal::Store& store, const ForkChoice& choice,
                                                         const System& system) {
  auto origin = find_origin(store, choice);
  if (!origin) return failure(std::move(origin.error()));
  const algebra::EstimateOptions options{
      .from = choice.from, .at = origin->at, .budgets = choice.budgets, .now_ms = wall_ms(system.clock)};
  auto estimate = algebra::estimate_fork(store, options, image_of(choice, origin->stored));
  if (estimate) return std::move(*estimate);
  return failure(EngineError{EngineError::Kind::WrongInput, std::move(estimate.error().message)});
}

}  // namespace tenon::engine
