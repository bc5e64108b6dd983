#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "algebra/artifacts.h"
#include "algebra/recorded_parts.h"
#include "base/result.h"
#include "bytecode/bounds.h"
#include "journal/store.h"
#include "runtime/program_image.h"

namespace tenon::algebra {

/// Requests that an estimate lists; further ones are only counted.
inline constexpr std::size_t estimated_requests_max = 100;
/// Instructions that the program of a fork may execute in an estimate, in all turns together.
inline constexpr std::uint64_t estimate_instructions_max = 500'000'000;

struct EstimateOptions {
  journal::RunName from;
  std::uint64_t at = 0;  ///< the number of the last record whose outcome may be reused
  bytecode::Bounds budgets = {};
  std::int64_t now_ms = 0;  ///< milliseconds since 1970
};

/// A request that a fork makes, and that is performed.
struct EstimatedRequest {
  effects::EffectKind kind = effects::EffectKind::Complete;
  std::string subject;
  std::string place;  ///< `FILE:LINE:COLUMN`
  /// The record of the outcome that the original run got for the same request after `at`; nothing if it made no such
  /// request.
  std::optional<std::uint64_t> outcome = {};
};

/// Where a fork requests what its original run did not.
struct Parting {
  EstimatedRequest request;
  std::optional<RecordedRequest> recorded;  ///< what the original run requested at that point, if it did
};

/// What a fork would do, as far as the records of its original run say it.
struct ForkEstimate {
  std::uint64_t taken = 0;  ///< outcomes up to `at` that are reused, without those of notifications
  // Requests that would be performed.
  std::uint64_t model_requests = 0;
  std::uint64_t tool_calls = 0;
  std::uint64_t questions = 0;             ///< to people
  std::vector<EstimatedRequest> requests;  ///< the same, in their order
  std::optional<Parting> parting;          ///< nothing: not as far as the records go
  std::string failure;                     ///< with which the run, or a turn, would end, for people; empty: with none
  bool is_complete = false;                ///< the run, or the turn in which the fork continues, would end
  std::size_t turns_left = 0;              ///< as in Forked
};

/// What a fork in the given program would take and request. Outcomes that are recorded after `at` are assumed to come
/// again for the same requests, so what follows from them is counted too; where a request has no recorded outcome, the
/// branch of the program that makes it is not followed further. Performs nothing and writes nothing. Fails if the run
/// cannot be continued in the program, or if that executes more than `estimate_instructions_max`.
[[nodiscard]] Result<ForkEstimate, AlgebraError> estimate_fork(
    journal::Store& store, const EstimateOptions& options, const std::shared_ptr<const runtime::ProgramImage>& image);

}  // namespace tenon::algebra
