#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "effects/record.h"
#include "inference/model.h"
#include "inference/prompting/repair_loop.h"
#include "vm/machine.h"

namespace tenon::runtime {

/// The settings of one run, which are recorded with it.
struct RunOptions {
  bytecode::Bounds budgets = bytecode::default_bounds;
  inference::Sampling sampling;
  std::uint32_t repairs_max = inference::prompting::default_repairs_max;
  std::chrono::milliseconds generation_timeout{120'000};
  effects::RetrySettings retry;
  bool has_persons_arguments = false;  ///< as over HTTP: a person gives the arguments, not the operator
  std::string model;                   ///< for the record: as `--model` names it
  std::string judge;                   ///< for the record: as `--judge` names it; empty: the model is its own judge
  std::string prompts;                 ///< for the record: the style's name
  std::vector<std::string> libraries;  ///< for the record: absolute paths of the externs' libraries
  std::string pool;                    ///< of the hosts that may continue the run (journal::Append::pool)
};

[[nodiscard]] effects::RunSettings to_settings(const RunOptions& options);
[[nodiscard]] RunOptions to_options(const effects::RunSettings& settings);

}  // namespace tenon::runtime
