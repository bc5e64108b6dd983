#include "inference/answers/answer_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/ascii.h"
#include "base/utf8.h"
#include "inference/answers/outline.h"
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
/// A longer answer is not one word.
constexpr std::size_t word_bytes_max = 200;

AnswerProblems describe_all(const std::vector<Mismatch>& mismatches) {
  AnswerProblems problems;
  for (const Mismatch& mismatch : mismatches) problems.push_back(describe(mismatch, whole_answer));
  return problems;
}

Result<AnswerValues, AnswerProblems> one_value(Result<vm::Value, std::vector<Mismatch>> value) {
  if (!value) return failure(describe_all(value.error()));
  AnswerValues values;
  values.values.push_back(std::move(*value));
  return values;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& character : result) {
    if (character >= 'A' && character <= 'Z') character = static_cast<char>(character - 'A' + 'a');
  }
  return result;
}

/// The words that `type` can be, each with its JSON.
std::vector<std::pair<std::string, Json>> list_words(const TypeTable& types, TypeId type) {
  std::vector<std::pair<std::string, Json>> words;
  switch (types.kind(type)) {
    case TypeKind::Option:
    case TypeKind::Refined:
    case TypeKind::Secret:
      return list_words(types, types.get(type).arguments[0]);
    case TypeKind::Boolean:
      for (const std::string_view word : {"true", "yes"}) words.emplace_back(word, Json(true));
      for (const std::string_view word : {"false", "no"}) words.emplace_back(word, Json(false));
      return words;
    case TypeKind::Union:
      if (const auto* texts = std::get_if<std::vector<std::string>>(&types.union_type(type).literals)) {
        for (const std::string& text : *texts) words.emplace_back(text, Json(text));
      }
      return words;
    case TypeKind::Enum:
      for (const types::Variant& variant : types.enum_type(type).variants) {
        if (variant.payload.empty()) words.emplace_back(variant.name, Json(variant.name));
      }
      return words;
    case TypeKind::Error:
    case TypeKind::Never:
    case TypeKind::Unit:
    case TypeKind::I32:
    case TypeKind::I64:
    case TypeKind::F64:
    case TypeKind::String:
    case TypeKind::Text:
    case TypeKind::List:
    case TypeKind::Map:
    case TypeKind::Result:
    case TypeKind::Tuple:
    case TypeKind::Struct:
    case TypeKind::Context:
    case TypeKind::Range:
    case TypeKind::Parameter:
    case TypeKind::Closure:
    case TypeKind::Tools:
      return words;
  }
  return words;
}

/// The value that an answer of one word names: exactly, else without its quotes and full stop, else also without its
/// capitals; at each step only when it is one value.
std::optional<Json> find_word(const TypeTable& types, TypeId type, std::string_view text) {
  text = trimmed(text);
  if (text.empty() || text.size() > word_bytes_max) return std::nullopt;
  std::string_view bare = text;
  if (bare.size() > 1 && (bare.ends_with('.') || bare.ends_with('!'))) bare.remove_suffix(1);
  constexpr std::string_view quotes = "\"'`";
  if (bare.size() > 2 && bare.front() == bare.back() && quotes.find(bare.front()) != std::string_view::npos) {
    bare = bare.substr(1, bare.size() - 2);
  }
  const auto words = list_words(types, type);
  const auto find_one = [&](auto matches) -> std::optional<Json> {
    std::optional<Json> found;
    for (const auto& [word, json] : words) {
      if (!matches(word)) continue;
      if (found && *found != json) return std::nullopt;
      found = json;
    }
    return found;
  };
  if (auto found = find_one([&](const std::string& word) { return word == text; })) return found;
  if (auto found = find_one([&](const std::string& word) { return word == bare; })) return found;
  const std::string folded = lower(bare);
  return find_one([&](const std::string& word) { return lower(word) == folded; });
}

Result<AnswerValues, AnswerProblems> read_text(const ValueReader& reader, const AnswerShape& shape,
                                               std::string_view text) {
  if (const std::size_t bad = find_invalid_utf8(text); bad != std::string_view::npos) {
    return failure(AnswerProblems{fmt::format("the answer is no text: byte {} is not UTF-8", bad)});
  }
  const std::string_view words = trimmed(text);
  if (words.empty()) return failure(AnswerProblems{"the answer is empty"});
  return one_value(reader.read(shape.result, Json(words)));
}

Result<AnswerValues, AnswerProblems> read_completion(const ValueReader& reader, const AnswerShape& shape,
                                                     const Json& json) {
  if (shape.wrapping == Wrapping::Bare) return one_value(reader.read(shape.result, json));
  const Json* const inner = json.find("value");
  if (inner == nullptr) {
    Result<AnswerValues, AnswerProblems> bare = one_value(reader.read(shape.result, json));
    if (bare || !json.is_object()) return bare;
    return failure(AnswerProblems{fmt::format("value is missing; the answer has the form {}", shape.outline)});
  }
  if (json.members().size() == 1) {
    Result<AnswerValues, AnswerProblems> wrapped = one_value(reader.read(shape.result, *inner, "value"));
    if (wrapped) return wrapped;
    Result<AnswerValues, AnswerProblems> bare = one_value(reader.read(shape.result, json));
    return bare ? bare : wrapped;
  }
  Result<AnswerValues, AnswerProblems> bare = one_value(reader.read(shape.result, json));
  if (bare) return bare;
  return failure(
      AnswerProblems{fmt::format("the answer has other keys than `value`; it has the form {}", shape.outline)});
}

/// The missing arguments of one call.
Result<std::vector<vm::Value>, AnswerProblems> read_items(const ValueReader& reader, const AnswerClause& clause,
                                                          const Json& json, std::string_view path) {
  const std::string_view whole = path.empty() ? whole_answer : path;
  if (!json.is_object())
    return failure(AnswerProblems{fmt::format("{} is {}, where an object is asked for", whole, describe(json))});
  std::vector<vm::Value> values;
  AnswerProblems problems;
  const auto path_of = [&](std::string_view key) {
    return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
  };
  for (const AnswerItem& item : clause.items) {
    const Json* const given = json.find(item.key);
    if (given == nullptr && reader.types().kind(item.type) != TypeKind::Option) {
      problems.push_back(
          fmt::format("{} is missing; {} is asked for", path_of(item.key), make_outline(reader.types(), item.type)));
      continue;
    }
    Result<vm::Value, std::vector<Mismatch>> value =
        reader.read(item.type, given == nullptr ? Json() : *given, path_of(item.key));
    if (value) {
      values.push_back(std::move(*value));
    } else {
      for (std::string& problem : describe_all(value.error())) problems.push_back(std::move(problem));
    }
  }
  for (const JsonMember& member : json.members()) {
    if (problems.size() >= mismatches_max) break;
    if (std::ranges::find(clause.items, member.name, &AnswerItem::key) == clause.items.end()) {
      problems.push_back(path_of(cut_utf8(member.name, word_bytes_max)) + " is a key that is not asked for");
    }
  }
  if (!problems.empty()) return failure(std::move(problems));
  return values;
}

/// Which clause `function` and `choice` name together; or the problem.
Result<std::uint32_t, std::string> read_choice(const AnswerShape& shape, const Json* function, const Json* choice) {
  const auto count = static_cast<std::int64_t>(shape.clauses.size());
  const auto form = [&] { return "the answer has the form " + shape.outline; };
  if (function != nullptr && !function->is_string()) return failure("function is no text; " + form());
  if (choice != nullptr) {
    const bool is_whole = choice->is_numeric() && choice->as_double() >= 0 &&
                          choice->as_double() < static_cast<double>(count) &&
                          choice->as_double() == static_cast<double>(static_cast<std::int64_t>(choice->as_double()));
    if (!is_whole)
      return failure(
          fmt::format("choice is {}, where an integer from 0 to {} is asked for", describe(*choice), count - 1));
    const auto index = static_cast<std::uint32_t>(choice->as_double());
    if (function != nullptr && function->as_string() != shape.clauses[index].function) {
      return failure(fmt::format("choice {} is the function {}, and not {}", index,
                                 make_json_string(shape.clauses[index].function),
                                 make_json_string(cut_utf8(function->as_string(), word_bytes_max))));
    }
    return index;
  }
  if (function == nullptr) return failure("choice is missing; " + form());
  std::optional<std::uint32_t> found;
  for (std::uint32_t index = 0; index < shape.clauses.size(); ++index) {
    if (shape.clauses[index].function != function->as_string()) continue;
    if (found)
      return failure(
          fmt::format("choice is missing: more than one clause calls {}", make_json_string(function->as_string())));
    found = index;
  }
  if (!found)
    return failure(fmt::format("function is {}, which is none of the clauses; {}", describe(*function), form()));
  return *found;
}

Result<AnswerValues, AnswerProblems> read_select(const ValueReader& reader, const AnswerShape& shape,
                                                 const Json& json) {
  const Json* const wrapped = json.find("call");
  if (wrapped != nullptr && json.members().size() > 1) {
    return failure(AnswerProblems{"the answer has other keys than `call`; it has the form " + shape.outline});
  }
  const Json& call = wrapped == nullptr ? json : *wrapped;
  if (!call.is_object()) {
    return failure(AnswerProblems{fmt::format("the answer is {}; it has the form {}", describe(call), shape.outline)});
  }
  for (const JsonMember& member : call.members()) {
    if (member.name != "function" && member.name != "choice" && member.name != "arguments") {
      return failure(
          AnswerProblems{fmt::format("{} is a key that is not asked for; the answer has the form {}",
                                     make_json_string(cut_utf8(member.name, word_bytes_max)), shape.outline)});
    }
  }
  const Result<std::uint32_t, std::string> choice = read_choice(shape, call.find("function"), call.find("choice"));
  if (!choice) return failure(AnswerProblems{choice.error()});
  const Json none = Json::object();
  const Json* const arguments = call.find("arguments");
  Result<std::vector<vm::Value>, AnswerProblems> values =
      read_items(reader, shape.clauses[*choice], arguments == nullptr ? none : *arguments, "arguments");
  if (!values) return failure(std::move(values.error()));
  return AnswerValues{*choice, std::move(*values)};
}

Result<AnswerValues, AnswerProblems> read_json(const ValueReader& reader, const AnswerShape& shape, const Json& json) {
  switch (shape.kind) {
    case bytecode::SiteKind::Completion:
      return read_completion(reader, shape, json);
    case bytecode::SiteKind::Fill: {
      Result<std::vector<vm::Value>, AnswerProblems> values = read_items(reader, shape.clauses.front(), json, "");
      if (!values) return failure(std::move(values.error()));
      return AnswerValues{0, std::move(*values)};
    }
    case bytecode::SiteKind::Select:
      return read_select(reader, shape, json);
  }
  return failure(AnswerProblems{});
}

}  // namespace

Result<AnswerValues, AnswerProblems> read_answer(const ValueReader& reader, const AnswerShape& shape,
                                                 std::string_view text) {
  if (shape.form == AnswerForm::Text) return read_text(reader, shape, text);
  const Result<Json, JsonError> json = parse_lenient(text);
  Result<AnswerValues, AnswerProblems> values =
      json ? read_json(reader, shape, *json)
           : Result<AnswerValues, AnswerProblems>(
                 failure(AnswerProblems{fmt::format("the answer is no JSON: {}", json.error().message)}));
  if (values || shape.kind != bytecode::SiteKind::Completion) return values;
  if (const std::optional<Json> word = find_word(reader.types(), shape.result, text)) {
    return one_value(reader.read(shape.result, *word));
  }
  return values;
}

}  // namespace tenon::inference::answers
