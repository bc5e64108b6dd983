#include "inference/openai_http/secret.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sstream>

namespace tenon::inference {
namespace {

template <class T>
concept Streamable = requires(std::ostream& out, const T& value) { out << value; };

static_assert(!Streamable<Secret>, "a key has no way into a stream");
static_assert(!fmt::is_formattable<Secret>::value, "a key has no way into a message");

TEST(Secret, IsScrubbedWhereverItOccurs) {
  const Secret secret{"sk-12345678"};
  EXPECT_EQ(secret.scrub("sk-12345678 and Bearer sk-12345678."), "[key] and Bearer [key].");
  EXPECT_EQ(secret.scrub("nothing here"), "nothing here");
  EXPECT_EQ(secret.scrub(""), "");
}

TEST(Secret, PlaceholdersAreNotSecrets) {
  EXPECT_EQ(Secret{"x"}.scrub("an extra x"), "an extra x");
  EXPECT_EQ(Secret{}.scrub("text"), "text");
}

}  // namespace
}  // namespace tenon::inference
