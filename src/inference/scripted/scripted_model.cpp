#include "inference/scripted/scripted_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/utf8.h"

namespace tenon::inference {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t shown_lines_max = 3;
constexpr std::size_t shown_line_length_max = 120;
constexpr std::string_view judge_hint =
    R"(; a verdict for each condition would, such as `judge => {"value": [{"holds": true}]}`)";

bool contains(const GenerationRequest& request, std::string_view text) {
  return std::any_of(request.messages.begin(), request.messages.end(),
                     [&](const Message& message) { return message.text.find(text) != std::string::npos; });
}

/// `ask` names every completion of a generic function, `ask<i32>` the ones of that type.
bool is_label_of(std::string_view label, std::string_view requested) {
  return label == requested || (requested.starts_with(label) && requested.substr(label.size()).starts_with('<'));
}

bool fits(const ScriptRule& rule, const GenerationRequest& request) {
  if (!rule.label.empty() && !is_label_of(rule.label, request.label)) return false;
  return std::all_of(rule.prompt_contains.begin(), rule.prompt_contains.end(),
                     [&](const std::string& text) { return contains(request, text); });
}

/// The last lines of the prompt, which say what is asked.
std::string prompt_end(const GenerationRequest& request) {
  std::vector<std::string_view> lines;
  for (auto message = request.messages.rbegin(); message != request.messages.rend(); ++message) {
    std::string_view text = message->text;
    while (!text.empty() && lines.size() < shown_lines_max) {
      const std::size_t newline = text.rfind('\n');
      const std::string_view line = newline == std::string_view::npos ? text : text.substr(newline + 1);
      if (!line.empty()) lines.push_back(line);
      text = newline == std::string_view::npos ? std::string_view{} : text.substr(0, newline);
    }
  }
  std::string shown;
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    const std::string_view start = cut_utf8(*line, shown_line_length_max);
    shown += fmt::format("\n  | {}{}", start, start.size() < line->size() ? "…" : "");
  }
  return shown;
}

/// Texts have no tokens here; four bytes count as one, so that budgets of tokens can be tested.
std::uint32_t token_count(std::size_t bytes) {
  return static_cast<std::uint32_t>(std::min<std::size_t>((bytes + 3) / 4, UINT32_MAX));
}

}  // namespace

ScriptedModel::ScriptedModel(Script script, std::string name)
    : name_(std::move(name)), script_(std::move(script)), given_(script_.rules.size(), 0) {}

std::vector<ScriptedModel::Unused> ScriptedModel::unused() const {
  std::vector<Unused> result;
  for (std::size_t i = 0; i < script_.rules.size(); ++i) {
    const ScriptRule& rule = script_.rules[i];
    if (given_[i] >= rule.answers.size()) continue;
    result.push_back({rule.label, rule.prompt_contains, rule.line, rule.answers.size() - given_[i]});
  }
  return result;
}

std::vector<std::string> ScriptedModel::unused_answers() const {
  const auto was_asked_for = [&](const std::string& label) {
    for (std::size_t i = 0; i < script_.rules.size(); ++i) {
      if (script_.rules[i].label == label && given_[i] > 0) return true;
    }
    return false;
  };
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < script_.rules.size(); ++i) {
    const ScriptRule& rule = script_.rules[i];
    const std::size_t all = rule.answers.size();
    if (given_[i] >= all) continue;
    // A script for several runs has answers to prompts that this one did not have.
    if (all == 1 && was_asked_for(rule.label)) continue;
    std::string count = fmt::format("{} of {} answers", all - given_[i], all);
    if (given_[i] == 0) count = all == 1 ? "the answer" : fmt::format("all {} answers", all);
    shown.push_back(rule.label.empty() ? fmt::format("{} in line {}", count, rule.line)
                                       : fmt::format("{} for `{}` (line {})", count, rule.label, rule.line));
  }
  return shown;
}

GenerationOutcome ScriptedModel::next_outcome(const GenerationRequest& request, milliseconds& delay) {
  Usage usage;
  for (const Message& message : request.messages) usage.prompt += token_count(message.text.size());
  usage.computed = usage.prompt;
  const auto script_ended = [&](std::string_view why) -> GenerationOutcome {
    return ModelError{ModelErrorKind::ScriptEnded,
                      fmt::format("the script has no answer for `{}`: {}. The prompt ends:{}", request.label, why,
                                  prompt_end(request)),
                      usage};
  };
  const auto rule = std::find_if(script_.rules.begin(), script_.rules.end(),
                                 [&](const ScriptRule& candidate) { return fits(candidate, request); });
  if (rule == script_.rules.end()) {
    return script_ended(fmt::format("no rule fits this request{}", request.is_judgement ? judge_hint : ""));
  }
  std::size_t& given = given_[static_cast<std::size_t>(rule - script_.rules.begin())];
  if (given >= rule->answers.size() && rule->answers.size() != 1) {
    return script_ended(rule->line == 0
                            ? fmt::format("its {} answers are used up", rule->answers.size())
                            : fmt::format("the {} answers of line {} are used up", rule->answers.size(), rule->line));
  }
  const ScriptedAnswer& scripted = rule->answers[rule->answers.size() == 1 ? 0 : given];
  ++given;
  delay = scripted.delay;
  if (delay > request.timeout) {
    delay = request.timeout;
    return ModelError{ModelErrorKind::TimedOut, fmt::format("no answer within {} ms", request.timeout.count()), usage};
  }
  usage.milliseconds = static_cast<double>(delay.count());
  if (const auto* error = std::get_if<ModelErrorKind>(&scripted.end)) return ModelError{*error, scripted.text, usage};
  usage.generated = token_count(scripted.text.size());
  return Answer{scripted.text, std::get<Finish>(scripted.end), usage, name_};
}

void ScriptedModel::skip(const GenerationRequest& request) {
  milliseconds delay{0};
  static_cast<void>(next_outcome(request, delay));
}

void ScriptedModel::start(GenerationId generation, GenerationRequest request, GenerationSink& sink) {
  milliseconds delay{0};
  GenerationOutcome outcome = next_outcome(request, delay);
  schedule_.start(generation, sink, std::move(outcome), delay);
}

}  // namespace tenon::inference
