#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "inference/openai_http/request_fields.h"
#include "inference/openai_http/retry.h"
#include "inference/openai_http/secret.h"

namespace tenon::inference {

/// Whether the answer comes in pieces. `Off` costs least; `On` shows the answer while it is written.
enum class Streaming : bool { Off, On };

/// Where and how an OpenAI-compatible endpoint is asked.
struct OpenAiOptions {
  std::string base_url = "https://api.openai.com/v1";  ///< `/chat/completions` is added to its path; a query is kept
  Secret api_key;                                      ///< empty: no Authorization header
  std::string model;
  Streaming streaming = Streaming::Off;
  RequestFields fields;
  /// Requests on the wire at once; more than these wait in line. Bounded further by the files that the process may
  /// open.
  std::uint32_t requests_in_flight_max = 1'024;
  std::chrono::milliseconds connect_timeout{10'000};
  /// The longest silence between two pieces of a streamed reply. How long the first one takes is the model's affair,
  /// and only the request's own timeout bounds it.
  std::chrono::milliseconds idle_timeout{60'000};
  RetryPolicy retry;
  std::size_t reply_bytes_max = std::size_t{32} << 20U;  ///< a longer reply is broken off
  std::string ca_file;                                   ///< PEM file of the authorities to trust; empty: the system's
  std::string proxy;                                     ///< URL of an HTTP or SOCKS proxy; empty: none
  std::string no_proxy;  ///< hosts that are asked without the proxy, separated by commas
};

/// What the model needs of the world besides the network.
struct OpenAiEnvironment {
  std::function<double()> random_unit;                                ///< in [0, 1); spreads retries
  std::function<std::chrono::system_clock::time_point()> wall_clock;  ///< for a Retry-After that names a date
};

}  // namespace tenon::inference
