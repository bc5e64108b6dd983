#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "inference/model.h"

namespace tenon::inference {

/// Lets another model answer, and writes down each request with its outcome, a line each (see recording.h). A cancelled
/// generation leaves no line: it has no outcome of the model's.
class RecordingModel final : public Model, private GenerationSink {
 public:
  using LineWriter = std::function<void(std::string_view line)>;

  /// `write_line` is called with each line and its newline, from within `poll`; it handles its own
  /// errors.
  RecordingModel(std::unique_ptr<Model> model, LineWriter write_line);

  [[nodiscard]] std::string_view name() const override { return model_->name(); }
  void start(GenerationId generation, GenerationRequest request, GenerationSink& sink) override;
  [[nodiscard]] std::optional<GenerationRequest> sent_form(const GenerationRequest& request) const override {
    return model_->sent_form(request);
  }
  void cancel(GenerationId generation) override { model_->cancel(generation); }
  void poll(std::chrono::milliseconds wait) override { model_->poll(wait); }
  void begin_only_while(std::function<bool()> may_begin) override { model_->begin_only_while(std::move(may_begin)); }
  void wake() override { model_->wake(); }
  [[nodiscard]] std::vector<std::string> unused_answers() const override { return model_->unused_answers(); }

 private:
  struct Started {
    std::string canonical_request;
    std::string label;
    GenerationSink* sink = nullptr;
  };

  void on_text(GenerationId generation, std::uint32_t attempt, std::string_view piece) override;
  void on_attempt_failed(GenerationId generation, std::uint32_t failed, std::string_view reason,
                         std::chrono::milliseconds wait) override;
  void on_finished(GenerationId generation, GenerationOutcome outcome) override;

  std::unique_ptr<Model> model_;
  LineWriter write_line_;
  std::unordered_map<GenerationId, Started> started_;
};

}  // namespace tenon::inference
