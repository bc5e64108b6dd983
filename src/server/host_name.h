#pragma once

#include <string_view>

/// Hosts as requests name them, in a Host header or in a URL, by the grammar of RFC 3986. Only what fits all of it is
/// accepted: a host that is read by its beginning alone can name another machine.
namespace tenon::server {

/// Whether the text is HOST or HOST:PORT. The empty text is one too: a request without a host sends it.
[[nodiscard]] bool is_host(std::string_view text);

/// Whether the text is `localhost`, `127.0.0.1` or `[::1]`, with or without a port.
[[nodiscard]] bool is_local_host(std::string_view text);

/// Whether the text is the origin (RFC 6454) of a page of this machine: `http://HOST` or `https://HOST`, with a local
/// host.
[[nodiscard]] bool is_local_origin(std::string_view text);

}  // namespace tenon::server
