#pragma once

#include <string>

#include "engine/store_access.h"

namespace tenon::cli {

/// A store as a command names it: without passwords, and quoted if a shell needs that. Empty without a store.
[[nodiscard]] std::string shown_store(const engine::StoreChoice& store);

}  // namespace tenon::cli
