#include <gmock/gmock.h>

#include "journal/run_file.h"
#include "tests/support/journal_testing.h"

namespace tenon::journal::sqlite {
namespace {

using test::make_append;
using test::make_content;
using testing::ElementsAre;
using testing::HasSubstr;

class TransferTest : public test::JournalTest {
 protected:
  void SetUp() override {
    const Content root = make_content("root");
    const Content leaf = make_content("leaf", {root.hash, root.hash});
    Append first = make_append(run, 1, {"a", "b"});
    first.contents = {root, leaf};
    first.references = {leaf.hash};
    first.snapshot = Snapshot{1, "state"};
    ASSERT_EQ(commit(first), std::nullopt);
    ASSERT_EQ(store->journals().claim(run)->epoch, 1U);
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
    auto opened = open_store(folder.file("other.db"), test::without_waiting);
    ASSERT_TRUE(opened.has_value());
    other = std::move(*opened);
  }
  RunName run = make_run_name(1);
  std::string exported;
  std::unique_ptr<StoreConnection> other;
};

TEST_F(TransferTest, ARunRoundTrips) {
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

TEST_F(TransferTest, ImportingTwiceChangesNothing) {
  ASSERT_TRUE(other->admin().import_run(exported).has_value());
  EXPECT_EQ(other->admin().import_run(exported)->outcome, ImportOutcome::AlreadyThere);
  EXPECT_EQ(store->admin().import_run(exported)->outcome, ImportOutcome::AlreadyThere);
  expect_clean(*other);
  ASSERT_TRUE(other->admin().forget(run, 1).has_value());
  EXPECT_EQ(other->admin().import_run(exported).error().kind, StoreError::Kind::Conflict);
}

TEST_F(TransferTest, AnotherRunOfTheNameIsAConflict) {
  ASSERT_EQ(commit(other->journals(), make_append(run, 1, {"different"})), std::nullopt);
  const auto imported = other->admin().import_run(exported);
  ASSERT_FALSE(imported.has_value());
  EXPECT_EQ(imported.error().kind, StoreError::Kind::Conflict);
  EXPECT_THAT(read_all(other->journals(), run), ElementsAre("different"));
  EXPECT_EQ(other->journals().content(run, sha256("leaf")).error().kind, StoreError::Kind::Missing);
}

TEST_F(TransferTest, AnEmptyRunCanBeMovedToo) {
  const RunName empty = make_run_name(2);
  ASSERT_EQ(commit(make_append(empty, 1, {})), std::nullopt);
  ASSERT_TRUE(other->admin().import_run(store->admin().export_run(empty).value()).has_value());
  EXPECT_EQ(other->journals().head(empty)->records, 0U);
  expect_clean(*other);
}

TEST_F(TransferTest, ReplacesATitleThatIsNotUtf8) {
  const RunName odd = make_run_name(2);
  Append append = make_append(odd, 1, {});
  append.summary.title = "a\xff";
  ASSERT_EQ(commit(append), std::nullopt);
  ASSERT_TRUE(other->admin().import_run(store->admin().export_run(odd).value()).has_value());
  EXPECT_EQ(other->journals().head(odd)->summary.title, "a\xef\xbf\xbd");
}

TEST_F(TransferTest, EveryAlteredByteIsReported) {
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

TEST_F(TransferTest, AFileThatContradictsItselfIsRejectedThoughItsDigestHolds) {
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

TEST_F(TransferTest, ANewerFormatIsReportedAsSuch) {
  std::string newer = exported;
  ASSERT_EQ(newer[9], 1);
  newer[9] = 2;
  const auto imported = other->admin().import_run(newer);
  ASSERT_FALSE(imported.has_value());
  EXPECT_EQ(imported.error().kind, StoreError::Kind::Format);
  EXPECT_EQ(other->admin().import_run("PNG").error().kind, StoreError::Kind::Format);
}

}  // namespace
}  // namespace tenon::journal::sqlite
