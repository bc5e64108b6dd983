#include "journal/postgres/notices.h"

#include <gmock/gmock.h>

#include <random>

namespace tenon::journal::postgres {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

TEST(Notices, ListsOfRunsAreDividedAndReadAgain) {
  std::vector<RunName> runs;
  for (int at = 0; at < 1'000; ++at) runs.push_back(make_run_name(at + 1));
  std::vector<RunName> watched, changed;
  for (const std::string& notice : make_watch_notices(77, runs)) {
    EXPECT_LE(notice.size(), notice_bytes_max);
    EXPECT_EQ(kind_of(notice), "watch");
    const auto read = read_watch_notice(notice);
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(read->watcher, 77);
    watched.insert(watched.end(), read->runs.begin(), read->runs.end());
  }
  for (const std::string& notice : make_changed_notices(7, runs)) {
    EXPECT_LE(notice.size(), notice_bytes_max);
    const auto read = read_changed_notice(notice);
    ASSERT_TRUE(read.has_value());
    changed.insert(changed.end(), read->begin(), read->end());
  }
  EXPECT_EQ(watched, runs);
  EXPECT_EQ(changed, runs);
}

TEST(Notices, MessagesOfAnySizeAreDividedAndReadAgain) {
  const RunName run = make_run_name(1);
  std::mt19937_64 random(1);
  std::string binary;
  for (int at = 0; at < 20'000; ++at) binary += static_cast<char>(random());
  std::string text;
  for (int at = 0; at < 5'000; ++at) text += "ü→ 🙂";
  const std::vector<std::string> messages = {
      "", "short", "with spaces 1 2 3:", std::string("\0", 1), text, binary, std::string(notice_bytes_max, 'x')};
  MessageNotices collected(5);
  for (std::size_t at = 0; at < messages.size(); ++at) collected.add(run, at, messages[at]);
  std::vector<std::string> arrived(messages.size());
  for (const std::string& notice : collected.take()) {
    EXPECT_LE(notice.size(), notice_bytes_max);
    const auto read = read_messages_notice(notice);
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(read->sender, 5);
    for (const MessagePiece& piece : read->pieces) {
      EXPECT_EQ(piece.run, run);
      arrived.at(piece.number) += piece.text;
    }
  }
  for (std::size_t at = 0; at < messages.size(); ++at) EXPECT_EQ(decode_message(arrived[at]), messages[at]) << at;
  EXPECT_THAT(collected.take(), SizeIs(0));
}

TEST(Notices, WhatIsNotANoticeIsNotRead) {
  for (const char* const text : {"", "watch", "watch x", "watch 1 short", "messages 1 x 0 0 1 1:a", "changed nothing",
                                 "messages", "messages 1 "}) {
    EXPECT_FALSE(read_watch_notice(text).has_value()) << text;
    EXPECT_FALSE(read_changed_notice(text).has_value()) << text;
  }
  const std::string run = make_run_name(1).text;
  EXPECT_TRUE(read_messages_notice("messages 1 " + run + " 0 0 1 2:ta").has_value());
  for (const std::string end :
       {" 0 0 1 3:ta", " 0 0 1 1:ta", " 0 0 1 ta", " 0 0 x 2:ta", " 0 0 1 99999999999999999999:t"})
    EXPECT_FALSE(read_messages_notice("messages 1 " + run + end).has_value()) << end;
}

}  // namespace
}  // namespace tenon::journal::postgres
