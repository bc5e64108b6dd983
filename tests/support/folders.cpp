#include "tests/support/folders.h"

namespace tenon::test {

std::filesystem::path source_folder() {
  return TENON_SOURCE_DIR;
}

std::filesystem::path externs_folder() {
  return TENON_TEST_EXTERNS;
}

}  // namespace tenon::test
