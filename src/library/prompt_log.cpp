#include "library/prompt_log.h"

#include <algorithm>
#include <utility>

#include "json/json.h"
#include "json/reader.h"

namespace tenon::library {
namespace {

/// An object's members.
std::string members(const Json& object) {
  std::string text = object.dump();
  return text.substr(1, text.size() - 2);
}

}  // namespace

void PromptLog::on_generation_started(const runtime::SentGeneration& generation) {
  const auto found = runs_.find(generation.effect.run.index);
  if (found == runs_.end()) return;
  const inference::GenerationRequest request = generation.sent();
  Json messages = Json::array();
  for (const inference::Message& message : request.messages) {
    messages.push_back(Json::object({{"role", inference::role_name(message.role)}, {"text", message.text}}));
  }
  Json sent = Json::object({{"function", request.label},
                            {"place", generation.effect.program.describe(generation.effect.place())},
                            {"attempt", generation.attempt},
                            {"messages", std::move(messages)}});
  if (request.schema) sent.set("schema", parse_own_json(request.schema->json_schema));
  Kept& kept = found->second;
  kept.prompts.push_back({std::string(generation.effect.key), generation.attempt, members(sent), {}});
  kept.bytes += kept.prompts.back().sent.size();
  while (kept.prompts.size() > prompts_kept_max || (kept.bytes > prompt_bytes_kept_max && kept.prompts.size() > 1)) {
    kept.bytes -= kept.prompts.front().sent.size() + kept.prompts.front().answered.size();
    kept.prompts.pop_front();
  }
}

void PromptLog::on_generation_finished(runtime::RunId run, std::string_view key, std::uint32_t attempt,
                                       const inference::GenerationOutcome& outcome) {
  const auto found = runs_.find(run.index);
  if (found == runs_.end()) return;
  auto& prompts = found->second.prompts;
  const auto sent = std::find_if(prompts.rbegin(), prompts.rend(), [&](const Prompt& prompt) {
    return prompt.key == key && prompt.attempt == attempt && prompt.answered.empty();
  });
  if (sent == prompts.rend()) return;
  const auto* const answer = std::get_if<inference::Answer>(&outcome);
  const auto* const error = std::get_if<inference::ModelError>(&outcome);
  const inference::Usage& usage = answer != nullptr ? answer->usage : error->usage;
  Json answered = answer != nullptr ? Json::object({{"answer", answer->text}, {"model", answer->model}})
                                    : Json::object({{"error", error->message}});
  answered.set("tokens", Json::object({{"prompt", usage.prompt},
                                       {"computed", usage.computed},
                                       {"reused", usage.reused},
                                       {"generated", usage.generated}}));
  answered.set("ms", usage.milliseconds);
  sent->answered = "," + members(answered);
  found->second.bytes += sent->answered.size();
}

std::string PromptLog::list(runtime::RunId run) const {
  const auto found = runs_.find(run.index);
  std::string text = "[";
  if (found != runs_.end()) {
    for (const Prompt& prompt : found->second.prompts) {
      if (text.size() > 1) text += ',';
      text += '{' + prompt.sent + prompt.answered + '}';
    }
  }
  return text + ']';
}

}  // namespace tenon::library
