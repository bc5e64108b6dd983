#pragma once

#include <memory>

#include "base/result.h"
#include "bytecode/program.h"
#include "cli/command_line.h"
#include "cli/environment.h"
#include "effects/record.h"
#include "inference/model.h"

namespace tenon::cli {

/// Whether answers are looked at while they are written.
enum class Watched : bool { No, Yes };
/// By somebody at a terminal, or by the program, whose contracts may end an answer.
[[nodiscard]] Watched watched_by(const Environment& environment, const bytecode::Program& program);

/// What the command line does not say is as the run has it. Gives whether all is: the same model, the same judge.
[[nodiscard]] bool goes_on_with(ModelChoice& choice, const effects::RunSettings& settings);

/// Opens the model that was chosen. Why there is none is printed; the error is the process's exit code.
[[nodiscard]] Result<std::unique_ptr<inference::Model>, int> open_model(const ModelChoice& choice, Watched watched,
                                                                        const Environment& environment);

/// One that has nothing to say, for runs that ask none.
[[nodiscard]] Result<std::unique_ptr<inference::Model>, int> open_no_model();

}  // namespace tenon::cli
