#pragma once

#include "vm/values/value.h"

namespace tenon::tools {

/// Makes the value share nothing that is counted with any other, so that it may go to another thread: what only it
/// refers to is kept, the rest copied. False when it is nested deeper than `extern_depth_max` or contains a Context; it
/// must not leave this thread then.
[[nodiscard]] bool isolate(vm::Value& value);

}  // namespace tenon::tools
