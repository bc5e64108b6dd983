#include "inference/judged/judged_model.h"

#include <algorithm>

namespace tenon::inference {

namespace {

/// While both models have something to do, neither is waited for longer than this.
constexpr std::chrono::milliseconds turn_max{2};

}  // namespace

JudgedModel::JudgedModel(std::unique_ptr<Model> writer, std::unique_ptr<Model> judge)
    : writer_(std::move(writer)), judge_(std::move(judge)) {}

void JudgedModel::start(GenerationId generation, GenerationRequest request, GenerationSink& sink) {
  const bool is_judged = request.is_judgement;
  in_progress_.emplace(generation, InProgress{&sink, is_judged});
  if (is_judged) ++judged_count_;
  (is_judged ? *judge_ : *writer_).start(generation, std::move(request), *this);
}

std::optional<GenerationRequest> JudgedModel::sent_form(const GenerationRequest& request) const {
  return (request.is_judgement ? *judge_ : *writer_).sent_form(request);
}

void JudgedModel::cancel(GenerationId generation) {
  const auto found = in_progress_.find(generation);
  if (found == in_progress_.end()) return;
  (found->second.is_judged ? *judge_ : *writer_).cancel(generation);
}

void JudgedModel::poll(std::chrono::milliseconds wait) {
  const std::size_t before = in_progress_.size();
  const bool judge_works = judged_count_ > 0;
  const bool writer_works = judged_count_ < before;
  if (!judge_works) return writer_->poll(wait);
  if (!writer_works) return judge_->poll(wait);
  judge_->poll(std::chrono::milliseconds(0));
  writer_->poll(in_progress_.size() < before ? std::chrono::milliseconds(0) : std::min(wait, turn_max));
}

void JudgedModel::skip(const GenerationRequest& request) {
  (request.is_judgement ? *judge_ : *writer_).skip(request);
}

std::vector<std::string> JudgedModel::unused_answers() const {
  std::vector<std::string> unused = writer_->unused_answers();
  for (std::string& shown : judge_->unused_answers()) unused.push_back(std::move(shown));
  return unused;
}

void JudgedModel::begin_only_while(std::function<bool()> may_begin) {
  writer_->begin_only_while(may_begin);
  judge_->begin_only_while(std::move(may_begin));
}

void JudgedModel::wake() {
  writer_->wake();
  judge_->wake();
}

void JudgedModel::on_text(GenerationId generation, std::uint32_t attempt, std::string_view piece) {
  if (const auto found = in_progress_.find(generation); found != in_progress_.end()) {
    found->second.sink->on_text(generation, attempt, piece);
  }
}

void JudgedModel::on_attempt_failed(GenerationId generation, std::uint32_t failed, std::string_view reason,
                                    std::chrono::milliseconds wait) {
  if (const auto found = in_progress_.find(generation); found != in_progress_.end()) {
    found->second.sink->on_attempt_failed(generation, failed, reason, wait);
  }
}

void JudgedModel::on_finished(GenerationId generation, GenerationOutcome outcome) {
  const auto found = in_progress_.find(generation);
  if (found == in_progress_.end()) return;
  const InProgress ended = found->second;
  in_progress_.erase(found);
  if (ended.is_judged) --judged_count_;
  ended.sink->on_finished(generation, std::move(outcome));
}

}  // namespace tenon::inference
