#pragma once

#include <memory>

#include "base/result.h"
#include "cli/command_line.h"
#include "cli/environment.h"
#include "inference/model.h"

namespace tenon::cli {

/// Why there is no model, for people. `is_usage`: the command line is at fault.
struct ModelChoiceError {
  std::string message;
  bool is_usage = false;
};

/// Opens the model that was chosen. `watched`: somebody sees answers while they are written.
enum class Watched : bool { No, Yes };
[[nodiscard]] Result<std::unique_ptr<inference::Model>, ModelChoiceError> open_model(const ModelChoice& choice,
                                                                                     Watched watched,
                                                                                     const Environment& environment);

}  // namespace tenon::cli
