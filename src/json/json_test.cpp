#include "json/json.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "json/reader.h"

namespace tenon {
namespace {

TEST(JsonTest, ComparesNumbersByTheirValue) {
  EXPECT_TRUE(*parse_json("1") == *parse_json("1.0"));
  EXPECT_TRUE(*parse_json("{\"a\":1,\"b\":2}") == *parse_json("{\"b\":2,\"a\":1}"));
  EXPECT_FALSE(*parse_json("9007199254740993") == *parse_json("9007199254740992.0"));
  EXPECT_FALSE(*parse_json("0") == *parse_json("false"));
  EXPECT_LT(compare_numbers(*parse_json("9223372036854775807"), *parse_json("9223372036854775808")), 0);
  EXPECT_GT(compare_numbers(*parse_json("-1"), *parse_json("-1.5")), 0);
}

TEST(JsonTest, ComparesLargeIntegersExactly) {
  EXPECT_LT(compare_numbers(Json(INT64_MAX), Json(UINT64_MAX)), 0);
  EXPECT_GT(compare_numbers(Json(UINT64_MAX), Json(UINT64_MAX - 1)), 0);
  EXPECT_LT(compare_numbers(Json(UINT64_MAX), Json(2 * two_to_63)), 0);
  EXPECT_EQ(compare_numbers(Json(two_to_63), Json(std::uint64_t{1} << 63U)), 0);
}

TEST(JsonTest, ObjectsAreWrittenAsTheyLook) {
  const Json json = Json::object({{"name", "x"}, {"list", Json::array({1, true, nullptr, 0.5})}, {"no", Json()}});
  EXPECT_EQ(json.dump(), R"({"name":"x","list":[1,true,null,0.5],"no":null})");
  EXPECT_EQ(Json::array_of(std::vector<std::string>{"a", "b"}).dump(), R"(["a","b"])");
}

TEST(JsonTest, MembersAreFoundByName) {
  const Json json = Json::object({{"text", "x"}, {"count", 3}, {"flag", true}});
  EXPECT_EQ(json.text_or("text", "y"), "x");
  EXPECT_EQ(json.text_or("count", "y"), "y");
  EXPECT_EQ(json.count_or("count", 0), 3U);
  EXPECT_EQ(json.count_or("missing", 7), 7U);
  EXPECT_TRUE(json.boolean_or("flag", false));
  EXPECT_TRUE(json.get("missing").is_null());
  EXPECT_EQ(Json(3).find("x"), nullptr);
}

TEST(JsonTest, MembersAreReplacedOrAppended) {
  Json json;
  json["a"]["b"] = 1;
  json["a"]["b"] = 2;
  json["list"].push_back("x");
  json.update(Json::object({{"list", 0}, {"c", nullptr}}));
  EXPECT_EQ(json.dump(), R"({"a":{"b":2},"list":0,"c":null})");
  json.set("list", "y").set("d", Json::object().set("e", 1).set("e", 2)).set("a", 3);
  EXPECT_EQ(json.dump(), R"({"a":3,"list":"y","c":null,"d":{"e":2}})");
}

TEST(JsonTest, NumbersThatJsonCannotHoldAreNull) {
  EXPECT_TRUE(Json(std::numeric_limits<double>::infinity()).is_null());
}

}  // namespace
}  // namespace tenon
