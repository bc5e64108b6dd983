#include "json/writer.h"

#include <gtest/gtest.h>

namespace tenon {
namespace {

Json sample() {
  return Json::object({{"b", Json::array({1, 2.0, Json::array()})},
                       {"a", Json::object({{"x", "\n"}})},
                       {"c", Json::object()},
                       {"d", UINT64_MAX}});
}

TEST(JsonWriterTest, WritesEachForm) {
  EXPECT_EQ(sample().dump(), R"({"b":[1,2.0,[]],"a":{"x":"\n"},"c":{},"d":18446744073709551615})");
  EXPECT_EQ(sample().dump(JsonForm::Shortest), R"({"b":[1,2,[]],"a":{"x":"\n"},"c":{},"d":18446744073709551615})");
  EXPECT_EQ(sample().dump(JsonForm::Canonical), R"({"a":{"x":"\n"},"b":[1,2,[]],"c":{},"d":18446744073709552000})");
  EXPECT_EQ(sample().dump(JsonForm::Pretty), R"({
  "b": [
    1,
    2.0,
    []
  ],
  "a": {
    "x": "\n"
  },
  "c": {},
  "d": 18446744073709551615
})");
}

TEST(JsonWriterTest, WritesPieceByPiece) {
  std::string out = "x";
  JsonWriter writer(out);
  writer.begin_object().name("a").integer(-1).name("b").begin_list().text("\"").boolean(true).null().end_list();
  writer.name("c").begin_object().end_object().name("d").raw("[1]").name("e").integer(UINT64_MAX).end_object();
  EXPECT_EQ(out, R"(x{"a":-1,"b":["\"",true,null],"c":{},"d":[1],"e":18446744073709551615})");
}

}  // namespace
}  // namespace tenon
