#pragma once

#include <string>

#include "cli/environment.h"
#include "effects/secret_vault.h"
#include "runtime/program_image.h"

namespace tenon::cli {

/// The variable that holds a store's key, as 64 hexadecimal digits. Without it the key is in a file beside the store,
/// `PATH.key`, which is made when a key is first needed.
inline constexpr const char* secret_key_variable = "TENON_SECRET_KEY";

/// Where the key of the secrets in the store at `path` comes from. Without a store, the path being empty, the key lives
/// as long as the process.
[[nodiscard]] effects::KeySource secret_keys(const std::string& path, const Environment& environment);

/// Makes sure of a key before a run of a program with secrets begins; false when there is none, which is printed.
[[nodiscard]] bool prepare_secrets(const runtime::ProgramImage& image, effects::SecretVault& secrets,
                                   const Environment& environment);

}  // namespace tenon::cli
