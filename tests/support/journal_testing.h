#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "journal/open_store.h"
#include "tests/support/temporary_folder.h"

/// Shared by the tests of the journal.
namespace tenon::test {

inline journal::Content make_content(std::string bytes, std::vector<Hash> refers = {}) {
  const Hash hash = sha256(bytes);
  return {hash, std::move(bytes), std::move(refers)};
}

inline journal::Append make_append(const journal::RunName& run, std::uint64_t first, std::vector<std::string> records) {
  journal::Append append;
  append.run = run;
  append.first = first;
  append.records = std::move(records);
  append.summary.title = "main";
  append.summary.updated_at = 1'000;
  return append;
}

/// Power losses are tested with a FaultyDisk; all other tests do not need to wait for a real disk.
inline const journal::StoreOptions without_waiting{.durability = journal::Durability::Process};

/// A store in its own folder, which can be closed and reopened.
class JournalTest : public testing::Test {
 protected:
  JournalTest() : JournalTest("") {}
  /// With the store at this URL.
  explicit JournalTest(const std::string& url) : path(url.empty() ? folder.file("store.db") : url) {}

  std::unique_ptr<journal::StoreConnection> open(const journal::StoreOptions& options = without_waiting) {
    auto opened = journal::open_store(path, options);
    EXPECT_TRUE(opened.has_value()) << opened.error().message;
    return opened ? std::move(*opened) : nullptr;
  }
  void reopen(const journal::StoreOptions& options = without_waiting) {
    store.reset();
    store = open(options);
  }
  /// The result of one append, which must not be a disk error.
  static std::optional<journal::AppendRefusal> commit(journal::Store& to, const journal::Append& append) {
    const auto refusals = to.commit({&append, 1});
    EXPECT_TRUE(refusals.has_value()) << refusals.error().message;
    return refusals ? refusals->front() : std::nullopt;
  }
  std::optional<journal::AppendRefusal> commit(const journal::Append& append) {
    return commit(store->journals(), append);
  }

  static std::vector<std::string> read_all(journal::Store& from, const journal::RunName& run, std::uint64_t after = 0,
                                           std::size_t limit = SIZE_MAX) {
    const auto records = from.read(run, after, limit);
    EXPECT_TRUE(records.has_value()) << records.error().message;
    std::vector<std::string> texts;
    if (!records) return texts;
    for (const journal::Record& record : *records) {
      EXPECT_EQ(record.number, after + texts.size() + 1);
      texts.push_back(record.bytes);
    }
    return texts;
  }
  std::vector<std::string> read_all(const journal::RunName& run) { return read_all(store->journals(), run); }

  static void expect_clean(journal::StoreConnection& checked) {
    const auto report = checked.admin().check();
    ASSERT_TRUE(report.has_value()) << report.error().message;
    EXPECT_EQ(report->problems, std::vector<std::string>{});
  }

  TemporaryFolder folder;
  std::string path;
  std::unique_ptr<journal::StoreConnection> store = open();
};

}  // namespace tenon::test
