#include "syntax/literals.h"

#include <gtest/gtest.h>

#include <functional>

#include "syntax/parse.h"

namespace tenon::syntax {
namespace {

/// The parts of the first string in `source`, separated by `|`: text unchanged, a template as `<its text>`.
std::string parts_of(std::string_view source) {
  const source::SourceFile file({0}, "test.tn", "fn f() { " + std::string(source) + " }");
  diagnostics::Diagnostics diagnostics;
  const SyntaxTree tree = parse(file, diagnostics);
  for (std::uint32_t index = 0; index < tree.nodes.size(); ++index) {
    // The node of a string in a template is created before that of the outer string, which starts first.
    if (tree.kind({index}) != NodeKind::StringExpression || tree.span(NodeId{index}).offset != 9) continue;
    std::string joined;
    for (const StringPart& part : string_parts(tree, {index})) {
      if (!joined.empty()) joined += '|';
      joined += std::holds_alternative<std::string>(part)
                    ? std::get<std::string>(part)
                    : "<" + std::string(tree.text(tree.first(std::get<NodeId>(part)))) + ">";
    }
    return joined;
  }
  return "no string";
}

TEST(StringParts, PlainTextIsOnePart) {
  EXPECT_EQ(parts_of(R"("grün")"), "grün");
  EXPECT_EQ(parts_of(R"("")"), "");
  EXPECT_EQ(parts_of(R"(""" """)"), " ");
}

TEST(StringParts, EscapesAreDecoded) {
  EXPECT_EQ(parts_of(R"("a\nb\tc\rd\\e\"f\'g\{h\}i")"), "a\nb\tc\rd\\e\"f'g{h}i");
  EXPECT_EQ(parts_of(R"("\0")"), std::string(1, '\0'));
  EXPECT_EQ(parts_of(R"("\u{41}\u{e9}\u{20AC}\u{1F600}")"), "Aé€😀");
}

TEST(StringParts, UnknownEscapesAreKept) {
  EXPECT_EQ(parts_of(R"("\q\u{}\u{D800}\u{1234567}\u12")"), R"(\q\u{}\u{D800}\u{1234567}\u12)");
}

TEST(StringParts, TemplatesAreBetweenTexts) {
  EXPECT_EQ(parts_of(R"("a {{ b }} c {{ d.e }}")"), "a |<b>| c |<d.e>");
  EXPECT_EQ(parts_of(R"("{{ a }}{{ b }}")"), "<a>|<b>");
  EXPECT_EQ(parts_of(R"("x {{ "y {{ z }}" }}")"), R"(x |<"y {{ z }}">)");
}

TEST(StringParts, AnEscapedBraceDoesNotStartATemplate) {
  EXPECT_EQ(parts_of(R"("\{{ x }}")"), "{{ x }}");
  EXPECT_EQ(parts_of(R"("\{{{ x }}\}")"), "{|<x>|}");
  EXPECT_EQ(parts_of(R"("{ x } }}")"), "{ x } }}");
}

/// The string's parts, each section's in brackets: `for[…]`, `if[…|…]`.
std::string sections_of(std::string_view source) {
  const source::SourceFile file({0}, "test.tn", "fn f() { " + std::string(source) + " }");
  diagnostics::Diagnostics diagnostics;
  const SyntaxTree tree = parse(file, diagnostics);
  NodeId string;
  for (std::uint32_t index = 0; index < tree.nodes.size(); ++index) {
    if (tree.kind({index}) == NodeKind::StringExpression && tree.span(NodeId{index}).offset == 9) string = {index};
  }
  const TemplateParts parts = template_parts(tree, string);
  const std::function<std::string(NodeId)> shape = [&](NodeId owner) {
    std::string joined;
    const auto found = parts.find(owner.index);
    if (found == parts.end()) return joined;
    for (const StringPart& part : found->second) {
      if (const auto* text = std::get_if<std::string>(&part)) {
        joined += *text;
        continue;
      }
      NodeId node = std::get<NodeId>(part);
      if (tree.kind(node) == NodeKind::TemplateHole) {
        joined += "<" + std::string(tree.text(tree.first(node))) + ">";
        continue;
      }
      joined += tree.kind(node) == NodeKind::TemplateFor ? "for[" : "if[";
      std::string bodies;
      for (bool more = true; more;) {
        more = false;
        for (const NodeId child : tree.children(node)) {
          if (tree.kind(child) == NodeKind::TemplateBody) bodies += (bodies.empty() ? "" : "|") + shape(child);
          if (tree.kind(child) != NodeKind::TemplateIf) continue;
          node = child;
          more = true;
          break;
        }
      }
      joined += bodies + "]";
    }
    return joined;
  };
  return shape(string) + (diagnostics.has_errors() ? " (errors)" : "");
}

TEST(StringParts, SectionsHaveTheirOwnParts) {
  EXPECT_EQ(sections_of(R"("a{{ for x in xs }}b{{ x }}c{{ end }}d")"), "afor[b<x>c]d");
  EXPECT_EQ(sections_of(R"("{{ if a }}b{{ else if c }}d{{ else }}e{{ end }}")"), "if[b|d|e]");
  EXPECT_EQ(sections_of(R"("{{ for x in xs }}{{ if x }} {{ end }}{{ end }}")"), "for[if[ ]]");
  EXPECT_EQ(sections_of(R"("{{ end }}{{ if a { b } else { c } }}")"), "<end><if a { b } else { c }>");
}

TEST(StringParts, AMarkAloneOnItsLineIsRemovedWithTheLine) {
  EXPECT_EQ(sections_of("\"\"\"\n  a\n  {{ for x in xs }}\n  b\n  {{ end }}\n  c\n  \"\"\""), "a\nfor[b\n]c");
  EXPECT_EQ(sections_of("\"\"\"\r\n  {{ if x }}\r\n  b\r\n  {{ else }}\r\n  c\r\n  {{ end }}\r\n  \"\"\""),
            "if[b\n|c\n]");
  EXPECT_EQ(sections_of("\"\"\"{{ if x }}\nb\n{{ end }}\"\"\""), "if[b\n]");
  EXPECT_EQ(sections_of("\"\"\"\n a {{ if x }}\n b\n {{ end }} c\n \"\"\""), "a if[\nb\n] c");
  EXPECT_EQ(sections_of("\"\"\"\n {{ if x }}{{ if y }}\n b\n {{ end }}\n {{ end }}\n \"\"\""), "if[if[\nb\n]]");
}

TEST(StringParts, TheIndentationOfARemovedLineDoesNotCount) {
  EXPECT_EQ(sections_of("\"\"\"\n{{ if x }}\n    b\n      c\n{{ end }}\n    d\n    \"\"\""), "if[b\n  c\n]d");
}

TEST(StringParts, AJoinedLineIsNotASeparateLine) {
  EXPECT_EQ(sections_of("\"\"\"\n a \\\n {{ if x }}\n b\n {{ end }}\n \"\"\""), "a if[\nb\n]");
}

TEST(StringParts, ABackslashJoinsLines) {
  EXPECT_EQ(parts_of("\"one \\\n        two\""), "one two");
  EXPECT_EQ(parts_of("\"one \\\r\n        two\""), "one two");
  EXPECT_EQ(parts_of("\"\"\"\n  one \\\n      two\n  \"\"\""), "one two");
}

TEST(TripleQuotedString, CommonIndentationIsRemoved) {
  EXPECT_EQ(parts_of("\"\"\"\n    one\n      two\n    three\n    \"\"\""), "one\n  two\nthree");
  EXPECT_EQ(parts_of("\"\"\"\n    one\n  \"\"\""), "  one");
  EXPECT_EQ(parts_of("\"\"\"\n  one\n    \"\"\""), "one");
  EXPECT_EQ(parts_of("\"\"\"\n\t\tone\n\t  two\n\t\"\"\""), "\tone\n  two");
  EXPECT_EQ(parts_of("\"\"\"\n\tone\n  two\"\"\""), "\tone\n  two");
}

TEST(TripleQuotedString, BlankLinesDoNotCount) {
  EXPECT_EQ(parts_of("\"\"\"\n    one\n\n  \n    two\n    \"\"\""), "one\n\n\ntwo");
  EXPECT_EQ(parts_of("\"\"\"\n\n    one\n    \"\"\""), "\none");
  EXPECT_EQ(parts_of("\"\"\"\n    one\n\n    \"\"\""), "one\n");
  EXPECT_EQ(parts_of("\"\"\"\n        \n    one\n    \"\"\""), "\none");
}

TEST(TripleQuotedString, OnTheLinesOfOtherText) {
  EXPECT_EQ(parts_of("\"\"\"one\"\"\""), "one");
  EXPECT_EQ(parts_of("\"\"\"one\n    two\n  three\"\"\""), "one\n  two\nthree");
  EXPECT_EQ(parts_of("\"\"\"one\n    \"\"\""), "one");
  EXPECT_EQ(parts_of("\"\"\"\n    \"\"\""), "");
  EXPECT_EQ(parts_of("\"\"\"\n\n    \"\"\""), "");
  EXPECT_EQ(parts_of("\"\"\"say \"a\" \"\"b\"\"\"\"\""), "say \"a\" \"\"b\"\"");
}

TEST(TripleQuotedString, TemplatesCountAsText) {
  EXPECT_EQ(parts_of("\"\"\"\n    {{ a }}\n      b\n    \"\"\""), "<a>|\n  b");
  EXPECT_EQ(parts_of("\"\"\"\n      b\n    {{ a }}\n    \"\"\""), "  b\n|<a>");
  EXPECT_EQ(parts_of("\"\"\"\n    a {{ b(\n  c) }}\n    \"\"\""), "a |<b(\n  c)>");
}

TEST(TripleQuotedString, LineEndsAreNewlines) {
  EXPECT_EQ(parts_of("\"\"\"\r\n    one\r\n\r\n      two\r\n    \"\"\""), "one\n\n  two");
}

TEST(TripleQuotedString, AnEscapedLineEndIsNotALine) {
  EXPECT_EQ(parts_of("\"\"\"\n    one\\n two\n    \"\"\""), "one\n two");
}

TEST(PlainString, HasNoTemplates) {
  const source::SourceFile file({0}, "test.tn",
                                R"(test "a\tb" { } test "" { } test "{{ x }}" { } test "x{{ x }}" { })");
  diagnostics::Diagnostics diagnostics;
  const SyntaxTree tree = parse(file, diagnostics);
  const std::vector<NodeId> tests = tree.children(tree.root);
  ASSERT_EQ(tests.size(), 4U);
  EXPECT_EQ(plain_string(tree, tree.first(tests[0])), "a\tb");
  EXPECT_EQ(plain_string(tree, tree.first(tests[1])), "");
  EXPECT_EQ(plain_string(tree, tree.first(tests[2])), std::nullopt);
  EXPECT_EQ(plain_string(tree, tree.first(tests[3])), std::nullopt);
}

TEST(IntegerValue, AllBases) {
  EXPECT_EQ(integer_value("0"), 0U);
  EXPECT_EQ(integer_value("50_000"), 50'000U);
  EXPECT_EQ(integer_value("0xFf_00"), 0xFF00U);
  EXPECT_EQ(integer_value("0o1_7"), 15U);
  EXPECT_EQ(integer_value("0b10_10"), 10U);
  EXPECT_EQ(integer_value("0012"), 12U);
  EXPECT_EQ(integer_value("18446744073709551615"), UINT64_MAX);
}

TEST(IntegerValue, InvalidNumbers) {
  EXPECT_EQ(integer_value("18446744073709551616").error(), NumberError::OutOfRange);
  EXPECT_EQ(integer_value(std::string(100'000, '9')).error(), NumberError::OutOfRange);
  EXPECT_EQ(integer_value("0x").error(), NumberError::Malformed);
  EXPECT_EQ(integer_value("0b").error(), NumberError::Malformed);
  EXPECT_EQ(integer_value("0b12").error(), NumberError::Malformed);
  EXPECT_EQ(integer_value("0o8").error(), NumberError::Malformed);
  EXPECT_EQ(integer_value("0b_").error(), NumberError::Malformed);
}

TEST(FloatValue, Reads) {
  EXPECT_EQ(float_value("1.5"), 1.5);
  EXPECT_EQ(float_value("0."), 0.0);
  EXPECT_EQ(float_value("1_000.25"), 1000.25);
  EXPECT_EQ(float_value("2e3"), 2000.0);
  EXPECT_EQ(float_value("2.5E-3"), 0.0025);
  EXPECT_EQ(float_value("1e+2"), 100.0);
}

TEST(FloatValue, TooLargeIsAnErrorAndTooSmallIsZero) {
  EXPECT_EQ(float_value("1e999").error(), NumberError::OutOfRange);
  EXPECT_EQ(float_value("0.001e999").error(), NumberError::OutOfRange);
  EXPECT_EQ(float_value("1e99999999999999999999").error(), NumberError::OutOfRange);
  EXPECT_EQ(float_value("1e-999"), 0.0);
  EXPECT_EQ(float_value("1e-99999999999999999999"), 0.0);
  EXPECT_EQ(float_value("0e99999999999999999999"), 0.0);
}

}  // namespace
}  // namespace tenon::syntax
