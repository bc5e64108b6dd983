#include "journal/store.h"

#include <gmock/gmock.h>
#include <sys/wait.h>

#include <csignal>
#include <set>

#include "journal/open_store.h"
#include "tests/support/store_contract.h"

namespace tenon::journal {
namespace {

using test::make_append;
using test::make_content;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(RunName, SortsByTheTimeAtWhichItWasMade) {
  std::string last;
  std::set<std::string> all;
  for (int round = 0; round < 10'000; ++round) {
    const RunName name = make_run_name(1'700'000'000'000 + round / 1'000);
    EXPECT_TRUE(is_run_name(name.text)) << name.text;
    EXPECT_LT(last, name.text);
    last = name.text;
    all.insert(name.text);
  }
  EXPECT_EQ(all.size(), 10'000U);
  EXPECT_LT(last, make_run_name(1'600'000'000'000).text);  // the clock went back
}

/// A name's 130 bits, the highest first: two zeros, and a UUID.
std::string bits_of(const RunName& name) {
  constexpr std::string_view digits = "0123456789abcdefghjkmnpqrstvwxyz";
  std::string bits;
  for (const char digit : name.text)
    for (int bit = 4; bit >= 0; --bit) bits += (digits.find(digit) >> static_cast<unsigned>(bit) & 1U) != 0 ? '1' : '0';
  return bits;
}

std::int64_t milliseconds_of(const RunName& name) {
  return std::stoll(bits_of(name).substr(2, 48), nullptr, 2);
}

TEST(RunName, HasVersionAndVariantOfAUuid) {
  // Later than all names of this process, so that the time is in it.
  const std::int64_t now_ms = milliseconds_of(make_run_name(1)) + 1'000;
  const RunName name = make_run_name(now_ms);
  const std::string bits = bits_of(name);
  ASSERT_EQ(bits.size(), 130U);
  EXPECT_EQ(bits.substr(0, 2), "00");
  EXPECT_EQ(milliseconds_of(name), now_ms);
  EXPECT_EQ(bits.substr(50, 4), "0111");
  EXPECT_EQ(bits.substr(66, 2), "10");
}

TEST(RunName, FollowsANewerName) {
  const RunName newer{make_run_name(1).text.substr(0, 10) + "zzzzzzzzzzzzzzzz"};  // the last of its millisecond
  make_run_names_after(newer);
  const RunName next = make_run_name(1);
  EXPECT_LT(newer.text, next.text);
  EXPECT_TRUE(is_run_name(next.text)) << next.text;
  make_run_names_after({"00000000000000000000000000"});  // an older one changes nothing
  make_run_names_after({"7zzzzzzzzzzzzzzzzzzzzzzzzz"});  // nor does one that leaves no room
  make_run_names_after({"not a name"});
  const RunName later = make_run_name(1);
  EXPECT_LT(next.text, later.text);
  EXPECT_LE(milliseconds_of(later), milliseconds_of(next) + 1);
}

TEST(RunName, RejectsInvalidNames) {
  EXPECT_TRUE(is_run_name("01jd3qq5x8fwbyqvk0abcdefgh"));
  EXPECT_FALSE(is_run_name("81jd3qq5x8fwbyqvk0abcdefgh"));  // more than 128 bits
  EXPECT_FALSE(is_run_name("01jd3qq5x8fwbyqvk0abcdefgi"));  // no digit
  EXPECT_FALSE(is_run_name("01JD3QQ5X8FWBYQVK0ABCDEFGH"));
  EXPECT_FALSE(is_run_name("01jd3qq5x8fwbyqvk0abcdefg"));
  EXPECT_FALSE(is_run_name(""));
}

/// What every store promises about appends and reads.
class StoreContract : public test::StoreContractTest {
 protected:
  RunName run = make_run_name(1);
  RunName other = make_run_name(2);
};
TENON_INSTANTIATE_FOR_STORES(StoreContract);

TEST_P(StoreContract, NewRunsHaveNamesAfterTheNewestWhateverTheClockSays) {
  EXPECT_EQ(*store->runs().newest(), std::nullopt);
  const RunName newest{"02caaaaaaafwbyqvk0abcdefgh"};
  ASSERT_EQ(commit(make_append(newest, 1, {"a"})), std::nullopt);
  ASSERT_EQ(commit(make_append(RunName{"01aaaaaaaafwbyqvk0abcdefgh"}, 1, {"a"})), std::nullopt);
  EXPECT_EQ(*store->runs().newest(), newest);
  reopen();
  EXPECT_LT(newest.text, make_run_name(1'700'000'000'000).text);
}

TEST_P(StoreContract, RecordsAreReadInOrder) {
  EXPECT_EQ(commit(make_append(run, 1, {"a", "b"})), std::nullopt);
  EXPECT_EQ(commit(make_append(run, 3, {"", std::string("\0x", 2)})), std::nullopt);
  EXPECT_THAT(read_all(run), ElementsAre("a", "b", "", std::string("\0x", 2)));
  reopen();
  EXPECT_THAT(read_all(run), ElementsAre("a", "b", "", std::string("\0x", 2)));
  EXPECT_EQ(store->journals().head(run)->records, 4U);
  EXPECT_EQ(store->journals().head(run)->created_at, 1'000);
  expect_clean(*store);
}

TEST_P(StoreContract, EachRefusalHasItsReasonAndLeavesNoTrace) {
  EXPECT_EQ(commit(make_append(run, 2, {"a"})), AppendRefusal::UnknownRun);
  EXPECT_EQ(store->journals().head(run).error().kind, StoreError::Kind::Missing);
  EXPECT_EQ(commit(make_append(run, 0, {"a"})), AppendRefusal::WrongNumber);
  ASSERT_EQ(commit(make_append(run, 1, {"a"})), std::nullopt);
  EXPECT_EQ(commit(make_append(run, 1, {"a"})), AppendRefusal::WrongNumber);
  EXPECT_EQ(commit(make_append(run, 3, {"a"})), AppendRefusal::WrongNumber);

  Append ahead = make_append(run, 2, {"b"});
  ahead.snapshot = Snapshot{3, "state"};
  EXPECT_EQ(commit(ahead), AppendRefusal::WrongNumber);

  Append early = make_append(run, 2, {"b"});
  early.epoch = 1;  // it was never claimed
  EXPECT_EQ(commit(early), AppendRefusal::OldEpoch);

  // A new content would come with it, and a content of that one's is nowhere.
  Append referring = make_append(run, 2, {"b"});
  referring.contents.push_back(make_content("parent", {sha256("nowhere")}));
  referring.references = {referring.contents.front().hash};
  EXPECT_EQ(commit(referring), AppendRefusal::UnknownReference);
  EXPECT_EQ(store->journals().content(run, sha256("parent")).error().kind, StoreError::Kind::Missing);

  EXPECT_THAT(read_all(run), ElementsAre("a"));
  expect_clean(*store);
}

TEST_P(StoreContract, NotesAreFoundByTheirKeyUntilTheirTimeIsOver) {
  Append append = make_append(run, 1, {"a"});
  append.notes = {{"kept", "1", std::nullopt}, {"short", "2", 2'000}};
  ASSERT_EQ(commit(append), std::nullopt);
  reopen();
  EXPECT_EQ(store->journals().find_note("kept")->value().bytes, "1");
  EXPECT_EQ(store->journals().find_note("short")->value().expires_at, 2'000);
  EXPECT_EQ(*store->journals().find_note("other"), std::nullopt);
  const std::vector<std::string> keys = {"short", "other", "kept", "short"};
  const std::optional<Note> kept = Note{"kept", "1", std::nullopt}, is_short = Note{"short", "2", 2'000};
  EXPECT_THAT(*store->journals().find_notes(keys), ElementsAre(is_short, std::nullopt, kept, is_short));
  EXPECT_THAT(*store->journals().find_notes({}), IsEmpty());

  Append later = make_append(run, 2, {"b"});
  later.summary.updated_at = 2'000;
  later.notes = {{"kept", "3", std::nullopt}};
  ASSERT_EQ(commit(later), std::nullopt);
  EXPECT_EQ(store->journals().find_note("kept")->value().bytes, "3");
  EXPECT_EQ(*store->journals().find_note("short"), std::nullopt);

  // One that comes with a refused append is not kept.
  Append refused = make_append(run, 9, {"c"});
  refused.notes = {{"kept", "4", std::nullopt}};
  EXPECT_EQ(commit(refused), AppendRefusal::WrongNumber);
  EXPECT_EQ(store->journals().find_note("kept")->value().bytes, "3");
  expect_clean(*store);
}

TEST_P(StoreContract, ANoteMayBelongToNoRun) {
  ASSERT_TRUE(store->admin().keep_note({"own", "1", std::nullopt}, 0).has_value());
  ASSERT_TRUE(store->admin().keep_note({"own", "2", 2'000}, 0).has_value());
  const auto reader = open({.durability = Durability::Process, .access = Access::Reader});
  EXPECT_EQ(reader->journals().find_note("own")->value(), (Note{"own", "2", 2'000}));
  EXPECT_EQ(reader->admin().keep_note({"own", "3", std::nullopt}, 0).error().kind, StoreError::Kind::InUse);
  reopen();
  EXPECT_EQ(store->journals().find_note("own")->value().bytes, "2");
  expect_clean(*store);
}

TEST_P(StoreContract, AnAppendOfTooManyBytesIsRefused) {
  Append large = make_append(run, 1, {});
  large.records.emplace_back(append_bytes_max + 1, 'x');
  EXPECT_EQ(commit(large), AppendRefusal::TooLarge);
  EXPECT_EQ(store->journals().head(run).error().kind, StoreError::Kind::Missing);
}

TEST_P(StoreContract, ARefusalStopsNoOther) {
  const std::vector<Append> appends{make_append(run, 1, {"a"}), make_append(run, 1, {"again"}),
                                    make_append(other, 5, {"gap"}), make_append(run, 2, {"b"}),
                                    make_append(other, 1, {"x"})};
  const auto refusals = store->journals().commit(appends);
  ASSERT_TRUE(refusals.has_value());
  EXPECT_THAT(*refusals, ElementsAre(std::nullopt, AppendRefusal::WrongNumber, AppendRefusal::UnknownRun, std::nullopt,
                                     std::nullopt));
  EXPECT_THAT(read_all(run), ElementsAre("a", "b"));
  EXPECT_THAT(read_all(other), ElementsAre("x"));
  expect_clean(*store);
}

TEST_P(StoreContract, ClaimingShutsFormerOwnersOut) {
  ASSERT_EQ(commit(make_append(run, 1, {"a"})), std::nullopt);
  const auto claimed = claim_run(store->journals(), run);
  ASSERT_TRUE(claimed.has_value());
  EXPECT_EQ(claimed->epoch, 1U);
  EXPECT_EQ(claimed->records, 1U);
  EXPECT_EQ(commit(make_append(run, 2, {"late"})), AppendRefusal::OldEpoch);
  Append own = make_append(run, 2, {"b"});
  own.epoch = 1;
  EXPECT_EQ(commit(own), std::nullopt);
  reopen();
  EXPECT_EQ(store->journals().head(run)->epoch, 1U);
  EXPECT_THAT(read_all(run), ElementsAre("a", "b"));
  EXPECT_EQ(claim_run(store->journals(), other).error().kind, StoreError::Kind::Missing);
}

TEST_P(StoreContract, SummaryAndSnapshotAreReplacedWithoutRecords) {
  Append first = make_append(run, 1, {"a"});
  first.snapshot = Snapshot{1, "old state"};
  ASSERT_EQ(commit(first), std::nullopt);
  Append second = make_append(run, 2, {});
  second.summary = {RunState::Waiting, "title", "for ann", 77, 2'000};
  second.snapshot = Snapshot{1, "state"};
  ASSERT_EQ(commit(second), std::nullopt);
  const auto head = store->journals().head(run);
  EXPECT_EQ(head->records, 1U);
  EXPECT_EQ(head->summary.state, RunState::Waiting);
  EXPECT_EQ(head->summary.title, "title");
  EXPECT_EQ(head->summary.detail, "for ann");
  EXPECT_EQ(head->summary.wake_at, 77);
  EXPECT_EQ(head->summary.updated_at, 2'000);
  EXPECT_EQ(head->created_at, 1'000);
  const auto snapshot = store->journals().snapshot(run);
  ASSERT_TRUE(snapshot.has_value() && snapshot->has_value());
  EXPECT_EQ((*snapshot)->after, 1U);
  EXPECT_EQ((*snapshot)->bytes, "state");
  expect_clean(*store);
}

TEST_P(StoreContract, ARunKeepsItsContentsOnce) {
  const Content root = make_content("root");
  const Content leaf = make_content("leaf", {root.hash});
  Append first = make_append(run, 1, {"a"});
  first.contents = {leaf, root, make_content("unreferenced")};
  first.references = {leaf.hash};
  ASSERT_EQ(commit(first), std::nullopt);
  Append second = make_append(run, 2, {"b"});
  second.contents = {leaf};
  second.references = {leaf.hash, root.hash, root.hash};
  ASSERT_EQ(commit(second), std::nullopt);
  Append only_references = make_append(run, 3, {});
  only_references.references = {root.hash};
  ASSERT_EQ(commit(only_references), std::nullopt);
  EXPECT_EQ(store->journals().content(run, leaf.hash), "leaf");
  EXPECT_EQ(store->journals().content(run, root.hash), "root");
  EXPECT_EQ(store->journals().content(run, sha256("unreferenced")).error().kind, StoreError::Kind::Missing);
  ASSERT_EQ(commit(make_append(run, 3, {"c"})), std::nullopt);
  EXPECT_THAT(read_all(run), ElementsAre("a", "b", "c"));
  EXPECT_EQ(store->admin().check()->contents, 2U);

  // What another run has is its own.
  Append foreign = make_append(other, 1, {"x"});
  foreign.references = {leaf.hash};
  EXPECT_EQ(commit(foreign), AppendRefusal::UnknownReference);
  foreign.contents = {leaf, root};
  EXPECT_EQ(commit(foreign), std::nullopt);
  EXPECT_EQ(store->admin().check()->contents, 4U);
  expect_clean(*store);
}

TEST_P(StoreContract, AThousandRunsInterleaved) {
  constexpr std::size_t run_count = 1'000;
  constexpr std::uint64_t rounds = 5;
  std::vector<RunName> names;
  for (std::size_t at = 0; at < run_count; ++at) names.push_back(make_run_name(10));
  for (std::uint64_t round = 0; round < rounds; ++round) {
    std::vector<Append> appends;
    for (std::size_t at = 0; at < run_count; ++at) {
      const std::size_t turned = (at * 7 + round) % run_count;
      appends.push_back(make_append(names[turned], round + 1, {names[turned].text + " " + std::to_string(round)}));
    }
    const auto refusals = store->journals().commit(appends);
    ASSERT_TRUE(refusals.has_value());
    for (const auto& refusal : *refusals) EXPECT_EQ(refusal, std::nullopt);
  }
  reopen();
  for (const RunName& name : names) {
    const auto texts = read_all(name);
    ASSERT_EQ(texts.size(), rounds);
    for (std::uint64_t round = 0; round < rounds; ++round)
      EXPECT_EQ(texts[round], name.text + " " + std::to_string(round));
  }
  EXPECT_EQ(store->runs().list({})->size(), run_count);
  expect_clean(*store);
}

TEST_P(StoreContract, AnOwnerThatDoesNotCreateAStoreMissesIt) {
  const std::string place = new_place();
  for (int attempt = 0; attempt < 2; ++attempt) {
    const auto missing = open_store(place, {.creates = false});
    ASSERT_FALSE(missing.has_value());
    EXPECT_EQ(missing.error().kind, StoreError::Kind::Missing);
    EXPECT_THAT(missing.error().message, HasSubstr("the store does not exist"));
    const auto reader = open_store(place, {.access = Access::Reader});
    ASSERT_FALSE(reader.has_value());
    EXPECT_EQ(reader.error().kind, StoreError::Kind::Missing);
  }
  ASSERT_TRUE(open_store(place, {}).has_value());
  EXPECT_TRUE(open_store(place, {.creates = false}).has_value());
}

TEST_P(StoreContract, ReadersSeeEachCommitAndHoldNothingUp) {
  const auto reader = open({.access = Access::Reader});
  for (std::uint64_t at = 1; at <= 50; ++at) {
    ASSERT_EQ(commit(make_append(run, at, {std::to_string(at)})), std::nullopt);
    EXPECT_EQ(read_all(reader->journals(), run).size(), at);
  }
  EXPECT_EQ(reader->journals().head(run)->records, 50U);
  expect_clean(*reader);
}

/// What every store promises about reads.
class ReadingContract : public test::StoreContractTest {
 protected:
  /// Appends of 1, 2, 3, … records in turn, until there are at least `count`; each record is its number.
  std::uint64_t fill(std::uint64_t count, std::size_t batch_max) {
    std::uint64_t next = 1;
    for (std::size_t size = 1; next <= count; size = size % batch_max + 1) {
      std::vector<std::string> records;
      for (std::size_t at = 0; at < size; ++at) records.push_back(std::to_string(next + at));
      EXPECT_EQ(commit(make_append(run, next, std::move(records))), std::nullopt);
      next += size;
    }
    return next - 1;
  }
  void expect_damage(std::string_view place) {
    const auto records = store->journals().read(run, 0, SIZE_MAX);
    ASSERT_FALSE(records.has_value()) << place;
    EXPECT_EQ(records.error().kind, StoreError::Kind::Damaged);
    EXPECT_THAT(records.error().message, HasSubstr(run.text + ", " + std::string(place)));
    EXPECT_THAT(store->admin().check()->problems, testing::Contains(HasSubstr(std::string(place))));
  }
  RunName run = make_run_name(1);
};
TENON_INSTANTIATE_FOR_STORES(ReadingContract);

TEST_P(ReadingContract, FromEveryNumberOnAndWithEveryLimit) {
  for (const std::size_t batch_max : {1U, 7U, 150U}) {
    run = make_run_name(1);
    const std::uint64_t count = fill(400, batch_max);
    for (std::uint64_t after = 0; after <= count + 1; ++after)
      for (const std::size_t limit : {std::size_t{0}, std::size_t{1}, std::size_t{63}, std::size_t{64}, SIZE_MAX}) {
        const auto texts = read_all(store->journals(), run, after, limit);
        ASSERT_EQ(texts.size(), std::min<std::uint64_t>(limit, after > count ? 0 : count - after));
        for (std::size_t at = 0; at < texts.size(); ++at) ASSERT_EQ(texts[at], std::to_string(after + at + 1));
      }
  }
  EXPECT_THAT(read_all(store->journals(), run, UINT64_MAX), IsEmpty());
  expect_clean(*store);
}

TEST_P(ReadingContract, AnUnknownRunIsMissing) {
  EXPECT_EQ(store->journals().read(run, 0, 1).error().kind, StoreError::Kind::Missing);
  EXPECT_EQ(store->journals().snapshot(run).error().kind, StoreError::Kind::Missing);
}

TEST_P(ReadingContract, ReportsAMissingRecord) {
  fill(200, 1);
  execute("DELETE FROM batches WHERE first = 77");
  expect_damage("record 77:");
  EXPECT_TRUE(store->journals().read(run, 77, 50).has_value());  // what does not depend on it is still there
}

TEST_P(ReadingContract, ReportsAMissingLastRecord) {
  fill(10, 1);
  execute("DELETE FROM batches WHERE first = 10");
  expect_damage("record 10:");
}

TEST_P(ReadingContract, ReportsAnExchangedRecord) {
  fill(10, 1);
  execute("UPDATE batches SET bytes = (SELECT bytes FROM batches WHERE first = 4) WHERE first = 6");
  expect_damage("record 6:");
}

TEST_P(ReadingContract, ReportsAForgedChain) {
  fill(10, 1);
  // A record that another chain's beginning would make right.
  execute(
      "UPDATE batches SET chain = (SELECT chain FROM batches WHERE first = 4), "
      "bytes = (SELECT bytes FROM batches WHERE first = 4) WHERE first = 6");
  expect_damage("record 6:");
}

TEST_P(ReadingContract, ReportsAnAlteredHead) {
  fill(10, 1);
  execute("UPDATE runs SET chain = " + literal(std::string(32, '\0')));
  expect_damage("record 10:");
}

TEST_P(ReadingContract, ReportsEachAlteredByteOfEachRow) {
  Append append = make_append(run, 1, {"first", "second"});
  append.contents = {make_content("content")};
  append.references = {append.contents.front().hash};
  ASSERT_EQ(commit(append), std::nullopt);
  ASSERT_EQ(commit(make_append(run, 3, {"third"})), std::nullopt);
  for (const char* const column : {"bytes", "chain"})
    for (const char* const first : {"1", "3"}) {
      const std::string where = std::string(" FROM batches WHERE first = ") + first;
      const std::string original = query_bytes(std::string("SELECT ") + column + where);
      ASSERT_FALSE(original.empty());
      const auto put = [&](const std::string& value) {
        execute(std::string("UPDATE batches SET ") + column + " = " + literal(value) + " WHERE first = " + first);
      };
      for (std::size_t at = 0; at < original.size(); ++at) {
        std::string altered = original;
        altered[at] = static_cast<char>(static_cast<unsigned char>(altered[at]) ^ (1U << (at % 8)));
        put(altered);
        const auto records = store->journals().read(run, 0, SIZE_MAX);
        ASSERT_FALSE(records.has_value()) << column << " of " << first << ", byte " << at;
        EXPECT_EQ(records.error().kind, StoreError::Kind::Damaged);
        EXPECT_FALSE(store->admin().check()->problems.empty());
      }
      put(original);
    }
  EXPECT_THAT(read_all(run), ElementsAre("first", "second", "third"));
  expect_clean(*store);
}

TEST_P(ReadingContract, ReportsAlteredContentsAndSnapshots) {
  Append append = make_append(run, 1, {"a"});
  append.contents = {make_content("content")};
  append.references = {append.contents.front().hash};
  append.snapshot = Snapshot{1, "state"};
  ASSERT_EQ(commit(append), std::nullopt);
  execute("UPDATE contents SET bytes = " + literal("x") + "; UPDATE snapshots SET bytes = " + literal("x"));
  EXPECT_EQ(store->journals().content(run, append.references.front()).error().kind, StoreError::Kind::Damaged);
  EXPECT_EQ(store->journals().snapshot(run).error().kind, StoreError::Kind::Damaged);
  EXPECT_EQ(store->admin().check()->problems.size(), 2U);
}

TEST_P(ReadingContract, NamesTheRunsThatHaveAnAlteredSharedContent) {
  Content program = make_content("a program");
  program.sharing = Sharing::Store;
  const RunName other = make_run_name(2);
  for (const RunName& one : {run, other}) {
    Append append = make_append(one, 1, {"a"});
    append.contents = {program};
    append.references = {program.hash};
    ASSERT_EQ(commit(append), std::nullopt);
  }
  execute("UPDATE shared_bodies SET bytes = " + literal("x"));
  const auto [first, second] = std::minmax(run.text, other.text);
  EXPECT_THAT(store->admin().check()->problems, ElementsAre("runs " + first + ", " + second + ", content " +
                                                            program.hash.hex() + ": its bytes do not match its hash"));
}

/// A row whose checksum does not match has no time that could be trusted.
/// A child appends, one thread's worth, and tells each acknowledged number through a pipe until it is killed.
class KilledProcessContract : public test::StoreContractTest {
 protected:
  void expect_acknowledged(Durability durability);
};
TENON_INSTANTIATE_FOR_STORES(KilledProcessContract);

void KilledProcessContract::expect_acknowledged(Durability durability) {
  const std::vector<RunName> runs{make_run_name(1), make_run_name(2), make_run_name(3)};
  std::uint64_t acknowledged = 0;
  for (int round = 0; round < 10; ++round) {
    store.reset();
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      auto owned = open_store(path, {.durability = durability});
      if (!owned) _exit(1);
      for (std::uint64_t number = acknowledged + 1;; ++number) {
        std::vector<Append> appends;
        for (const RunName& run : runs) appends.push_back(make_append(run, number, {std::to_string(number)}));
        const auto refusals = (*owned)->journals().commit(appends);
        if (!refusals || (*refusals)[0] || (*refusals)[1] || (*refusals)[2]) _exit(2);
        if (write(ends[1], &number, sizeof number) != sizeof number) _exit(3);
        if (number % 50 == 0 && !(*owned)->journals().maintain()) _exit(4);
      }
    }
    close(ends[1]);
    const std::uint64_t wanted = acknowledged + 20 + static_cast<std::uint64_t>(round) * 13;
    std::uint64_t number = 0;
    while (number < wanted && read(ends[0], &number, sizeof number) == sizeof number) {
    }
    EXPECT_GE(number, wanted) << "the child ended by itself";
    kill(child, SIGKILL);
    while (read(ends[0], &number, sizeof number) == sizeof number) {
    }
    waitpid(child, nullptr, 0);
    close(ends[0]);
    store = open();
    for (const RunName& run : runs) {
      const auto texts = read_all(run);
      ASSERT_GE(texts.size(), number);
      ASSERT_LE(texts.size(), number + 1);
      acknowledged = texts.size();
      for (std::size_t at = 0; at < texts.size(); ++at) ASSERT_EQ(texts[at], std::to_string(at + 1));
    }
    expect_clean(*store);
  }
}

TEST_P(KilledProcessContract, WhatWasAcknowledgedIsThere) {
  expect_acknowledged(Durability::Full);
}

TEST_P(KilledProcessContract, WhatWasAcknowledgedIsThereWithoutWaitingForTheDisk) {
  expect_acknowledged(Durability::Process);
}

}  // namespace
}  // namespace tenon::journal
