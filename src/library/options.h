#pragma once

#include <tenon/tenon.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/engine_error.h"
#include "engine/program.h"
#include "engine/store_access.h"
#include "engine/system.h"
#include "tools/provided_functions.h"

namespace tenon::library {

/// What a host has set (`tenon_options`).
struct Options {
  engine::Settings settings;
  engine::StoreChoice store;
  std::optional<std::uint32_t> extern_threads;
  std::optional<std::uint64_t> memory_bytes_max;
  std::function<void(engine::NoticeKind kind, std::string_view text)> on_notice;
  tools::ProvidedFunctionMap functions;
  tools::ProvidedHooks function_hooks;
  std::string pool;                 ///< of a host
  std::string agent;                ///< the placed agent of which it is a host; empty: none
  std::vector<std::string> worker;  ///< the command of tenon_options_set_worker; empty: what is beside libtenon
  std::string report_library;       ///< empty: what is beside libtenon
  /// In place of variables of the environment; never shown.
  std::map<std::string, std::string, std::less<>> secrets;

  struct Model {
    std::string name;
    tenon_model functions = {};
    std::shared_ptr<void> user;
  };
  std::optional<Model> model;
};

/// Sets one of the options that `tenon_options_set` describes. Fails with `Usage`.
[[nodiscard]] Result<void, engine::EngineError> set_option(Options& options, std::string_view name,
                                                           std::string_view value);

/// Sets a secret, as `tenon_options_set_secret` describes it. Fails with `Usage`.
[[nodiscard]] Result<void, engine::EngineError> set_secret(Options& options, std::string_view name,
                                                           std::string_view value);

/// Completes the settings with what the host provides, and returns what an engine with these options uses of its
/// process. `files` and `clock` outlive it. `owner`: whose functions the notices are (CallbackScope).
[[nodiscard]] engine::System prepare_system(Options& options, FileSystem& files, Clock& clock, const void* owner);

/// The functions of the options that a host calls, each in a CallbackScope of this owner.
void note_callbacks(tools::ProvidedFunctionMap& functions, tools::ProvidedHooks& hooks, const void* owner);

}  // namespace tenon::library
