#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "flows/flows.h"

/// What it may cost that nothing has failed (vm/execution/trials.h), before a program runs.
namespace tenon::flows {

/// Something in a trial that may fail because of what is not trusted.
struct MayFail {
  bytecode::Place place;
  std::vector<Source> sources;  ///< ascending
};

/// What a `catch` or a `try` protects, where a call that acts may come after something that might have failed.
struct Trial {
  bytecode::Place place;              ///< where what it protects begins
  std::vector<MayFail> may_fail;      ///< at least one; by place
  std::optional<std::uint32_t> bits;  ///< at most, each time that it runs; nothing: more with each call that acts
};

/// All trials that may cost bits, by their places. `program` passes the verifier.
[[nodiscard]] std::vector<Trial> find_trials(const bytecode::Program& program, Assumptions assumptions = {});

}  // namespace tenon::flows
