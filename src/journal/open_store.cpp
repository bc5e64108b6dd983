#include "journal/open_store.h"

#include <fmt/format.h>

#include <algorithm>

#include "journal/sqlite/open_sqlite.h"

namespace tenon::journal {
namespace {

constexpr std::string_view sqlite_scheme = "sqlite";

/// The scheme of a URL (RFC 3986), without its colon; empty: the text is a path.
std::string_view scheme_of(std::string_view url) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto is_of_scheme = [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
  };
  const std::size_t colon = url.find(':');
  if (colon == std::string_view::npos || colon == 0) return {};
  const std::string_view scheme = url.substr(0, colon);
  return is_letter(scheme.front()) && std::ranges::all_of(scheme, is_of_scheme) ? scheme : std::string_view{};
}

}  // namespace

Result<StoreLocation, StoreError> parse_store_url(const std::string& url) {
  const std::string_view scheme = scheme_of(url);
  StoreLocation location{std::string(sqlite_scheme), url};
  if (!scheme.empty()) {
    if (scheme != sqlite_scheme)
      return failure(StoreError{
          StoreError::Kind::Format,
          fmt::format("no store has the scheme `{}` (available: `sqlite:PATH`); for a file of that name write `./{}`",
                      scheme, url)});
    location.path = url.substr(scheme.size() + 1);
  }
  if (location.path.empty())
    return failure(StoreError{StoreError::Kind::Missing, fmt::format("`{}` names no file; write `sqlite:PATH`", url)});
  return location;
}

std::string file_of_store(const std::string& url) {
  const auto location = parse_store_url(url);
  return location ? location->path : url;
}

Result<std::unique_ptr<StoreConnection>, StoreError> open_store(const std::string& url, const StoreOptions& options) {
  const auto location = parse_store_url(url);
  if (!location) return failure(location.error());
  return sqlite::open_sqlite(location->path, options);
}

}  // namespace tenon::journal
