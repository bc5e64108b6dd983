// The studio's page. It is public: what it shows comes from other paths, which require the token.
#include <fmt/format.h>

#include <algorithm>

#include "base/sha256.h"
#include "server/api.h"

namespace tenon::server {
namespace {

/// The page runs its own scripts alone, and loads nothing from elsewhere.
constexpr std::string_view page_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

std::string_view type_of(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> types[] = {{".html", "text/html; charset=utf-8"},
                                                                            {".js", "text/javascript; charset=utf-8"},
                                                                            {".css", "text/css; charset=utf-8"},
                                                                            {".svg", "image/svg+xml"},
                                                                            {".woff2", "font/woff2"},
                                                                            {".json", "application/json"}};
  for (const auto& [ending, type] : types) {
    if (name.ends_with(ending)) return type;
  }
  return "application/octet-stream";
}

/// Whether a client reads gzip: it does not say what it reads, or names it (RFC 9110 section 12.5.3).
bool reads_gzip(const HttpRequest& request) {
  const std::string* const accepted = request.find_header("accept-encoding");
  return accepted == nullptr || accepted->find("gzip") != std::string::npos || accepted->find('*') != std::string::npos;
}

HttpResponse make_page(const HttpRequest& request, const StudioFile& file, bool is_immutable) {
  if (!reads_gzip(request)) {
    return make_error(406, "not_acceptable", "the studio's files are compressed; send `Accept-Encoding: gzip`");
  }
  HttpResponse response;
  response.content_type = type_of(file.name);
  response.headers = {{"Content-Security-Policy", std::string(page_policy)},
                      {"X-Content-Type-Options", "nosniff"},
                      {"Referrer-Policy", "no-referrer"},
                      {"Cross-Origin-Opener-Policy", "same-origin"},
                      {"Cross-Origin-Resource-Policy", "same-origin"}};
  if (is_immutable) {
    response.headers.emplace_back("Cache-Control", "public, max-age=31536000, immutable");
  } else {
    const std::string tag = fmt::format("\"{}\"", sha256(file.gzip).hex());
    response.headers.emplace_back("Cache-Control", "no-cache");
    response.headers.emplace_back("ETag", tag);
    if (request.header("if-none-match") == tag) {
      response.status = 304;
      return response;
    }
  }
  response.headers.emplace_back("Content-Encoding", "gzip");
  response.body = std::string(file.gzip);
  return response;
}

}  // namespace

void Api::show_studio(const Call& call) {
  const bool is_asset = !call.names.empty();
  const std::string name = is_asset ? "assets/" + call.names.front() : "index.html";
  const auto found = std::ranges::find(parts_.studio, name, &StudioFile::name);
  if (found == parts_.studio.end()) {
    return call.answer(whole(make_error(404, "not_found", "unknown path; /openapi.json lists the paths")));
  }
  call.answer(whole(make_page(call.request, *found, is_asset)));
}

}  // namespace tenon::server
