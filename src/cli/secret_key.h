#pragma once

#include <string>

#include "cli/environment.h"
#include "effects/secret_vault.h"
#include "runtime/program_image.h"

namespace tenon::cli {

/// The variable with a store's key, as 64 hexadecimal digits. If it is not set, the key is in a file next to the store,
/// `PATH.key`, which is created when a key is first needed.
inline constexpr const char* secret_key_variable = "TENON_SECRET_KEY";

/// Returns the source of the key for the secrets in the store at `path`. Without a store (an empty path), the key
/// exists as long as the process.
[[nodiscard]] effects::KeySource secret_keys(const std::string& path, const Environment& environment);

/// Obtains the key before a run of a program with secrets starts. Returns false after printing why there is none.
[[nodiscard]] bool prepare_secrets(const runtime::ProgramImage& image, effects::SecretVault& secrets,
                                   const Environment& environment);

}  // namespace tenon::cli
