#include "inference/decoding/constraint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "inference/model.h"

namespace tenon::inference::decoding {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Token end_token = 256;

/// A vocabulary of the 256 bytes, an end, and one longer token, `":`, so that forced text is not one token for each
/// byte.
Vocabulary make_byte_vocabulary() {
  Vocabulary vocabulary;
  for (int byte = 0; byte < 256; ++byte) vocabulary.tokens.emplace_back(1, static_cast<char>(byte));
  vocabulary.tokens.emplace_back("\xff<end>");
  vocabulary.tokens.emplace_back("\":");
  vocabulary.end = end_token;
  vocabulary.tokenize = [](std::string_view text) {
    std::vector<Token> tokens;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text.substr(i).starts_with("\":")) {
        tokens.push_back(257);
        ++i;
      } else {
        tokens.push_back(static_cast<unsigned char>(text[i]));
      }
    }
    return tokens;
  };
  return vocabulary;
}

class ConstraintTest : public ::testing::Test {
 protected:
  ConstraintTest() : compiler_(std::move(*ConstraintCompiler::open(make_byte_vocabulary()))) {}

  Constraint compile(std::string_view schema) {
    auto constraint = compiler_->compile(schema);
    EXPECT_TRUE(constraint.has_value()) << constraint.error().message;
    return std::move(*constraint);
  }

  Constraint compile(const TextForm& form) {
    auto constraint = compiler_->compile_text(form);
    EXPECT_TRUE(constraint.has_value()) << constraint.error().message;
    return std::move(*constraint);
  }

  std::string refusal(std::string_view schema) {
    auto constraint = compiler_->compile(schema);
    return constraint ? "" : constraint.error().message;
  }

  static bool allows(Constraint& constraint, Token token) {
    const auto mask = constraint.compute_mask();
    if (!mask) return false;
    const auto index = static_cast<std::size_t>(token);
    return (((*mask)[index / 32] >> (index % 32)) & 1U) != 0;
  }

  /// Whether the text, written token by token under the mask, is a whole answer.
  bool admits(std::string_view schema, std::string_view text) { return admits(compile(schema), text); }
  bool admits(const TextForm& form, std::string_view text) { return admits(compile(form), text); }

  static bool admits(Constraint constraint, std::string_view text) {
    for (const Token token : make_byte_vocabulary().tokenize(text)) {
      if (!allows(constraint, token) || !constraint.accept({{token}})) return false;
    }
    return constraint.may_end();
  }

  std::string text_of(const std::vector<Token>& tokens) {
    const Vocabulary vocabulary = make_byte_vocabulary();
    std::string text;
    for (const Token token : tokens) text += vocabulary.tokens[static_cast<std::size_t>(token)];
    return text;
  }

  std::unique_ptr<ConstraintCompiler> compiler_;
};

constexpr std::string_view call_schema = R"({"type":"object","properties":{"tool":{"enum":["add","sub"]},
  "x":{"type":"integer","minimum":0,"maximum":9}},"required":["tool","x"],"additionalProperties":false})";

TEST_F(ConstraintTest, AdmitsWhatTheSchemaDescribesAndNothingElse) {
  EXPECT_TRUE(admits(call_schema, R"({"tool":"add","x":7})"));
  EXPECT_FALSE(admits(call_schema, R"({"tool":"mul","x":7})"));
  EXPECT_FALSE(admits(call_schema, R"({"tool":"add","x":12})"));
  EXPECT_FALSE(admits(call_schema, R"({"tool":"add"})"));
  EXPECT_FALSE(admits(call_schema, R"({"x":7,"tool":"add"})"));
}

TEST_F(ConstraintTest, LeavesNoRoomForWhiteSpace) {
  EXPECT_FALSE(admits(call_schema, R"({ "tool":"add","x":7})"));
  EXPECT_FALSE(admits(call_schema, "{\"tool\":\"add\",\n\"x\":7}"));
  EXPECT_FALSE(admits(R"({"type":"integer","minimum":0,"maximum":9,"x-guidance":{"whitespace_flexible":true}})", " 7"));
}

TEST_F(ConstraintTest, ReturnsForcedTokensInTheModelsTokenization) {
  Constraint constraint = compile(call_schema);
  const std::vector<Token> forced = *constraint.compute_forced();
  EXPECT_EQ(text_of(forced), R"({"tool":")");
  EXPECT_EQ(std::count(forced.begin(), forced.end(), 257), 1);
  ASSERT_TRUE(constraint.accept(forced));
  EXPECT_THAT(*constraint.compute_forced(), IsEmpty());  // add or sub
  ASSERT_TRUE(constraint.accept({{'s'}}));
  EXPECT_EQ(text_of(*constraint.compute_forced()), R"(ub","x":)");
}

TEST_F(ConstraintTest, EndsWhereNothingCanFollow) {
  Constraint constraint = compile(call_schema);
  for (const char byte : std::string_view(R"({"tool":"add","x":7)")) {
    ASSERT_TRUE(constraint.accept({{static_cast<unsigned char>(byte)}}));
    ASSERT_FALSE(constraint.has_ended());
  }
  ASSERT_TRUE(constraint.accept({{'}'}}));
  EXPECT_TRUE(constraint.has_ended());
  EXPECT_FALSE(constraint.compute_mask().has_value());
}

TEST_F(ConstraintTest, AcceptsAnEndTokenOnlyWhereTheAnswerMayEnd) {
  Constraint constraint = compile(R"({"type":"integer","minimum":0,"maximum":99})");
  EXPECT_FALSE(allows(constraint, end_token));
  ASSERT_TRUE(constraint.accept({{'4'}}));
  EXPECT_TRUE(allows(constraint, end_token));
  EXPECT_TRUE(allows(constraint, '2'));
  ASSERT_TRUE(constraint.accept({{end_token}}));
  EXPECT_TRUE(constraint.has_ended());
}

TEST_F(ConstraintTest, ClonesAndRollsBackIndependently) {
  Constraint constraint = compile(call_schema);
  ASSERT_TRUE(constraint.accept(*constraint.compute_forced()));
  Constraint branch = constraint.clone();
  ASSERT_TRUE(branch.accept({{'a'}}));
  EXPECT_FALSE(allows(branch, 'u'));
  EXPECT_TRUE(allows(constraint, 's'));
  ASSERT_TRUE(branch.rollback(1));
  EXPECT_TRUE(allows(branch, 's'));
}

TEST_F(ConstraintTest, ReportsATokenThatIsNotAllowed) {
  Constraint constraint = compile(call_schema);
  EXPECT_FALSE(constraint.accept({{'['}}).has_value());
  EXPECT_FALSE(constraint.compute_mask().has_value());
  EXPECT_FALSE(constraint.compute_forced().has_value());
  EXPECT_FALSE(constraint.has_ended());
}

TEST_F(ConstraintTest, EnforcesRefinements) {
  EXPECT_TRUE(admits(R"({"type":"string","minLength":2,"maxLength":3})", R"("äö")"));
  EXPECT_FALSE(admits(R"({"type":"string","minLength":2,"maxLength":3})", R"("a")"));
  EXPECT_FALSE(admits(R"({"type":"string","maxLength":3})", R"("abcd")"));
  EXPECT_TRUE(admits(R"({"type":"string","pattern":"^[A-Z]{2}-[0-9]+$"})", R"("AB-12")"));
  EXPECT_FALSE(admits(R"({"type":"string","pattern":"^[A-Z]{2}-[0-9]+$"})", R"("A-12")"));
  EXPECT_FALSE(admits(R"({"type":"number","minimum":0,"maximum":1})", "1.5"));
  EXPECT_TRUE(admits(R"({"type":"array","items":{"type":"boolean"},"minItems":1,"maxItems":2})", "[true,false]"));
  EXPECT_FALSE(admits(R"({"type":"array","items":{"type":"boolean"},"minItems":1,"maxItems":2})", "[]"));
  EXPECT_TRUE(admits(R"({"anyOf":[{"type":"null"},{"const":"x"}]})", "null"));
  EXPECT_TRUE(admits(R"({"$ref":"#/$defs/t","$defs":{"t":{"type":"object","properties":{"n":{"anyOf":[{"type":"null"},
    {"$ref":"#/$defs/t"}]}},"required":["n"],"additionalProperties":false}}})",
                     R"({"n":{"n":null}})"));
}

TEST_F(ConstraintTest, HoldsATextInItsLengthInCodePoints) {
  const TextForm form{.length_min = 2, .length_max = 4, .patterns = {}};
  EXPECT_FALSE(admits(form, "é"));
  EXPECT_TRUE(admits(form, "äöüé"));
  EXPECT_TRUE(admits(form, "a\n🎉b"));
  EXPECT_FALSE(admits(form, "äöüéa"));
  EXPECT_FALSE(admits({.length_min = {}, .length_max = 4, .patterns = {}}, ""));
  EXPECT_FALSE(admits({.length_min = 3, .length_max = {}, .patterns = {}}, "ab"));
  EXPECT_TRUE(admits({.length_min = 3, .length_max = {}, .patterns = {}}, std::string(5000, 'a')));
  EXPECT_TRUE(admits({.length_min = 0, .length_max = UINT64_MAX, .patterns = {}}, "abc"));
}

TEST_F(ConstraintTest, EndsATextAtItsLargestLength) {
  Constraint constraint = compile(TextForm{.length_min = 1, .length_max = 3, .patterns = {}});
  ASSERT_TRUE(constraint.accept({{'a', 0xC3, 0xA9}}));
  EXPECT_TRUE(constraint.may_end());
  EXPECT_FALSE(constraint.has_ended());
  ASSERT_TRUE(constraint.accept({{'c'}}));
  EXPECT_TRUE(constraint.has_ended());
}

TEST_F(ConstraintTest, CountsNoWhiteSpaceAroundAText) {
  const TextForm form{.length_min = 1, .length_max = 3, .patterns = {}};
  EXPECT_FALSE(admits(form, " ab"));
  EXPECT_FALSE(admits(form, "ab\n"));
  EXPECT_FALSE(admits(form, " "));
  EXPECT_TRUE(admits(form, "a b"));
}

TEST_F(ConstraintTest, HoldsATextInItsPatternsAsWholeMatches) {
  EXPECT_TRUE(admits({.length_min = {}, .length_max = {}, .patterns = {"[A-Z]{3}"}}, "TEA"));
  EXPECT_FALSE(admits({.length_min = {}, .length_max = {}, .patterns = {"[A-Z]{3}"}}, "TEAS"));
  EXPECT_FALSE(admits({.length_min = {}, .length_max = {}, .patterns = {"a|b"}}, "ab"));
  const TextForm both{.length_min = 2, .length_max = 4, .patterns = {"[a-z]+", "t.*"}};
  EXPECT_TRUE(admits(both, "tea"));
  EXPECT_FALSE(admits(both, "t"));
  EXPECT_FALSE(admits(both, "toast"));
  EXPECT_FALSE(admits(both, "sea"));
  EXPECT_FALSE(admits(both, "TEA"));
}

TEST_F(ConstraintTest, ReadsAPatternAsRe2Does) {
  const auto of = [](std::string pattern) {
    return TextForm{.length_min = {}, .length_max = {}, .patterns = {std::move(pattern)}};
  };
  EXPECT_TRUE(admits(of(R"(\d\w\s[\d_])"), "7a 7"));
  EXPECT_FALSE(admits(of(R"(\d)"), "٣"));
  EXPECT_FALSE(admits(of(R"(\w)"), "é"));
  EXPECT_TRUE(admits(of(R"([^\d\s])"), "é"));
  EXPECT_TRUE(admits(of(R"(a/b\/c)"), "a/b/c"));
  EXPECT_TRUE(admits(of(R"([a[b]])"), "[]"));
  EXPECT_TRUE(admits(of(R"([a&&b]+)"), "&"));
  EXPECT_TRUE(admits(of(R"([]a]+)"), "]a"));
  EXPECT_TRUE(admits(of(R"([[:alpha:]]+)"), "ab"));
  EXPECT_TRUE(admits(of(R"(\<b\>)"), "<b>"));
  EXPECT_TRUE(admits(of(R"(x{,2})"), "x{,2}"));
  EXPECT_TRUE(admits(of(R"(\x{e9}\x41\p{Greek}\pN{2}[\p{Lu}])"), "éAα12Z"));
  EXPECT_FALSE(admits(of(R"(\x{e9})"), "e"));
  EXPECT_TRUE(admits(of("a\nb"), "a\nb"));
  EXPECT_FALSE(admits(of("a.b"), "a\nb"));
  EXPECT_TRUE(admits(of(std::string("a\0b", 3)), std::string_view("a\0b", 3)));
  EXPECT_TRUE(admits(of("(?i)tea"), "TeA"));
  EXPECT_TRUE(admits(of("^(tea|coffee)$"), "coffee"));
}

TEST_F(ConstraintTest, EnforcesTheRestOfATextWherePatternsCannotBe) {
  const TextForm form{.length_min = {}, .length_max = 3, .patterns = {R"(\bx.*)", "[a-z]*"}};
  EXPECT_TRUE(admits(form, "abc"));
  EXPECT_FALSE(admits(form, "abcd"));
  EXPECT_FALSE(admits(form, "AB"));
}

TEST_F(ConstraintTest, RefusesAFormThatNoTextHas) {
  EXPECT_FALSE(compiler_->compile_text({.length_min = 0, .length_max = 0, .patterns = {}}).has_value());
  EXPECT_FALSE(compiler_->compile_text({.length_min = 3, .length_max = {}, .patterns = {"ab"}}).has_value());
}

TEST_F(ConstraintTest, RefusesWhatItCannotEnforceByName) {
  EXPECT_THAT(refusal(R"({"type":"array","items":{"type":"integer"},"uniqueItems":true})"), HasSubstr("uniqueItems"));
  EXPECT_THAT(refusal(R"({"type":"object","x-guidance":{"lenient":true},"propertyNames":{"maxLength":2}})"),
              HasSubstr("propertyNames"));
  EXPECT_THAT(refusal(R"({"not":{"type":"string"}})"), HasSubstr("not"));
  EXPECT_THAT(refusal(R"({"type":"string","format":"no-such-format"})"), HasSubstr("no-such-format"));
  EXPECT_NE(refusal(R"({"oneOf":[{"type":"object"},{"type":"object","minProperties":1}]})"), "");
  EXPECT_NE(refusal("false"), "");
  EXPECT_NE(refusal("{"), "");
  EXPECT_NE(refusal("7"), "");
}

TEST_F(ConstraintTest, RefusesASchemaTooDeepToRead) {
  std::string schema = R"({"type":"string"})";
  for (int i = 0; i < 5000; ++i) schema = R"({"type":"array","items":)" + schema + "}";
  EXPECT_THAT(refusal(schema), HasSubstr("deep"));
}

TEST_F(ConstraintTest, KeepsABoundedNumberOfSchemas) {
  for (std::size_t i = 0; i < ConstraintCompiler::constraints_kept_max + 10; ++i) {
    EXPECT_EQ(refusal(R"({"const":)" + std::to_string(i) + "}"), "");
  }
  EXPECT_TRUE(admits(R"({"const":0})", "0"));  // dropped, and compiled again
  EXPECT_FALSE(admits(R"({"const":0})", "1"));
}

TEST(ConstraintCompilerTest, RefusesAVocabularyWithoutEnd) {
  Vocabulary vocabulary = make_byte_vocabulary();
  vocabulary.end = -1;
  EXPECT_FALSE(ConstraintCompiler::open(std::move(vocabulary)).has_value());
}

}  // namespace
}  // namespace tenon::inference::decoding
