#include "server/request_head.h"

#include <gmock/gmock.h>

namespace tenon::server {
namespace {

/// The status of the refusal; 0 when the head is accepted, -1 when its end has not arrived.
int status_of(const std::string& bytes) {
  HeadScan scan;
  const auto scanned = scan.scan(bytes);
  if (!scanned) return -1;
  return *scanned ? 0 : scanned->error().status;
}

int status_with(const std::string& fields, const std::string& version = "1.1") {
  return status_of("POST /v1/runs HTTP/" + version + "\r\n" + fields + "\r\n");
}

TEST(RequestHeadTest, TheEndIsFoundHoweverTheBytesArrive) {
  const std::string head = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nAccept:\r\n\r\n";
  const std::string bytes = head + "GET /next";
  for (std::size_t step = 1; step <= bytes.size(); ++step) {
    HeadScan scan;
    std::size_t size = 0;
    for (std::size_t end = 0; end < bytes.size() && size == 0;) {
      end = std::min(end + step, bytes.size());
      const auto scanned = scan.scan(std::string_view(bytes).substr(0, end));
      if (!scanned) continue;
      ASSERT_TRUE(*scanned) << scanned->error().message;
      size = **scanned;
      EXPECT_GE(end, head.size());
    }
    EXPECT_EQ(size, head.size()) << step;
  }
}

TEST(RequestHeadTest, UnclearLinesAreRefusedAtOnce) {
  for (const std::string bytes : {"GET / HTTP/1.1\n", "GET / HTTP/1.1\r\nHost: a\n", "GET / HTTP/1.1\rHost", "\n",
                                  "\r\r", "GET / HTTP/1.1\r\nHost: a\r\n b", "GET / HTTP/1.1\r\nX: 1\r\n\tfolded",
                                  "GET / HTTP/1.1\r\nX: \x01", "\x16\x03", "GET / HTTP/1.1\r\nX: \x7f"}) {
    EXPECT_EQ(status_of(bytes), 400) << testing::PrintToString(bytes);
  }
  EXPECT_EQ(status_of(std::string(1, '\0')), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\n"), -1);
}

TEST(RequestHeadTest, HostAppearsOnce) {
  EXPECT_EQ(status_with("Host: localhost:8080\r\n"), 0);
  EXPECT_EQ(status_with("hOsT: [::1]:8080\r\n"), 0);
  EXPECT_EQ(status_with("", "1.0"), 0);
  for (const std::string fields : {"", "Host: a\r\nHost: a\r\n", "Host: a\r\nHOST: b\r\n", "Host: a, b\r\n",
                                   "Host: a/b\r\n", "Host: user@a\r\n", "Host : a\r\n", ": a\r\n", "Host\r\n"}) {
    EXPECT_EQ(status_with(fields), 400) << fields;
  }
  EXPECT_EQ(status_with("Host: a\r\nHost: b\r\n", "1.0"), 400);
}

TEST(RequestHeadTest, TheBodyIsFramedInOneWay) {
  const auto framed = [](const std::string& fields) { return status_with("Host: a\r\n" + fields); };
  for (const std::string fields : {"Content-Length: 0\r\n", "Content-Length:  12 \r\n",
                                   "Transfer-Encoding: chunked\r\n", "transfer-encoding: Chunked\r\n"}) {
    EXPECT_EQ(framed(fields), 0) << fields;
  }
  for (const std::string fields :
       {"Transfer-Encoding: identity\r\n", "Transfer-Encoding: xchunked\r\n", "Transfer-Encoding: chunked, gzip\r\n",
        "Transfer-Encoding: gzip\r\n", "Transfer-Encoding:\r\n", "Transfer-Encoding: chunked;a=b\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Content-Length: 5\r\nContent-Length: 5\r\n", "Content-Length: 5\r\nContent-Length: 6\r\n",
        "Content-Length: 5, 5\r\n", "Content-Length: +5\r\n", "Content-Length: -1\r\n", "Content-Length: 0x5\r\n",
        "Content-Length:\r\n"}) {
    EXPECT_EQ(framed(fields), 400) << fields;
  }
  EXPECT_EQ(framed("Transfer-Encoding: gzip, chunked\r\n"), 501);
  EXPECT_EQ(status_with("Host: a\r\nTransfer-Encoding: chunked\r\n", "1.0"), 400);
}

}  // namespace
}  // namespace tenon::server
