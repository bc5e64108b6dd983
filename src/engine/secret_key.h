#pragma once

#include <string>

#include "effects/secret_vault.h"
#include "engine/system.h"

namespace tenon::engine {

/// The variable with a store's key, as 64 hexadecimal digits. If it is not set, the key of a store in a file is in a
/// file next to it, `PATH.key`, which is created when a key is first needed. A store in a database needs the variable,
/// with the same key in all processes that use the store.
inline constexpr const char* secret_key_variable = "TENON_SECRET_KEY";

/// Returns the source of the key for the secrets in the store at `store`. Without a store (an empty URL), the key
/// exists as long as the process.
[[nodiscard]] effects::KeySource secret_keys(const std::string& store, const System& system);

}  // namespace tenon::engine
