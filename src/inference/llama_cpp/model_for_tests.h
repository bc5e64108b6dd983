#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "inference/llama_cpp/model_file.h"

namespace tenon::inference::llama_cpp {

/// The builtin model's file, which `./dev test` has put into the cache folder. Throws when it is not there.
inline std::filesystem::path get_builtin_model_for_tests() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  const auto folder = make_models_folder(variable("XDG_CACHE_HOME"), variable("HOME"));
  if (folder) {
    if (const auto file = find_builtin_model(*folder)) return *file;
  }
  throw std::runtime_error("the builtin model is not in the cache folder; run `./dev model` once");
}

}  // namespace tenon::inference::llama_cpp
