#pragma once

#include "engine/system.h"

namespace tenon::engine {

/// The environment and the random numbers of this process. `files` and `clock` outlive the system.
[[nodiscard]] System process_system(FileSystem& files, Clock& clock);

}  // namespace tenon::engine
