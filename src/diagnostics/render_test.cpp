#include "diagnostics/render.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace tenon::diagnostics {
namespace {

constexpr Code code{2104, Severity::Error};

/// A diagnostic about the first occurrence of `marked` in `text`.
std::string rendered(const std::string& text, std::string_view marked, Colour colour = Colour::Off) {
  const source::SourceFile file({0}, "a.tn", text);
  const source::SourceFile* const files[] = {&file};
  const auto offset = static_cast<std::uint32_t>(text.find(marked));
  return render({code, {{0}, offset, static_cast<std::uint32_t>(marked.size())}, "that is wrong", {}, {}, {}}, files,
                colour);
}

TEST(Render, PlaceLineAndCarets) {
  EXPECT_EQ(rendered("one\n  two three\nfour", "three"),
            "a.tn:2:7: error[E2104]: that is wrong\n 2 |   two three\n   |       ^^^^^\n");
}

TEST(Render, ANarrowMarkForAnEmptySpan) {
  EXPECT_EQ(rendered("one\n", "\n"), "a.tn:1:4: error[E2104]: that is wrong\n 1 | one\n   |    ^\n");
  EXPECT_EQ(rendered("", ""), "a.tn:1:1: error[E2104]: that is wrong\n 1 | \n   | ^\n");
}

TEST(Render, ASpanOfSeveralLinesIsMarkedOnItsFirst) {
  EXPECT_EQ(rendered("let x = [\n1\n]", "[\n1\n]"),
            "a.tn:1:9: error[E2104]: that is wrong\n 1 | let x = [\n   |         ^\n");
}

TEST(Render, TabsStayTabs) {
  EXPECT_EQ(rendered("\ta\tb", "b"), "a.tn:1:4: error[E2104]: that is wrong\n 1 | \ta\tb\n   | \t \t^\n");
}

TEST(Render, WideAndCombiningCharacters) {
  EXPECT_EQ(rendered("日本 x", "x"), "a.tn:1:4: error[E2104]: that is wrong\n 1 | 日本 x\n   |      ^\n");
  EXPECT_EQ(rendered("日本 x", "日本"), "a.tn:1:1: error[E2104]: that is wrong\n 1 | 日本 x\n   | ^^^^\n");
  EXPECT_EQ(rendered("e\xCC\x81 x", "x"), "a.tn:1:4: error[E2104]: that is wrong\n 1 | e\xCC\x81 x\n   |   ^\n");
  EXPECT_EQ(rendered("😀 x", "x"), "a.tn:1:3: error[E2104]: that is wrong\n 1 | 😀 x\n   |    ^\n");
}

TEST(Render, WhatATerminalCannotShow) {
  EXPECT_EQ(rendered("a\x1B[31m \xFFx", "x"),
            "a.tn:1:9: error[E2104]: that is wrong\n 1 | a\uFFFD[31m \uFFFDx\n   |         ^\n");
}

TEST(Render, ALongLineIsCutAroundTheMark) {
  const std::string text = std::string(500, 'a') + "bbb" + std::string(500, 'c');
  const std::string shown = rendered(text, "bbb");
  EXPECT_NE(shown.find(" 1 | …" + std::string(80, 'a') + "bbb" + std::string(77, 'c') + "…\n"), std::string::npos)
      << shown;
  EXPECT_NE(shown.find("   |  " + std::string(80, ' ') + "^^^\n"), std::string::npos) << shown;
  const std::string wide = rendered(std::string(1'000, 'b'), std::string(1'000, 'b'));
  EXPECT_NE(wide.find(std::string(160, 'b') + "…\n"), std::string::npos);
  EXPECT_NE(wide.find("| " + std::string(160, '^') + "\n"), std::string::npos);
}

TEST(Render, HandlesMegabytesOnOneLine) {
  const std::string text = std::string(4'000'000, 'a') + "b" + std::string(4'000'000, 'c');
  EXPECT_LT(rendered(text, "b").size(), 1'000U);
}

TEST(Render, ColoursOnlyWhenAsked) {
  EXPECT_EQ(rendered("a", "a").find('\x1B'), std::string::npos);
  const std::string coloured = rendered("a", "a", Colour::On);
  EXPECT_NE(coloured.find("\x1B[1;31merror[E2104]\x1B[0m"), std::string::npos);
  std::string plain;
  for (std::size_t at = 0; at < coloured.size(); ++at) {
    if (coloured[at] == '\x1B') {
      at = coloured.find('m', at);
    } else {
      plain += coloured[at];
    }
  }
  EXPECT_EQ(plain, rendered("a", "a"));
}

TEST(Render, LabelsHintsAndOtherFiles) {
  const source::SourceFile first({0}, "a.tn", "let x = 1\nlet y = x");
  const source::SourceFile second({1}, "b.tn", "fn x() {}");
  const source::SourceFile* const files[] = {&first, &second};
  Diagnostic diagnostic{{3001, Severity::Warning}, {{0}, 18, 1}, "`x` twice", {}, {}, {}};
  diagnostic.label({{0}, 4, 1}, "here").label({{1}, 3, 1}, "and here").hint("take one").hint("or none");
  EXPECT_EQ(render(diagnostic, files, Colour::Off),
            "a.tn:2:9: warning[W3001]: `x` twice\n 2 | let y = x\n   |         ^\n 1 | let x = 1\n   |     - here\n"
            " --> b.tn:1:4\n 1 | fn x() {}\n   |    - and here\n  = hint: take one\n  = hint: or none\n");
}

TEST(Render, ADiagnosticWithoutAPlace) {
  EXPECT_EQ(render({code, {}, "nothing to see", {}, {}, {}}, {}, Colour::Off), "error[E2104]: nothing to see\n");
}

TEST(RenderJson, AllFields) {
  const source::SourceFile file({0}, "a.tn", "let x = 1\nlet y = x");
  const source::SourceFile* const files[] = {&file};
  Diagnostic diagnostic{code, {{0}, 8, 9}, "a \"b\"", {}, {}, {}};
  diagnostic.label({{0}, 4, 1}, "here").hint("take one");
  diagnostic.fix = {{{0}, 4, 1}, "z"};
  const nlohmann::json json = nlohmann::json::parse(render_json(diagnostic, files));
  EXPECT_EQ(json["code"], "E2104");
  EXPECT_EQ(json["severity"], "error");
  EXPECT_EQ(json["message"], "a \"b\"");
  EXPECT_EQ(json["file"], "a.tn");
  EXPECT_EQ(json["line"], 1);
  EXPECT_EQ(json["column"], 9);
  EXPECT_EQ(json["end_line"], 2);
  EXPECT_EQ(json["end_column"], 8);
  EXPECT_EQ(json["offset"], 8);
  EXPECT_EQ(json["length"], 9);
  EXPECT_EQ(json["labels"][0]["text"], "here");
  EXPECT_EQ(json["labels"][0]["column"], 5);
  EXPECT_EQ(json["hints"], nlohmann::json({"take one"}));
  EXPECT_EQ(json["fix"]["replacement"], "z");
  EXPECT_EQ(json["fix"]["offset"], 4);
}

TEST(RenderJson, ReplacesBytesThatAreNotUtf8) {
  const source::SourceFile file({0}, "a.tn", "\xFF");
  const source::SourceFile* const files[] = {&file};
  const std::string json = render_json({code, {{0}, 0, 1}, "`\xFF`", {}, {}, {}}, files);
  EXPECT_EQ(nlohmann::json::parse(json)["message"], "`\uFFFD`");
}

TEST(Diagnostics, CountsWhatIsOverTheLimit) {
  Diagnostics diagnostics;
  constexpr DiagnosticKind<int> kind{code, "number {}"};
  for (int count = 0; count < 250; ++count) diagnostics.report(kind, {}, count).hint("a hint");
  EXPECT_EQ(diagnostics.all().size(), diagnostics_per_file_max);
  EXPECT_EQ(diagnostics.dropped_count(), 50U);
  EXPECT_EQ(diagnostics.error_count(), 250U);
  EXPECT_EQ(diagnostics.all().back().message, "number 199");
}

}  // namespace
}  // namespace tenon::diagnostics
