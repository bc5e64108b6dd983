#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "journal/sqlite/database.h"
#include "tests/support/journal_testing.h"

namespace tenon::journal::sqlite {
namespace {

using test::make_append;
using test::make_content;

class ForgetTest : public test::JournalTest {
 protected:
  [[nodiscard]] bool files_contain(std::string_view text) const {
    for (const char* const ending : {"", "-wal"}) {
      std::ifstream stream(path + ending, std::ios::binary);
      const std::string bytes(std::istreambuf_iterator<char>(stream), {});
      if (bytes.find(text) != std::string::npos) return true;
    }
    return false;
  }
  RunName run = make_run_name(1);
  RunName other = make_run_name(2);
};

TEST_F(ForgetTest, OverwritesWhatItRemoves) {
  Append append = make_append(run, 1, {"a secret", "b"});
  append.contents = {make_content("secret content"),
                     make_content(std::string(shared_content_bytes_min, 'x') + "secret")};
  append.references = {append.contents[0].hash, append.contents[1].hash};
  append.snapshot = Snapshot{2, "a secret state"};
  ASSERT_EQ(commit(append), std::nullopt);
  EXPECT_TRUE(files_contain("secret"));
  ASSERT_TRUE(store->admin().forget(run, 9'000).has_value());
  EXPECT_FALSE(files_contain("secret"));
  expect_clean(*store);
}

TEST_F(ForgetTest, CompactingMakesTheFileSmaller) {
  for (std::uint64_t at = 1; at <= 200; ++at) {
    Append append = make_append(run, at, {std::string(1'000, 'x')});
    append.snapshot = Snapshot{at, std::string(50'000, 's')};
    ASSERT_EQ(commit(append), std::nullopt);
    ASSERT_EQ(commit(make_append(other, at, {std::string(5'000, 'y')})), std::nullopt);
  }
  ASSERT_TRUE(store->admin().forget(other, 1).has_value());
  const auto size = std::filesystem::file_size(path);
  ASSERT_TRUE(store->admin().compact().has_value());
  EXPECT_LT(std::filesystem::file_size(path), size / 2);
  EXPECT_FALSE(files_contain("ssssssss"));
  expect_clean(*store);
}

}  // namespace
}  // namespace tenon::journal::sqlite
