#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/engine_error.h"
#include "engine/model_choice.h"
#include "engine/settings.h"
#include "engine/system.h"
#include "inference/model.h"

namespace tenon::engine {

/// Where a model comes from: what the setting `model` begins with. The table of all providers is in
/// model_providers.cpp; the settings, the help of the command line and the spans read it.
struct ModelProvider {
  /// What follows the prefix and a colon.
  enum class Rest : std::uint8_t {
    Nothing,  ///< nor is there a colon
    Name,
    Path,  ///< in a manifest relative to its folder
  };
  std::string_view prefix;
  Rest rest = Rest::Nothing;
  std::string_view placeholder;  ///< of the rest, for people
  std::string_view span_name;    ///< the provider in spans
  std::string_view description;  ///< for people
  Result<std::unique_ptr<inference::Model>, EngineError> (*open)(const std::string& rest, const ModelChoice& choice,
                                                                 Watched watched, const System& system);

  /// `PREFIX:PLACEHOLDER`
  [[nodiscard]] std::string form() const;
};

/// In the order in which people read them.
[[nodiscard]] std::span<const ModelProvider> model_providers();
/// The provider with the prefix of `spec`; null if there is none.
[[nodiscard]] const ModelProvider* find_provider(std::string_view spec);
/// `builtin, gguf:PATH or openai:NAME`, for all providers. `after_default` follows the default model.
[[nodiscard]] std::string list_model_forms(std::string_view after_default = "");

/// Opens the model that `spec` names. `setting`: the setting that it was chosen with, for messages. The `spec` of
/// `choice` is not used.
[[nodiscard]] Result<std::unique_ptr<inference::Model>, EngineError> open_with_provider(const std::string& spec,
                                                                                        std::string_view setting,
                                                                                        const ModelChoice& choice,
                                                                                        Watched watched,
                                                                                        const System& system);

}  // namespace tenon::engine
