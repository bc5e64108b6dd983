#include "inference/recorded/recorded_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/counted.h"
#include "base/utf8.h"

namespace tenon::inference {
namespace {

/// Recorded requests that are compared with one that is not among them; the rest of a longer recording is not looked
/// at.
constexpr std::size_t compared_requests_max = 2'000;
constexpr std::size_t shown_length_max = 100;
/// What is shown before the first difference within a line.
constexpr std::size_t shown_lead = 30;

/// A prompt as lines that people can compare.
std::string flat_prompt(const GenerationRequest& request) {
  std::string flat;
  for (const Message& message : request.messages) {
    flat += role_name(message.role);
    flat += ": ";
    flat += message.text;
    flat += '\n';
  }
  return flat;
}

std::size_t common_prefix(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

std::size_t common_suffix(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend()).first - a.rbegin());
}

/// The line of `text` at `position`, cut to the part around it.
std::string line_around(std::string_view text, std::size_t position) {
  if (position >= text.size()) return "the end";
  std::size_t begin = position == 0 ? 0 : text.rfind('\n', position - 1) + 1;  // npos + 1 is 0
  std::size_t end = std::min(text.find('\n', position), text.size());
  std::string_view before;
  std::string_view after;
  if (position - begin > shown_lead) {
    begin = position - shown_lead;
    while (begin > 0 && is_utf8_continuation(text[begin])) --begin;
    before = "…";
  }
  if (end - begin > shown_length_max) {
    end = begin + shown_length_max;
    while (is_utf8_continuation(text[end])) --end;
    after = "…";
  }
  return fmt::format("`{}{}{}`", before, text.substr(begin, end - begin), after);
}

}  // namespace

std::string describe_difference(const Recording& recording, const GenerationRequest& request) {
  if (recording.exchanges.empty()) return "the recording is empty";
  const std::string asked = flat_prompt(request);
  const RecordedExchange* nearest = nullptr;
  std::string nearest_prompt;
  std::size_t nearest_likeness = 0;
  for (std::size_t i = 0; i < std::min(recording.exchanges.size(), compared_requests_max); ++i) {
    const RecordedExchange& exchange = recording.exchanges[i];
    std::string prompt = flat_prompt(exchange.request);
    const std::size_t likeness = common_prefix(prompt, asked) + common_suffix(prompt, asked) +
                                 (prompt == asked ? 1 : 0) + (exchange.request.label == request.label ? 1 : 0);
    if (nearest == nullptr || likeness > nearest_likeness) {
      nearest = &exchange;
      nearest_prompt = std::move(prompt);
      nearest_likeness = likeness;
    }
  }
  std::string text = nearest->request.label == request.label
                         ? fmt::format("closest is line {}", nearest->line)
                         : fmt::format("closest is line {}, of `{}`", nearest->line, nearest->request.label);
  if (nearest_prompt != asked) {
    const std::size_t position = common_prefix(nearest_prompt, asked);
    const auto line = 1 + std::count(asked.begin(), asked.begin() + static_cast<std::ptrdiff_t>(position), '\n');
    return text + fmt::format(". In line {} of the prompt\n  recorded: {}\n  asked:    {}", line,
                              line_around(nearest_prompt, position), line_around(asked, position));
  }
  const std::string_view recorded_schema =
      nearest->request.schema ? nearest->request.schema->json_schema : std::string_view("none");
  const std::string_view asked_schema = request.schema ? request.schema->json_schema : std::string_view("none");
  if (recorded_schema != asked_schema) {
    const std::size_t position = common_prefix(recorded_schema, asked_schema);
    return text + fmt::format(". In the answer's schema\n  recorded: {}\n  asked:    {}",
                              line_around(recorded_schema, position), line_around(asked_schema, position));
  }
  const auto sampling_of = [](const Sampling& sampling) {
    return fmt::format("temperature {}, seed {}, at most {}", sampling.temperature, sampling.seed,
                       counted(sampling.tokens_max, "token"));
  };
  return text + fmt::format(". In the sampling\n  recorded: {}\n  asked:    {}", sampling_of(nearest->request.sampling),
                            sampling_of(request.sampling));
}

RecordedModel::RecordedModel(Recording recording, std::string name)
    : name_(std::move(name)), recording_(std::move(recording)) {
  for (std::size_t i = 0; i < recording_.exchanges.size(); ++i) {
    by_hash_[recording_.exchanges[i].request_hash].exchanges.push_back(i);
  }
}

std::vector<const RecordedExchange*> RecordedModel::unused() const {
  std::vector<std::size_t> indices;
  for (const auto& [hash, outcomes] : by_hash_) {
    for (std::size_t i = outcomes.given; i < outcomes.exchanges.size(); ++i) indices.push_back(outcomes.exchanges[i]);
  }
  std::sort(indices.begin(), indices.end());
  std::vector<const RecordedExchange*> exchanges;
  exchanges.reserve(indices.size());
  for (const std::size_t index : indices) exchanges.push_back(&recording_.exchanges[index]);
  return exchanges;
}

GenerationOutcome RecordedModel::next_outcome(const GenerationRequest& request) {
  const auto found = by_hash_.find(hash_request(canonical_request(request)));
  if (found == by_hash_.end()) {
    return ModelError{
        ModelErrorKind::ScriptEnded,
        fmt::format("no recorded request matches `{}`; {}", request.label, describe_difference(recording_, request)),
        Usage{}};
  }
  Outcomes& outcomes = found->second;
  const std::size_t index = std::min(outcomes.given, outcomes.exchanges.size() - 1);
  ++outcomes.given;
  return recording_.exchanges[outcomes.exchanges[index]].outcome;
}

void RecordedModel::start(GenerationId generation, GenerationRequest request, GenerationSink& sink) {
  schedule_.start(generation, sink, next_outcome(request), std::chrono::milliseconds(0));
}

}  // namespace tenon::inference
