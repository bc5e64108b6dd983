#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "bytecode/program.h"
#include "effects/record.h"
#include "engine/engine_error.h"
#include "engine/settings.h"
#include "engine/system.h"
#include "inference/model.h"

namespace tenon::engine {

/// Whether answers are read while they are written.
enum class Watched : bool { No, Yes };
/// They are read by a person, or by the program, whose contracts may end an answer.
[[nodiscard]] Watched watched_by(const bytecode::Program& program, Watched by_person);

/// Fills in the model and the judge that are left out from the run. Returns whether both are the run's.
[[nodiscard]] bool complete_choice(ModelChoice& choice, const effects::RunSettings& settings);

/// Opens the chosen model, whose `spec` is not empty, and the judge. A model in the process loads its file when it is
/// first asked. Copies `system`, whose files and clock outlive the model.
[[nodiscard]] Result<std::unique_ptr<inference::Model>, EngineError> open_model(const ModelChoice& choice,
                                                                                Watched watched, const System& system);

/// What the names of models begin with that the program provides itself which starts a run.
inline constexpr std::string_view own_model_prefix = "own:";

/// In the place of a model of the run that another program has provided: the run can be read, answered and continued as
/// far as it needs no model, and then waits for one that is given again. Null if the choice is of another model.
[[nodiscard]] std::unique_ptr<inference::Model> open_missing_model(const ModelChoice& choice);

/// A model without answers, for runs that do not use one.
[[nodiscard]] std::unique_ptr<inference::Model> open_no_model();

}  // namespace tenon::engine
