#pragma once

#include <chrono>
#include <string_view>

#include "inference/model.h"

namespace tenon::test {

/// Never answers: for programs that ask no model.
class NoModel final : public inference::Model {
 public:
  [[nodiscard]] std::string_view name() const override { return "none"; }
  void start(inference::GenerationId, inference::GenerationRequest, inference::GenerationSink&) override {}
  void cancel(inference::GenerationId) override {}
  void poll(std::chrono::milliseconds) override {}
  void wake() override {}
};

}  // namespace tenon::test
