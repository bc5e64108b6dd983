#include "completion/completion.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

namespace tenon::completion {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;

class NoFiles final : public FileSystem {
 public:
  [[nodiscard]] Result<std::string, FileError> read_file(const std::string&, std::size_t) override {
    return failure(FileError{"there is no file", true});
  }
};

Completions completed(std::string text) {
  const std::size_t at = text.find('^');
  text.erase(at, 1);
  NoFiles files;
  return complete("program.tn", text, at, files);
}

/// The labels at the `^` of the text.
std::vector<std::string> labels(const std::string& text) {
  std::vector<std::string> found;
  for (const Suggestion& one : completed(text).suggestions) found.push_back(one.label);
  return found;
}

const Suggestion* find(const Completions& completions, std::string_view label) {
  const auto found = std::ranges::find(completions.suggestions, label, &Suggestion::label);
  return found == completions.suggestions.end() ? nullptr : &*found;
}

std::string meaning(std::string text) {
  const std::size_t at = text.find('^');
  text.erase(at, 1);
  NoFiles files;
  const auto found = find_meaning("program.tn", text, at, files);
  return found ? found->title + " | " + found->documentation : "";
}

constexpr std::string_view types = R"(
struct Order {
    /// In cents.
    price: i64
    customer: String
}
enum Mood { Good, Bad(String) }
/// The sum.
fn total(orders: List<Order>) -> i64 { 0 }
)";

std::string with_types(std::string_view text) {
  return std::string(text) + std::string(types);
}

TEST(Completion, NamesInScope) {
  const auto found =
      labels(with_types("fn f(first: i32) -> i32 {\n    let second = 1\n    if first > 0 { let third = 2 }\n"
                        "    let later = fi^\n    let last = 3\n    later\n}\n"));
  EXPECT_THAT(found, IsSupersetOf({"first", "second", "total", "Order", "Mood", "ask"}));
  EXPECT_THAT(found, Not(Contains("third")));
  EXPECT_THAT(found, Not(Contains("last")));
  EXPECT_EQ(found.front(), "second");  // the nearest first
  const Completions at = completed(with_types("fn f() -> i64 { tot^al }\n"));
  EXPECT_EQ(at.from, 16u);
  EXPECT_EQ(at.to, 21u);
  const Suggestion* const total = find(at, "total");
  ASSERT_NE(total, nullptr);
  EXPECT_EQ(total->detail, "(orders: List<Order>) -> i64");
  EXPECT_EQ(total->documentation, "The sum.");
}

TEST(Completion, MembersAfterADot) {
  const Completions order = completed(with_types("fn f(order: Order) -> i64 {\n    order.^\n}\n"));
  ASSERT_GE(order.suggestions.size(), 2u);
  EXPECT_EQ(order.suggestions[0].label, "price");
  EXPECT_EQ(order.suggestions[0].detail, "i64");
  EXPECT_EQ(order.suggestions[0].documentation, "In cents.");
  EXPECT_THAT(labels(with_types("fn f(name: String) -> i64 {\n    name.tri^\n}\n")), IsSupersetOf({"trim", "split"}));
  EXPECT_THAT(labels(with_types("fn f(orders: List<Order>) -> i64 {\n    orders[0].^\n}\n")), Contains("customer"));
  EXPECT_THAT(labels(with_types("fn f(order: Order?) -> i64 {\n    order?.^\n}\n")), Contains("customer"));
  // In a text with an open bracket, and inside of a template.
  EXPECT_THAT(labels(with_types("fn f(order: Order) -> i64 {\n    total([order.^\n}\n")), Contains("price"));
  EXPECT_THAT(labels(with_types("fn f(order: Order) -> String {\n    \"for {{ order.^ }}\"\n}\n")), Contains("price"));
}

TEST(Completion, CasesTypesAndFieldsOfStructs) {
  EXPECT_THAT(labels(with_types("fn f() -> Mood { Mood::^ }\n")), ElementsAre("Good", "Bad"));
  EXPECT_THAT(labels(with_types("fn f(mood: Mood) -> i32 {\n    match mood {\n        G^ => 1\n    }\n}\n")),
              ElementsAre("Mood::Good", "Mood::Bad"));
  const auto found = labels(with_types("fn f(order: O^) -> i32 { 1 }\n"));
  EXPECT_THAT(found, IsSupersetOf({"Order", "Mood", "String", "List"}));
  EXPECT_THAT(found, Not(Contains("total")));
  EXPECT_THAT(labels(with_types("fn f() -> Order { Order { price: 1, c^ } }\n")), ElementsAre("customer"));
}

TEST(Completion, NothingInTextsCommentsAndNewNames) {
  EXPECT_THAT(labels("fn f() -> String { \"hel^lo\" }\n"), IsEmpty());
  EXPECT_THAT(labels("// hel^lo\nfn f() -> i32 { 1 }\n"), IsEmpty());
  EXPECT_THAT(labels("fn ne^w() -> i32 { 1 }\n"), IsEmpty());
  EXPECT_THAT(labels("fn f() -> i32 { let ne^w = 1\n 1 }\n"), IsEmpty());
  EXPECT_THAT(labels("fn f() -> i32 { 12^ }\n"), IsEmpty());
}

constexpr std::string_view desk = R"(agent Desk {
    state { topic: String = "" }
    scratchpad { note: String = "" }

    block find: request {
        prompt: "What? {{ HERE }}"
        OPTION
        -> TARGET
    }

    /// Speaks.
    block talk: KIND {
        text: "x"
    }

    fn help(order: String) -> String { order }
}
agent Other {
    block one: emit { text: "y" }
}
)";

/// The desk with `^` in place of one word, and usual parts in place of the others.
std::string desk_at(std::string_view word, std::string_view written) {
  std::string text(desk);
  const auto put = [&](std::string_view place, std::string_view instead) {
    text.replace(text.find(place), place.size(), place == word ? written : instead);
  };
  put("HERE", "state.topic");
  put("OPTION", "into: state.topic");
  put("TARGET", "talk");
  put("KIND", "emit");
  return text;
}

TEST(Completion, PartsOfBlocks) {
  EXPECT_THAT(labels(desk_at("TARGET", "t^")), ElementsAre("find", "talk"));
  EXPECT_THAT(labels(desk_at("TARGET", "^")), ElementsAre("find", "talk"));
  EXPECT_THAT(labels(desk_at("KIND", "e^")), IsSupersetOf({"request", "emit", "route"}));
  const Completions options = completed(desk_at("OPTION", "i^"));
  ASSERT_NE(find(options, "into"), nullptr);
  EXPECT_EQ(find(options, "into")->inserted, "into: ");
  EXPECT_EQ(find(options, "prompt"), nullptr);  // it is there
  EXPECT_THAT(labels(desk_at("OPTION", "into: ^")), IsSupersetOf({"state.topic", "scratchpad.note"}));
  EXPECT_THAT(labels(desk_at("HERE", "state.^")), ElementsAre("topic"));
  EXPECT_THAT(labels(desk_at("HERE", "scratchpad.n^")), Contains("note"));
  const auto names = labels(desk_at("HERE", "h^"));
  EXPECT_THAT(names, IsSupersetOf({"state", "scratchpad", "input", "help", "Other"}));
  EXPECT_THAT(names, Not(Contains("talk")));
  for (const std::string& name : names) EXPECT_EQ(name.find("Scratchpad"), std::string::npos) << name;
}

TEST(Completion, SectionsAndItems) {
  EXPECT_THAT(labels("agent A {\n    st^\n}\n"), IsSupersetOf({"state", "start", "block", "instructions"}));
  EXPECT_THAT(labels("ag^\n"), IsSupersetOf({"agent", "fn", "struct"}));
  EXPECT_THAT(labels("use std::^\n"), Contains("report"));
}

TEST(Completion, ALargeProgramHasABoundedAnswer) {
  std::string text;
  for (int number = 0; number < 1000; ++number) text += "fn make_" + std::to_string(number) + "() -> i32 { 1 }\n";
  const Completions found = completed(text + "fn zebra() -> i32 { 1 }\nfn f() -> i32 { ze^ }\n");
  EXPECT_EQ(found.suggestions.size(), suggestions_max);
  EXPECT_FALSE(found.is_complete);
  EXPECT_EQ(found.suggestions.front().label, "zebra");
}

/// At every place of damaged texts there is an answer.
TEST(Completion, AcceptsAnyText) {
  NoFiles files;
  std::mt19937 random(7);
  const std::string whole = with_types(desk_at("KIND", "emit"));
  for (int round = 0; round < 60; ++round) {
    std::string text = whole;
    const std::size_t begin = random() % text.size();
    text.erase(begin, random() % 40);
    const std::size_t at = random() % (text.size() + 1);
    const Completions found = complete("program.tn", text, at, files);
    EXPECT_LE(found.from, at);
    EXPECT_GE(found.to, at);
    static_cast<void>(find_meaning("program.tn", text, at, files));
  }
}

TEST(Meaning, OfNames) {
  EXPECT_EQ(meaning(with_types("fn f() -> i64 { tot^al([]) }\n")), "total(orders: List<Order>) -> i64 | The sum.");
  EXPECT_EQ(meaning(with_types("fn f(order: Order) -> i64 { order.pri^ce }\n")), "price: i64 | In cents.");
  EXPECT_EQ(meaning(with_types("fn f(order: Order) -> i64 { or^der.price }\n")), "order: Order | ");
  EXPECT_EQ(meaning(desk_at("TARGET", "ta^lk")), "talk: emit | Speaks.");
  EXPECT_EQ(meaning(desk_at("KIND", "em^it")).substr(0, 7), "emit | ");
  EXPECT_EQ(meaning(desk_at("HERE", "state.to^pic")), "topic: String | ");
  EXPECT_EQ(meaning("fn f() -> i32 { 1 }\n^"), "");
}

}  // namespace
}  // namespace tenon::completion
