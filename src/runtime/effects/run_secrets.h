#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "effects/secret_vault.h"
#include "runtime/program_image.h"
#include "runtime/scheduling/run_state.h"
#include "tools/extern_error.h"
#include "vm/machine.h"

namespace tenon::runtime {

/// Where secrets enter runs and are sealed, and where externs receive them in clear. Nothing happens to the values of a
/// program without secrets.
class RunSecrets {
 public:
  /// `vault` may be null: then no program with secrets can be run. It outlives this.
  explicit RunSecrets(effects::SecretVault* vault) : vault_(vault) {}

  /// The id of the key; empty for a program that has no secrets.
  [[nodiscard]] Result<std::string, effects::SecretError> prepare(const ProgramImage& image);
  /// Whether a recorded run can continue, whose secrets are encrypted with the key of this id; it may be empty.
  [[nodiscard]] Result<void, effects::SecretError> require(const std::string& key_id);
  [[nodiscard]] Result<void, effects::SecretError> seal_arguments(const Run& run, std::span<vm::Argument> arguments);
  /// Becomes a failure if a secret in it cannot be sealed.
  void seal_outcome(const Run& run, const vm::Request& request, vm::Outcome& outcome);
  /// As the extern receives them. `texts`: gets the secrets in clear.
  [[nodiscard]] Result<std::vector<vm::Value>, effects::SecretError> open_arguments(const Run& run,
                                                                                    const vm::Request& request,
                                                                                    std::vector<std::string>& texts);
  /// Before an extern's result is used: its new secrets are sealed, and those that it received (`texts`) are removed
  /// from the rest.
  void hide(const Run& run, const vm::Request& request, const std::vector<std::string>& texts,
            tools::ExternOutcome& outcome);

 private:
  effects::SecretVault* vault_;
};

}  // namespace tenon::runtime
