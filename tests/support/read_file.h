#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace tenon::test {

/// The whole file; empty if it cannot be read.
inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

}  // namespace tenon::test
