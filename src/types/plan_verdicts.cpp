#include "types/plan_verdicts.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>

namespace tenon::types {

using nlohmann::json;

namespace {

/// A text of an entry; nothing when it is missing or no text.
std::optional<std::string> text_of(const json& entry, const char* name) {
  const auto found = entry.find(name);
  if (found == entry.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

Result<PlanVerdict, PlanError> read_entry(const json& entry, std::size_t number) {
  const auto fault = [&](std::string_view what) {
    return failure(PlanError{fmt::format("entry {} {}", number, what)});
  };
  if (!entry.is_object()) return fault("is not an object");
  PlanVerdict verdict;
  for (const auto& [name, place] :
       {std::pair("wanted", &verdict.question.wanted), std::pair("type", &verdict.question.type)}) {
    auto text = text_of(entry, name);
    if (!text) return fault(fmt::format("has no string \"{}\"", name));
    *place = std::move(*text);
  }
  const bool has_definitions = entry.contains("definitions");
  for (const auto& [name, place] :
       {std::pair("given", &verdict.question.given), std::pair("definitions", &verdict.question.definitions)}) {
    if (place == &verdict.question.definitions && !has_definitions) continue;
    const auto list = entry.find(name);
    const bool are_texts = list != entry.end() && list->is_array() &&
                           std::all_of(list->begin(), list->end(), [](const json& text) { return text.is_string(); });
    if (!are_texts) return fault(fmt::format("has no list of strings \"{}\"", name));
    for (const json& text : *list) place->push_back(text.get<std::string>());
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
  const json all = {type, wanted, given, definitions};
  return sha256("tenon entailment 2\n", all.dump(-1, ' ', false, json::error_handler_t::replace));
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
  const json file = json::parse(text, nullptr, false);
  if (!file.is_object()) return failure(PlanError{"it is not a JSON file written by `tenon plan`"});
  const auto format = file.find("format");
  if (format == file.end() || !format->is_number_integer())
    return failure(PlanError{"the number \"format\" is missing"});
  if (*format != 1 && *format != plan_format) {
    return failure(PlanError{
        fmt::format("it has format {}, but this version of Tenon reads format {}", format->dump(), plan_format)});
  }
  const auto entries = file.find("entailments");
  if (entries == file.end() || !entries->is_array()) return failure(PlanError{"the list \"entailments\" is missing"});
  PlanVerdicts verdicts;
  std::size_t number = 0;
  for (const json& entry : *entries) {
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
  nlohmann::ordered_json entries = nlohmann::ordered_json::array();
  for (const PlanVerdict* verdict : sorted) {
    nlohmann::ordered_json entry = {{"type", verdict->question.type}};
    if (!verdict->question.definitions.empty()) entry["definitions"] = verdict->question.definitions;
    entry["given"] = verdict->question.given;
    entry["wanted"] = verdict->question.wanted;
    entry["relation"] = relation_name(verdict->relation);
    entry["reason"] = verdict->reason;
    entry["model"] = verdict->model;
    entries.push_back(std::move(entry));
  }
  const nlohmann::ordered_json file = {{"format", plan_format}, {"entailments", std::move(entries)}};
  return file.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace tenon::types
