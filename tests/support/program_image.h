#pragma once

#include <memory>
#include <string>

#include "runtime/program_image.h"

namespace tenon::test {

/// Compiles a program without externs from its text; an error ends the process.
[[nodiscard]] std::shared_ptr<const runtime::ProgramImage> make_image(const std::string& text);

}  // namespace tenon::test
