#include "inference/answers/json_values.h"

#include "inference/answers/messages.h"
#include "inference/answers/value_reader.h"
#include "json/reader.h"

namespace tenon::inference::answers {
namespace {

class StrictJsonReader final : public vm::JsonReader {
 public:
  StrictJsonReader(const vm::Refinements& refinements, MessageVersion version)
      : reader_(refinements), version_(version) {}

  [[nodiscard]] Result<vm::Value, std::string> read(types::TypeId type, std::string_view text) const override {
    const auto json = parse_json(text);
    if (!json) return failure(make_message(version_, Message::InvalidJson, message_of(json.error(), version_)));
    auto value = reader_.read(type, *json, {}, version_);
    if (value) return std::move(*value);
    return failure(describe_all(value.error(), version_ == MessageVersion::First ? "the JSON" : "", version_));
  }

 private:
  ValueReader reader_;
  MessageVersion version_;
};

}  // namespace

std::unique_ptr<vm::JsonReader> make_json_reader(const vm::Refinements& refinements, MessageVersion version) {
  return std::make_unique<StrictJsonReader>(refinements, version);
}

}  // namespace tenon::inference::answers
