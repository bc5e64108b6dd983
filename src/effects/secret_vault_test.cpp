#include "effects/secret_vault.h"

#include <gtest/gtest.h>

#include "effects/value_form.h"
#include "vm/values/object.h"

namespace tenon::effects {
namespace {

using types::TypeId;
using types::TypeTable;
using vm::Value;

SecretVault vault_of(char byte) {
  return SecretVault([byte](KeyUse) -> Result<SealingKey, std::string> {
    return *SealingKey::from_bytes(std::string(SealingKey::size, byte));
  });
}

/// `struct Account { name: String, secret token: String }`, and a map of lists of it.
class Secrets : public testing::Test {
 protected:
  Secrets() {
    account_ = types_.add_struct(
        {"Account", "", {{"name", TypeTable::string, ""}, {"token", types_.secret(TypeTable::string), ""}}});
    nested_ = types_.map(types_.list(types_.option(account_)));
    Value one = Value::record(account_, {Value::string("Ann"), Value::string("hunter2")});
    open_ = Value::map({{Value::string("all"), Value::list({Value::some(std::move(one)), Value::none()})}});
  }

  std::string text_of(const Value& value, TypeId type, SecretForm form = SecretForm::Sealed) const {
    std::string text;
    EXPECT_TRUE(write_value(value, type, types_, text, form).has_value());
    return text;
  }

  TypeTable types_;
  TypeId account_, nested_;
  Value open_;
  SecretVault vault_ = vault_of('k');
  SecretEntry entry_{"run1", "4/2", "load"};
};

TEST_F(Secrets, AreSealedInAllNestingsAndOpenedAgain) {
  const auto sealed = vault_.seal(open_, nested_, types_, entry_);
  ASSERT_TRUE(sealed.has_value()) << sealed.error().message;
  const std::string text = text_of(*sealed, nested_);
  EXPECT_EQ(text.find("hunter2"), std::string::npos);
  EXPECT_NE(text.find(R"("name":"Ann")"), std::string::npos);
  EXPECT_EQ(text_of(*sealed, nested_, SecretForm::Named),
            R"([["all",[{"name":"Ann","token":{"$secret":"load[0][0].token"}},null]]])");
  EXPECT_EQ(name_secrets(text), text_of(*sealed, nested_, SecretForm::Named));
  const auto read = read_value(text, nested_, types_);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  std::vector<std::string> texts;
  const auto opened = vault_.open(*read, nested_, types_, "run1", texts);
  ASSERT_TRUE(opened.has_value()) << opened.error().message;
  EXPECT_TRUE(vm::equal(*opened, open_));
  EXPECT_EQ(texts, std::vector<std::string>{"hunter2"});
}

TEST_F(Secrets, ThatAreNotSealedAreNeverWritten) {
  std::string text;
  const auto written = write_value(open_, nested_, types_, text);
  ASSERT_FALSE(written.has_value());
  EXPECT_NE(written.error().message.find("not sealed"), std::string::npos);
  EXPECT_EQ(text.find("hunter2"), std::string::npos);
}

TEST_F(Secrets, AreBoundToKeyRunEffectAndName) {
  const auto sealed = vault_.seal(open_, nested_, types_, entry_);
  ASSERT_TRUE(sealed.has_value());
  std::vector<std::string> texts;
  const auto refusal = [&](SecretVault& vault, const Value& value, std::string_view run) {
    const auto opened = vault.open(value, nested_, types_, run, texts);
    return opened ? std::string() : opened.error().message;
  };
  SecretVault other = vault_of('l');
  EXPECT_NE(refusal(other, *sealed, "run1").find("was sealed with the key"), std::string::npos);
  EXPECT_NE(refusal(vault_, *sealed, "run2").find("sealed for the run run1"), std::string::npos);
  std::string renamed = text_of(*sealed, nested_);
  renamed.replace(renamed.find("load[0]"), 7, "load[1]");
  const auto read = read_value(renamed, nested_, types_);
  ASSERT_TRUE(read.has_value());
  EXPECT_NE(refusal(vault_, *read, "run1").find("the data was modified"), std::string::npos);
  EXPECT_TRUE(texts.empty());
}

TEST_F(Secrets, AreTheSameAgainAndOfOneLengthForShortTexts) {
  const TypeId type = types_.secret(TypeTable::string);
  const auto size_of = [&](const std::string& text) {
    const auto sealed = vault_.seal(Value::string(text), type, types_, entry_);
    return vm::secret_of(*sealed).sealed.size();
  };
  EXPECT_EQ(size_of(""), size_of(std::string(60, 'x')));
  EXPECT_LT(size_of(""), size_of(std::string(70, 'x')));
  const auto first = vault_.seal(open_, nested_, types_, entry_);
  const auto second = vault_.seal(open_, nested_, types_, entry_);
  EXPECT_TRUE(vm::equal(*first, *second));
}

TEST_F(Secrets, ArePassedOnToAnotherRun) {
  const auto sealed = vault_.seal(open_, nested_, types_, entry_);
  const auto text = vault_.reseal(text_of(*sealed, nested_), "run2", "9/1");
  ASSERT_TRUE(text.has_value()) << text.error().message;
  EXPECT_EQ(name_secrets(*text), text_of(*sealed, nested_, SecretForm::Named));
  std::vector<std::string> texts;
  const auto read = read_value(*text, nested_, types_);
  ASSERT_TRUE(read.has_value());
  EXPECT_TRUE(vault_.open(*read, nested_, types_, "run2", texts).has_value());
  EXPECT_FALSE(vault_.open(*read, nested_, types_, "run1", texts).has_value());
  // A value that is sealed for another run is sealed for the one that it comes into.
  const auto again = vault_.seal(*sealed, nested_, types_, {"run3", "", "load"});
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_TRUE(vault_.open(*again, nested_, types_, "run3", texts).has_value());
}

TEST_F(Secrets, AreRemovedFromTexts) {
  EXPECT_EQ(scrub("a hunter2b hunter2", {"hunter2"}), "a [secret]b [secret]");
  EXPECT_EQ(scrub("abc", {"abc"}), "abc") << "too short to be distinguished from chance";
  const TypeId said = types_.tuple({types_.list(TypeTable::string), types_.secret(TypeTable::string)});
  const Value value = Value::record(
      said, {Value::list({Value::string("token hunter2"), Value::string("x")}), Value::string("hunter2")});
  const Value clean = scrub(value, said, types_, {"hunter2"});
  EXPECT_EQ(clean.fields()[0].items()[0].as_text(), "token [secret]");
  EXPECT_EQ(clean.fields()[1].as_text(), "hunter2") << "it is going to be sealed";
}

TEST_F(Secrets, InSharedPartsAreExchangedOnce) {
  // 2^60 accounts that are one in memory.
  TypeId type = account_;
  auto sealed =
      vault_.seal(Value::record(account_, {Value::string("Ann"), Value::string("hunter2")}), account_, types_, entry_);
  ASSERT_TRUE(sealed.has_value());
  Value all = *sealed;
  for (int level = 0; level < 60; ++level) {
    all = Value::list({all, all});
    type = types_.list(type);
  }
  std::vector<std::string> texts;
  auto open = vault_.open(all, type, types_, "run1", texts);
  ASSERT_TRUE(open.has_value()) << open.error().message;
  EXPECT_EQ(texts.size(), 1U);
  Value clean = scrub(*open, type, types_, {"Ann Smith", "Ann is longer"});
  for (int level = 0; level < 60; ++level) {
    clean = Value(clean.items()[1]);
  }
  EXPECT_EQ(clean.fields()[1].as_text(), "hunter2");
  const auto refused = vault_.seal(*open, type, types_, entry_);
  ASSERT_FALSE(refused.has_value()) << "each seal names its place";
  EXPECT_NE(refused.error().message.find("recorded_bytes_max"), std::string::npos) << refused.error().message;
}

TEST_F(Secrets, NeedAKey) {
  SecretVault none([](KeyUse use) -> Result<SealingKey, std::string> {
    return failure(std::string(use == KeyUse::Open ? "no key to open" : "no key to seal"));
  });
  EXPECT_EQ(none.seal(open_, nested_, types_, entry_).error().message, "no key to seal");
  EXPECT_EQ(none.require("abc").error().message, "no key to open");
  EXPECT_FALSE(none.keyed_hash("request", "x").has_value());
  EXPECT_TRUE(none.seal(Value::string("x"), TypeTable::string, types_, entry_).has_value()) << "nothing is secret";
  EXPECT_FALSE(vault_.require("abc").has_value());
  EXPECT_TRUE(vault_.require(*vault_.prepare()).has_value());
}

TEST(NamedSecrets, AnyTextIsAnswered) {
  for (const std::string_view text : {R"({"$secret":[)", R"({"$secret":["a)", R"({"$secret":["a","b"])",
                                      R"("{\"$secret\":[")", "", R"([{"$secret":["\"]}","eA=="]}])"}) {
    const std::string named = name_secrets(text);
    EXPECT_LE(named.size(), text.size()) << text;
  }
  EXPECT_EQ(name_secrets(R"([{"$secret":["\"]}","eA=="]},1])"), R"([{"$secret":"\"]}"},1])");
}

}  // namespace
}  // namespace tenon::effects
