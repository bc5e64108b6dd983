#pragma once

#include <span>
#include <string_view>

#include "server/api.h"

namespace tenon::server {

/// One row of the table from which the dispatch and the OpenAPI document are made.
struct Route {
  std::string_view method;
  std::string_view pattern;    ///< `{name}` matches one segment
  std::string_view operation;  ///< its name in clients that are generated from the document
  std::string_view summary;
  std::string_view body;      ///< JSON Schema of the request's body; empty: none
  std::string_view query;     ///< the query's parameters as `name` or `name:integer`, separated by blanks
  std::string_view headers;   ///< of the request, separated by blanks
  std::string_view statuses;  ///< of the answers, separated by blanks; without those that any request can get
  std::string_view content;   ///< content types of a successful answer, separated by blanks
  std::string_view answer;    ///< the schema of a successful answer that is JSON
  std::string_view answer_headers = {};  ///< of a good answer, separated by blanks
  bool is_open = false;                  ///< also without a token
  void (Api::*handler)(const Api::Call&) = nullptr;
  bool is_studio = false;                                             ///< only where the studio is served
  void (RunInspections::*inspection)(const Api::Call&) = nullptr;     ///< instead of a handler
  void (*question)(const ProgramFiles*, const Api::Call&) = nullptr;  ///< instead of a handler: program_questions.h
};

/// Gives the table access to the handlers.
struct Routes {
  static std::span<const Route> all();

 private:
  static std::span<const Route> of_programs();
  static std::span<const Route> of_runs();
  static std::span<const Route> of_everything_else();
};
[[nodiscard]] inline std::span<const Route> routes() {
  return Routes::all();
}

}  // namespace tenon::server
