#pragma once

#include <span>
#include <string_view>

#include "server/api.h"

namespace tenon::server {

/// One line of the table from which the dispatch and the OpenAPI document come.
struct Route {
  std::string_view method;
  std::string_view pattern;  ///< `{name}` stands for one segment
  std::string_view summary;
  std::string_view body;      ///< JSON Schema of the request's body; empty: none
  std::string_view query;     ///< names of the query's parameters, separated by blanks
  std::string_view statuses;  ///< of the answers, separated by blanks
  std::string_view content;   ///< of a good answer
  bool is_open = false;       ///< also without a token
  void (Api::*handler)(const Api::Call&) = nullptr;
};

/// Grants the table what it points to.
struct Routes {
  static std::span<const Route> all();
};
[[nodiscard]] inline std::span<const Route> routes() {
  return Routes::all();
}

}  // namespace tenon::server
