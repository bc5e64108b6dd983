#include "server/chunked_body.h"

#include <gmock/gmock.h>

namespace tenon::server {
namespace {

constexpr std::size_t chunks_max = 1'000;
constexpr std::size_t around_max = 100;

/// The status of the refusal; 0 for a complete body, -1 when its end has not arrived.
int status_of_body(const std::string& bytes, std::size_t step = 1'000'000) {
  ChunkedBody body(chunks_max, around_max);
  for (std::size_t at = 0; at < bytes.size() && !body.is_complete(); at += step) {
    const auto taken = body.take(std::string_view(bytes).substr(at, step));
    if (!taken) return taken.error().status;
  }
  return body.is_complete() ? 0 : -1;
}

std::string message_of_body(const std::string& bytes) {
  ChunkedBody body(chunks_max, around_max);
  const auto taken = body.take(bytes);
  return taken ? "" : taken.error().message;
}

TEST(ChunkedBodyTest, TheChunksAreJoinedHoweverTheBytesArrive) {
  const std::string bytes =
      "5\r\nhello\r\n00A;name=\"v;1\"\r\n, my world\r\n1 ; x\r\n!\r\n0\r\nX-Late: 1\r\nY:\r\n\r\n";
  const std::string next = "GET / HTTP/1.1";
  for (std::size_t step = 1; step <= bytes.size() + next.size(); ++step) {
    ChunkedBody body(chunks_max, around_max);
    std::size_t taken = 0;
    const std::string all = bytes + next;
    for (std::size_t at = 0; at < all.size() && !body.is_complete(); at += step) {
      const auto some = body.take(std::string_view(all).substr(at, step));
      ASSERT_TRUE(some) << some.error().message;
      taken += *some;
    }
    EXPECT_TRUE(body.is_complete());
    EXPECT_EQ(taken, bytes.size());
    EXPECT_EQ(body.body(), "hello, my world!");
  }
}

TEST(ChunkedBodyTest, UnclearLinesAreRefusedAtOnce) {
  for (const std::string bytes : {"5\n",
                                  "5\rx",
                                  "\r\n",
                                  "\n",
                                  "x\r\n",
                                  "-1\r\n",
                                  "+5\r\n",
                                  "0x5\r\n",
                                  " 5\r\n",
                                  "5 6\r\n",
                                  "5\x01",
                                  "5;a\n",
                                  "5;\x7f",
                                  "11111111111111111\r\n",
                                  "00000000000000005\r\n",
                                  "2\r\nabc",
                                  "2\r\nab\n",
                                  "2\r\nab\r\r",
                                  "0\r\nA: 1\n",
                                  "0\r\nA\r\n",
                                  "0\r\n: 1\r\n",
                                  "0\r\n A: 1\r\n",
                                  "0\r\nA : 1\r\n",
                                  "0\r\n\n",
                                  ";a\r\n"}) {
    for (const std::size_t step : {std::size_t{1}, std::size_t{1'000}})
      EXPECT_EQ(status_of_body(bytes, step), 400) << testing::PrintToString(bytes);
  }
  for (const std::string bytes : {"", "5", "5\r", "5\r\n", "5\r\nhello", "5\r\nhello\r\n", "0\r\n", "0\r\nA: 1\r\n"})
    EXPECT_EQ(status_of_body(bytes), -1) << testing::PrintToString(bytes);
}

TEST(ChunkedBodyTest, WhatBelongsInTheHeaderIsNoTrailer) {
  for (const std::string name : {"Content-Length", "transfer-encoding", "HOST", "Authorization", "Trailer", "Cookie"}) {
    EXPECT_EQ(status_of_body("0\r\n" + name + ": 1\r\n\r\n"), 400) << name;
    EXPECT_THAT(message_of_body("0\r\n" + name + ": 1\r\n\r\n"),
                testing::HasSubstr("`" + name + "` cannot be a trailer"));
  }
  EXPECT_EQ(status_of_body("0\r\nIdempotency-Key: late\r\nHosts: 1\r\n\r\n"), 0);
}

TEST(ChunkedBodyTest, SizesAreLimited) {
  EXPECT_EQ(status_of_body("3e8\r\n" + std::string(chunks_max, 'a') + "\r\n0\r\n\r\n"), 0);
  for (const std::string size : {"3e9", "ffffffffffffffff", "7fffffffffffffff"})
    EXPECT_EQ(status_of_body(size + "\r\n"), 413) << size;
  EXPECT_EQ(status_of_body("3e8\r\n" + std::string(chunks_max, 'a') + "\r\n1\r\n"), 413);
  EXPECT_EQ(status_of_body("0;" + std::string(around_max - 1, 'a') + "\r\n\r\n"), 0);
  EXPECT_EQ(status_of_body("0;" + std::string(around_max, 'a')), 431);
  EXPECT_EQ(status_of_body("0\r\nA:" + std::string(around_max - 4, 'a') + "\r\n\r\n"), 0);
  EXPECT_EQ(status_of_body("0\r\nA:" + std::string(around_max - 3, 'a') + "\r\n\r\n"), 431);
  std::string many;
  for (int chunk = 0; chunk < 60; ++chunk) many += "1;x\r\na\r\n";
  EXPECT_EQ(status_of_body(many), 431) << "the extensions of all chunks count together";
  std::string plain;
  for (int chunk = 0; chunk < 600; ++chunk) plain += "1\r\na\r\n";
  EXPECT_EQ(status_of_body(plain + "0\r\n\r\n"), 0);
}

}  // namespace
}  // namespace tenon::server
