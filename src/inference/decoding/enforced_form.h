#pragma once

#include <optional>

#include "inference/model.h"

namespace tenon::inference::decoding {

/// Whether token masks enforce all of the form: every pattern is one that llguidance supports, see
/// ConstraintCompiler::compile_text. Thread-safe; the answer for a pattern is kept.
[[nodiscard]] bool enforces(const TextForm& form);

/// Model::sent_form of a backend with token masks: without the description of a form that they enforce.
[[nodiscard]] std::optional<GenerationRequest> without_enforced_form(const GenerationRequest& request);

}  // namespace tenon::inference::decoding
