#pragma once

#include "vm/values/value.h"

namespace tenon::tools {

/// Makes the value independent of all other values, so that it can be moved to another thread: objects that only it
/// refers to are kept, the others are copied, once for all places in the value where they occur. False if it is nested
/// deeper than `extern_depth_max` or contains a Context; then it must stay on this thread.
[[nodiscard]] bool isolate(vm::Value& value);

}  // namespace tenon::tools
