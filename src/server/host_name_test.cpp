#include "server/host_name.h"

#include <gmock/gmock.h>

namespace tenon::server {
namespace {

TEST(HostNameTest, LocalHostsAreComparedWhole) {
  for (const std::string_view host : {"localhost", "LocalHost", "localhost:80", "127.0.0.1", "127.0.0.1:65535", "[::1]",
                                      "[::1]:8080", "localhost:", "[0:0::1]:1"}) {
    EXPECT_TRUE(is_local_host(host)) << host;
    EXPECT_TRUE(is_host(host)) << host;
  }
  for (const std::string_view host :
       {"", "evil.example", "localhost.evil.example", "localhost.", "127.0.0.1.evil.example", "127.0.0.2", "[::2]",
        "local%68ost", "evil.example:80", "xn--localhost", "[::ffff:127.0.0.1]"}) {
    EXPECT_FALSE(is_local_host(host)) << host;
    EXPECT_TRUE(is_host(host)) << host;
  }
}

TEST(HostNameTest, WhatIsNotAHostWithAPortIsRefused) {
  for (const std::string_view text : {"[::1].evil.example",
                                      "[::1]evil.example",
                                      "[::1",
                                      "::1",
                                      "[::1]:80:80",
                                      "[localhost]",
                                      "[v1.localhost]",
                                      "localhost:evil.example",
                                      "localhost:80:80",
                                      "localhost:99999",
                                      "localhost:65536",
                                      "localhost:-1",
                                      "localhost:+1",
                                      "localhost: 1",
                                      "localhost:0x50",
                                      "127.0.0.1:80evil",
                                      "user@localhost",
                                      "localhost@evil.example",
                                      "localhost/x",
                                      "localhost?x",
                                      "localhost#x",
                                      "localhost,evil.example",
                                      "localhost\\x",
                                      "local%6host",
                                      "local host",
                                      ":80",
                                      "lo\xc3\xa7"
                                      "alhost"}) {
    EXPECT_FALSE(is_host(text)) << text;
    EXPECT_FALSE(is_local_host(text)) << text;
  }
}

TEST(HostNameTest, LocalOriginsHaveASchemeOfTheWebAndNothingElse) {
  for (const std::string_view origin : {"http://localhost", "HTTP://localhost:3000", "https://[::1]:80"}) {
    EXPECT_TRUE(is_local_origin(origin)) << origin;
  }
  for (const std::string_view origin :
       {"", "null", "localhost", "localhost:3000", "://localhost", "ftp://localhost", "file://localhost", "file://",
        "http://", "http:localhost", "http://localhost/", "http://evil.example", "http://localhost:80:80",
        "http://user@localhost", "http://localhost, http://localhost", "http://localhost http://evil.example"}) {
    EXPECT_FALSE(is_local_origin(origin)) << origin;
  }
}

}  // namespace
}  // namespace tenon::server
