#include "server/host_name.h"

#include <boost/url/grammar/delim_rule.hpp>
#include <boost/url/grammar/optional_rule.hpp>
#include <boost/url/grammar/parse.hpp>
#include <boost/url/grammar/tuple_rule.hpp>
#include <boost/url/grammar/unsigned_rule.hpp>
#include <boost/url/grammar/variant_rule.hpp>
#include <boost/url/rfc/ipv6_address_rule.hpp>
#include <boost/url/rfc/pct_encoded_rule.hpp>
#include <boost/url/rfc/sub_delim_chars.hpp>
#include <boost/url/rfc/unreserved_chars.hpp>
#include <cstdint>

#include "base/ascii.h"

namespace tenon::server {
namespace {

namespace urls = boost::urls;
namespace grammar = boost::urls::grammar;

/// RFC 3986 allows commas in a name, but here one separates several Host headers that a proxy has joined.
constexpr auto name_chars = urls::unreserved_chars + urls::sub_delim_chars - ',';
/// A name or an IPv4 address, or an IPv6 address in brackets.
constexpr auto host_rule =
    grammar::variant_rule(grammar::tuple_rule(grammar::squelch(grammar::delim_rule('[')), urls::ipv6_address_rule,
                                              grammar::squelch(grammar::delim_rule(']'))),
                          urls::pct_encoded_rule(name_chars));
constexpr auto port_rule = grammar::optional_rule(grammar::tuple_rule(
    grammar::squelch(grammar::delim_rule(':')), grammar::optional_rule(grammar::unsigned_rule<std::uint16_t>{})));
constexpr auto host_and_port_rule = grammar::tuple_rule(host_rule, port_rule);

auto parse_host(std::string_view text) {
  return grammar::parse(urls::string_view(text.data(), text.size()), host_and_port_rule);
}

}  // namespace

bool is_host(std::string_view text) {
  return !text.starts_with(':') && parse_host(text);
}

bool is_local_host(std::string_view text) {
  const auto parsed = parse_host(text);
  if (!parsed) return false;
  const auto& [host, port] = *parsed;
  if (const auto* const address = boost::variant2::get_if<urls::ipv6_address>(&host)) return address->is_loopback();
  const std::string_view name = boost::variant2::get<urls::pct_string_view>(host);
  return equal_ignoring_case(name, "localhost") || name == "127.0.0.1";
}

bool is_local_origin(std::string_view text) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (equal_ignoring_case(text.substr(0, scheme.size()), scheme)) return is_local_host(text.substr(scheme.size()));
  }
  return false;
}

}  // namespace tenon::server
