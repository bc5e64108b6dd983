#pragma once

#include <string>
#include <vector>

#include "server/http_message.h"

namespace tenon::server {

/// A request whose route is known.
struct ApiCall {
  const HttpRequest& request;
  const Target& target;
  const std::vector<std::string>& names;  ///< the segments that match `{…}`
  const OnAnswer& answer;
};

}  // namespace tenon::server
