#include "runtime/recording/agent_records.h"

#include <gtest/gtest.h>

#include <string>

namespace tenon::runtime {
namespace {

TEST(ChangedEntries, AreThoseWithAnotherValue) {
  const std::string before = R"({"a":1,"b":"x\"},\\","c":[1,{"a":2}],"d":{"a":[]},"e":null})";
  EXPECT_EQ(changed_entries(before, before, {}), "");
  EXPECT_EQ(changed_entries("", before, {}), before);
  EXPECT_EQ(changed_entries(before, R"({"a":2,"b":"x\"},\\","c":[1,{"a":2}],"d":{"a":[]},"e":null})", {}),
            R"({"a":2})");
  EXPECT_EQ(changed_entries(before, R"({"a":1,"b":"x\"},\\\\","c":[1,{"a":3}],"d":{"a":[]},"e":null})", {}),
            R"({"b":"x\"},\\\\","c":[1,{"a":3}]})");
  EXPECT_EQ(changed_entries(before, R"({"a":1,"b":"x\"},\\","c":[1,{"a":2}],"d":{"a":[1]},"e":""})", {"d"}),
            R"({"e":""})");
  EXPECT_EQ(changed_entries(before, R"({"a":1})", {}), "");
}

TEST(ChangedEntries, OfAnotherLayoutAreComparedByValue) {
  EXPECT_EQ(changed_entries(R"({ "a": [1, 2], "b": "y" })", R"({"a":[1,2],"b":"z"})", {}), R"({"b":"z"})");
}

TEST(ChangedEntries, OfAStateThatIsNoObjectAreNone) {
  EXPECT_EQ(changed_entries("1", "2", {}), "");
  EXPECT_EQ(changed_entries("{}", "[1]", {}), "");
}

}  // namespace
}  // namespace tenon::runtime
