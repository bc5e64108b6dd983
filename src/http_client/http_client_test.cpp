#include "http_client/http_client.h"

#include <gtest/gtest.h>

namespace tenon::http_client {
namespace {

TEST(HttpClient, HostsOfUrls) {
  EXPECT_EQ(find_host("https://api.openai.com/v1"), "api.openai.com");
  EXPECT_EQ(find_host("http://user:password@host:8080/v1"), "host:8080");
  EXPECT_EQ(find_host("http://[::1]:8080/v1"), "[::1]:8080");
  EXPECT_EQ(find_host("ftp://host/"), std::nullopt);
  EXPECT_EQ(add_to_path("http://host/v1/?a=b", "/x"), "http://host/v1/x?a=b");
}

TEST(HttpClient, ReadsTheThreeFormsOfHttpDates) {
  // RFC 9110's example: 784111777 seconds after the epoch.
  const auto date = std::chrono::system_clock::from_time_t(784'111'777);
  EXPECT_EQ(read_http_date("Sun, 06 Nov 1994 08:49:37 GMT"), date);
  EXPECT_EQ(read_http_date("Sunday, 06-Nov-94 08:49:37 GMT"), date);
  EXPECT_EQ(read_http_date("Sun Nov  6 08:49:37 1994"), date);
  for (const auto* text : {"", "soon", "Sun, 99 Foo 1994"}) EXPECT_EQ(read_http_date(text), std::nullopt) << text;
}

TEST(HttpClient, RefusesAUrlOfAnotherProtocol) {
  for (const auto* url : {"ftp://user:password@host/", "localhost:80", ""}) {
    HttpClientOptions options;
    options.url = url;
    const auto client = HttpClient::open(options);
    ASSERT_FALSE(client.has_value()) << url;
    EXPECT_EQ(client.error(), "the URL is not an http or https URL");
  }
}

TEST(HttpClient, RefusesAFileOfAuthoritiesThatCannotBeRead) {
  HttpClientOptions options;
  options.url = "https://localhost/";
  options.ca_file = "/nonexistent/ca.pem";
  const auto client = HttpClient::open(options);
  ASSERT_FALSE(client.has_value());
  EXPECT_EQ(client.error(), "cannot read the CA certificates in `/nonexistent/ca.pem`");
}

}  // namespace
}  // namespace tenon::http_client
