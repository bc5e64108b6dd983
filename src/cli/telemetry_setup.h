#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/environment.h"
#include "runtime/listeners.h"
#include "telemetry/otlp_exporter.h"
#include "telemetry/run_spans.h"

namespace tenon::cli {

/// The options in OpenTelemetry's variables; nothing if no endpoint is set or they switch it off. Fails with a sentence
/// that names the invalid variable, without its value, which may be secret.
[[nodiscard]] Result<std::optional<telemetry::OtlpOptions>, std::string> read_otlp_options(
    const Environment& environment);

/// Exports spans of the runs of this process, as docs/guides/telemetry.md describes. Outlives the runtime that it
/// listens to. The destructor sends the remaining spans.
class Telemetry final {
 public:
  /// `model`: the value of `--model`. Returns nothing after printing which variable is invalid.
  [[nodiscard]] static std::optional<Telemetry> open(const std::string& model, const Environment& environment);

  /// Both `first` and this one, or only `first`; null if there is neither.
  [[nodiscard]] runtime::Listener* listen_with(runtime::Listener* first);
  /// Null if nothing is exported.
  [[nodiscard]] runtime::Listener* listener() { return spans_.get(); }
  [[nodiscard]] const telemetry::ExportCounts* counts() const { return exporter_ ? &exporter_->counts() : nullptr; }

 private:
  Telemetry() = default;

  std::unique_ptr<telemetry::OtlpExporter> exporter_;  // outlives the spans, which end into it
  std::unique_ptr<telemetry::RunSpans> spans_;
  std::unique_ptr<runtime::Listeners> both_;
};

}  // namespace tenon::cli
