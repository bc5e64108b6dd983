#pragma once

#include <gmock/gmock.h>

#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "tests/support/temporary_folder.h"

namespace tenon::engine::test {

/// A folder with files, and the system for engines that use them.
class EngineTest : public testing::Test {
 protected:
  /// Writes a file of the folder. Returns its path.
  std::string file(const std::string& name, const std::string& text) {
    std::ofstream(folder.file(name)) << text;
    return folder.file(name);
  }

  tenon::test::TemporaryFolder folder;
  RealFileSystem files;
  RealClock clock;
  std::map<std::string, std::string> variables;
  std::vector<std::string> warnings;
  System system{.files = files,
                .clock = clock,
                .variable = [this](const char* name) { return variables[name]; },
                .variables = [] { return std::vector<std::string>(); },
                .random_unit = [] { return 0.5; },
                .on_notice =
                    [this](NoticeKind kind, std::string_view text) {
                      if (kind == NoticeKind::Warning) warnings.emplace_back(text);
                    },
                .executable = "/nonexistent/tenon"};
};

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

}  // namespace tenon::engine::test
