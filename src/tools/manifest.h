#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.h"
#include "base/result.h"
#include "bytecode/program.h"
#include "inference/openai_http/request_fields.h"

namespace tenon::tools {

inline constexpr std::string_view manifest_name = "tenon.toml";
inline constexpr std::size_t manifest_bytes_max = 1024U * 1024U;

/// What a project says once for all its programs, in `tenon.toml` (docs/guides/manifest.md). The command line goes
/// before it.
struct Manifest {
  std::string path;    ///< of the file
  std::string folder;  ///< that it lies in, and that the paths in it are relative to

  std::optional<std::string> model;         ///< `[model] default`, as `--model` takes it
  std::optional<std::string> judge;         ///< `[model] judge`, as `--judge` takes it
  inference::RequestFields request_fields;  ///< `[model.openai]`, for `openai:NAME`
  std::optional<std::string>
      wording;  ///< `[prompts] wording`, as `--prompts` takes it; a folder is relative to `folder`
  std::vector<std::string> libraries;    ///< `[externs] libraries`, as NativeLibraries::open takes them
  std::optional<std::uint32_t> threads;  ///< `[externs] threads`
  bytecode::Budget budget;               ///< `[budget]`, the bounds of a run; `place` says nothing
};

struct ManifestProblem {
  std::uint32_t line = 0, column = 0;  ///< from 1; 0 when it concerns the whole file
  std::string message;
  std::vector<std::string> hints;
};

/// The manifest in `text`. `path` is that of the file. Tells of every key that is not known or has not the form that it
/// needs.
[[nodiscard]] Result<Manifest, std::vector<ManifestProblem>> parse_manifest(std::string_view text,
                                                                            const std::string& path);

/// The problems of the manifest at `path`.
struct ManifestError {
  std::string path;
  std::vector<ManifestProblem> problems;
};

/// The `tenon.toml` that is nearest to a program's file: in its folder, else in the one above, and so on. Nothing when
/// there is none. `program_path` is absolute, or the search ends at its first folder.
[[nodiscard]] Result<std::optional<Manifest>, ManifestError> find_manifest(FileSystem& files,
                                                                           const std::string& program_path);

}  // namespace tenon::tools
