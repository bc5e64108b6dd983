#include "inference/recorded/recording_model.h"

#include <utility>

#include "inference/recorded/recording.h"

namespace tenon::inference {

RecordingModel::RecordingModel(std::unique_ptr<Model> model, LineWriter write_line)
    : model_(std::move(model)), write_line_(std::move(write_line)) {}

void RecordingModel::start(GenerationId generation, GenerationRequest request, GenerationSink& sink) {
  started_.insert_or_assign(generation, Started{canonical_request(request), request.label, &sink});
  model_->start(generation, std::move(request), *this);
}

void RecordingModel::on_text(GenerationId generation, std::uint32_t attempt, std::string_view piece) {
  started_.at(generation).sink->on_text(generation, attempt, piece);
}

void RecordingModel::on_attempt_failed(GenerationId generation, std::uint32_t failed, std::string_view reason,
                                       std::chrono::milliseconds wait) {
  started_.at(generation).sink->on_attempt_failed(generation, failed, reason, wait);
}

void RecordingModel::on_finished(GenerationId generation, GenerationOutcome outcome) {
  // The sink may start a generation with the same id.
  const Started started = std::move(started_.extract(generation).mapped());
  const auto* error = std::get_if<ModelError>(&outcome);
  if (error == nullptr || error->kind != ModelErrorKind::Cancelled) {
    write_line_(encode_exchange(started.canonical_request, started.label, outcome));
  }
  started.sink->on_finished(generation, std::move(outcome));
}

}  // namespace tenon::inference
