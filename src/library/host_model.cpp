#include "library/host_model.h"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <utility>
#include <variant>
#include <vector>

#include "base/ensure.h"
#include "base/live_objects.h"
#include "base/utf8.h"
#include "json/writer.h"
#include "library/callback_scope.h"

namespace tenon::library {

/// What the host has reported and the engine has not taken yet.
struct HostModel::Reports {
  struct Report {
    std::shared_ptr<tenon_generation> generation;
    std::variant<std::string, inference::GenerationOutcome> what;  ///< a piece, or the end
  };
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Report> list;
  bool is_woken = false;
  bool is_closed = false;  ///< the model is gone: nothing is kept
};

namespace {

std::string write_request(const inference::GenerationRequest& request) {
  std::string json;
  JsonWriter writer(json);
  writer.begin_object().name("label").text(request.label).name("messages").begin_list();
  for (const inference::Message& message : request.messages) {
    writer.begin_object().name("role").text(inference::role_name(message.role)).name("text").text(message.text);
    writer.end_object();
  }
  writer.end_list();
  if (request.schema) {
    writer.name("schema").begin_object().name("name").text(request.schema->name);
    writer.name("json_schema").raw(request.schema->json_schema).end_object();
  }
  writer.name("temperature").raw(Json(static_cast<double>(request.sampling.temperature)).dump());
  writer.name("seed").integer(request.sampling.seed).name("tokens_max").integer(request.sampling.tokens_max);
  writer.name("timeout_ms").integer(static_cast<std::int64_t>(request.timeout.count()));
  writer.name("is_judgement").boolean(request.is_judgement).end_object();
  return json;
}

}  // namespace

void release_user(void* user, void (*release)(void* user)) noexcept {
  try {
    if (release != nullptr) release(user);
  } catch (...) {
    // It is not needed any more: there is nothing that could fail.
  }
}

std::shared_ptr<void> share_user(void* user, void (*release)(void* user)) {
  return {user, [release](void* given) { release_user(given, release); }};
}

HostModel::HostModel(std::string name, const tenon_model& functions, std::shared_ptr<void> user, const void* owner)
    : name_(std::move(name)),
      functions_(functions),
      user_(std::move(user)),
      owner_(owner),
      reports_(std::make_shared<Reports>()) {}

}  // namespace tenon::library

/// One generation, which belongs to the engine until it is reported or cancelled, and to the host until it has ended
/// it.
struct tenon_generation {
  const std::shared_ptr<tenon::library::HostModel::Reports> reports;
  const tenon::inference::GenerationId id;
  std::atomic<bool> is_cancelled = false;
  std::atomic<bool> has_ended = false;  ///< by the host
};

namespace tenon::library {
namespace {

using inference::GenerationOutcome;
using inference::ModelErrorKind;

/// Those that the host has not ended.
LiveObjects<tenon_generation>& generations() {
  static auto* const all = new LiveObjects<tenon_generation>;  // also for threads alive when the process ends
  return *all;
}

void add_report(HostModel::Reports& reports, HostModel::Reports::Report report) {
  const std::scoped_lock lock(reports.mutex);
  if (reports.is_closed) return;
  reports.list.push_back(std::move(report));
  reports.changed.notify_all();
}

/// The host's end of a generation.
void end_generation(const tenon_generation* generation, GenerationOutcome outcome) {
  std::shared_ptr<tenon_generation> self = generations().take(generation);
  if (self == nullptr) return;  // it was ended before
  const auto reports = self->reports;
  self->has_ended = true;
  add_report(*reports, {std::move(self), std::move(outcome)});
}

std::string text_of(tenon_text text) {
  return text.data == nullptr ? std::string() : replace_invalid_utf8(std::string(text.data, text.length));
}

}  // namespace

HostModel::~HostModel() {
  for (const auto& [id, pending] : pending_) pending.handle->is_cancelled = true;
  std::vector<Reports::Report> list;  // each refers to the reports that it is in
  const std::scoped_lock lock(reports_->mutex);
  list.swap(reports_->list);
  reports_->is_closed = true;
}

void HostModel::start(inference::GenerationId generation, inference::GenerationRequest request,
                      inference::GenerationSink& sink) {
  const auto handle = std::make_shared<tenon_generation>(reports_, generation);
  generations().add(handle.get(), handle);
  pending_[generation] = {handle, &sink};
  const std::string json = write_request(request);
  std::string problem = "the model has thrown ";
  try {
    const CallbackScope scope(owner_);
    return functions_.start(user_.get(), handle.get(), {json.data(), json.size()});
  } catch (const BrokenCondition&) {
    throw;
  } catch (const std::exception& exception) {
    problem += std::string("an exception: ") + exception.what();
  } catch (...) {
    problem += "an exception without a message";
  }
  end_generation(handle.get(), inference::ModelError{ModelErrorKind::Rejected, std::move(problem), {}, {}, {}});
}

void HostModel::cancel(inference::GenerationId generation) {
  const auto found = pending_.find(generation);
  if (found == pending_.end()) return;
  const Pending cancelled = std::move(found->second);
  pending_.erase(found);
  cancelled.handle->is_cancelled = true;
  try {
    if (functions_.cancel != nullptr && !cancelled.handle->has_ended) {
      const CallbackScope scope(owner_);
      functions_.cancel(user_.get(), cancelled.handle.get());
    }
  } catch (const BrokenCondition&) {
    throw;
  } catch (...) {
    // The request is cancelled all the same.
  }
  cancelled.sink->on_finished(
      generation, inference::ModelError{ModelErrorKind::Cancelled, "the request was cancelled", {}, {}, {}});
}

void HostModel::poll(std::chrono::milliseconds wait) {
  std::vector<Reports::Report> list;
  {
    std::unique_lock lock(reports_->mutex);
    reports_->changed.wait_for(lock, wait, [this] { return !reports_->list.empty() || reports_->is_woken; });
    reports_->is_woken = false;
    list.swap(reports_->list);
  }
  for (Reports::Report& reported : list) {
    const auto found = pending_.find(reported.generation->id);
    // A cancelled one has been reported, and its id may be another one's by now.
    if (found == pending_.end() || found->second.handle != reported.generation) continue;
    inference::GenerationSink& sink = *found->second.sink;
    const inference::GenerationId id = found->first;
    if (const auto* const piece = std::get_if<std::string>(&reported.what)) {
      sink.on_text(id, 0, *piece);
      continue;
    }
    pending_.erase(found);
    auto outcome = std::move(std::get<GenerationOutcome>(reported.what));
    if (auto* const answer = std::get_if<inference::Answer>(&outcome)) answer->model = name_;
    sink.on_finished(id, std::move(outcome));
  }
}

void HostModel::wake() {
  const std::scoped_lock lock(reports_->mutex);
  reports_->is_woken = true;
  reports_->changed.notify_all();
}

}  // namespace tenon::library

using tenon::library::add_report;
using tenon::library::end_generation;
using tenon::library::generations;
using tenon::library::text_of;

namespace {

/// Ends the generation with what `make` returns; without memory for it, as one that has failed.
template <class Make>
void end_with(const tenon_generation* generation, const Make& make) noexcept {
  try {
    try {
      end_generation(generation, make());
    } catch (const std::bad_alloc&) {
      end_generation(generation, tenon::inference::ModelError{
                                     tenon::inference::ModelErrorKind::Rejected, "out of memory", {}, {}, {}});
    }
  } catch (...) {
    // There is no memory for the end either.
  }
}

}  // namespace

void tenon_generation_add(tenon_generation* generation, tenon_text piece) {
  try {
    const std::shared_ptr<tenon_generation> self = generations().find(generation);
    if (self != nullptr) add_report(*self->reports, {self, text_of(piece)});
  } catch (...) {  // an answer of which a piece is missing has failed
    end_with(generation, []() -> tenon::inference::GenerationOutcome { throw std::bad_alloc(); });
  }
}

void tenon_generation_finish(tenon_generation* generation, tenon_text text) {
  end_with(generation, [&]() -> tenon::inference::GenerationOutcome {
    return tenon::inference::Answer{text_of(text), tenon::inference::Finish::Complete, {}, {}};
  });
}

void tenon_generation_fail(tenon_generation* generation, tenon_model_failure failure, tenon_text message) {
  end_with(generation, [&]() -> tenon::inference::GenerationOutcome {
    using tenon::inference::ModelErrorKind;
    const auto kind = failure == TENON_MODEL_UNREACHABLE ? ModelErrorKind::Unreachable : ModelErrorKind::Rejected;
    return tenon::inference::ModelError{kind, text_of(message), {}, {}, {}};
  });
}

bool tenon_generation_is_cancelled(const tenon_generation* generation) {
  const std::shared_ptr<tenon_generation> self = generations().find(generation);
  return self == nullptr || self->is_cancelled;
}
