#include "journal/postgres/server_address.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#include "base/parse_number.h"
#include "journal/postgres/pq_library.h"

namespace tenon::journal::postgres {
namespace {

constexpr std::string_view own_prefix = "tenon.";
constexpr std::size_t schema_bytes_max = 63;  // of any name in PostgreSQL

StoreError wrong_url(const std::string& name, std::string_view what) {
  return {StoreError::Kind::Format, fmt::format("{}: {}", name, what)};
}

/// Where the part after `postgres://` begins.
std::size_t authority_of(std::string_view url) {
  return std::min(url.find_first_not_of('/', url.find(':') + 1), url.size());
}

/// Whether a query has an `@` where none belongs, so that it is a part of a password with a `?`.
bool has_stray_at(std::string_view query) {
  constexpr std::array<std::string_view, 7> may_have = {"user",     "password",        "host", "dbname", "options",
                                                        "passfile", "application_name"};
  for (std::size_t begin = 0; begin < query.size();) {
    const std::size_t end = std::min(query.find('&', begin), query.size());
    const std::string_view option = query.substr(begin, end - begin);
    const std::size_t at = option.find('@');
    const std::string_view keyword = option.substr(0, option.find('='));
    if (at != std::string_view::npos && std::ranges::find(may_have, keyword) == may_have.end()) return true;
    begin = end + 1;
  }
  return false;
}

/// A URL and the parts of its query.
struct SplitUrl {
  std::string_view base;  ///< up to the `?`
  std::vector<std::pair<std::string_view, std::string_view>> options;
};

SplitUrl split(std::string_view url) {
  // As libpq reads it, the user and the password may contain a `?`.
  const std::size_t begin = authority_of(url);
  const std::size_t mark = url.find_first_of("@/", begin);
  const bool has_user = mark != std::string_view::npos && url[mark] == '@';
  std::size_t question = url.find('?', has_user ? mark : 0);
  const bool may_be_in_password =
      question != std::string_view::npos && url.substr(begin, question - begin).find(':') != std::string_view::npos;
  if (may_be_in_password && has_stray_at(url.substr(question + 1))) question = url.find('?', url.rfind('@'));
  SplitUrl parts{url.substr(0, question), {}};
  std::string_view query = question == std::string_view::npos ? std::string_view{} : url.substr(question + 1);
  while (!query.empty()) {
    const std::size_t end = query.find('&');
    const std::string_view option = query.substr(0, end);
    const std::size_t equals = option.find('=');
    parts.options.emplace_back(option.substr(0, equals),
                               equals == std::string_view::npos ? std::string_view{} : option.substr(equals + 1));
    query = end == std::string_view::npos ? std::string_view{} : query.substr(end + 1);
  }
  return parts;
}

/// The settings that may be lists, with an element for each server; one of a single element counts for all.
constexpr std::array<std::string_view, 3> host_lists = {"host", "hostaddr", "port"};

std::vector<std::string> split_list(std::string_view list) {
  std::vector<std::string> elements;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    elements.emplace_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return elements;
}

/// A part of a URL without its percent signs.
std::string decode(std::string_view text) {
  std::string decoded;
  for (std::size_t at = 0; at < text.size(); ++at) {
    unsigned value = 0;
    const char* const digits = text.data() + at + 1;
    const bool is_encoded =
        text[at] == '%' && at + 2 < text.size() && std::from_chars(digits, digits + 2, value, 16).ptr == digits + 2;
    decoded += is_encoded ? static_cast<char>(value) : text[at];
    if (is_encoded) at += 2;
  }
  return decoded;
}

bool is_password(std::string_view encoded_keyword) {
  std::string keyword = decode(encoded_keyword);
  std::ranges::transform(keyword, keyword.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
  if (keyword == "passfile") return false;
  return keyword.find("pass") != std::string::npos || keyword.find("pwd") != std::string::npos ||
         keyword.find("secret") != std::string::npos || keyword.starts_with("scram_");
}

/// Where the password of `postgres://USER:PASSWORD@HOST/…` is, from the colon to the `@`; empty if there is none. What
/// may be one counts, also in a URL that cannot be read.
struct Region {
  std::size_t begin = 0, end = 0;
};
Region password_region(std::string_view base) {
  const std::size_t begin = authority_of(base);
  const std::size_t at = base.rfind('@');
  if (at != std::string_view::npos && at >= begin) {
    const std::size_t colon = base.substr(0, at).find(':', begin);
    return colon == std::string_view::npos ? Region{} : Region{colon, at};
  }
  // `USER:PASSWORD` without a host is read as `HOST:PORT`.
  const std::size_t end = std::min(base.find('/', begin), base.size());
  const std::string_view host = base.substr(begin, end - begin);
  const std::size_t colon = host.find(':');
  if (colon == std::string_view::npos || host.find('[') != std::string_view::npos) return {};
  const bool is_port = host.find_first_not_of("0123456789", colon + 1) == std::string_view::npos;
  if (is_port || host.find(',') != std::string_view::npos) return {};
  return {begin + colon, end};
}

/// Why the base of a URL is not read as it was meant; empty if it is.
std::string_view find_ambiguity(std::string_view base) {
  const Region region = password_region(base);
  const std::string_view password = base.substr(region.begin, region.end - region.begin);
  if (region.begin < region.end && base.rfind('@') != region.end)
    return "the port is a number; a user's password is followed by `@` and the host";
  const std::size_t begin = authority_of(base);
  const std::string_view host = base.substr(begin, base.find('/', begin) - begin);
  if (password.find_first_of("/@") != std::string_view::npos || host.find('@') != host.rfind('@'))
    return "in a password write `@` as `%40`, `/` as `%2F` and `?` as `%3F`, or give it in PGPASSWORD; in other parts "
           "write `@` as `%40`";
  return {};
}

std::string base_without_password(std::string_view base) {
  const Region region = password_region(base);
  return std::string(base.substr(0, region.begin)) + std::string(base.substr(region.end));
}

std::string joined(std::string base, const std::vector<std::pair<std::string_view, std::string_view>>& options) {
  char separator = '?';
  for (const auto& [keyword, value] : options) {
    base += fmt::format("{}{}={}", separator, keyword, value);
    separator = '&';
  }
  return base;
}

/// Every password of the URL, as it is written there.
std::vector<std::string_view> passwords_of(const SplitUrl& parts) {
  std::vector<std::string_view> passwords;
  for (const auto& [keyword, value] : parts.options)
    if (is_password(keyword)) passwords.push_back(value);
  const Region region = password_region(parts.base);
  if (region.begin < region.end)
    passwords.push_back(parts.base.substr(region.begin + 1, region.end - region.begin - 1));
  return passwords;
}

/// libpq's messages about a URL quote parts of it.
std::string without_passwords(std::string message, const SplitUrl& parts) {
  for (const std::string_view password : passwords_of(parts)) {
    if (password.empty()) continue;
    for (std::size_t at = message.find(password); at != std::string::npos; at = message.find(password, at))
      message.replace(at, password.size(), "…");
  }
  while (!message.empty() && message.back() == '\n') message.pop_back();
  return message;
}

bool is_schema_name(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  const auto is_part = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); };
  return !name.empty() && name.size() <= schema_bytes_max && is_letter(name.front()) &&
         std::ranges::all_of(name, is_part) && !name.starts_with("pg_");
}

Result<void, StoreError> take_own_option(ServerAddress& address, std::string_view keyword, std::string_view value) {
  if (keyword == "tenon.schema") {
    if (!is_schema_name(value))
      return failure(wrong_url(
          address.name, fmt::format("`{}` cannot be the store's schema: a name consists of small letters, digits and "
                                    "`_`, at most {}, and does not start with a digit or `pg_`",
                                    value, schema_bytes_max)));
    address.schema = value;
    return {};
  }
  if (keyword == "tenon.lease") {
    const auto lease = parse_number<std::uint32_t>(value);
    const std::chrono::milliseconds given{lease.value_or(0)};
    if (!lease || given < lease_min || given > lease_max)
      return failure(wrong_url(address.name, fmt::format("`tenon.lease={}`: expected milliseconds, from {} to {}",
                                                         value, lease_min.count(), lease_max.count())));
    address.lease = given;
    return {};
  }
  return failure(wrong_url(address.name,
                           fmt::format("there is no option `{}`; there are: `tenon.schema`, `tenon.lease`", keyword)));
}

Result<void, StoreError> read_settings(ServerAddress& address, const std::string& url, const SplitUrl& parts) {
  const auto library = load_pq();
  if (!library)
    return failure(StoreError{StoreError::Kind::Missing, fmt::format("{}: {}", address.name, library.error())});
  char* message = nullptr;
  PQconninfoOption* const options = (*library)->conninfo_parse(url.c_str(), &message);
  if (options == nullptr) {
    const std::string why = message == nullptr ? "out of memory" : without_passwords(message, parts);
    if (message != nullptr) (*library)->freemem(message);
    return failure(wrong_url(address.name, fmt::format("libpq cannot read this URL: {}", why)));
  }
  for (const PQconninfoOption* option = options; option->keyword != nullptr; ++option)
    if (option->val != nullptr) address.settings.emplace_back(option->keyword, option->val);
  (*library)->conninfo_free(options);
  return {};
}

}  // namespace

const std::string* ServerAddress::find(std::string_view keyword) const {
  const auto found = std::ranges::find(settings, keyword, &std::pair<std::string, std::string>::first);
  return found == settings.end() ? nullptr : &found->second;
}

std::size_t ServerAddress::host_count() const {
  std::size_t count = 1;
  for (const std::string_view keyword : host_lists)
    if (const std::string* const list = find(keyword)) count = std::max(count, split_list(*list).size());
  return count;
}

std::vector<std::pair<std::string, std::string>> ServerAddress::settings_of_host(std::size_t host) const {
  auto of_host = settings;
  const std::size_t count = host_count();
  for (auto& [keyword, value] : of_host) {
    if (std::ranges::find(host_lists, keyword) == host_lists.end()) continue;
    const auto elements = split_list(value);
    if (elements.size() == count) {
      value = elements[host];
    } else if (elements.size() != 1) {
      return settings;  // libpq reports it
    }
  }
  return of_host;
}

std::string without_passwords(const std::string& url) {
  SplitUrl parts = split(url);
  std::erase_if(parts.options, [](const auto& option) { return is_password(option.first); });
  return joined(base_without_password(parts.base), parts.options);
}

Result<ServerAddress, StoreError> parse_server_url(const std::string& url) {
  const SplitUrl parts = split(url);
  ServerAddress address;
  address.name = without_passwords(url);
  if (parts.base.find("://") == std::string_view::npos)
    return failure(wrong_url(address.name, "expected `postgres://USER@HOST:PORT/DATABASE`"));
  if (const std::string_view why = find_ambiguity(parts.base); !why.empty())
    return failure(wrong_url(address.name, why));
  std::vector<std::pair<std::string_view, std::string_view>> rest;
  for (const auto& [keyword, value] : parts.options) {
    if (!keyword.starts_with(own_prefix)) {
      rest.emplace_back(keyword, value);
    } else if (auto taken = take_own_option(address, keyword, value); !taken) {
      return failure(taken.error());
    }
  }
  if (auto read = read_settings(address, joined(std::string(parts.base), rest), parts); !read)
    return failure(read.error());
  return address;
}

}  // namespace tenon::journal::postgres
