#pragma once

#include <filesystem>

/// The only test code that knows absolute paths, so that the compiler cache can share all other objects between
/// checkouts.
namespace tenon::test {

/// The root of the repository that the tests were built from.
[[nodiscard]] std::filesystem::path source_folder();

/// The folder with the libraries of tests/externs.
[[nodiscard]] std::filesystem::path externs_folder();

}  // namespace tenon::test
