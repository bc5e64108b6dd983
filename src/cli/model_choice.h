#pragma once

#include <memory>

#include "base/result.h"
#include "cli/command_line.h"
#include "cli/environment.h"
#include "inference/model.h"

namespace tenon::cli {

/// Opens the model that was chosen. `watched`: somebody sees answers while they are written. Why there is none is
/// printed; the error is the process's exit code.
enum class Watched : bool { No, Yes };
[[nodiscard]] Result<std::unique_ptr<inference::Model>, int> open_model(const ModelChoice& choice, Watched watched,
                                                                        const Environment& environment);

}  // namespace tenon::cli
