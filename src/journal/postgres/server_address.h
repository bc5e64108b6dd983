#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "journal/store.h"

namespace tenon::journal::postgres {

/// Where a store in PostgreSQL is, and how it is reached: its URL, taken apart.
struct ServerAddress {
  std::string name;  ///< for people: the URL without passwords
  /// What the URL sets, by libpq's keywords. What it does not set comes from libpq's environment variables and files.
  std::vector<std::pair<std::string, std::string>> settings;
  std::string schema = "tenon";  ///< in which all tables of the store are
  std::optional<std::chrono::milliseconds> lease;

  /// The setting of this keyword; null if the URL does not have it.
  [[nodiscard]] const std::string* find(std::string_view keyword) const;
  /// The number of servers that the URL lists, at least one.
  [[nodiscard]] std::size_t host_count() const;
  /// The settings that lead to one of them only; those of them all if the URL's lists differ in length.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> settings_of_host(std::size_t host) const;
};

/// Bounds of `tenon.lease`.
inline constexpr std::chrono::milliseconds lease_min{500};
inline constexpr std::chrono::milliseconds lease_max{3'600'000};

/// Reads `postgres://USER@HOST:PORT/DATABASE?OPTION=VALUE&…`. Options that start with `tenon.` are the store's own:
/// `tenon.schema`, and `tenon.lease` in milliseconds; the others are libpq's. `Format` with a sentence if it is not
/// such a URL, `Missing` without libpq.
[[nodiscard]] Result<ServerAddress, StoreError> parse_server_url(const std::string& url);

/// The URL without passwords, so that it can be shown. Does not need libpq.
[[nodiscard]] std::string without_passwords(const std::string& url);

}  // namespace tenon::journal::postgres
