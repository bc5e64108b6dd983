#include "runtime/host/requests/shown_questions.h"

#include <utility>

namespace tenon::runtime {

void ShownQuestions::note(const journal::RunName& run, std::string wait) {
  const auto [found, is_new] = waits_.insert_or_assign(run.text, std::move(wait));
  if (!is_new) return;
  oldest_.push_back(run.text);
  if (oldest_.size() <= runs_max) return;
  waits_.erase(oldest_.front());
  oldest_.pop_front();
}

std::string ShownQuestions::find(const journal::RunName& run) const {
  const auto found = waits_.find(run.text);
  return found == waits_.end() ? std::string() : found->second;
}

}  // namespace tenon::runtime
