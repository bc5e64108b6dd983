#include "inference/decoding/enforced_form.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tenon::inference::decoding {
namespace {

GenerationRequest request_for(std::vector<std::string> patterns) {
  GenerationRequest request;
  for (const char* const text : {"Which code?", "Answer with the text alone, a string."})
    request.messages.push_back({inference::Role::User, text, {}});
  request.text_form = std::make_shared<const TextForm>(TextForm{{}, 9, std::move(patterns)});
  request.form_note = FormNote{.message = 1};
  return request;
}

TEST(EnforcedForm, ATextsNoteIsLeftOutWhereMasksEnforceItsForm) {
  for (const std::vector<std::string>& patterns : {std::vector<std::string>{}, {"[A-Z]{3}-\\d{4}"}, {"a.*", ".*b"}}) {
    const auto sent = without_enforced_form(request_for(patterns));
    ASSERT_TRUE(sent.has_value());
    ASSERT_EQ(sent->messages.size(), 1U);
    EXPECT_EQ(sent->messages[0].text, "Which code?");
  }
}

TEST(EnforcedForm, ATextsNoteIsSentWhereAPatternIsOnlyChecked) {
  EXPECT_FALSE(without_enforced_form(request_for({"a\\b.*"})).has_value());
  EXPECT_FALSE(without_enforced_form(request_for({"[a-z]+", "a\\b.*"})).has_value());
  EXPECT_FALSE(without_enforced_form(request_for({"a\\b.*"})).has_value());  // as before
}

TEST(EnforcedForm, ANoteThatIsTheOnlyMessageIsSent) {
  GenerationRequest request = request_for({});
  request.messages.erase(request.messages.begin());
  request.form_note->message = 0;
  EXPECT_FALSE(without_enforced_form(request).has_value());
}

}  // namespace
}  // namespace tenon::inference::decoding
