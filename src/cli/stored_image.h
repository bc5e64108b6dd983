#pragma once

#include "runtime/recovery.h"

namespace tenon::cli {

/// The programs of a store's runs, for who performs nothing: no extern can be called.
[[nodiscard]] runtime::ImageSource images_without_externs();

}  // namespace tenon::cli
