#include "journal/open_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/ensure.h"
#include "base/file_names.h"
#include "journal/postgres/open_postgres.h"
#include "journal/postgres/server_address.h"
#include "journal/sqlite/open_sqlite.h"

namespace tenon::journal {
namespace {

constexpr std::string_view sqlite_scheme = "sqlite";
constexpr std::array<std::string_view, 2> postgres_schemes = {"postgres", "postgresql"};

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

/// The URL of a database that is not recognized as one, because of what is before it; empty: it is none.
std::string_view misspelt_database(std::string_view url) {
  const std::size_t begin = url.find_first_not_of(" \t\r\n\"'");
  if (begin == 0 || begin == std::string_view::npos) return {};
  const std::string_view rest = url.substr(begin);
  const bool is_database = std::ranges::find(postgres_schemes, scheme_of(rest)) != postgres_schemes.end();
  return is_database ? rest : std::string_view{};
}

/// The first keyword of `host=… user=… password=…`, which libpq's own programs take; empty: it is nothing like it.
std::string_view keyword_form(std::string_view url) {
  constexpr std::array<std::string_view, 9> keywords = {"host",     "hostaddr", "port",    "dbname",  "user",
                                                        "password", "service",  "sslmode", "passfile"};
  const std::size_t begin = std::min(url.find_first_not_of(" \t\r\n\"'"), url.size());
  const std::size_t equals = url.find('=', begin);
  if (equals == std::string_view::npos) return {};
  std::string_view keyword = url.substr(begin, equals - begin);
  while (keyword.ends_with(' ')) keyword.remove_suffix(1);
  return std::ranges::find(keywords, keyword) != keywords.end() ? keyword : std::string_view{};
}

StoreError wrong_name(const std::string& url, std::string_view why) {
  return {StoreError::Kind::Format, fmt::format("{}: {}", name_of_store(url), why)};
}

}  // namespace

Result<StoreLocation, StoreError> parse_store_url(const std::string& url) {
  const std::string_view scheme = scheme_of(url);
  if (std::ranges::find(postgres_schemes, scheme) != postgres_schemes.end())
    return StoreLocation{StoreLocation::Kind::Database, url};
  if (!misspelt_database(url).empty())
    return failure(wrong_name(url, "the URL of a database begins with `postgres://`, with nothing before it"));
  if (const std::string_view keyword = keyword_form(url); !keyword.empty())
    return failure(
        wrong_name(url, fmt::format("write a database as `postgres://USER@HOST:PORT/DATABASE`; for a file of "
                                    "such a name write `./{}=…`",
                                    keyword)));
  StoreLocation location{StoreLocation::Kind::File, url};
  if (!scheme.empty()) {
    if (scheme != sqlite_scheme)
      return failure(
          StoreError{StoreError::Kind::Format,
                     fmt::format("no store has the scheme `{}` (available: `sqlite:PATH`, `postgres://HOST/DATABASE`); "
                                 "for a file of that name write `./{}`",
                                 scheme, name_of_store(url))});
    location.path = url.substr(scheme.size() + 1);
  }
  if (location.path.empty())
    return failure(StoreError{StoreError::Kind::Missing, fmt::format("`{}` names no file; write `sqlite:PATH`", url)});
  return location;
}

std::optional<std::string> file_of_store(const std::string& url) {
  auto location = parse_store_url(url);
  if (!location || location->kind != StoreLocation::Kind::File) return std::nullopt;
  return follow_links(location->path);
}

std::string name_of_store(const std::string& url) {
  if (const std::string_view database = misspelt_database(url); !database.empty())
    return postgres::without_passwords(std::string(database));
  if (const std::string_view keyword = keyword_form(url); !keyword.empty()) return fmt::format("{}=…", keyword);
  const std::string_view scheme = scheme_of(url);
  if (scheme.empty() || scheme == sqlite_scheme) return url;
  const bool is_database = std::ranges::find(postgres_schemes, scheme) != postgres_schemes.end();
  // Without a scheme a URL may begin with `USER:PASSWORD`.
  if (!is_database && url.find('@') != std::string::npos) return fmt::format("{}:…", scheme);
  return postgres::without_passwords(url);
}

Result<std::unique_ptr<StoreConnection>, StoreError> open_store(const std::string& url, const StoreOptions& options) {
  const auto location = parse_store_url(url);
  if (!location) return failure(location.error());
  auto opened = location->kind == StoreLocation::Kind::File ? sqlite::open_sqlite(location->path, options)
                                                            : postgres::open_postgres(location->path, options);
  if (!opened || options.access != Access::Owner) return opened;
  const auto newest = (*opened)->runs().newest();
  if (!newest) return failure(newest.error());
  if (*newest) make_run_names_after(**newest);
  return opened;
}

}  // namespace tenon::journal
