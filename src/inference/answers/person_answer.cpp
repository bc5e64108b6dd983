#include "inference/answers/person_answer.h"

#include "inference/answers/words.h"
#include "json/lenient_reader.h"

namespace tenon::inference::answers {

Result<vm::Value, std::vector<Mismatch>> read_person_answer(const ValueReader& reader, types::TypeId type,
                                                            std::string_view text) {
  auto first = reader.read_argument(type, text);
  if (first) return first;
  if (const auto word = find_word(reader.types(), type, text)) {
    if (auto value = reader.read(type, *word)) return value;
  }
  if (reader.is_written_raw(type)) return first;
  if (const auto json = parse_lenient(text)) {
    if (auto value = reader.read(type, *json)) return value;
  }
  return first;
}

}  // namespace tenon::inference::answers
