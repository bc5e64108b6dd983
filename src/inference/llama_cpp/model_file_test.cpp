#include "inference/llama_cpp/model_file.h"

#include <fmt/format.h>
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

TEST(ModelFileTest, ChecksTheHeaderOfAFile) {
  const auto folder = make_test_folder("headers");
  const auto problem = [&](std::string_view bytes) {
    std::ofstream(folder / "model.gguf", std::ios::binary) << bytes;
    const auto checked = check_model_file(folder / "model.gguf");
    return checked ? std::string() : checked.error().message;
  };
  const std::string counts(16, '\1');
  const std::string begin("GGUF\3\0\0\0", 8);
  EXPECT_THAT(problem(begin + counts), HasSubstr("damaged or cut off"));
  EXPECT_THAT(problem(begin + std::string(10'000, '\0')), HasSubstr("it contains no tensors"));
  EXPECT_THAT(problem("GGUF" + std::string("\1\0\0\0", 4) + counts), HasSubstr("its GGUF version is not 2 to 3"));
  EXPECT_THAT(problem("GGUF" + std::string("\0\0\0\3", 4) + counts), HasSubstr("its GGUF version is not 2 to 3"));
  EXPECT_THAT(problem("GGUF" + std::string("\3\0\0\0", 4)), HasSubstr("it is not a GGUF file"));
  EXPECT_THAT(problem("a script, not a model, longer than a header"), HasSubstr("it is not a GGUF file"));
  EXPECT_THAT(check_model_file(folder / "none.gguf").error().message, HasSubstr("No such file or directory"));
  EXPECT_THAT(check_model_file(folder).error().message, HasSubstr("Is a directory"));
}

TEST(ModelFileTest, FindsThatAFileIsCutOff) {
  const auto folder = make_test_folder("cut_off");
  const auto file = folder / "model.gguf";
  std::filesystem::copy_file(get_builtin_model_for_tests(), file);
  EXPECT_TRUE(check_model_file(file).has_value());
  for (const std::uint64_t bytes : {builtin_model.file_bytes - 1000, std::uint64_t{40'000'000}}) {
    std::filesystem::resize_file(file, bytes);
    const auto checked = check_model_file(file);
    ASSERT_FALSE(checked.has_value());
    EXPECT_THAT(checked.error().message, HasSubstr(fmt::format("it is cut off: it has {} of 9", bytes)));
  }
  std::filesystem::resize_file(file, 100'000);
  EXPECT_THAT(check_model_file(file).error().message, HasSubstr("damaged or cut off"));
  std::filesystem::remove(file);
}

TEST(ModelFileTest, TheFileHasTheExpectedChecksum) {
  EXPECT_EQ(compute_file_sha256(get_builtin_model_for_tests()), builtin_model.file_sha256);
}

TEST(ModelFileTest, ReportsAFolderThatCannotBeCreated) {
  const auto folder = make_test_folder("blocked");
  std::ofstream(folder / "file") << "x";
  const auto fetched = fetch_builtin_model(folder / "file" / "models", {});
  ASSERT_FALSE(fetched.has_value());
  EXPECT_THAT(fetched.error().message, HasSubstr("Cannot create the folder"));
}

}  // namespace
}  // namespace tenon::inference::llama_cpp
