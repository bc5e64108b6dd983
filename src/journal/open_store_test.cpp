#include "journal/open_store.h"

#include "tests/support/journal_testing.h"

namespace tenon::journal {
namespace {

using OpenStore = test::JournalTest;

TEST_F(OpenStore, APathAndASqliteUrlNameTheSameStore) {
  const RunName run = make_run_name(1);
  ASSERT_EQ(commit(test::make_append(run, 1, {"a"})), std::nullopt);
  for (const std::string& url : {path, "sqlite:" + path}) {
    auto reader = open_store(url, {.access = Access::Reader});
    ASSERT_TRUE(reader.has_value()) << reader.error().message;
    EXPECT_EQ((*reader)->journals().head(run)->records, 1U);
    EXPECT_EQ(file_of_store(url), path);
    EXPECT_EQ(name_of_store(url), url);
  }
}

TEST_F(OpenStore, AnUnknownSchemeIsAnErrorThatNamesTheKnownOnes) {
  for (const char* const url : {"mysql://host/runs", "http:x", "SQLITE:x", "c:runs.db", "redis:"}) {
    const auto opened = open_store(url, {});
    ASSERT_FALSE(opened.has_value()) << url;
    EXPECT_EQ(opened.error().kind, StoreError::Kind::Format);
    EXPECT_THAT(opened.error().message, testing::HasSubstr("available: `sqlite:PATH`")) << url;
  }
}

TEST_F(OpenStore, ADatabaseHasNoFileAndItsNameNoPassword) {
  const std::string url = "postgres://ann:secret@host/runs?password=secret&tenon.schema=mine";
  EXPECT_EQ(parse_store_url(url)->kind, StoreLocation::Kind::Database);
  EXPECT_EQ(file_of_store(url), std::nullopt);
  EXPECT_EQ(name_of_store(url), "postgres://ann@host/runs?tenon.schema=mine");
}

TEST_F(OpenStore, AUrlWithoutAPathIsAnError) {
  for (const char* const url : {"", "sqlite:"}) {
    const auto opened = open_store(url, {});
    ASSERT_FALSE(opened.has_value()) << url;
    EXPECT_THAT(opened.error().message, testing::HasSubstr("names no file")) << url;
  }
}

TEST_F(OpenStore, APathMayContainColons) {
  for (const std::string& url : {folder.file("a:b.db"), "sqlite:" + folder.file("c:d.db")}) {
    const auto opened = open_store(url, {});
    EXPECT_TRUE(opened.has_value()) << opened.error().message;
  }
  EXPECT_EQ(parse_store_url("./a:b.db")->path, "./a:b.db");
  EXPECT_EQ(parse_store_url("1:b.db")->path, "1:b.db");
  EXPECT_EQ(parse_store_url("sqlite:sqlite:x")->path, "sqlite:x");
}

}  // namespace
}  // namespace tenon::journal
