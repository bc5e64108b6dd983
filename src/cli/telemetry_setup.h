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

/// What OpenTelemetry's variables say; nothing when no endpoint is set, or they switch it off. A sentence that names
/// the variable when one cannot be used; values, which may be secret, are not shown.
[[nodiscard]] Result<std::optional<telemetry::OtlpOptions>, std::string> read_otlp_options(
    const Environment& environment);

/// Spans of the runs of this process, as docs/guides/telemetry.md describes them. Outlives the runtime that it listens
/// to; its end sends what is left.
class Telemetry final {
 public:
  /// `model`: as `--model` names it. Nothing when a variable cannot be used, which is printed.
  [[nodiscard]] static std::optional<Telemetry> open(const std::string& model, const Environment& environment);

  /// `first` and this one together, or `first` alone; null when there is neither.
  [[nodiscard]] runtime::Listener* listen_with(runtime::Listener* first);
  /// Null when nothing is sent.
  [[nodiscard]] runtime::Listener* listener() { return spans_.get(); }
  [[nodiscard]] const telemetry::ExportCounts* counts() const { return exporter_ ? &exporter_->counts() : nullptr; }

 private:
  Telemetry() = default;

  std::unique_ptr<telemetry::OtlpExporter> exporter_;  // outlives the spans, which end into it
  std::unique_ptr<telemetry::RunSpans> spans_;
  std::unique_ptr<runtime::Listeners> both_;
};

}  // namespace tenon::cli
