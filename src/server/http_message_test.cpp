#include "server/http_message.h"

#include <gmock/gmock.h>

#include "server/limits.h"

namespace tenon::server {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(HttpMessageTest, SplitsTargets) {
  const auto target = parse_target("/v1/runs/a%2Fb/events?after=3&x=a+b%21&y&=z");
  ASSERT_TRUE(target.has_value());
  EXPECT_THAT(target->path, ElementsAre("v1", "runs", "a/b", "events"));
  EXPECT_THAT(target->query, ElementsAre(Pair("after", "3"), Pair("x", "a b!"), Pair("y", "")));
  EXPECT_THAT(parse_target("/")->path, IsEmpty());
  EXPECT_THAT(parse_target("/a//b")->path, ElementsAre("a", "", "b"));
  EXPECT_THAT(parse_target("/./a/../b")->path, ElementsAre(".", "a", "..", "b"));
  EXPECT_THAT(parse_target("//a:b@c;d=e,f!$&'()*+~")->path, ElementsAre("", "a:b@c;d=e,f!$&'()*+~"));
  EXPECT_THAT(parse_target("/a?")->query, IsEmpty());
  EXPECT_THAT(parse_target("/a?&b=c=/?&")->query, ElementsAre(Pair("b", "c=/?")));
  EXPECT_THAT(parse_target("/%00%23?a%3d=%26")->path, ElementsAre(std::string("\0#", 2)));
  EXPECT_THAT(parse_target("/%00%23?a%3d=%26")->query, ElementsAre(Pair("a=", "&")));
  EXPECT_EQ(parse_target("/a?x=1&y=2")->repeated, std::nullopt);
  EXPECT_EQ(parse_target("/a?x=1&y=2&%78=3")->repeated, "x");
}

TEST(HttpMessageTest, RejectsInvalidTargets) {
  for (const std::string_view text :
       {"",       "a",       "*",         "?x",    "http://host/a", "/%",       "/%2",
        "/%zz",   "/a?x=%1", "/a?%=1",    "/a#b",  "/a#",           "/#",       "/a?b#c",
        "/\"a\"", "/<a>",    "/a b",      "/a\\b", "/a^b",          "/`a`",     "/{a}",
        "/a|b",   "/[a]",    "/\xc3\xa4", "/\x7f", "/a?b=\"c\"",    "/a?b=c d", "/a?b=\xc3\xa4"}) {
    EXPECT_EQ(parse_target(text).has_value(), false) << text;
  }
}

TEST(HttpMessageTest, AbsoluteTargetsNameTheHost) {
  const auto resolved = [](const std::string& target) {
    HttpRequest request;
    request.target = target;
    request.headers["host"] = "localhost";
    resolve_absolute_target(request);
    return std::string(request.header("host")) + " " + request.target;
  };
  EXPECT_EQ(resolved("http://a:80/b?c=d"), "a:80 /b?c=d");
  EXPECT_EQ(resolved("HTTP://a"), "a /");
  EXPECT_EQ(resolved("http://a?c"), "a /?c");
  EXPECT_EQ(resolved("/a?http://b"), "localhost /a?http://b");
  EXPECT_EQ(resolved("http://[::1]:80/b"), "[::1]:80 /b");
  for (const std::string target :
       {"http:///b", "http://", "http:b", "https://a/b", "http://[::1].evil.example/b", "http://a:80:80/",
        "http://a:99999/", "http://a:-1/", "http://user@a/", "http://a#b", "http://a\\b/", "http://a,b/"}) {
    EXPECT_EQ(resolved(target), "localhost " + target);
    EXPECT_FALSE(parse_target(target)) << target;
  }
}

TEST(HttpMessageTest, SecretsAreComparedWhole) {
  EXPECT_TRUE(equal_in_constant_time("secret", "secret"));
  for (const std::string_view given : {"", "s", "secreT", "secretsecret", "secre", "secret "}) {
    EXPECT_FALSE(equal_in_constant_time(given, "secret")) << given;
  }
  EXPECT_FALSE(equal_in_constant_time("", "")) << "no secret opens nothing";
}

TEST(HttpMessageTest, ErrorsAndEvents) {
  EXPECT_EQ(make_error(409, "conflict", "a \"b\"").body,
            "{\"error\":{\"message\":\"a \\\"b\\\"\",\"type\":\"invalid_request_error\",\"code\":\"conflict\"}}\n");
  EXPECT_EQ(make_error(400, "unsupported_parameter", "m", "tools").body,
            "{\"error\":{\"message\":\"m\",\"type\":\"invalid_request_error\",\"param\":\"tools\","
            "\"code\":\"unsupported_parameter\"}}\n");
  EXPECT_EQ(make_sse(7, "{}"), "id: 7\ndata: {}\n\n");
  EXPECT_EQ(make_sse(std::nullopt, "{}"), "data: {}\n\n");
}

TEST(LimitsTest, EachHasAName) {
  Limits limits;
  EXPECT_EQ(find_limit(limits, "body_bytes"), &limits.body_bytes);
  EXPECT_EQ(find_limit(limits, "wings"), nullptr);
  EXPECT_NE(limit_names().find("queue_bytes"), std::string::npos);
}

}  // namespace
}  // namespace tenon::server
