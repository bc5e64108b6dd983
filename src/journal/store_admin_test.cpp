#include "journal/store_admin.h"

#include <gmock/gmock.h>

#include "journal/run_file.h"
#include "tests/support/store_contract.h"

namespace tenon::journal {
namespace {

using test::make_append;
using test::make_content;
using testing::ElementsAre;
using testing::HasSubstr;

class ForgetContract : public test::StoreContractTest {
 protected:
  RunName run = make_run_name(1);
  RunName other = make_run_name(2);
};
TENON_INSTANTIATE_FOR_STORES(ForgetContract);

TEST_P(ForgetContract, LeavesATombstone) {
  Append append = make_append(run, 1, {"a secret", "b"});
  append.summary = {RunState::Waiting, "title", "detail", 5, 1'000};
  append.snapshot = Snapshot{2, "a secret state"};
  ASSERT_EQ(commit(append), std::nullopt);
  ASSERT_TRUE(store->inbox().send({run, "resume"}).has_value());
  const Hash chain = store->journals().head(run)->chain;
  ASSERT_TRUE(store->admin().forget(run, 9'000).has_value());

  const RunHead head = store->journals().head(run).value();
  EXPECT_EQ(head.summary.state, RunState::Forgotten);
  EXPECT_EQ(head.records, 2U);
  EXPECT_EQ(head.chain, chain);
  EXPECT_EQ(head.summary.updated_at, 9'000);
  EXPECT_EQ(head.summary.title, "");
  EXPECT_EQ(head.summary.detail, "");
  EXPECT_EQ(head.summary.wake_at, std::nullopt);
  EXPECT_EQ(store->runs().next_due(std::nullopt, {}).value(), std::nullopt);
  EXPECT_TRUE(store->inbox().unanswered(store->ownership().self(), 10)->empty());
  for (const auto kind : {store->journals().read(run, 0, 1).error().kind, store->journals().snapshot(run).error().kind,
                          store->admin().export_run(run).error().kind, claim_run(store->journals(), run).error().kind,
                          store->inbox().send({run, "x"}).error().kind})
    EXPECT_EQ(kind, StoreError::Kind::Missing);
  EXPECT_EQ(commit(make_append(run, 3, {"more"})), AppendRefusal::UnknownRun);
  EXPECT_EQ(commit(make_append(run, 1, {"anew"})), AppendRefusal::UnknownRun);

  ASSERT_TRUE(store->admin().forget(run, 10'000).has_value());
  EXPECT_EQ(store->journals().head(run)->summary.updated_at, 9'000);
  EXPECT_EQ(store->admin().forget(other, 1).error().kind, StoreError::Kind::Missing);
  EXPECT_FALSE(contains("secret"));
  expect_clean(*store);
}

TEST_P(ForgetContract, SharedContentsStayUntilTheLastRunGoes) {
  const Content root = make_content("the root");
  Content shared = make_content("for both", {root.hash});
  shared.sharing = Sharing::Store;
  const Content own = make_content("its own", {shared.hash});
  Append first = make_append(run, 1, {"a"});
  first.contents = {root, shared, own};
  first.references = {own.hash, shared.hash};
  ASSERT_EQ(commit(first), std::nullopt);
  Append second = make_append(other, 1, {"b"});
  second.contents = {root, shared};
  second.references = {shared.hash};
  ASSERT_EQ(commit(second), std::nullopt);

  ASSERT_TRUE(store->admin().forget(run, 1).has_value());
  EXPECT_EQ(store->journals().content(run, own.hash).error().kind, StoreError::Kind::Missing);
  EXPECT_FALSE(contains("its own"));
  EXPECT_EQ(store->journals().content(other, shared.hash), "for both");
  EXPECT_EQ(store->journals().content(other, root.hash), "the root");
  expect_clean(*store);

  ASSERT_TRUE(store->admin().forget(other, 1).has_value());
  EXPECT_FALSE(contains("for both"));
  EXPECT_FALSE(contains("the root"));
  expect_clean(*store);
}

TEST_P(ForgetContract, ALongChainOfContentsGoesAtOnce) {
  std::vector<Content> chain{make_content("0")};
  for (int at = 1; at < 20'000; ++at) chain.push_back(make_content(std::to_string(at), {chain.back().hash}));
  Append append = make_append(run, 1, {"a"});
  append.references = {chain.back().hash};
  append.contents = std::move(chain);
  ASSERT_EQ(commit(append), std::nullopt);
  EXPECT_EQ(store->admin().check()->contents, 20'000U);
  ASSERT_TRUE(store->admin().forget(run, 1).has_value());
  EXPECT_EQ(store->admin().check()->contents, 0U);
  expect_clean(*store);
}

TEST_P(ForgetContract, NothingIsRemovedFromADamagedRun) {
  for (std::uint64_t at = 1; at <= 3; ++at) ASSERT_EQ(commit(make_append(run, at, {"a"})), std::nullopt);
  execute("DELETE FROM batches WHERE first = 2");
  EXPECT_EQ(store->admin().forget(run, 1).error().kind, StoreError::Kind::Damaged);
  EXPECT_EQ(read_all(store->journals(), run, 2).size(), 1U);
}

TEST_P(ForgetContract, CompactingDropsSnapshotsAndNothingElse) {
  for (std::uint64_t at = 1; at <= 200; ++at) {
    Append append = make_append(run, at, {std::string(1'000, 'x')});
    append.contents = {make_content("content")};
    append.references = {append.contents.front().hash};
    append.snapshot = Snapshot{at, std::string(50'000, 's')};
    ASSERT_EQ(commit(append), std::nullopt);
    ASSERT_EQ(commit(make_append(other, at, {std::string(5'000, 'y')})), std::nullopt);
  }
  ASSERT_TRUE(store->admin().forget(other, 1).has_value());
  const auto before = read_all(run);
  ASSERT_TRUE(store->admin().compact().has_value());
  EXPECT_EQ(read_all(run), before);
  EXPECT_EQ(store->journals().snapshot(run).value(), std::nullopt);
  EXPECT_EQ(store->journals().content(run, sha256("content")), "content");
  EXPECT_EQ(store->journals().head(other)->summary.state, RunState::Forgotten);
  EXPECT_FALSE(contains("ssssssss"));
  ASSERT_EQ(commit(make_append(run, 201, {"next"})), std::nullopt);
  expect_clean(*store);
}

class TransferContract : public test::StoreContractTest {
 protected:
  void SetUp() override {
    const Content root = make_content("root");
    const Content leaf = make_content("leaf", {root.hash, root.hash});
    Append first = make_append(run, 1, {"a", "b"});
    first.contents = {root, leaf};
    first.references = {leaf.hash};
    first.snapshot = Snapshot{1, "state"};
    ASSERT_EQ(commit(first), std::nullopt);
    ASSERT_EQ(claim_run(store->journals(), run)->epoch, 1U);
    Append second = make_append(run, 3, {""});
    second.epoch = 1;
    second.references = {root.hash, leaf.hash};
    second.summary = {RunState::Waiting, "title", "detail", -5, 3'000};
    ASSERT_EQ(commit(second), std::nullopt);
    Append last = make_append(run, 4, {});
    last.epoch = 1;
    last.summary = second.summary;
    last.references = {root.hash};
    ASSERT_EQ(commit(last), std::nullopt);
    exported = store->admin().export_run(run).value();
    auto opened = open_store(new_place(), test::without_waiting);
    ASSERT_TRUE(opened.has_value());
    other = std::move(*opened);
  }
  RunName run = make_run_name(1);
  std::string exported;
  std::unique_ptr<StoreConnection> other;
};
TENON_INSTANTIATE_FOR_STORES(TransferContract);

TEST_P(TransferContract, ARunRoundTrips) {
  const auto imported = other->admin().import_run(exported);
  ASSERT_TRUE(imported.has_value()) << imported.error().message;
  EXPECT_EQ(imported->run, run);
  EXPECT_EQ(imported->outcome, ImportOutcome::Imported);
  EXPECT_THAT(read_all(other->journals(), run), ElementsAre("a", "b", ""));
  const RunHead before = store->journals().head(run).value();
  const RunHead after = other->journals().head(run).value();
  EXPECT_EQ(after.epoch, before.epoch);
  EXPECT_EQ(after.records, before.records);
  EXPECT_EQ(after.chain, before.chain);
  EXPECT_EQ(after.created_at, before.created_at);
  EXPECT_EQ(after.summary.state, before.summary.state);
  EXPECT_EQ(after.summary.title, before.summary.title);
  EXPECT_EQ(after.summary.detail, before.summary.detail);
  EXPECT_EQ(after.summary.wake_at, before.summary.wake_at);
  EXPECT_EQ(after.summary.updated_at, before.summary.updated_at);
  EXPECT_EQ(other->journals().content(run, sha256("leaf")), "leaf");
  EXPECT_EQ(other->journals().snapshot(run).value(), std::nullopt);
  EXPECT_EQ(other->admin().export_run(run), exported);
  expect_clean(*other);
}

TEST_P(TransferContract, ImportingTwiceChangesNothing) {
  ASSERT_TRUE(other->admin().import_run(exported).has_value());
  EXPECT_EQ(other->admin().import_run(exported)->outcome, ImportOutcome::AlreadyThere);
  EXPECT_EQ(store->admin().import_run(exported)->outcome, ImportOutcome::AlreadyThere);
  expect_clean(*other);
  ASSERT_TRUE(other->admin().forget(run, 1).has_value());
  EXPECT_EQ(other->admin().import_run(exported).error().kind, StoreError::Kind::Conflict);
}

TEST_P(TransferContract, AForgottenRunStaysForgottenElsewhere) {
  ASSERT_TRUE(store->admin().forget(run, 9'000).has_value());
  const RunHead head = store->journals().head(run).value();
  const auto imported = other->admin().import_forgotten(head);
  ASSERT_TRUE(imported.has_value()) << imported.error().message;
  EXPECT_EQ(imported->outcome, ImportOutcome::Imported);
  const RunHead copied = other->journals().head(run).value();
  EXPECT_EQ(copied.records, head.records);
  EXPECT_EQ(copied.chain, head.chain);
  EXPECT_EQ(copied.epoch, head.epoch);
  EXPECT_EQ(copied.created_at, head.created_at);
  EXPECT_EQ(copied.summary, head.summary);
  EXPECT_EQ(other->admin().import_forgotten(head)->outcome, ImportOutcome::AlreadyThere);
  EXPECT_EQ(other->admin().import_run(exported).error().kind, StoreError::Kind::Conflict);
  RunHead different = head;
  different.records = 77;
  EXPECT_EQ(other->admin().import_forgotten(different).error().kind, StoreError::Kind::Conflict);
  expect_clean(*other);
}

TEST_P(TransferContract, AnotherRunOfTheNameIsAConflict) {
  ASSERT_EQ(commit(other->journals(), make_append(run, 1, {"different"})), std::nullopt);
  const auto imported = other->admin().import_run(exported);
  ASSERT_FALSE(imported.has_value());
  EXPECT_EQ(imported.error().kind, StoreError::Kind::Conflict);
  EXPECT_THAT(read_all(other->journals(), run), ElementsAre("different"));
  EXPECT_EQ(other->journals().content(run, sha256("leaf")).error().kind, StoreError::Kind::Missing);
}

TEST_P(TransferContract, AnEmptyRunCanBeMovedToo) {
  const RunName empty = make_run_name(2);
  ASSERT_EQ(commit(make_append(empty, 1, {})), std::nullopt);
  ASSERT_TRUE(other->admin().import_run(store->admin().export_run(empty).value()).has_value());
  EXPECT_EQ(other->journals().head(empty)->records, 0U);
  expect_clean(*other);
}

TEST_P(TransferContract, ReplacesATitleThatIsNotUtf8) {
  const RunName odd = make_run_name(2);
  Append append = make_append(odd, 1, {});
  append.summary.title = "a\xff";
  ASSERT_EQ(commit(append), std::nullopt);
  ASSERT_TRUE(other->admin().import_run(store->admin().export_run(odd).value()).has_value());
  EXPECT_EQ(other->journals().head(odd)->summary.title, "a\xef\xbf\xbd");
}

TEST_P(TransferContract, EveryAlteredByteIsReported) {
  for (std::size_t at = 0; at < exported.size(); ++at) {
    std::string altered = exported;
    altered[at] = static_cast<char>(static_cast<unsigned char>(altered[at]) ^ (1U << (at % 8)));
    EXPECT_FALSE(other->admin().import_run(altered).has_value()) << "byte " << at;
    EXPECT_FALSE(other->admin().import_run(std::string_view(exported).substr(0, at)).has_value()) << "cut to " << at;
  }
  EXPECT_FALSE(other->admin().import_run(exported + "x").has_value());
  EXPECT_TRUE(other->runs().list({})->empty());
  expect_clean(*other);
}

TEST_P(TransferContract, AFileThatContradictsItselfIsRejectedThoughItsDigestHolds) {
  const RunFile good = decode_run_file(exported).value();
  const auto message = [](const RunFile& file) {
    const auto decoded = decode_run_file(encode_run_file(file));
    return decoded ? "" : decoded.error().message;
  };
  EXPECT_EQ(message(good), "");
  RunFile file = good;
  file.head.records = 4;
  EXPECT_THAT(message(file), HasSubstr("do not match its head"));
  file = good;
  file.batches[0].records[0] = "A";
  EXPECT_THAT(message(file), HasSubstr("do not match its head"));
  file = good;
  file.contents.pop_back();
  EXPECT_THAT(message(file), HasSubstr("is missing"));
  file = good;
  file.contents.push_back(make_content("extra"));
  EXPECT_THAT(message(file), HasSubstr("nothing refers"));
  file = good;
  file.contents.push_back(file.contents.front());
  EXPECT_THAT(message(file), HasSubstr("twice"));
  file = good;
  file.head.run.text = "no name";
  EXPECT_THAT(message(file), HasSubstr("head"));
  file = good;
  file.head.summary.title = "\xff";
  EXPECT_THAT(message(file), HasSubstr("head"));
  file = good;
  file.head.summary.state = RunState::Forgotten;
  EXPECT_THAT(message(file), HasSubstr("head"));
}

TEST_P(TransferContract, ANewerFormatIsReportedAsSuch) {
  std::string newer = exported;
  ASSERT_EQ(newer[9], 1);
  newer[9] = 2;
  const auto imported = other->admin().import_run(newer);
  ASSERT_FALSE(imported.has_value());
  EXPECT_EQ(imported.error().kind, StoreError::Kind::Format);
  EXPECT_EQ(other->admin().import_run("PNG").error().kind, StoreError::Kind::Format);
}

}  // namespace
}  // namespace tenon::journal
