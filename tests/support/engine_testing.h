#pragma once

#include <gmock/gmock.h>

#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "tests/support/fixed_model.h"
#include "tests/support/temporary_folder.h"

namespace tenon::engine::test {

using tenon::test::FixedModel;

/// A folder with files, and the system for engines that use them.
class EngineTest : public testing::Test {
 protected:
  /// Writes a file of the folder. Returns its path.
  std::string file(const std::string& name, const std::string& text) {
    std::ofstream(folder.file(name)) << text;
    return folder.file(name);
  }

  tenon::test::TemporaryFolder folder;
  RealFileSystem files;
  RealClock clock;
  std::map<std::string, std::string> variables;
  std::vector<std::string> warnings;
  System system{.files = files,
                .clock = clock,
                .variable = [this](const char* name) { return variables[name]; },
                .variables = [] { return std::vector<std::string>(); },
                .random_unit = [] { return 0.5; },
                .on_notice =
                    [this](NoticeKind kind, std::string_view text) {
                      if (kind == NoticeKind::Warning) warnings.emplace_back(text);
                    },
                .executable = "/nonexistent/tenon"};
};

}  // namespace tenon::engine::test
