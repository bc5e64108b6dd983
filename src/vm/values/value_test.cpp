#include "vm/values/value.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "vm/values/context.h"
#include "vm/values/object.h"
#include "vm/values/render.h"
#include "vm/values/text.h"

namespace tenon::vm {
namespace {

using types::TypeTable;

std::string json(const Value& value) {
  std::string text;
  EXPECT_TRUE(to_json(value, TypeTable(), text).has_value());
  return text;
}

TEST(Value, IsSixteenBytesAndBeginsAsUnit) {
  EXPECT_EQ(sizeof(Value), 16U);
  EXPECT_EQ(Value().tag(), Tag::Unit);
  EXPECT_EQ(Value().label(), LabelTable::program_text);
}

TEST(Value, CopiesShareAndMovesLeaveUnit) {
  Value text = Value::string("shared");
  const Value copy = text;
  EXPECT_EQ(text.object(), copy.object());
  EXPECT_EQ(text.object()->references, 2U);
  const Value moved = std::move(text);
  EXPECT_EQ(text.tag(), Tag::Unit);
  EXPECT_EQ(moved.object()->references, 2U);
}

TEST(Value, AChangeCopiesExactlyWhenShared) {
  Value list = Value::list({Value::integer(1)});
  const Object* const before = list.object();
  own_list(list).items.push_back(Value::integer(2));
  EXPECT_EQ(list.object(), before);
  const Value other = list;
  own_list(list).items.push_back(Value::integer(3));
  EXPECT_NE(list.object(), before);
  EXPECT_EQ(json(list), "[1,2,3]");
  EXPECT_EQ(json(other), "[1,2]");

  Value map = Value::map({{Value::string("a"), Value::integer(1)}});
  const Value other_map = map;
  own_map(map).set(Value::string("a"), Value::integer(2));
  EXPECT_EQ(json(other_map), "{\"a\":1}");
  EXPECT_EQ(json(map), "{\"a\":2}");
}

TEST(Value, RejectsInputThatIsNotUtf8) {
  EXPECT_EQ(Value::try_string("ok \xC3\xA9").value().as_text(), "ok \xC3\xA9");
  for (const std::string bad : {"\xFF", "a\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82", "\x80"}) {
    const auto made = Value::try_string(bad);
    ASSERT_FALSE(made.has_value()) << bad;
    EXPECT_EQ(made.error().kind, TextError::Kind::NotUtf8);
  }
  EXPECT_EQ(Value::try_string("abc\xFF").error().offset, 3U);
}

TEST(Value, DestroysAMillionNestedListsAndVariants) {
  Value list = Value::list({});
  for (int i = 0; i < 1'000'000; ++i) list = i % 2 == 0 ? Value::list({std::move(list)}) : Value::some(std::move(list));
  list = Value();
  EXPECT_EQ(list.tag(), Tag::Unit);
}

TEST(Value, DestroysAContextOfAMillionEntries) {
  LabelTable labels;
  Value context = Value::empty_context();
  for (int i = 0; i < 1'000'000; ++i) ASSERT_TRUE(push_entry(context, Value::string("x"), labels));
  EXPECT_EQ(context_text(context).size(), 1'999'999U);
  context = Value();
}

TEST(Value, ComparesDeepValuesWithoutRecursion) {
  const auto nest = [] {
    Value list = Value::integer(1);
    for (int i = 0; i < 200'000; ++i) list = Value::list({std::move(list)});
    return list;
  };
  EXPECT_TRUE(equal(nest(), nest()));
}

TEST(Value, ComparesSharedValuesOnce) {
  // As trees, these have 2^64 leaves.
  const auto fold = [](std::int64_t leaf) {
    Value value = Value::integer(leaf);
    for (int i = 0; i < 64; ++i) value = Value::list({value, value});
    return value;
  };
  EXPECT_TRUE(equal(fold(1), fold(1)));
  EXPECT_FALSE(equal(fold(1), fold(2)));
  LabelTable labels;
  EXPECT_EQ(whole_label(fold(1), labels), LabelTable::program_text);
}

TEST(Value, EqualityIsByContent) {
  EXPECT_FALSE(equal(Value::floating(std::nan("")), Value::floating(std::nan(""))));
  EXPECT_TRUE(equal(Value::floating(0.0), Value::floating(-0.0)));
  EXPECT_FALSE(equal(Value::integer(1), Value::floating(1)));
  EXPECT_FALSE(equal(Value::none(), Value::some(Value())));
  EXPECT_FALSE(equal(Value::ok(Value::integer(1)), Value::err(Value::integer(1))));
  const auto map = [](const char* first, const char* second) {
    return Value::map({{Value::string(first), Value::integer(1)}, {Value::string(second), Value::integer(1)}});
  };
  EXPECT_TRUE(equal(map("a", "b"), map("b", "a")));
  EXPECT_FALSE(equal(map("a", "b"), map("a", "c")));
}

TEST(Value, LabelsDoNotCompare) {
  LabelTable labels;
  Value labelled = Value::string("x");
  add_label(labelled, labels.intern({SourceKind::Model, ""}), labels);
  EXPECT_TRUE(equal(labelled, Value::string("x")));
}

TEST(Map, FindsKeysInOrderWithAndWithoutAnIndex) {
  MapObject map;
  for (int i = 0; i < 5000; ++i) map.set(Value::string("key " + std::to_string(i)), Value::integer(i));
  for (int i = 0; i < 5000; i += 2) EXPECT_EQ(map.remove(map.find("key " + std::to_string(i))).as_integer(), i);
  EXPECT_EQ(map.live, 2500U);
  EXPECT_LE(map.slots.size(), 5000U);
  for (int i = 0; i < 5000; ++i) {
    const std::uint32_t slot = map.find("key " + std::to_string(i));
    ASSERT_EQ(slot != MapObject::no_slot, i % 2 == 1) << i;
    if (i % 2 == 1) {
      EXPECT_EQ(map.slots[slot].value.as_integer(), i);
    }
  }
  map.set(Value::string("key 0"), Value::integer(-1));
  EXPECT_EQ(map.slots.back().value.as_integer(), -1);
}

TEST(Map, AQueueOfKeysDoesNotGrow) {
  MapObject map;
  for (int i = 0; i < 20'000; ++i) {
    map.set(Value::string(std::to_string(i)), Value());
    if (i >= 10) static_cast<void>(map.remove(map.find(std::to_string(i - 10))));
    ASSERT_LE(map.slots.size(), 64U);
  }
}

class Labels : public testing::Test {
 protected:
  LabelTable labels;
  LabelId model = labels.intern({SourceKind::Model, ""});
  LabelId fetch = labels.intern({SourceKind::Extern, "fetch"});
};

TEST_F(Labels, JoinIsAUnion) {
  EXPECT_EQ(labels.join(model, LabelTable::program_text), model);
  const LabelId both = labels.join(model, fetch);
  EXPECT_EQ(labels.join(fetch, model), both);
  EXPECT_EQ(labels.join(both, model), both);
  EXPECT_EQ(labels.describe(both), "model, extern fetch");
  EXPECT_EQ(labels.intern({SourceKind::Model, ""}), model);
}

TEST_F(Labels, PastTheLimitAllSourcesStandForMore) {
  LabelTable table;
  std::vector<LabelId> sources;
  for (int i = 0; i < 40; ++i) sources.push_back(table.intern({SourceKind::Extern, std::to_string(i)}));
  LabelId last;
  for (std::uint32_t bits = 1; bits < 70'000; ++bits) {
    LabelId label;
    for (unsigned i = 0; i < 18; ++i) {
      if (((bits >> i) & 1U) != 0) label = table.join(label, sources[i]);
    }
    last = label;
  }
  EXPECT_LE(table.size(), LabelTable::labels_max + 1);
  EXPECT_EQ(table.sources_of(last).size(), 40U);
}

TEST_F(Labels, ASpannedTextIsRaisedAsAWhole) {
  TextBuilder builder(labels);
  builder.append("program", {});
  builder.append("data", model);
  Value text = builder.finish();
  EXPECT_EQ(text.label(), model);
  add_label(text, fetch, labels);
  const auto pieces = pieces_of(text);
  ASSERT_EQ(pieces.size(), 2U);
  EXPECT_EQ(pieces[0].label, fetch);
  EXPECT_EQ(pieces[1].label, labels.join(model, fetch));
}

TEST_F(Labels, AppendingKeepsSpans) {
  Value text = Value::string("a");
  Value data = Value::string("b");
  data.set_label(model);
  ASSERT_TRUE(append(text, data, labels));
  ASSERT_TRUE(append(text, Value::string("c"), labels));
  ASSERT_TRUE(append(text, text, labels));
  EXPECT_EQ(text.as_text(), "abcabc");
  EXPECT_EQ(text.label(), model);
  std::string shown;
  for (const auto& piece : pieces_of(text)) shown += std::string(piece.text) + (piece.label == model ? "!" : ".");
  EXPECT_EQ(shown, "a.b!ca.b!c.");
  std::string part;
  const Value cut = part_of(text, 1, 3, labels);
  for (const auto& piece : pieces_of(cut)) part += std::string(piece.text) + (piece.label == model ? "!" : ".");
  EXPECT_EQ(part, "b!c.");
}

TEST_F(Labels, AppendingToAnEmptyTextTakesTheLabel) {
  Value text = Value::string("");
  Value data = Value::string("b");
  data.set_label(model);
  ASSERT_TRUE(append(text, data, labels));
  EXPECT_EQ(text_of(text).spans, nullptr);
  EXPECT_EQ(text.label(), model);
}

TEST_F(Labels, AppendingCountsCodePoints) {
  Value text = Value::string("é");
  EXPECT_EQ(code_points(text), 1U);
  ASSERT_TRUE(append(text, Value::string("ñandú"), labels));
  EXPECT_EQ(code_points(text), 6U);
}

TEST(Render, TextsAreRawAndTheRestIsJson) {
  LabelTable labels;
  const TypeTable types;
  const auto shown = [&](const Value& value) { return std::string(render(value, types, labels).value().as_text()); };
  EXPECT_EQ(shown(Value::string("a\"b")), "a\"b");
  EXPECT_EQ(shown(Value::list({Value::string("a\"b\n\x01")})), "[\"a\\\"b\\n\\u0001\"]");
  EXPECT_EQ(shown(Value()), "");
  EXPECT_EQ(shown(Value::none()), "null");
  EXPECT_EQ(shown(Value::some(Value::string("x"))), "x");
  EXPECT_EQ(shown(Value::list({Value::none(), Value::some(Value::integer(1)), Value()})), "[null,1,null]");
  EXPECT_EQ(shown(Value::ok(Value::integer(1))), "{\"Ok\":1}");
  EXPECT_EQ(shown(Value::failure(types::FailureKind::Index, "m", "p", "b")),
            "{\"kind\":\"Index\",\"message\":\"m\",\"place\":\"p\",\"blame\":\"b\"}");
}

TEST(Render, NumbersReadBackAsTheSame) {
  const auto shown = [](double value) {
    std::string text;
    append_f64(value, text);
    return text;
  };
  EXPECT_EQ(shown(1.0), "1.0");
  EXPECT_EQ(shown(-0.0), "-0.0");
  EXPECT_EQ(shown(0.1), "0.1");
  EXPECT_EQ(shown(100000.0), "100000.0");
  EXPECT_EQ(shown(1e20), "100000000000000000000.0");
  EXPECT_EQ(shown(1e21), "1e+21");
  EXPECT_EQ(shown(1.5e-7), "1.5e-07");
  EXPECT_EQ(shown(5e-324), "5e-324");
  EXPECT_EQ(shown(std::numeric_limits<double>::infinity()), "Infinity");
  EXPECT_EQ(json(Value::floating(std::nan(""))), "\"NaN\"");
}

TEST(Render, DepthAndLengthAreBounded) {
  Value list = Value::list({});
  for (std::size_t i = 0; i + 1 < value_depth_max; ++i) list = Value::list({std::move(list)});
  EXPECT_EQ(json(list).size(), 2 * value_depth_max);
  list = Value::list({std::move(list)});
  std::string text;
  EXPECT_EQ(to_json(list, TypeTable(), text).error(), RenderError::TooDeep);
  // Shared, so that it takes little memory here, but would be 64 GiB as text.
  Value wide = Value::string(std::string(text_bytes_max / 16, 'x'));
  for (int i = 0; i < 12; ++i) wide = Value::list({wide, wide});
  text.clear();
  EXPECT_EQ(to_json(wide, TypeTable(), text).error(), RenderError::TooLong);
}

TEST(Render, EachByteCarriesItsLabel) {
  LabelTable labels;
  const LabelId model = labels.intern({SourceKind::Model, ""});
  Value data = Value::string("x\"y");
  data.set_label(model);
  const Value text = render(Value::list({Value::integer(1), data}), TypeTable(), labels).value();
  std::string shown;
  for (const auto& piece : pieces_of(text)) shown += std::string(piece.text) + (piece.label == model ? "!" : ".");
  EXPECT_EQ(shown, "[1,\".x\\\"y\"!].");
}

}  // namespace
}  // namespace tenon::vm
