#pragma once

#include <memory>
#include <span>

#include "algebra/artifacts.h"
#include "base/result.h"
#include "runtime/program_image.h"

namespace tenon::algebra {

/// Rebuilds the interaction from a program and the artifacts of a run of it, with no model and no tool: h gives what
/// the run begins with, q and sigma what the model filled in and chose, r what everybody answered. Fails when the
/// program, so fed, does something else than the artifacts say; the message shows both. Artifacts of any content are
/// answered; a program's loop ends by the bounds of h, or by the defaults.
/// `images`: the run's programs in their order, one unless a newer one has taken over (Cycle::program).
[[nodiscard]] Result<Interaction, AlgebraError> reconstruct(
    std::span<const std::shared_ptr<const runtime::ProgramImage>> images, const Artifacts& artifacts);
[[nodiscard]] Result<Interaction, AlgebraError> reconstruct(const std::shared_ptr<const runtime::ProgramImage>& image,
                                                            const Artifacts& artifacts);

}  // namespace tenon::algebra
