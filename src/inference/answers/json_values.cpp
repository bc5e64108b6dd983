#include "inference/answers/json_values.h"

#include "inference/answers/value_reader.h"
#include "json/reader.h"

namespace tenon::inference::answers {
namespace {

class StrictJsonReader final : public vm::JsonReader {
 public:
  explicit StrictJsonReader(const types::TypeTable& types) : reader_(types) {}

  [[nodiscard]] Result<vm::Value, std::string> read(types::TypeId type, std::string_view text) const override {
    const auto json = parse_json(text);
    if (!json) return failure("the text is no JSON: " + json.error().message);
    auto value = reader_.read(type, *json);
    if (value) return std::move(*value);
    std::string message;
    for (const Mismatch& mismatch : value.error()) {
      if (!message.empty()) message += "; ";
      message += describe(mismatch, "the JSON");
    }
    return failure(std::move(message));
  }

 private:
  ValueReader reader_;
};

}  // namespace

std::unique_ptr<vm::JsonReader> make_json_reader(const types::TypeTable& types) {
  return std::make_unique<StrictJsonReader>(types);
}

}  // namespace tenon::inference::answers
