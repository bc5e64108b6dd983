#include "inference/answers/answer_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/ascii.h"
#include "base/utf8.h"
#include "inference/answers/messages.h"
#include "inference/answers/outline.h"
#include "inference/answers/words.h"
#include "inference/thoughts.h"
#include "json/json.h"
#include "json/lenient_reader.h"
#include "json/reader.h"
#include "json/text.h"

namespace tenon::inference::answers {
namespace {

using types::TypeId;
using types::TypeKind;
using types::TypeTable;

constexpr std::string_view whole_answer = "the answer";

/// The reading of one answer.
class AnswerReading {
 public:
  using Values = Result<AnswerValues, AnswerProblems>;

  AnswerReading(const ValueReader& reader, const AnswerShape& shape, MessageVersion version)
      : reader_(reader), shape_(shape), version_(version) {}

  [[nodiscard]] Values read_text(std::string_view text) const {
    if (const std::size_t bad = find_invalid_utf8(text); bad != std::string_view::npos) {
      return wrong(Message::InvalidUtf8, bad);
    }
    const std::string_view words = trimmed(text);
    if (words.empty()) return failure(AnswerProblems{"the answer is empty"});
    return read_result(Json(words));
  }

  [[nodiscard]] Values read_json(std::string_view text) const {
    text = separate_thoughts(text).answer;
    const Result<Json, JsonError> json = parse_lenient(text);
    Values values = json ? read_json(*json) : wrong(Message::InvalidJsonAnswer, message_of(json.error(), version_));
    if (values || shape_.kind != bytecode::SiteKind::Completion) return values;
    if (const std::optional<Json> word = find_word(reader_.types(), shape_.result, text)) return read_result(*word);
    return values;
  }

 private:
  template <class... Arguments>
  [[nodiscard]] std::string problem(Message message, const Arguments&... arguments) const {
    return make_message(version_, message, arguments...);
  }
  template <class... Arguments>
  [[nodiscard]] tl::unexpected<AnswerProblems> wrong(Message message, const Arguments&... arguments) const {
    return failure(AnswerProblems{problem(message, arguments...)});
  }
  [[nodiscard]] std::string shown(const Json& json) const { return describe(json, version_); }

  [[nodiscard]] AnswerProblems describe_all(const std::vector<Mismatch>& mismatches) const {
    AnswerProblems problems;
    for (const Mismatch& mismatch : mismatches) problems.push_back(describe(mismatch, whole_answer, version_));
    return problems;
  }

  /// The value of a completion.
  [[nodiscard]] Values read_result(const Json& json, std::string_view path = {}) const {
    Result<vm::Value, std::vector<Mismatch>> value = reader_.read(shape_.result, json, path, version_);
    if (!value) return failure(describe_all(value.error()));
    AnswerValues values;
    values.values.push_back(std::move(*value));
    return values;
  }

  [[nodiscard]] Values read_json(const Json& json) const {
    switch (shape_.kind) {
      case bytecode::SiteKind::Completion:
        return read_completion(json);
      case bytecode::SiteKind::Fill: {
        Result<std::vector<vm::Value>, AnswerProblems> values = read_items(shape_.clauses.front(), json, "");
        if (!values) return failure(std::move(values.error()));
        return AnswerValues{0, std::move(*values)};
      }
      case bytecode::SiteKind::Select:
        return read_select(json);
    }
    return failure(AnswerProblems{});
  }

  [[nodiscard]] Values read_completion(const Json& json) const {
    if (shape_.wrapping == Wrapping::Bare) return read_result(json);
    const Json* const inner = json.find("value");
    const bool is_wrapped = inner != nullptr && json.members().size() == 1;
    Values wrapped = is_wrapped ? read_result(*inner, "value") : Values(failure(AnswerProblems{}));
    if (wrapped) return wrapped;
    Values bare = read_result(json);
    if (bare) return bare;
    if (is_wrapped) return wrapped;
    if (!json.is_object()) return bare;
    return wrong(inner == nullptr ? Message::MissingKey : Message::OtherKeys, "value", shape_.outline);
  }

  /// The missing arguments of one call.
  [[nodiscard]] Result<std::vector<vm::Value>, AnswerProblems> read_items(const AnswerClause& clause, const Json& json,
                                                                          std::string_view path) const {
    if (!json.is_object()) {
      return failure(describe_all({{std::string(path), problem(Message::ObjectExpected, shown(json))}}));
    }
    std::vector<vm::Value> values;
    AnswerProblems problems;
    const auto path_of = [&](std::string_view key) {
      return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
    };
    const auto report = [&](std::string_view key, std::string message) {
      problems.push_back(describe({path_of(key), std::move(message)}, whole_answer, version_));
    };
    for (const AnswerItem& item : clause.items) {
      const Json* const given = json.find(item.key);
      if (given == nullptr && reader_.types().kind(item.type) != TypeKind::Option) {
        report(item.key, problem(Message::Missing, make_outline(reader_.types(), item.type, version_)));
        continue;
      }
      Result<vm::Value, std::vector<Mismatch>> value =
          reader_.read(item.type, given == nullptr ? Json() : *given, path_of(item.key), version_);
      if (value) {
        values.push_back(std::move(*value));
      } else {
        for (std::string& one : describe_all(value.error())) problems.push_back(std::move(one));
      }
    }
    for (const JsonMember& member : json.members()) {
      if (problems.size() >= mismatches_max) break;
      if (std::ranges::find(clause.items, member.name, &AnswerItem::key) == clause.items.end()) {
        report(cut_utf8(member.name, word_bytes_max), problem(Message::UnknownKey));
      }
    }
    if (!problems.empty()) return failure(std::move(problems));
    return values;
  }

  [[nodiscard]] Values read_select(const Json& json) const {
    const Json* const wrapped = json.find("call");
    if (wrapped != nullptr && json.members().size() > 1) return wrong(Message::OtherKeys, "call", shape_.outline);
    const Json& call = wrapped == nullptr ? json : *wrapped;
    if (!call.is_object()) return wrong(Message::WrongForm, shown(call), shape_.outline);
    for (const JsonMember& member : call.members()) {
      if (member.name != "function" && member.name != "choice" && member.name != "arguments") {
        return wrong(Message::UnknownCallKey, shown_text(member.name), shape_.outline);
      }
    }
    const Result<std::uint32_t, std::string> choice = read_choice(call.find("function"), call.find("choice"));
    if (!choice) return failure(AnswerProblems{choice.error()});
    const Json none = Json::object();
    const Json* const arguments = call.find("arguments");
    Result<std::vector<vm::Value>, AnswerProblems> values =
        read_items(shape_.clauses[*choice], arguments == nullptr ? none : *arguments, "arguments");
    if (!values) return failure(std::move(values.error()));
    return AnswerValues{*choice, std::move(*values)};
  }

  /// The clause that `function` and `choice` determine together; or the problem.
  [[nodiscard]] Result<std::uint32_t, std::string> read_choice(const Json* function, const Json* choice) const {
    if (function != nullptr && !function->is_string()) {
      return failure(problem(Message::WrongFunction, shown(*function), shape_.outline));
    }
    if (choice != nullptr) return read_number(*choice, function);
    if (function == nullptr) return failure(problem(Message::MissingKey, "choice", shape_.outline));
    std::optional<std::uint32_t> found;
    for (std::uint32_t index = 0; index < shape_.clauses.size(); ++index) {
      if (shape_.clauses[index].function != function->as_string()) continue;
      if (found) return failure(problem(Message::ChoiceNeeded, make_json_string(function->as_string())));
      found = index;
    }
    if (!found) return failure(problem(Message::UnknownFunction, shown(*function), shape_.outline));
    return *found;
  }

  /// The same where `choice` is given.
  [[nodiscard]] Result<std::uint32_t, std::string> read_number(const Json& choice, const Json* function) const {
    const auto count = static_cast<std::int64_t>(shape_.clauses.size());
    const bool is_whole = choice.is_numeric() && choice.as_double() >= 0 &&
                          choice.as_double() < static_cast<double>(count) &&
                          choice.as_double() == static_cast<double>(static_cast<std::int64_t>(choice.as_double()));
    if (!is_whole) return failure(problem(Message::WrongChoice, shown(choice), count - 1));
    const auto index = static_cast<std::uint32_t>(choice.as_double());
    const std::string& expected = shape_.clauses[index].function;
    if (function != nullptr && function->as_string() != expected) {
      return failure(problem(Message::ChoiceOfOtherFunction, index, make_json_string(expected),
                             shown_text(function->as_string())));
    }
    return index;
  }

  [[nodiscard]] static std::string shown_text(std::string_view text) {
    return make_json_string(cut_utf8(text, word_bytes_max));
  }

  const ValueReader& reader_;
  const AnswerShape& shape_;
  MessageVersion version_;
};

}  // namespace

Result<AnswerValues, AnswerProblems> read_answer(const ValueReader& reader, const AnswerShape& shape,
                                                 std::string_view text, MessageVersion version) {
  const AnswerReading reading(reader, shape, version);
  return shape.form == AnswerForm::Text ? reading.read_text(text) : reading.read_json(text);
}

}  // namespace tenon::inference::answers
