#pragma once

#include <memory>
#include <string_view>
#include <unordered_map>

#include "inference/model.h"

namespace tenon::inference {

/// Combines two models: judgements go to the judge, all other requests to the writer.
class JudgedModel final : public Model, private GenerationSink {
 public:
  JudgedModel(std::unique_ptr<Model> writer, std::unique_ptr<Model> judge);

  /// The name of the writer.
  [[nodiscard]] std::string_view name() const override { return writer_->name(); }
  void start(GenerationId generation, GenerationRequest request, GenerationSink& sink) override;
  [[nodiscard]] std::optional<GenerationRequest> sent_form(const GenerationRequest& request) const override;
  void cancel(GenerationId generation) override;
  void poll(std::chrono::milliseconds wait) override;
  [[nodiscard]] bool follows_a_script() const override {
    return writer_->follows_a_script() || judge_->follows_a_script();
  }
  void skip(const GenerationRequest& request) override;
  [[nodiscard]] std::vector<std::string> unused_answers() const override;
  void begin_only_while(std::function<bool()> may_begin) override;
  void wake() override;

 private:
  void on_text(GenerationId generation, std::uint32_t attempt, std::string_view piece) override;
  void on_attempt_failed(GenerationId generation, std::uint32_t failed, std::string_view reason,
                         std::chrono::milliseconds wait) override;
  void on_finished(GenerationId generation, GenerationOutcome outcome) override;

  std::unique_ptr<Model> writer_;
  std::unique_ptr<Model> judge_;
  struct InProgress {
    GenerationSink* sink = nullptr;
    bool is_judged = false;
  };
  std::unordered_map<GenerationId, InProgress> in_progress_;
  std::size_t judged_count_ = 0;  ///< those of the judge
};

}  // namespace tenon::inference
