#include "base/private_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

namespace tenon {
namespace {

class PrivateFile : public testing::Test {
 protected:
  PrivateFile() { std::filesystem::create_directories(folder_); }
  ~PrivateFile() override { std::filesystem::remove_all(folder_); }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("private_file_" + std::to_string(::getpid()));
  const std::string path_ = (folder_ / "a.key").string();
};

TEST_F(PrivateFile, IsCreatedOnceAndOnlyReadableByItsOwner) {
  ASSERT_TRUE(create_private_file(path_, "first").has_value());
  EXPECT_EQ(read_private_file(path_), "first");
  struct stat status {};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  ASSERT_TRUE(create_private_file(path_, "second").has_value());
  EXPECT_EQ(read_private_file(path_), "first");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(PrivateFile, IsRefusedWhenOthersMayReadIt) {
  ASSERT_TRUE(create_private_file(path_, "text").has_value());
  ASSERT_EQ(::chmod(path_.c_str(), 0640), 0);
  const auto read = read_private_file(path_);
  ASSERT_FALSE(read.has_value());
  EXPECT_NE(read.error().message.find("mode 0640"), std::string::npos);
}

TEST_F(PrivateFile, ReportsWhatIsMissing) {
  const auto read = read_private_file(path_);
  ASSERT_FALSE(read.has_value());
  EXPECT_TRUE(read.error().is_missing);
  EXPECT_FALSE(create_private_file((folder_ / "none" / "a.key").string(), "text").has_value());
}

}  // namespace
}  // namespace tenon
