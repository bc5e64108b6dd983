#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/engine_error.h"
#include "engine/system.h"
#include "runtime/events.h"
#include "telemetry/otlp_exporter.h"
#include "telemetry/run_spans.h"

namespace tenon::engine {

/// The options in OpenTelemetry's variables; nothing if no endpoint is set or they switch it off. Fails with a sentence
/// that names the invalid variable, without its value, which may be secret.
[[nodiscard]] Result<std::optional<telemetry::OtlpOptions>, std::string> read_otlp_options(const System& system);

/// Exports spans of the runs of this process, as docs/guides/telemetry.md describes. Outlives the runtime that it
/// listens to. The destructor sends the remaining spans.
class Telemetry final {
 public:
  /// Exports nothing.
  Telemetry() = default;
  /// `model`: as ModelChoice::spec. Fails if one of OpenTelemetry's variables is invalid. Copies `system`.
  [[nodiscard]] static Result<Telemetry, EngineError> open(const std::string& model, const System& system);

  /// Null if nothing is exported.
  [[nodiscard]] runtime::Listener* listener() { return spans_.get(); }
  [[nodiscard]] const telemetry::ExportCounts* counts() const { return exporter_ ? &exporter_->counts() : nullptr; }

 private:
  std::unique_ptr<telemetry::OtlpExporter> exporter_;  // outlives the spans, which end into it
  std::unique_ptr<telemetry::RunSpans> spans_;
};

}  // namespace tenon::engine
