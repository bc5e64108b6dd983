#include "blocks/kinds.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/support/folders.h"

namespace tenon::blocks {
namespace {

TEST(Kinds, AreInTheOrderOfTheEnum) {
  std::size_t at = 0;
  for (const KindRule& rule : kind_rules()) EXPECT_EQ(static_cast<std::size_t>(rule.kind), at++) << rule.name;
}

TEST(Kinds, ThePageOfTheLanguageMatchesTheTable) {
  std::ifstream file(test::source_folder() / "docs/language/22-blocks.md");
  std::stringstream page;
  page << file.rdbuf();
  for (const KindRule& rule : kind_rules()) {
    std::string options;
    for (const OptionRule& option : rule.options) {
      if (option.name == "restartable") continue;  // an option of every kind
      const bool is_required = option.need == OptionRule::Need::Required;
      options += fmt::format("{}{}", options.empty() ? "" : ", ",
                             is_required ? fmt::format("**`{}`**", option.name) : fmt::format("`{}`", option.name));
    }
    const std::string row =
        fmt::format("| `{}` | {} | {}{}|", rule.name, rule.meaning, options, options.empty() ? "" : " ");
    EXPECT_THAT(page.str(), testing::HasSubstr(row));
  }
}

}  // namespace
}  // namespace tenon::blocks
