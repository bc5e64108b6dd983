#include "server/file_watch.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>

#include "tests/support/patience.h"
#include "tests/support/temporary_folder.h"

namespace tenon::server {
namespace {

class FileWatchTest : public testing::Test {
 protected:
  void write(const std::string& name) { std::ofstream(folder.file(name)) << "text"; }
  /// The next file that has changed.
  std::size_t next() {
    std::unique_lock lock(mutex);
    EXPECT_TRUE(changed.wait_for(lock, test::patience, [&] { return !files.empty(); }));
    if (files.empty()) return SIZE_MAX;
    const std::size_t file = files.front();
    files.erase(files.begin());
    return file;
  }

  const test::TemporaryFolder folder;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::size_t> files;
};

TEST_F(FileWatchTest, SeesFilesThatAreWrittenReplacedAndDeleted) {
  write("a.tn");
  write("b.tn");
  const FileWatch watch({folder.file("a.tn"), folder.file("b.tn")}, [this](std::size_t file) {
    const std::scoped_lock lock(mutex);
    files.push_back(file);
    changed.notify_all();
  });
  write("other.tn");
  write("b.tn");
  EXPECT_EQ(next(), 1U);
  write("new.tn");
  std::filesystem::rename(folder.file("new.tn"), folder.file("a.tn"));
  EXPECT_EQ(next(), 0U);
  std::filesystem::remove(folder.file("b.tn"));
  EXPECT_EQ(next(), 1U);
}

TEST_F(FileWatchTest, EndsWhereNothingCanBeWatched) {
  const FileWatch watch({folder.file("missing/a.tn")}, [](std::size_t) { ADD_FAILURE(); });
}

}  // namespace
}  // namespace tenon::server
