#include "engine/telemetry_setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/ascii.h"
#include "base/parse_number.h"
#include "engine/model_providers.h"
#include "http_client/http_client.h"

namespace tenon::engine {
namespace {

using telemetry::Attribute;
using telemetry::OtlpOptions;
using Pairs = std::vector<std::pair<std::string, std::string>>;

/// Decodes `%20` and similar; a `%` without two digits stays unchanged.
std::string decode_percent(std::string_view text) {
  std::string decoded;
  for (std::size_t at = 0; at < text.size(); ++at) {
    unsigned value = 0;
    const char* const digits = text.data() + at + 1;
    if (text[at] == '%' && at + 2 < text.size() && std::from_chars(digits, digits + 2, value, 16).ptr == digits + 2) {
      decoded += static_cast<char>(value);
      at += 2;
    } else {
      decoded += text[at];
    }
  }
  return decoded;
}

/// Reads `a=1,b=2` with percent-encoded values. Returns nothing if the text has another form.
std::optional<Pairs> read_pairs(std::string_view text) {
  Pairs pairs;
  while (!text.empty()) {
    const auto comma = text.find(',');
    const std::string_view item = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    if (trimmed(item).empty()) continue;
    const auto equals = item.find('=');
    if (equals == std::string_view::npos || trimmed(item.substr(0, equals)).empty()) return std::nullopt;
    pairs.emplace_back(trimmed(item.substr(0, equals)), decode_percent(trimmed(item.substr(equals + 1))));
  }
  return pairs;
}

/// Reads a number from a variable, if it is set.
Result<void, std::string> read_number(const System& system, const char* name, std::uint64_t& number) {
  const std::string text = system.variable(name);
  if (text.empty()) return {};
  const auto value = parse_number<std::uint64_t>(text);
  if (!value || *value == 0) return failure(fmt::format("{}: expected a number of at least 1", name));
  number = *value;
  return {};
}

Result<void, std::string> read_headers(const System& system, const char* name, OtlpOptions& options) {
  const auto pairs = read_pairs(system.variable(name));
  if (!pairs) return failure(fmt::format("{}: expected `name=value`, separated by commas", name));
  for (const auto& [header, value] : *pairs) {
    if ((header + value).find_first_of("\r\n") != std::string::npos) {
      return failure(fmt::format("{}: a header must be one line", name));
    }
    options.headers.push_back(header + ": " + value);
  }
  return {};
}

Result<void, std::string> read_resource(const System& system, OtlpOptions& options) {
  const auto pairs = read_pairs(system.variable("OTEL_RESOURCE_ATTRIBUTES"));
  if (!pairs) {
    return failure(std::string("OTEL_RESOURCE_ATTRIBUTES: expected `name=value`, separated by commas"));
  }
  std::string service = system.variable("OTEL_SERVICE_NAME");
  for (const auto& [key, value] : *pairs) {
    if (key != "service.name") {
      options.resource.push_back({key, value});
    } else if (service.empty()) {
      service = value;
    }
  }
  if (service.empty()) service = "tenon";
  options.resource.insert(options.resource.begin(), {Attribute{"service.name", service},
                                                     {"telemetry.sdk.name", std::string("tenon")},
                                                     {"telemetry.sdk.language", std::string("cpp")},
                                                     {"telemetry.sdk.version", std::string(TENON_VERSION)}});
  return {};
}

/// The provider of the model that the setting names.
std::string provider_of(const std::string& model) {
  const ModelProvider* const provider = find_provider(model);
  return provider != nullptr ? std::string(provider->span_name) : "tenon." + model.substr(0, model.find(':'));
}

std::string model_name(const std::string& model) {
  const auto colon = model.find(':');
  const std::string name = colon == std::string::npos ? model : model.substr(colon + 1);
  const ModelProvider* const provider = find_provider(model);
  const bool is_name = provider != nullptr && provider->rest == ModelProvider::Rest::Name;
  return is_name ? name : name.substr(name.find_last_of('/') + 1);
}

telemetry::Content content_wanted(const System& system) {
  const std::string value = lower_case(system.variable("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"));
  const bool is_wanted = value == "true" || value == "1" || value == "span_only" || value == "span_and_event";
  return is_wanted ? telemetry::Content::Captured : telemetry::Content::LeftOut;
}

}  // namespace

Result<std::optional<OtlpOptions>, std::string> read_otlp_options(const System& system) {
  const auto variable = [&](const char* name) { return system.variable(name); };
  OtlpOptions options;
  options.url = variable("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
  std::string name = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
  const std::string base = variable("OTEL_EXPORTER_OTLP_ENDPOINT");
  if (!options.url.empty() || !base.empty()) {
    if (auto loaded = http_client::load_http_library(); !loaded) return failure(std::move(loaded.error()));
  }
  if (options.url.empty() && !base.empty()) {
    name = "OTEL_EXPORTER_OTLP_ENDPOINT";
    options.url = http_client::add_to_path(base, "/v1/traces").value_or("");
    if (options.url.empty()) return failure(name + ": expected an address such as http://localhost:4318");
  }
  const bool is_off =
      lower_case(variable("OTEL_SDK_DISABLED")) == "true" || lower_case(variable("OTEL_TRACES_EXPORTER")) == "none";
  if (options.url.empty() || is_off) return std::nullopt;
  if (!http_client::find_host(options.url)) {
    return failure(name + ": expected an address such as http://localhost:4318/v1/traces");
  }
  for (const char* const protocol : {"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"}) {
    const std::string value = variable(protocol);
    if (value.empty()) continue;
    // A collector accepts both forms of OTLP over HTTP at one address.
    if (value.starts_with("http/")) break;
    return failure(fmt::format("{}: only http/json is supported", protocol));
  }
  const bool has_own_headers = !variable("OTEL_EXPORTER_OTLP_TRACES_HEADERS").empty();
  if (auto read = read_headers(
          system, has_own_headers ? "OTEL_EXPORTER_OTLP_TRACES_HEADERS" : "OTEL_EXPORTER_OTLP_HEADERS", options);
      !read) {
    return failure(std::move(read.error()));
  }
  if (auto read = read_resource(system, options); !read) return failure(std::move(read.error()));
  std::uint64_t timeout = static_cast<std::uint64_t>(options.timeout.count());
  std::uint64_t schedule = static_cast<std::uint64_t>(options.schedule.count());
  std::uint64_t queue = options.queue_spans_max;
  std::uint64_t batch = options.batch_spans_max;
  const char* const timeout_name = variable("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT").empty()
                                       ? "OTEL_EXPORTER_OTLP_TIMEOUT"
                                       : "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT";
  for (auto& [variable_name, number] :
       std::initializer_list<std::pair<const char*, std::uint64_t*>>{{timeout_name, &timeout},
                                                                     {"OTEL_BSP_SCHEDULE_DELAY", &schedule},
                                                                     {"OTEL_BSP_MAX_QUEUE_SIZE", &queue},
                                                                     {"OTEL_BSP_MAX_EXPORT_BATCH_SIZE", &batch}}) {
    if (auto read = read_number(system, variable_name, *number); !read) return failure(std::move(read.error()));
  }
  constexpr std::uint64_t day_ms = 24 * 60 * 60 * 1'000;
  options.timeout = std::chrono::milliseconds(std::min(timeout, day_ms));
  options.schedule = std::chrono::milliseconds(std::min(schedule, day_ms));
  options.queue_spans_max = queue;
  options.batch_spans_max = std::min(batch, queue);
  options.version = TENON_VERSION;
  options.ca_file = variable("SSL_CERT_FILE");
  std::string proxy = variable("HTTPS_PROXY");
  if (proxy.empty()) proxy = variable("https_proxy");
  options.proxy = options.url.starts_with("https:") ? proxy : variable("http_proxy");
  options.no_proxy = variable("no_proxy");
  return options;
}

Result<Telemetry, EngineError> Telemetry::open(const std::string& model, const System& system) {
  Telemetry made;
  auto options = read_otlp_options(system);
  if (!options) return failure(EngineError{EngineError::Kind::Usage, std::move(options.error())});
  if (!*options) return made;
  auto exporter = telemetry::OtlpExporter::open(
      std::move(**options), [system](std::string_view message) { system.notify(NoticeKind::Warning, message); });
  if (!exporter) {
    return failure(EngineError{EngineError::Kind::Usage, fmt::format("OpenTelemetry: {}", exporter.error())});
  }
  made.exporter_ = std::move(*exporter);
  made.spans_ = std::make_unique<telemetry::RunSpans>(
      *made.exporter_, system.clock, system.random_unit,
      telemetry::RunSpansOptions{provider_of(model), model_name(model), content_wanted(system)});
  return made;
}

}  // namespace tenon::engine
