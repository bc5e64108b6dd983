#include "runtime/host/requests/inbox_command.h"

#include <gtest/gtest.h>

namespace tenon::runtime {
namespace {

TEST(InboxCommandTest, RoundTrips) {
  const InboxCommand resume{InboxCommand::Verb::Resume, "0.1", "\"yes\"\n", ""};
  EXPECT_EQ(decode_command(encode(resume)).value(), resume);
  const InboxCommand cancel{InboxCommand::Verb::Cancel, "", "", "why"};
  EXPECT_EQ(decode_command(encode(cancel)).value(), cancel);
  const InboxCommand retry{InboxCommand::Verb::Retry, "", "", ""};
  EXPECT_EQ(decode_command(encode(retry)).value(), retry);
  EXPECT_EQ(decode_reply(encode(InboxReply{})).value(), InboxReply{});
  EXPECT_EQ(decode_reply(encode(InboxReply{"no"})).value(), InboxReply{"no"});
}

TEST(InboxCommandTest, OtherBytesAreRejectedWithTheReason) {
  for (const std::string_view bytes : {"", "[]", "{", "{\"do\":\"fly\"}", "{\"do\":3}", "\xff"}) {
    const auto command = decode_command(bytes);
    ASSERT_FALSE(command.has_value()) << bytes;
    EXPECT_FALSE(command.error().empty());
  }
}

}  // namespace
}  // namespace tenon::runtime
