#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "engine/event_hub.h"
#include "engine/hosting.h"
#include "server/api.h"
#include "server/catalog.h"
#include "server/file_watch.h"
#include "server/http_server.h"
#include "server/inspector.h"
#include "server/limits.h"
#include "server/studio_files.h"

namespace tenon::server {

struct ServiceOptions {
  Limits limits;
  std::string token;                       ///< that clients must send; empty: none
  const ProgramFiles* programs = nullptr;  ///< none: they are neither shown nor edited; outlives the service
  StudioFiles studio = {};                 ///< not empty: its page is served; outlives the service
  StoppedBy stopped_by = StoppedBy::Signals;
};

/// The HTTP server of a host or a gateway.
class Service final {
 public:
  /// Both outlive this. `hub`: the observer of the hosting.
  Service(engine::Hosting& hosting, engine::EventHub& hub, ServiceOptions options);
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;
  ~Service();

  // As those of HttpServer.
  [[nodiscard]] Result<std::uint16_t, std::string> listen(const Address& address) { return http_.listen(address); }
  void run(const std::function<void(int signal)>& on_stop = {}) { http_.run(on_stop); }
  void stop() { http_.stop(); }

 private:
  const ServiceOptions options_;
  Catalog catalog_;
  ChangedPrograms changed_;
  ServerCounts counts_;
  std::unique_ptr<Inspector> inspector_;
  Api api_;
  HttpServer http_;
  std::optional<FileWatch> files_;  ///< of the programs that can be edited
};

}  // namespace tenon::server
