#include "journal/inbox.h"

#include <gmock/gmock.h>

#include <chrono>
#include <map>
#include <semaphore>

#include "tests/support/patience.h"
#include "tests/support/store_contract.h"

namespace tenon::journal {
namespace {

using test::make_append;

class InboxContract : public test::StoreContractTest {
 protected:
  void SetUp() override {
    reopen(host);
    ASSERT_EQ(commit(make_append(run, 1, {"a"})), std::nullopt);
    reader = open({.durability = Durability::Process, .access = Access::Reader});
  }
  const StoreOptions host{.durability = Durability::Process, .role = OwnerRole::Host};
  RunName run = make_run_name(1);
  std::unique_ptr<StoreConnection> reader;
};
TENON_INSTANTIATE_FOR_STORES(InboxContract);

TEST_P(InboxContract, ACommandReachesTheOwnerAndItsReplyTheSender) {
  ASSERT_TRUE(store->inbox().unanswered(store->ownership().self(), 10)->empty());
  const auto first = reader->inbox().send({run, "resume"});
  ASSERT_TRUE(first.has_value()) << first.error().message;
  const auto second = reader->inbox().send({run, std::string("\0cancel", 7)});
  const auto commands = store->inbox().unanswered(store->ownership().self(), 10);
  ASSERT_EQ(commands->size(), 2U);
  EXPECT_EQ((*commands)[0].id, *first);
  EXPECT_EQ((*commands)[0].run, run);
  EXPECT_EQ((*commands)[0].bytes, "resume");
  EXPECT_EQ((*commands)[1].bytes, std::string("\0cancel", 7));
  EXPECT_EQ(store->inbox().unanswered(store->ownership().self(), 1)->size(), 1U);

  EXPECT_EQ(reader->inbox().take_reply(*first).value(), std::nullopt);
  ASSERT_TRUE(store->inbox().answer(*first, "").has_value());
  EXPECT_EQ(store->inbox().answer(*first, "twice").error().kind, StoreError::Kind::Missing);
  EXPECT_EQ(reader->inbox().take_reply(*first).value(), "");
  EXPECT_EQ(reader->inbox().take_reply(*first).error().kind, StoreError::Kind::Missing);
  EXPECT_EQ(store->inbox().unanswered(store->ownership().self(), 10)->front().id, *second);
  expect_clean(*store);
}

TEST_P(InboxContract, CommandsThatTheOwnerKnowsAreNotReadAgain) {
  std::vector<std::uint64_t> sent;
  for (const std::string_view bytes : {"a", "b", "c", "d"}) sent.push_back(reader->inbox().send({run, bytes}).value());
  const std::vector<std::uint64_t> known = {sent[0], sent[2]};
  const OwnerId self = store->ownership().self();
  const auto ids = [&](std::size_t limit) {
    std::vector<std::uint64_t> found;
    const auto commands = store->inbox().unanswered(self, known, limit);
    for (const Command& command : commands.value()) found.push_back(command.id);
    return found;
  };
  EXPECT_EQ(ids(10), (std::vector<std::uint64_t>{sent[1], sent[3]}));
  EXPECT_EQ(ids(2), (std::vector<std::uint64_t>{sent[1], sent[3]}));
  EXPECT_EQ(ids(1), std::vector<std::uint64_t>{sent[1]});
}

TEST_P(InboxContract, CommandsAreSentAndAnsweredTogether) {
  const std::vector<NewCommand> commands = {{run, "a"}, {make_run_name(2), "of no run"}, {run, "b"}};
  const auto sent = reader->inbox().send_all(commands);
  ASSERT_EQ(sent.size(), 3U);
  ASSERT_TRUE(sent[0].has_value() && sent[2].has_value());
  EXPECT_FALSE(sent[1].has_value());
  const OwnerId self = store->ownership().self();
  const auto taken = store->inbox().unanswered(self, 10);
  std::vector<std::string> bytes;
  for (const Command& command : taken.value()) bytes.push_back(command.bytes);
  EXPECT_EQ(bytes, (std::vector<std::string>{"a", "b"}));
  const std::vector<CommandAnswer> answers = {{*sent[0], "first", ReplyDurability::MayBeRepeated},
                                              {*sent[2], "", ReplyDurability::Full}};
  ASSERT_TRUE(store->inbox().answer_all(answers).has_value());
  EXPECT_EQ(reader->inbox().take_reply(*sent[0]).value(), "first");
  EXPECT_EQ(reader->inbox().take_reply(*sent[2]).value(), "");
  const auto third = reader->inbox().send({run, "c"});
  const std::vector<CommandAnswer> partly = {{*sent[0], "again"}, {*third, "third"}};
  EXPECT_EQ(store->inbox().answer_all(partly).error().kind, StoreError::Kind::Missing);
  EXPECT_EQ(reader->inbox().take_reply(*third).value(), "third");
  EXPECT_TRUE(reader->inbox().send_all({}).empty());
  EXPECT_TRUE(store->inbox().answer_all({}).has_value());
}

TEST_P(InboxContract, RepliesAreTakenTogether) {
  std::vector<std::uint64_t> sent;
  for (int at = 0; at < 4; ++at) sent.push_back(reader->inbox().send({run, "resume"}).value());
  ASSERT_TRUE(store->inbox().answer(sent[1], "b").has_value());
  ASSERT_TRUE(store->inbox().answer(sent[3], "").has_value());
  const auto ids_of = [&](std::span<const std::uint64_t> commands) {
    std::map<std::uint64_t, std::string> replies;
    const auto taken = reader->inbox().take_replies(commands);
    EXPECT_TRUE(taken.has_value());
    for (const CommandReply& reply : *taken) replies.emplace(reply.command, reply.bytes);
    return replies;
  };
  EXPECT_EQ(ids_of(sent), (std::map<std::uint64_t, std::string>{{sent[1], "b"}, {sent[3], ""}}));
  EXPECT_TRUE(ids_of(sent).empty());
  EXPECT_EQ(reader->inbox().take_reply(sent[1]).error().kind, StoreError::Kind::Missing);
  EXPECT_EQ(reader->inbox().take_reply(sent[0]).value(), std::nullopt);
  EXPECT_TRUE(ids_of({}).empty());
}

TEST_P(InboxContract, AnUnansweredCommandIsWithdrawn) {
  const auto first = reader->inbox().send({run, "resume"});
  const auto second = reader->inbox().send({run, "cancel"});
  EXPECT_TRUE(reader->inbox().withdraw(*first).value());
  EXPECT_FALSE(reader->inbox().withdraw(*first).value());
  ASSERT_EQ(store->inbox().unanswered(store->ownership().self(), 10)->size(), 1U);
  ASSERT_TRUE(store->inbox().answer(*second, "done").has_value());
  EXPECT_FALSE(reader->inbox().withdraw(*second).value());
  EXPECT_EQ(reader->inbox().take_reply(*second).value(), "done");
  EXPECT_EQ(store->inbox().answer(*first, "late").error().kind, StoreError::Kind::Missing);
  expect_clean(*store);
}

TEST_P(InboxContract, ACommandIsAnnouncedToSubscribersOnly) {
  std::counting_semaphore<> noticed{0};
  auto subscription = store->wakeups().subscribe([&](Wakeups::Notice) { noticed.release(); });
  ASSERT_NE(subscription, nullptr);
  ASSERT_EQ(commit(make_append(run, 2, {"b"})), std::nullopt);  // what the owner writes is no command
  EXPECT_FALSE(noticed.try_acquire_for(std::chrono::milliseconds(50)));
  ASSERT_TRUE(reader->inbox().send({run, "resume"}).has_value());
  EXPECT_TRUE(noticed.try_acquire_for(test::patience));
  EXPECT_EQ(store->inbox().unanswered(store->ownership().self(), 10)->size(), 1U);
  subscription.reset();
  ASSERT_TRUE(reader->inbox().send({run, "resume"}).has_value());
  EXPECT_FALSE(noticed.try_acquire_for(std::chrono::milliseconds(50)));
}

TEST_P(InboxContract, CommandsSurviveTheOwner) {
  const auto id = reader->inbox().send({run, "resume"});
  reopen(host);
  ASSERT_TRUE(store->inbox().adopt(store->ownership().self(), 10).has_value());
  ASSERT_EQ(store->inbox().unanswered(store->ownership().self(), 10)->size(), 1U);
  EXPECT_EQ(store->inbox().unanswered(store->ownership().self(), 10)->front().id, *id);
}

TEST_P(InboxContract, AReaderWritesNothingElse) {
  EXPECT_EQ(reader->journals().commit({}).error().kind, StoreError::Kind::InUse);
  EXPECT_EQ(claim_run(reader->journals(), run).error().kind, StoreError::Kind::InUse);
  EXPECT_EQ(reader->inbox().answer(1, "x").error().kind, StoreError::Kind::InUse);
  EXPECT_EQ(reader->admin().forget(run, 1).error().kind, StoreError::Kind::InUse);
  EXPECT_EQ(reader->admin().compact().error().kind, StoreError::Kind::InUse);
  EXPECT_EQ(reader->admin().import_run("").error().kind, StoreError::Kind::InUse);
  EXPECT_EQ(reader->journals().read(run, 0, 10)->size(), 1U);
}

TEST_P(InboxContract, WhoWouldTakeACommandIsKnown) {
  if (store->ownership().is_sole()) {
    EXPECT_EQ(reader->inbox().taker_of(run).value(), CommandTaker::None);  // the lock of the file says it
    return;
  }
  EXPECT_EQ(reader->inbox().taker_of(run).value(), CommandTaker::Owner);
  ASSERT_TRUE(store->ownership().release({&run, 1}).has_value());
  EXPECT_EQ(reader->inbox().taker_of(run).value(), CommandTaker::Host);
  EXPECT_EQ(reader->inbox().taker_of(make_run_name(5)).value(), CommandTaker::None);
  reopen({.durability = Durability::Process, .role = OwnerRole::Host, .pool = "other"});
  EXPECT_EQ(reader->inbox().taker_of(run).value(), CommandTaker::None);
  reopen({.durability = Durability::Process, .role = OwnerRole::Visitor});
  EXPECT_EQ(reader->inbox().taker_of(run).value(), CommandTaker::None);
  ASSERT_TRUE(claim_run(store->journals(), run).has_value());
  EXPECT_EQ(reader->inbox().taker_of(run).value(), CommandTaker::Visitor);
}

TEST_P(InboxContract, CommandsThatNoOneWillTakeAreFound) {
  const std::vector<std::uint64_t> sent = {reader->inbox().send({run, "a"}).value(),
                                           reader->inbox().send({run, "b"}).value()};
  EXPECT_TRUE(reader->inbox().without_taker(sent)->empty());
  ASSERT_TRUE(store->inbox().answer(sent[0], "done").has_value());
  const bool is_sole = store->ownership().is_sole();
  reopen({.durability = Durability::Process, .role = OwnerRole::Visitor});  // the host has left
  const std::vector<std::uint64_t> left = is_sole ? std::vector<std::uint64_t>{} : std::vector{sent[1]};
  EXPECT_EQ(reader->inbox().without_taker(sent).value(), left);
  reopen(host);
  EXPECT_TRUE(reader->inbox().without_taker(sent)->empty());
}

TEST_P(InboxContract, SomeOwnersAreLeftOutByASender) {
  if (store->ownership().is_sole()) return;  // there is one owner
  const OwnerId self = store->ownership().self();
  EXPECT_EQ(reader->inbox().send({.run = run, .bytes = "a", .except = {&self, 1}}).error().kind,
            StoreError::Kind::Missing);
  const auto other = open(host);
  ASSERT_TRUE(reader->inbox().send({.run = run, .bytes = "b", .except = {&self, 1}}).has_value());
  EXPECT_TRUE(store->inbox().unanswered(self, 10)->empty());
  EXPECT_EQ(other->inbox().unanswered(other->ownership().self(), 10)->size(), 1U);
}

TEST_P(InboxContract, AnUnknownRunAndTooManyBytesAreRejected) {
  EXPECT_EQ(reader->inbox().send({make_run_name(5), "x"}).error().kind, StoreError::Kind::Missing);
  EXPECT_EQ(reader->inbox().send({run, std::string(command_bytes_max + 1, 'x')}).error().kind,
            StoreError::Kind::TooLarge);
  EXPECT_EQ(store->inbox().answer(77, "x").error().kind, StoreError::Kind::Missing);
  EXPECT_EQ(reader->inbox().send({run, std::string(command_bytes_max, 'x')}).has_value(), true);
}

}  // namespace
}  // namespace tenon::journal
