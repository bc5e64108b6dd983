#include "syntax/show.h"

#include <gtest/gtest.h>

#include "syntax/parse.h"

namespace tenon::syntax {
namespace {

struct Shown {
  source::SourceFile file;
  diagnostics::Diagnostics diagnostics;
  SyntaxTree tree;
  explicit Shown(std::string text) : file({0}, "test.tn", std::move(text)), tree(parse(file, diagnostics)) {}
};

TEST(ShowTokens, OnePerLine) {
  EXPECT_EQ(show_tokens(Shown("fn ü\n\"a\\\n").tree),
            "1:1 Fn \"fn\"\n1:3 Whitespace \" \"\n1:4 Unknown \"ü\"\n1:5 Newline \"\\n\"\n2:1 StringStart \"\\\"\"\n"
            "2:2 StringText \"a\\\\\\n\"\n3:1 StringEnd \"\"\n3:1 End \"\"\n");
}

TEST(ShowTokens, LongTextsAreTruncated) {
  const std::string shown = show_tokens(Shown("// " + std::string(200, 'a')).tree);
  EXPECT_NE(shown.find(std::string(57, 'a') + "\"…\n"), std::string::npos);
  // A character is not cut in two.
  const std::string whole = show_tokens(Shown("// " + std::string(56, 'a') + "éé").tree);
  EXPECT_NE(whole.find("aaé\"…\n"), std::string::npos) << whole;
}

TEST(ShowTree, NodesWithTheirLocations) {
  EXPECT_EQ(show_tree(Shown("fn f(x: i32) {\n    x + 1!\n}\n").tree),
            "File 1:1-4:1\n"
            "  FunctionItem 1:1-3:2 \"f\"\n"
            "    Parameters 1:5-1:13\n"
            "      Parameter 1:6-1:12\n"
            "        NamedType 1:9-1:12 \"i32\"\n"
            "    Block 1:14-3:2\n"
            "      InjectStatement 2:5-2:11\n"
            "        BinaryExpression 2:5-2:10 \"+\"\n"
            "          NameExpression 2:5-2:6 \"x\"\n"
            "          IntegerExpression 2:9-2:10 \"1\"\n");
}

TEST(ShowTree, AnAgent) {
  EXPECT_EQ(show_tree(Shown("agent A {\n    state { a: i32 = 0 }\n    instructions { a! }\n}\n").tree),
            "File 1:1-5:1\n"
            "  AgentItem 1:1-4:2 \"A\"\n"
            "    StateSection 2:5-2:25\n"
            "      StateField 2:13-2:23\n"
            "        NamedType 2:16-2:19 \"i32\"\n"
            "        IntegerExpression 2:22-2:23 \"0\"\n"
            "    InstructionsSection 3:5-3:24\n"
            "      Block 3:18-3:24\n"
            "        InjectStatement 3:20-3:22\n"
            "          NameExpression 3:20-3:21 \"a\"\n");
}

TEST(ShowTree, AnEmptyFile) {
  EXPECT_EQ(show_tree(Shown("").tree), "File 1:1-1:1 \"\"\n");
}

}  // namespace
}  // namespace tenon::syntax
