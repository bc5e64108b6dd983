#include "inference/prompting/text_template.h"

#include <gtest/gtest.h>

namespace tenon::inference::prompting {
namespace {

const TemplateNames names{{"name", "words"}, {{"items", {"item", "tail"}}}};

std::string render(std::string_view text, const TemplateData& data) {
  Result<TextTemplate, TemplateError> parsed = TextTemplate::parse(text, names, "x.txt");
  return parsed ? parsed->render(data)
                : parsed.error().file + ":" + std::to_string(parsed.error().line) + ": " + parsed.error().message;
}

TemplateData data_of(std::string name, std::vector<std::string> items) {
  TemplateData data;
  data.texts["name"] = std::move(name);
  for (std::string& item : items) data.lists["items"].push_back({{{"item", std::move(item)}}, {}});
  return data;
}

TEST(TextTemplateTest, FillsInNames) {
  EXPECT_EQ(render("Dear {{name}}, {{words}}!\n", data_of("Ada", {})), "Dear Ada, !");
  EXPECT_EQ(render("a\n\n", {}), "a");
}

TEST(TextTemplateTest, AFilledInTextIsNotParsedAgain) {
  EXPECT_EQ(render("{{name}}", data_of("{{words}} {{#items}} \\{{", {})), "{{words}} {{#items}} \\{{");
}

TEST(TextTemplateTest, RepeatsASectionForEachElement) {
  EXPECT_EQ(render("{{name}}:\n{{#items}}\n- {{item}} of {{name}}\n{{/items}}\nend", data_of("n", {"a", "b"})),
            "n:\n- a of n\n- b of n\nend");
  EXPECT_EQ(render("x\n  {{#items}}\n- {{item}}\n{{/items}}  \n", data_of("n", {})), "x");
  EXPECT_EQ(render("{{#items}}{{item}},{{/items}}", data_of("n", {"a", "b"})), "a,b,");
}

TEST(TextTemplateTest, ShowsASectionOfATextWhenThereIsOne) {
  EXPECT_EQ(render("a{{#name}} ({{name}}){{/name}}{{^name}} no one{{/name}}", data_of("x", {})), "a (x)");
  EXPECT_EQ(render("a{{#name}} ({{name}}){{/name}}{{^name}} no one{{/name}}", data_of("", {})), "a no one");
  EXPECT_EQ(render("{{^items}}none{{/items}}", data_of("", {})), "none");
  EXPECT_EQ(render("{{#items}}{{#item}}[{{item}}]{{/item}}{{/items}}", data_of("", {"", "b"})), "[b]");
}

TEST(TextTemplateTest, ABackslashMakesBracesPlain) {
  EXPECT_EQ(render("\\{{name}} {{name}}", data_of("x", {})), "{{name}} x");
}

TEST(TextTemplateTest, ReportsWhatDoesNotFit) {
  EXPECT_EQ(render("a\n{{nmae}}", {}),
            "x.txt:2: {{nmae}} is not a name of this template; the names are: name, words, items, item, tail");
  EXPECT_EQ(render("{{item}}", {}),
            "x.txt:1: {{item}} is not a name of this template; the names are: name, words, items, item, tail");
  EXPECT_EQ(render("{{#name}}\na", {}), "x.txt:1: {{#name}} is not closed");
  EXPECT_EQ(render("{{#name}}{{/words}}", {}), "x.txt:1: {{/words}} has no section to close");
  EXPECT_EQ(render("{{/name}}", {}), "x.txt:1: {{/name}} has no section to close");
  EXPECT_EQ(render("\n\n{{name", {}), "x.txt:3: unclosed `{{`: missing `}}`");
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "{{#name}}";
  EXPECT_EQ(render(deep, {}), "x.txt:1: sections are nested too deep");
}

}  // namespace
}  // namespace tenon::inference::prompting
