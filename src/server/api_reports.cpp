// The reports that std::report has written for a run.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "server/api.h"

namespace tenon::server {

namespace {

/// std::report writes no larger files.
constexpr std::uintmax_t report_bytes_max = std::uintmax_t{64} << 20U;

/// Nothing for a file that is not a report.
std::optional<std::string_view> content_type_of(std::string_view name) {
  if (name.ends_with(".pdf")) return "application/pdf";
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".md")) return "text/markdown; charset=utf-8";
  return std::nullopt;
}

/// Whether std::report accepts the name; such a name leads to no other folder.
bool is_file_name(std::string_view name) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  return !name.empty() && name.front() != '.' && name.find_first_not_of(letters) == std::string_view::npos;
}

HttpAnswer not_found(std::string_view name) {
  return whole(make_error(404, "not_found", fmt::format("the run has no report `{}`", name.substr(0, 100))));
}

}  // namespace

void Api::list_reports(const Call& call) {
  const auto head = find_run(parts_.store, call);
  if (!head) return;
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator at(std::filesystem::path(parts_.reports) / head->run.text, error), end;
       !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (is_file_name(name) && content_type_of(name) &&
        at->symlink_status(error).type() == std::filesystem::file_type::regular) {
      names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  Json list = Json::array();
  for (const std::string& name : names) {
    const auto bytes = std::filesystem::file_size(std::filesystem::path(parts_.reports) / head->run.text / name, error);
    if (error) continue;
    list.push_back(Json::object()
                       .set("name", name)
                       .set("type", *content_type_of(name))
                       .set("bytes", static_cast<std::int64_t>(bytes)));
  }
  Json json = Json::object();
  json.set("reports", std::move(list));
  call.answer(whole(make_json(json.dump())));
}

void Api::read_report(const Call& call) {
  const auto head = find_run(parts_.store, call);
  if (!head) return;
  const std::string& name = call.names[1];
  const auto type = content_type_of(name);
  if (!is_file_name(name) || !type) return call.answer(not_found(name));
  const std::filesystem::path path = std::filesystem::path(parts_.reports) / head->run.text / name;
  std::error_code error;
  if (std::filesystem::symlink_status(path, error).type() != std::filesystem::file_type::regular) {
    return call.answer(not_found(name));
  }
  if (std::filesystem::file_size(path, error) > report_bytes_max || error) {
    return call.answer(whole(make_error(413, "too_large", "the report is too large to be sent")));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) return call.answer(not_found(name));
  HttpResponse response;
  response.content_type = *type;
  // A browser must not run anything that the report contains.
  response.headers.emplace_back("X-Content-Type-Options", "nosniff");
  response.headers.emplace_back("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox");
  response.headers.emplace_back("Content-Disposition", fmt::format("inline; filename=\"{}\"", name));
  response.body.assign(std::istreambuf_iterator<char>(file), {});
  call.answer(whole(std::move(response)));
}

}  // namespace tenon::server
