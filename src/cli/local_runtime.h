#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cli/chat_view.h"
#include "cli/environment.h"
#include "cli/run_report.h"
#include "cli/telemetry_setup.h"
#include "cli/trace.h"
#include "effects/secret_vault.h"
#include "inference/model.h"
#include "journal/committer.h"
#include "journal/open_store.h"
#include "runtime/runtime.h"
#include "tools/native/native_caller.h"

namespace tenon::cli {

/// When an answer of the model is shown to a person.
enum class ShownAnswers : std::uint8_t {
  WhenWhole,
  AsEmitted,  ///< when it is complete; texts that an agent emits are shown at once
  AsWritten,
};

/// A runtime of this process, and everything that it uses.
class LocalRuntime {
 public:
  struct Parts {
    std::unique_ptr<inference::Model> model;
    std::unique_ptr<journal::StoreConnection> store;  ///< null: runs are not recorded
    std::string store_path = {};                      ///< empty without a store
    std::string reports = {};                         ///< the folder for reports
    std::unique_ptr<Trace> trace;
    std::optional<Telemetry> telemetry = std::nullopt;
    std::optional<std::uint32_t> threads = std::nullopt;  ///< of externs; nothing: the default
    runtime::RuntimeOptions options = {};
    ShownAnswers shown = ShownAnswers::WhenWhole;
  };
  /// `environment` outlives this.
  LocalRuntime(Parts parts, const Environment& environment);

  [[nodiscard]] runtime::Runtime& runtime() { return runtime_; }
  [[nodiscard]] effects::SecretVault& secrets() { return secrets_; }
  /// Shows an agent's texts while they are written; null if they are shown only when they are complete.
  [[nodiscard]] ChatView* view() { return view_ ? &*view_ : nullptr; }
  /// The name of a new run, after printing it; nothing if runs are not recorded.
  [[nodiscard]] std::optional<journal::RunName> make_name() const;
  /// Removes the progress line from the terminal.
  void end_trace() { parts_.trace->end(); }

 private:
  [[nodiscard]] tools::NativeCallerOptions calling() const;
  [[nodiscard]] runtime::Listener* listener();

  // In this order: later members use earlier ones.
  const Environment& environment_;
  Parts parts_;
  TerminalPrompter person_;
  effects::SecretVault secrets_;
  std::optional<ChatView> view_;
  tools::NativeCaller caller_;
  std::optional<journal::ThreadCommitter> committer_;
  runtime::Runtime runtime_;
};

}  // namespace tenon::cli
