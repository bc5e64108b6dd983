#include "vm/values/context.h"

#include <gtest/gtest.h>

namespace tenon::vm {
namespace {

class Context : public testing::Test {
 protected:
  Value push(const Value& to, const std::string& text) {
    Value context = to;
    EXPECT_TRUE(push_entry(context, Value::string(text), labels));
    return context;
  }
  LabelTable labels;
  Value empty = Value::empty_context();
};

TEST_F(Context, EntriesAreJoinedByNewlines) {
  EXPECT_EQ(context_text(empty), "");
  EXPECT_TRUE(context_entry_ends(empty).empty());
  const Value two = push(push(empty, "one"), "");
  const Value three = push(two, "three");
  EXPECT_EQ(context_text(three), "one\n\nthree");
  EXPECT_EQ(context_entry_ends(three), (std::vector<std::uint32_t>{4, 5, 10}));
  EXPECT_EQ(context_entry_ends(two), (std::vector<std::uint32_t>{4, 4}));
  EXPECT_EQ(context_length(three), 3U);
  EXPECT_EQ(context_entries(three)[2].as_text(), "three");
}

TEST_F(Context, APushChangesNoOther) {
  const Value base = push(empty, "base");
  const Value left = push(base, "left");
  const Value right = push(base, "right");
  EXPECT_EQ(context_text(left), "base\nleft");
  EXPECT_EQ(context_text(right), "base\nright");
  EXPECT_EQ(context_text(push(left, "more")), "base\nleft\nmore");
  EXPECT_EQ(context_text(base), "base");
  EXPECT_EQ(context_text(left), "base\nleft");
}

TEST_F(Context, CallsOneAfterTheOtherExtendOneText) {
  Value base = push(empty, std::string(1000, 'b'));
  static_cast<void>(context_text(base));
  for (int i = 0; i < 100; ++i) {
    const Value inner = push(push(base, "x"), "y");
    EXPECT_EQ(context_text(inner).substr(1000), "\nx\ny");
    EXPECT_EQ(node_of(inner).buffer, node_of(base).buffer);
  }
  EXPECT_EQ(node_of(base).buffer->ends.size(), 1U);
}

TEST_F(Context, ATextIsCutBackAlsoPastNodesThatWereNeverAskedForOne) {
  const Value base = push(empty, "base");
  static_cast<void>(context_text(base));
  {
    const Value deep = push(push(push(base, "1"), "2"), "3");
    EXPECT_EQ(context_text(deep), "base\n1\n2\n3");
  }
  EXPECT_EQ(node_of(base).buffer->text, "base");
}

TEST_F(Context, ALabelIsTheJoinOfItsEntries) {
  const LabelId model = labels.intern({SourceKind::Model, ""});
  Value context = push(empty, "program");
  const Value before = context;
  Value answer = Value::string("answer");
  answer.set_label(model);
  ASSERT_TRUE(push_entry(context, answer, labels));
  EXPECT_EQ(context_label(before, labels), LabelTable::program_text);
  EXPECT_EQ(context_label(context, labels), model);
  EXPECT_EQ(context_label(push(context, "more"), labels), model);
}

TEST_F(Context, ThePartThatIsTrustedHasWhatIsThereInAnyCase) {
  const LabelId person = labels.intern({SourceKind::Person, ""});
  const LabelId word = labels.intern({SourceKind::Extern, "word"});
  const auto is_trusted = [&](LabelId label) { return labels.join(label, word) != label; };
  const auto add = [&](Value& to, const std::string& text, LabelId label, LabelId count) {
    Value entry = Value::string(text);
    entry.set_label(label);
    ASSERT_TRUE(push_entry(to, entry, labels, 0, count));
  };
  Value with = push(empty, "first");
  const Value first = with;
  Value without = with;
  add(with, "asked", word, {});
  add(with, "answered", labels.join(person, word), {});
  for (Value* const context : {&with, &without}) add(*context, "next", person, labels.join(person, word));
  EXPECT_EQ(context_count_label(with, labels), labels.join(person, word));
  EXPECT_EQ(context_label(without, labels), labels.join(person, word));
  const Value trusted = trusted_context(with, labels, is_trusted);
  EXPECT_EQ(context_text(trusted), "first\nnext");
  EXPECT_EQ(context_text(trusted_context(without, labels, is_trusted)), "first\nnext");
  EXPECT_EQ(context_count_label(trusted, labels), person);
  EXPECT_EQ(context_label(trusted, labels), person);
  EXPECT_EQ(&node_of(trusted_context(first, labels, is_trusted)), &node_of(first));
  with.set_label(word);
  EXPECT_EQ(trusted_context(with, labels, is_trusted).label(), word);
}

TEST_F(Context, IsBoundedInLength) {
  Value context = empty;
  const Value large = Value::string(std::string(text_bytes_max / 2, 'x'));
  ASSERT_TRUE(push_entry(context, large, labels));
  EXPECT_FALSE(push_entry(context, large, labels));
  EXPECT_EQ(context_length(context), 1U);
}

}  // namespace
}  // namespace tenon::vm
