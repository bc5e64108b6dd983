#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.h"
#include "base/result.h"
#include "bytecode/program.h"
#include "effects/record.h"
#include "inference/openai_http/request_fields.h"

namespace tenon::project {

inline constexpr std::string_view manifest_name = "tenon.toml";
inline constexpr std::size_t manifest_bytes_max = 1024U * 1024U;

/// What an agent with hosts of its own needs of a machine, in the words of Ray.
struct AgentPlacement {
  std::optional<double> num_cpus = {};
  std::optional<double> num_gpus = {};
  std::map<std::string, double, std::less<>> resources = {};  ///< amounts of what else a machine offers, by name

  bool operator==(const AgentPlacement&) const = default;
};
using AgentPlacements = std::map<std::string, AgentPlacement, std::less<>>;  ///< by the name of the agent

/// What a project sets for all its programs, in `tenon.toml` (docs/guides/manifest.md). The command line overrides it.
struct Manifest {
  std::string path;    ///< of the file
  std::string folder;  ///< of the file; paths in it are relative to this folder

  std::optional<std::string> model;         ///< `[model] default`, as `--model` takes it
  std::optional<std::string> judge;         ///< `[model] judge`, as `--judge` takes it
  inference::RequestFields request_fields;  ///< `[model.openai]`, for `openai:NAME`
  std::optional<std::string> style;    ///< `[prompts] style`, as `--prompts` takes it; a folder is relative to `folder`
  std::vector<std::string> libraries;  ///< `[externs] libraries`, as NativeLibraries::open takes them
  std::optional<std::uint32_t> threads;  ///< `[externs] threads`
  effects::RetrySettings retry;          ///< `[retry]`
  bytecode::Bounds budget;               ///< `[budget]`, the limits of a run
  bool trusts_person = false;            ///< `[trust] person`, as `trust person` in a program says it
  bool allows_endorse = true;            ///< `[trust] endorse`
  AgentPlacements placements;            ///< `[agents.NAME]`, of the agents that have hosts of their own
};

struct ManifestProblem {
  std::uint32_t line = 0, column = 0;  ///< from 1; 0: the whole file
  std::string message;
  std::vector<std::string> hints;
};

/// Reads the manifest in `text`, whose file is `path`. Reports every unknown key and every value of a wrong form.
[[nodiscard]] Result<Manifest, std::vector<ManifestProblem>> parse_manifest(std::string_view text,
                                                                            const std::string& path);

/// The problems of the manifest at `path`.
struct ManifestError {
  std::string path;
  std::vector<ManifestProblem> problems;
};

/// Finds the `tenon.toml` nearest to a program's file: in its folder, or else in the nearest folder above it. Nothing
/// if there is none. A relative `program_path` ends the search at its first folder.
[[nodiscard]] Result<std::optional<Manifest>, ManifestError> find_manifest(FileSystem& files,
                                                                           const std::string& program_path);

}  // namespace tenon::project
