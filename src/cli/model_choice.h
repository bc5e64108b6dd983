#pragma once

#include <memory>

#include "base/result.h"
#include "bytecode/program.h"
#include "cli/command_line.h"
#include "cli/environment.h"
#include "effects/record.h"
#include "inference/model.h"

namespace tenon::cli {

/// Whether answers are read while they are written.
enum class Watched : bool { No, Yes };
/// They are read by a person at a terminal, or by the program, whose contracts may end an answer.
[[nodiscard]] Watched watched_by(const Environment& environment, const bytecode::Program& program);

/// Fills in what the command line leaves out from the run. Returns whether model and judge are the run's.
[[nodiscard]] bool complete_choice(ModelChoice& choice, const effects::RunSettings& settings);

/// Opens the chosen model. Fails with the process's exit code after printing why.
[[nodiscard]] Result<std::unique_ptr<inference::Model>, int> open_model(const ModelChoice& choice, Watched watched,
                                                                        const Environment& environment);

/// A model without answers, for runs that do not use one.
[[nodiscard]] Result<std::unique_ptr<inference::Model>, int> open_no_model();

}  // namespace tenon::cli
