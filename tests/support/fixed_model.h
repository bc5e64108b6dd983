#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "inference/model.h"

namespace tenon::test {

/// A model of the caller's own: gives the same answer to every request, or none until it is allowed to.
class FixedModel final : public inference::Model {
 public:
  explicit FixedModel(std::string answer) : answer_(std::move(answer)) {}

  [[nodiscard]] std::string_view name() const override { return "fixed"; }
  void start(inference::GenerationId generation, inference::GenerationRequest request,
             inference::GenerationSink& sink) override {
    prompts.push_back(request.messages.front().text);
    waiting_.emplace_back(generation, &sink);
  }
  void cancel(inference::GenerationId generation) override {
    for (std::size_t at = 0; at < waiting_.size(); ++at) {
      if (waiting_[at].first != generation) continue;
      inference::GenerationSink& sink = *waiting_[at].second;
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(at));
      return sink.on_finished(generation, inference::ModelError{inference::ModelErrorKind::Cancelled, "cancelled", {}});
    }
  }
  void poll(std::chrono::milliseconds) override {
    if (!answers) return;
    for (const auto& [generation, sink] : std::exchange(waiting_, {})) {
      sink->on_text(generation, 0, answer_);
      sink->on_finished(generation, inference::Answer{answer_, inference::Finish::Complete, {}, "fixed"});
    }
  }
  void wake() override {}

  bool answers = true;
  std::vector<std::string> prompts;

 private:
  std::string answer_;
  std::vector<std::pair<inference::GenerationId, inference::GenerationSink*>> waiting_;
};

}  // namespace tenon::test
