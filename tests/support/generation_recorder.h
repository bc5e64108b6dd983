#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "inference/model.h"

namespace tenon::test {

/// A sink that records everything a model reports.
class GenerationRecorder final : public inference::GenerationSink {
 public:
  struct Piece {
    std::uint32_t attempt;
    std::string text;
    friend bool operator==(const Piece&, const Piece&) = default;
  };

  struct FailedAttempt {
    std::uint32_t failed;
    std::string reason;
    std::chrono::milliseconds wait;
  };

  void on_text(inference::GenerationId generation, std::uint32_t attempt, std::string_view piece) override {
    pieces[generation].push_back({attempt, std::string(piece)});
  }
  void on_attempt_failed(inference::GenerationId generation, std::uint32_t failed, std::string_view reason,
                         std::chrono::milliseconds wait) override {
    failed_attempts[generation].push_back({failed, std::string(reason), wait});
  }
  void on_finished(inference::GenerationId generation, inference::GenerationOutcome outcome) override {
    ++finished_count[generation];
    outcomes.insert_or_assign(generation, std::move(outcome));
  }

  /// Polls until `count` generations have finished. Returns whether they have within `limit`.
  [[nodiscard]] bool wait_for(inference::Model& model, std::size_t count,
                              std::chrono::milliseconds limit = std::chrono::seconds(60)) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (outcomes.size() < count && std::chrono::steady_clock::now() < end)
      model.poll(std::chrono::milliseconds(100));
    return outcomes.size() >= count;
  }

  std::map<inference::GenerationId, inference::GenerationOutcome> outcomes;
  std::map<inference::GenerationId, std::uint32_t> finished_count;
  std::map<inference::GenerationId, std::vector<Piece>> pieces;
  std::map<inference::GenerationId, std::vector<FailedAttempt>> failed_attempts;
};

/// What a model that needs no time makes of the request.
inline inference::GenerationOutcome outcome_of(inference::Model& model, inference::GenerationRequest request) {
  constexpr inference::GenerationId generation = 3;
  GenerationRecorder recorder;
  model.start(generation, std::move(request), recorder);
  for (int i = 0; i < 3 && recorder.outcomes.empty(); ++i) model.poll(std::chrono::milliseconds(0));
  EXPECT_EQ(recorder.finished_count[generation], 1U);
  return recorder.outcomes.at(generation);
}

/// The text of its answer, or `error: …`.
inline std::string text_of(inference::Model& model, inference::GenerationRequest request) {
  const auto outcome = outcome_of(model, std::move(request));
  if (const auto* error = std::get_if<inference::ModelError>(&outcome)) return "error: " + error->message;
  return std::get<inference::Answer>(outcome).text;
}

}  // namespace tenon::test
