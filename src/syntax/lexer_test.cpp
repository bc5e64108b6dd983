#include "syntax/lexer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace tenon::syntax {
namespace {

struct Lexed {
  source::SourceFile file;
  diagnostics::Diagnostics diagnostics;
  std::vector<Token> tokens;

  explicit Lexed(std::string text) : file({0}, "test.tn", std::move(text)), tokens(lex(file, diagnostics)) {}

  /// The kinds of the tokens except white space, with a `+` before those that start a line.
  [[nodiscard]] std::string kinds() const {
    std::string joined;
    for (const Token& token : tokens) {
      if (token.kind == TokenKind::Whitespace || token.kind == TokenKind::Newline || token.kind == TokenKind::End)
        continue;
      if (!joined.empty()) joined += ' ';
      if (token.after_newline && token.offset > 0) joined += '+';
      joined += name_of(token.kind);
    }
    return joined;
  }
  /// `1:5 E1004` for each, separated by spaces.
  [[nodiscard]] std::string errors() const {
    std::string joined;
    for (const diagnostics::Diagnostic& diagnostic : diagnostics.all()) {
      const source::Position place = file.position(diagnostic.span.offset);
      if (!joined.empty()) joined += ' ';
      joined += std::to_string(place.line) + ':' + std::to_string(place.column) + ' ' + diagnostic.code.text();
    }
    return joined;
  }
  [[nodiscard]] bool is_lossless() const {
    std::uint32_t offset = 0;
    for (const Token& token : tokens) {
      if (token.offset != offset) return false;
      offset += token.length;
    }
    return offset == file.text().size() && tokens.back().kind == TokenKind::End;
  }
};

std::string kinds_of(std::string text) {
  const Lexed lexed(std::move(text));
  EXPECT_TRUE(lexed.is_lossless());
  return lexed.kinds();
}
std::string errors_of(std::string text) {
  const Lexed lexed(std::move(text));
  EXPECT_TRUE(lexed.is_lossless());
  return lexed.errors();
}

TEST(Lexer, WordsAndKeywords) {
  EXPECT_EQ(kinds_of("fn fnord _ _a a1 selects select"),
            "Fn Identifier Underscore Identifier Identifier Identifier Select");
  EXPECT_EQ(kinds_of("as break continue else enum extern false fn for if in let match return"),
            "As Break Continue Else Enum Extern False Fn For If In Let Match Return");
  EXPECT_EQ(kinds_of("struct true try use while"), "Struct True Try Use While");
  EXPECT_EQ(kinds_of("type impl test model parallel budget catch assert"),
            "Identifier Identifier Identifier Identifier Identifier Identifier Identifier Identifier");
}

TEST(Lexer, TheLongestPunctuationWins) {
  EXPECT_EQ(
      kinds_of(".. ..= . ?. ?? ? :: : -> - -= => == = != ! <= < && || |"),
      "DotDot DotDotEqual Dot QuestionDot QuestionQuestion Question ColonColon Colon Arrow Minus MinusEqual FatArrow "
      "EqualEqual Equal BangEqual Bang LessEqual Less AmpersandAmpersand PipePipe Pipe");
  EXPECT_EQ(kinds_of("+ += * *= / /= % %= ( ) [ ] { } , ;"),
            "Plus PlusEqual Star StarEqual Slash SlashEqual Percent PercentEqual LeftParenthesis RightParenthesis "
            "LeftBracket RightBracket LeftBrace RightBrace Comma Semicolon");
}

TEST(Lexer, TwoClosingAnglesAreTwoTokens) {
  EXPECT_EQ(kinds_of("List<List<i32>>"), "Identifier Less Identifier Less Identifier Greater Greater");
}

TEST(Lexer, Numbers) {
  EXPECT_EQ(kinds_of("0 1_000 0xFF_a 0o1_7 0b1_0"), "Integer Integer Integer Integer Integer");
  EXPECT_EQ(kinds_of("1.5 1. 1e9 1.5E-3 2e+4 1_0.0_1"), "Float Float Float Float Float Float");
  EXPECT_EQ(kinds_of("1..2"), "Integer DotDot Integer");
  EXPECT_EQ(kinds_of("0.0..1"), "Float DotDot Integer");
  EXPECT_EQ(kinds_of("1.max"), "Integer Dot Identifier");
  EXPECT_EQ(kinds_of("pair.0.1"), "Identifier Dot Integer Dot Integer");
  EXPECT_EQ(kinds_of("pair. /* why */ 0.1"), "Identifier Dot BlockComment Integer Dot Integer");
  EXPECT_EQ(kinds_of("30s"), "Integer Identifier");
}

TEST(Lexer, MalformedNumbers) {
  EXPECT_EQ(errors_of("0x 0b 0b12 0x_ 0b_"), "1:1 E1008 1:4 E1008 1:7 E1008 1:12 E1008 1:16 E1008");
  EXPECT_EQ(errors_of("0xG"), "1:1 E1008");
  EXPECT_EQ(errors_of("0o 0o8 0o_"), "1:1 E1008 1:4 E1008 1:8 E1008");
}

TEST(Lexer, Comments) {
  EXPECT_EQ(kinds_of("// a\n/// b\n//// c"), "LineComment +DocComment +LineComment");
  EXPECT_EQ(kinds_of("a /* b /* c */ d */ e"), "Identifier BlockComment Identifier");
  EXPECT_EQ(kinds_of("a /* b\n */ c"), "Identifier BlockComment +Identifier");
  EXPECT_EQ(kinds_of("a // b\nc"), "Identifier LineComment +Identifier");
  EXPECT_EQ(errors_of("a /* b /* c */"), "1:3 E1006");
}

TEST(Lexer, AByteOrderMarkAtTheStartIsWhiteSpace) {
  EXPECT_EQ(errors_of("\xEF\xBB\xBF"
                      "fn"),
            "");
  EXPECT_EQ(errors_of("fn \xEF\xBB\xBF"), "1:4 E1003");
}

TEST(Lexer, Strings) {
  EXPECT_EQ(kinds_of(R"("a")"), "StringStart StringText StringEnd");
  EXPECT_EQ(kinds_of(R"("")"), "StringStart StringEnd");
  EXPECT_EQ(kinds_of(R"("a\"b")"), "StringStart StringText StringEnd");
  EXPECT_EQ(kinds_of("\"\"\"a\n\"b\" \"\"c\"\"\""), "StringStart StringText StringEnd");
  EXPECT_EQ(kinds_of("\"\"\"\"\"\""), "StringStart StringEnd");
  EXPECT_EQ(kinds_of("\"\"\"\"a\"\"\"\""), "StringStart StringText StringText StringEnd");
}

TEST(Lexer, Templates) {
  EXPECT_EQ(kinds_of(R"("a {{ b }} c")"),
            "StringStart StringText TemplateStart Identifier TemplateEnd StringText StringEnd");
  EXPECT_EQ(
      kinds_of(R"("{{ "{{ b }}" }}")"),
      "StringStart TemplateStart StringStart TemplateStart Identifier TemplateEnd StringEnd TemplateEnd StringEnd");
  EXPECT_EQ(
      kinds_of(R"("{{ P { a: Q { b: 1 }} }}")"),
      "StringStart TemplateStart Identifier LeftBrace Identifier Colon Identifier LeftBrace Identifier Colon Integer "
      "RightBrace RightBrace TemplateEnd StringEnd");
  EXPECT_EQ(kinds_of(R"("\{{ a }}")"), "StringStart StringText StringEnd");
  EXPECT_EQ(kinds_of(R"("{ a }")"), "StringStart StringText StringEnd");
}

TEST(Lexer, TemplatesNestUpToALimit) {
  std::string deep;
  for (std::size_t depth = 0; depth < 2 * template_depth_max; ++depth) deep += "\"{{";
  const Lexed lexed(deep);
  EXPECT_TRUE(lexed.is_lossless());
  const auto starts = std::count_if(lexed.tokens.begin(), lexed.tokens.end(),
                                    [](const Token& token) { return token.kind == TokenKind::TemplateStart; });
  EXPECT_EQ(static_cast<std::size_t>(starts), template_depth_max - 1);
}

TEST(Lexer, StringsAndTemplatesAlwaysHaveAnEnd) {
  EXPECT_EQ(kinds_of("\"a\nb"), "StringStart StringText StringEnd +Identifier");
  EXPECT_EQ(kinds_of("\"{{ a\nb"), "StringStart TemplateStart Identifier TemplateEnd StringEnd +Identifier");
  EXPECT_EQ(kinds_of("\"\"\"a {{ b \"\"\" c"),
            "StringStart StringText TemplateStart Identifier TemplateEnd StringEnd Identifier");
}

TEST(Lexer, AMissingEndIsReportedOnce) {
  EXPECT_EQ(errors_of("\"a\n\"b\""), "1:1 E1004");
  EXPECT_EQ(errors_of("\"{{ a \"\n"), "1:2 E1005");
  EXPECT_EQ(errors_of("\"{{ \"{{ a\n"), "1:2 E1005");
  EXPECT_EQ(errors_of("\"\"\"a\nb"), "1:1 E1004");
  EXPECT_EQ(errors_of("\"\"\"a {{ b\nc\"\"\" d"), "1:6 E1005");
  EXPECT_EQ(errors_of("\"\"\"a {{ b"), "1:6 E1005");
}

TEST(Lexer, Escapes) {
  EXPECT_EQ(errors_of(R"("\n\r\t\0\\\"\'\{\}\u{1F600}")"), "");
  EXPECT_EQ(errors_of("\"a \\\n  b\" \"a \\\r\n  b\""), "");
  EXPECT_EQ(errors_of(R"("\q")"), "1:2 E1007");
  EXPECT_EQ(errors_of(R"("\u1234")"), "1:2 E1007");
  EXPECT_EQ(errors_of(R"("\u{}" "\u{D800}" "\u{110000}" "\u{1234567}")"), "1:2 E1007 1:9 E1007 1:20 E1007 1:33 E1007");
}

TEST(Lexer, InvalidBytesAreReportedOncePerRun) {
  EXPECT_EQ(errors_of("a \xFF\xFE\xFD b"), "1:3 E1002");
  EXPECT_EQ(errors_of("\"\xFF\xFE a \xC3\""), "1:2 E1002 1:7 E1002");
  EXPECT_EQ(errors_of("// \xE2\x82"), "1:4 E1002");
  EXPECT_EQ(errors_of(std::string("a \0 b", 5)), "1:3 E1002");
  EXPECT_EQ(errors_of(std::string("\"\0\" // \0", 8)), "1:2 E1002 1:8 E1002");
  EXPECT_EQ(errors_of("\"\xC0\xAF\" \"\xED\xA0\x80\" \"\xF5\x80\x80\x80\""), "1:2 E1002 1:6 E1002 1:10 E1002");
}

TEST(Lexer, UnknownCharacters) {
  EXPECT_EQ(errors_of("a @ b $ ü"), "1:3 E1003 1:7 E1003 1:9 E1003");
  EXPECT_EQ(kinds_of("a & b ' c"), "Identifier Unknown Identifier Unknown Identifier");
}

TEST(Lexer, CharactersOfOtherLanguagesAreReportedOnce) {
  EXPECT_EQ(errors_of("a # ü $ b\nc"), "1:3 E1003");
  EXPECT_EQ(kinds_of("a # ü $ b\nc"), "Identifier LineComment +Identifier");
  EXPECT_EQ(kinds_of("#[a(b)] c @d.e(f) g"), "BlockComment +Identifier BlockComment Identifier");
  EXPECT_EQ(errors_of("'a \\' b' `c\nd`"), "1:1 E1003 1:10 E1003");
  EXPECT_EQ(kinds_of("'ab' c"), "StringStart StringText StringEnd Identifier");
}

TEST(Lexer, RandomBytesLoseNothing) {
  constexpr std::string_view pieces[] = {"\"", "\"\"\"", "{{", "}}",   "{", "}", "\\", "\n",   "a",  "0x", "1.",
                                         "/*", "*/",     "//", "\xFF", "é", " ", "'",  "\\u{", "..", "_",  "\r"};
  std::mt19937 random(7);
  for (int round = 0; round < 2'000; ++round) {
    std::string text;
    for (std::size_t count = random() % 40; count > 0; --count) text += pieces[random() % std::size(pieces)];
    const Lexed lexed(text);
    ASSERT_TRUE(lexed.is_lossless()) << text;
    const auto count = [&](TokenKind kind) {
      return std::count_if(lexed.tokens.begin(), lexed.tokens.end(),
                           [kind](const Token& token) { return token.kind == kind; });
    };
    ASSERT_EQ(count(TokenKind::StringStart), count(TokenKind::StringEnd)) << text;
    ASSERT_EQ(count(TokenKind::TemplateStart), count(TokenKind::TemplateEnd)) << text;
  }
}

}  // namespace
}  // namespace tenon::syntax
