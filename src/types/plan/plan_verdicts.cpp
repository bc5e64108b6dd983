#include "types/plan/plan_verdicts.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "base/utf8.h"
#include "json/reader.h"
#include "json/text.h"

namespace tenon::types {

namespace {

/// A text of an entry; nothing when it is missing or no text.
std::optional<std::string> text_of(const Json& entry, std::string_view name) {
  const Json& found = entry.get(name);
  if (!found.is_string()) return std::nullopt;
  return found.as_string();
}

/// The value as JSON if it is short, otherwise its start.
std::string shown(const Json& value) {
  constexpr std::size_t bytes_max = 40;
  const std::string text = value.dump();
  const std::string_view start = cut_utf8(text, bytes_max);
  return fmt::format("{}{}", start, start.size() < text.size() ? "…" : "");
}

Result<PlanVerdict, PlanError> read_entry(const Json& entry, std::size_t number) {
  const auto fault = [&](std::string_view what) {
    return failure(PlanError{fmt::format("entry {} {}", number, what)});
  };
  if (!entry.is_object()) return fault("is not an object");
  for (const std::string_view name : {"wanted", "type", "relation", "reason", "model"}) {
    const Json* const text = entry.find(name);
    if (text != nullptr && !text->is_string()) {
      return fault(fmt::format("has a \"{}\" that is not a string: {}", name, shown(*text)));
    }
  }
  PlanVerdict verdict;
  for (const auto& [name, place] :
       {std::pair("wanted", &verdict.question.wanted), std::pair("type", &verdict.question.type)}) {
    auto text = text_of(entry, name);
    if (!text) return fault(fmt::format("has no string \"{}\"", name));
    *place = std::move(*text);
  }
  for (const auto& [name, place] :
       {std::pair("given", &verdict.question.given), std::pair("definitions", &verdict.question.definitions)}) {
    const Json* const list = entry.find(name);
    if (list == nullptr && place == &verdict.question.definitions) continue;
    if (list == nullptr || !list->is_array() || !std::ranges::all_of(list->items(), &Json::is_string)) {
      return fault(fmt::format("has no list of strings \"{}\"", name));
    }
    for (const Json& text : list->items()) place->push_back(text.as_string());
  }
  const auto relation = find_relation(text_of(entry, "relation").value_or(""));
  if (!relation) return fault(R"(needs a "relation": "entails", "contradicts" or "open")");
  verdict.relation = *relation;
  verdict.reason = text_of(entry, "reason").value_or("");
  verdict.model = text_of(entry, "model").value_or("");
  return verdict;
}

}  // namespace

std::optional<Relation> find_relation(std::string_view name) {
  for (const Relation relation : {Relation::Open, Relation::Entails, Relation::Contradicts}) {
    if (relation_name(relation) == name) return relation;
  }
  return std::nullopt;
}

Hash EntailmentQuestion::key() const {
  const Json all = Json::array({type, wanted, Json::array_of(given), Json::array_of(definitions)});
  return sha256("tenon entailment 2\n", all.dump());
}

std::string plan_path(const std::string& path) {
  return path + ".plan";
}

std::string_view relation_name(Relation relation) {
  switch (relation) {
    case Relation::Entails:
      return "entails";
    case Relation::Contradicts:
      return "contradicts";
    case Relation::Open:
      break;
  }
  return "open";
}

Result<PlanVerdicts, PlanError> read_plan(std::string_view text) {
  const auto read = parse_json(text);
  const Json& file = read ? *read : Json();
  if (!file.is_object()) return failure(PlanError{"it is not a JSON file written by `tenon plan`"});
  const Json* const format = file.find("format");
  if (format == nullptr || !format->is_integer()) return failure(PlanError{"the number \"format\" is missing"});
  if (format->as_integer() != 1 && format->as_integer() != plan_format) {
    return failure(PlanError{
        fmt::format("it has format {}, but this version of Tenon reads format {}", format->dump(), plan_format)});
  }
  const Json& entries = file.get("entailments");
  if (!entries.is_array()) return failure(PlanError{"the list \"entailments\" is missing"});
  PlanVerdicts verdicts;
  std::size_t number = 0;
  for (const Json& entry : entries.items()) {
    auto verdict = read_entry(entry, ++number);
    if (!verdict) return failure(verdict.error());
    const Hash key = verdict->question.key();
    if (!verdicts.emplace(key, std::move(*verdict)).second) {
      return failure(PlanError{fmt::format("entry {} repeats the question of an earlier entry", number)});
    }
  }
  return verdicts;
}

std::string write_plan(const PlanVerdicts& verdicts) {
  std::vector<const PlanVerdict*> sorted;
  for (const auto& [key, verdict] : verdicts) sorted.push_back(&verdict);
  std::sort(sorted.begin(), sorted.end(), [](const PlanVerdict* left, const PlanVerdict* right) {
    return std::tie(left->question.wanted, left->question.type, left->question.given, left->question.definitions) <
           std::tie(right->question.wanted, right->question.type, right->question.given, right->question.definitions);
  });
  Json entries = Json::array();
  for (const PlanVerdict* verdict : sorted) {
    Json entry = Json::object({{"type", verdict->question.type}});
    if (!verdict->question.definitions.empty()) {
      entry.set("definitions", Json::array_of(verdict->question.definitions));
    }
    entry.set("given", Json::array_of(verdict->question.given));
    entry.set("wanted", verdict->question.wanted);
    entry.set("relation", relation_name(verdict->relation));
    entry.set("reason", verdict->reason);
    entry.set("model", verdict->model);
    entries.push_back(std::move(entry));
  }
  const Json file = Json::object({{"format", plan_format}, {"entailments", std::move(entries)}});
  return file.dump(JsonForm::Pretty) + "\n";
}

}  // namespace tenon::types
