#pragma once

// Whether the random calls leave out a function of the public headers.
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "random_support.h"

namespace {

/// What is not called in random orders, and why.
const std::pair<const char*, const char*> not_called[] = {
    {"tenon_extern_worker", "it is the main function of a process of its own: host.c"},
};

std::string read_source(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) give_up("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string without_comments(const std::string& text) {
  std::string code;
  for (std::size_t at = 0; at < text.size();) {
    const bool is_block = text.compare(at, 2, "/*") == 0;
    if (!is_block && text.compare(at, 2, "//") != 0) {
      code += text[at++];
      continue;
    }
    const std::size_t end = text.find(is_block ? "*/" : "\n", at);
    at = end == std::string::npos ? text.size() : end + (is_block ? 2 : 0);
  }
  return code;
}

/// The names that begin with `tenon_`, where they are followed by this text.
std::set<std::string> find_names(const std::string& code, const std::string& before) {
  const auto is_part = [&](std::size_t at) {
    return at < code.size() && (std::isalnum(static_cast<unsigned char>(code[at])) != 0 || code[at] == '_');
  };
  std::set<std::string> names;
  for (std::size_t at = code.find("tenon_"); at != std::string::npos; at = code.find("tenon_", at)) {
    const bool is_whole = at == 0 || !is_part(at - 1);
    const std::size_t begin = at;
    while (is_part(at)) ++at;
    if (is_whole && code.compare(at, before.size(), before) == 0) names.insert(code.substr(begin, at - begin));
  }
  return names;
}

/// `root`: the folder of the source code. Ends the program with the names that are missing.
void check_that_all_functions_are_called(const std::filesystem::path& root) {
  std::set<std::string> called, declared;
  for (const auto& entry : std::filesystem::directory_iterator(root / "tests/library")) {
    const std::string name = entry.path().filename().string();
    const bool is_source = name.starts_with("random_") && (name.ends_with(".h") || name.ends_with(".cpp"));
    if (is_source && name != "random_names.h")
      called.merge(find_names(without_comments(read_source(entry.path())), ""));
  }
  for (const char* const header : {"tenon.h", "extern.h"}) {
    declared.merge(find_names(without_comments(read_source(root / "include/tenon" / header)), "("));
  }
  if (declared.size() < 150) give_up("the functions of the headers are not found");
  for (const auto& [name, reason] : not_called) {
    if (declared.erase(name) == 0) give_up(std::string(name) + " is not in the headers");
    if (called.contains(name)) give_up(std::string(name) + " is called");
  }
  std::string missing;
  for (const std::string& name : declared) {
    if (!called.contains(name)) missing += ' ' + name;
  }
  if (!missing.empty()) give_up("functions that are never called:" + missing);
}

}  // namespace
