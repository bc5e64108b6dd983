#include "journal/sqlite/store_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "journal/complete_file.h"
#include "tests/support/journal_testing.h"

namespace tenon::journal::sqlite {
namespace {

using test::make_append;
using testing::HasSubstr;

class StoreFileTest : public test::JournalTest {
 protected:
  /// The error of opening the store under a name; an empty one if it opens.
  StoreError refusal(const std::string& name, Access access = Access::Owner) {
    const auto opened = open_store(name, {.access = access});
    return opened ? StoreError{StoreError::Kind::Missing, ""} : opened.error();
  }
  std::uint64_t records_by(const std::string& name) {
    const auto reader = open_store(name, {.access = Access::Reader});
    if (!reader) return 0;
    const auto head = (*reader)->journals().head(run);
    return head ? head->records : 0;
  }
  RunName run = make_run_name(1);
};

TEST_F(StoreFileTest, SymbolicLinksLeadToOneStoreWithOneOwner) {
  std::filesystem::create_symlink(path, folder.file("link.db"));
  std::filesystem::create_directory(folder.file("other"));
  std::filesystem::create_symlink("../link.db", folder.file("other/chain.db"));
  std::filesystem::create_directory_symlink(folder.file(""), folder.file("other/folder"));
  const std::string through_folder = folder.file("other/folder/") + std::filesystem::path(path).filename().string();
  ASSERT_EQ(commit(make_append(run, 1, {"a"})), std::nullopt);
  for (const std::string& name : {folder.file("link.db"), folder.file("other/chain.db"), through_folder}) {
    SCOPED_TRACE(name);
    EXPECT_EQ(refusal(name).kind, StoreError::Kind::InUse);
    EXPECT_THAT(refusal(name).message, HasSubstr("in use by this process"));
    EXPECT_EQ(records_by(name), 1U);
  }
  store.reset();
  auto through_link = open_store(folder.file("other/chain.db"), {});
  ASSERT_TRUE(through_link.has_value()) << through_link.error().message;
  EXPECT_EQ(refusal(path).kind, StoreError::Kind::InUse);
  EXPECT_FALSE(std::filesystem::exists(folder.file("link.db.lock")));
  EXPECT_FALSE(std::filesystem::exists(folder.file("other/chain.db.lock")));
  EXPECT_FALSE(std::filesystem::exists(folder.file("other/chain.db-wal")));
}

TEST_F(StoreFileTest, ALinkToAFileThatDoesNotExistCreatesItThere) {
  std::filesystem::create_directory(folder.file("place"));
  std::filesystem::create_symlink("place/new.db", folder.file("link.db"));
  const auto made = open_store(folder.file("link.db"), {});
  ASSERT_TRUE(made.has_value()) << made.error().message;
  EXPECT_TRUE(std::filesystem::exists(folder.file("place/new.db")));
  EXPECT_TRUE(std::filesystem::exists(folder.file("place/new.db.lock")));
  EXPECT_EQ(refusal(folder.file("place/new.db")).kind, StoreError::Kind::InUse);
}

TEST_F(StoreFileTest, LinksInACircleAreReported) {
  std::filesystem::create_symlink(folder.file("one.db"), folder.file("two.db"));
  std::filesystem::create_symlink(folder.file("two.db"), folder.file("one.db"));
  EXPECT_THAT(refusal(folder.file("one.db")).message, HasSubstr("one.db: "));
  EXPECT_THAT(refusal(folder.file("one.db"), Access::Reader).message, HasSubstr("one.db: "));
}

TEST_F(StoreFileTest, AFileWithSeveralNamesIsRefused) {
  ASSERT_EQ(commit(make_append(run, 1, {"a"})), std::nullopt);
  const std::string other = folder.file("other.db");
  std::filesystem::create_hard_link(path, other);
  for (const std::string& name : {path, other}) {
    for (const Access access : {Access::Owner, Access::Reader}) {
      if (name == path && access == Access::Owner) continue;  // it is open
      const StoreError error = refusal(name, access);
      EXPECT_EQ(error.kind, StoreError::Kind::Denied);
      EXPECT_THAT(error.message, HasSubstr("has 2 names (hard links)"));
      EXPECT_THAT(error.message, HasSubstr("-samefile"));
    }
  }
  EXPECT_FALSE(std::filesystem::exists(other + ".lock"));
  std::filesystem::remove(other);
  EXPECT_EQ(records_by(path), 1U);
  store.reset();
  EXPECT_EQ(refusal(path).message, "");
}

/// Whether SQLite holds its lock on the file, as another process sees it.
bool has_lock_of_sqlite(const std::string& path) {
  const pid_t child = fork();
  if (child == 0) {
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    struct flock readers {};
    readers.l_type = F_WRLCK;
    readers.l_whence = SEEK_SET;
    readers.l_start = (off_t{1} << 30) + 2;
    readers.l_len = 510;
    _exit(::fcntl(file, F_GETLK, &readers) == 0 && readers.l_type != F_UNLCK ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

TEST_F(StoreFileTest, AFileThatIsRenamedWhileInUseKeepsItsOwner) {
  ASSERT_EQ(commit(make_append(run, 1, {"a"})), std::nullopt);
  const std::string other = folder.file("other.db");
  std::filesystem::rename(path, other);
  EXPECT_EQ(refusal(other).kind, StoreError::Kind::InUse);
  EXPECT_THAT(refusal(other).message, HasSubstr("this process, which opened it under another name"));
  EXPECT_TRUE(has_lock_of_sqlite(other)) << "closing a descriptor of the file must not end SQLite's locks";
  std::filesystem::rename(other, path);
  store.reset();
  EXPECT_EQ(refusal(path).message, "");
}

TEST_F(StoreFileTest, TheLockHasTheModeAndTheUserOfTheStore) {
  const auto status_of = [](const std::string& name) {
    struct stat status {};
    EXPECT_EQ(::stat(name.c_str(), &status), 0) << name;
    return status;
  };
  EXPECT_EQ(status_of(path + ".lock").st_mode & 0777U, 0600U);
  store.reset();
  std::filesystem::permissions(path, std::filesystem::perms(0660));
  EXPECT_EQ(refusal(path).message, "");
  EXPECT_EQ(status_of(path + ".lock").st_mode & 0777U, 0660U);
  if (geteuid() != 0) return;
  constexpr uid_t other_user = 65'534;
  ASSERT_EQ(::chown(path.c_str(), other_user, other_user), 0);
  for (const bool is_there : {true, false}) {
    if (!is_there) std::filesystem::remove(path + ".lock");
    EXPECT_EQ(refusal(path).message, "");
    EXPECT_EQ(status_of(path + ".lock").st_uid, other_user);
    EXPECT_EQ(status_of(path + ".lock").st_gid, other_user);
  }
}

TEST_F(StoreFileTest, TheLockIsNeverTakenThroughALink) {
  store.reset();
  std::filesystem::remove(path + ".lock");
  std::ofstream(folder.file("precious")) << "precious text";
  std::filesystem::create_symlink(folder.file("precious"), path + ".lock");
  EXPECT_THAT(refusal(path).message, HasSubstr(".lock: "));
  std::ifstream file(folder.file("precious"));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "precious text");
}

TEST_F(StoreFileTest, AFileThatAppearsCompleteHasOneNameAtEveryMoment) {
  const std::string made = folder.file("made");
  std::atomic<bool> is_done = false;
  std::atomic<std::uint64_t> names_max = 0;
  std::thread watcher([&] {
    while (!is_done) {
      struct stat status {};
      if (::stat(made.c_str(), &status) == 0 && status.st_nlink > names_max) names_max = status.st_nlink;
    }
  });
  constexpr int rounds = 200;
  for (int round = 0; round < rounds; ++round) {
    std::filesystem::remove(made);
    EXPECT_TRUE(make_complete_file(made, [](const std::string& partial) -> Result<void, StoreError> {
                  std::ofstream(partial) << "text";
                  return {};
                }).has_value());
  }
  is_done = true;
  watcher.join();
  EXPECT_EQ(names_max, 1U);
}

}  // namespace
}  // namespace tenon::journal::sqlite
