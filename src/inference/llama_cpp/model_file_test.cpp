#include "inference/llama_cpp/model_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "inference/llama_cpp/model_for_tests.h"

namespace tenon::inference::llama_cpp {
namespace {

using ::testing::HasSubstr;

std::filesystem::path make_test_folder(const std::string& name) {
  const auto folder = std::filesystem::path(::testing::TempDir()) / ("tenon_model_file_" + name);
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

TEST(ModelFileTest, FollowsTheXdgSpecification) {
  EXPECT_EQ(make_models_folder("/cache", "/users/ada"), std::filesystem::path("/cache/tenon/models"));
  EXPECT_EQ(make_models_folder("", "/users/ada"), std::filesystem::path("/users/ada/.cache/tenon/models"));
  EXPECT_EQ(make_models_folder("relative", "/users/ada"), std::filesystem::path("/users/ada/.cache/tenon/models"));
  EXPECT_THAT(make_models_folder("", "").error().message, HasSubstr("XDG_CACHE_HOME"));
}

TEST(ModelFileTest, FindsOnlyAWholeFile) {
  const auto folder = make_test_folder("whole");
  EXPECT_EQ(find_builtin_model(folder), std::nullopt);
  std::ofstream(folder / builtin_model.file) << "cut off";
  EXPECT_EQ(find_builtin_model(folder), std::nullopt);
}

TEST(ModelFileTest, ComputesSha256) {
  const auto folder = make_test_folder("sha");
  std::ofstream(folder / "abc") << "abc";
  EXPECT_EQ(compute_file_sha256(folder / "abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_FALSE(compute_file_sha256(folder / "none").has_value());
  EXPECT_FALSE(compute_file_sha256(folder).has_value());
}

TEST(ModelFileTest, KeepsTheFileThatItsChecksumSays) {
  EXPECT_EQ(compute_file_sha256(get_builtin_model_for_tests()), builtin_model.file_sha256);
}

TEST(ModelFileTest, SaysThatAFolderCannotBeMade) {
  const auto folder = make_test_folder("blocked");
  std::ofstream(folder / "file") << "x";
  const auto fetched = fetch_builtin_model(folder / "file" / "models", {});
  ASSERT_FALSE(fetched.has_value());
  EXPECT_THAT(fetched.error().message, HasSubstr("cannot be made"));
}

}  // namespace
}  // namespace tenon::inference::llama_cpp
