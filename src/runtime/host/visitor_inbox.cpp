#include "runtime/host/visitor_inbox.h"

#include <fmt/format.h>

#include <utility>

namespace tenon::runtime {
namespace {

/// For how long a request that is repeated with the same key is recognized, as at a host.
constexpr std::chrono::hours replies_kept{24};

}  // namespace

void VisitorInbox::begin(Runtime& runtime) {
  residents_ = std::make_unique<ResidentRuns>(runtime);
  make_performers(runtime);
  const auto now = [&clock = parts_.clock] { return monotonic_ms(clock); };
  inbox_ = std::make_unique<InboxReader>(
      InboxReader::Parts{.store = store_,
                         .now_ms = now,
                         .wake = [this] { notice(); },
                         .take = [this](const journal::Command& command) { take(command); },
                         .report = [](const std::string&) {},  // the runs' commits meet the same problem
                         .counts = counts_});
  router_ =
      std::make_unique<RequestRouter>(RequestRouter::Parts{.gate = *gate_,
                                                           .performing = *performing_,
                                                           .forwarder = *forwarder_,
                                                           .inbox = *inbox_,
                                                           .secrets = parts_.secrets,
                                                           .now_ms = [&clock = parts_.clock] { return wall_ms(clock); },
                                                           .resolve = {},
                                                           .pools = pools_,
                                                           .self = [this] { return parts_.store.ownership().self(); }});
}

/// What performs requests on runs.
void VisitorInbox::make_performers(Runtime& runtime) {
  const auto now = [&clock = parts_.clock] { return monotonic_ms(clock); };
  const auto wall = [&clock = parts_.clock] { return wall_ms(clock); };
  const auto is_stopped = [this] { return inbox_ == nullptr; };
  notes_ = std::make_unique<StoreNotes>(StoreNotes::Parts{.store = store_,
                                                          .secrets = parts_.secrets,
                                                          .clock = parts_.clock,
                                                          .replies_kept = replies_kept,
                                                          .on_broken = [](std::string_view) {}});
  loader_ = std::make_unique<RunLoader>(RunLoader::Parts{.store = store_,
                                                         .runtime = runtime,
                                                         .residents = *residents_,
                                                         .images = images_,
                                                         .model = parts_.model,
                                                         .counts = counts_,
                                                         .now_ms = now,
                                                         .wall_ms = wall});
  gate_ = std::make_unique<RequestGate>(RequestGate::Parts{.store = store_,
                                                           .runtime = runtime,
                                                           .notes = *notes_,
                                                           .loader = *loader_,
                                                           .pending = pending_,
                                                           .is_stopped = is_stopped});
  performing_ = std::make_unique<RunRequests>(
      RunRequests::Parts{.store = store_,
                         .runtime = runtime,
                         .notes = *notes_,
                         .residents = *residents_,
                         .loader = *loader_,
                         .pending = pending_,
                         .counts = counts_,
                         .newest = newest_,
                         .now_ms = wall,
                         .is_stopped = is_stopped,
                         .later = [this](std::function<void()> work) { later_.push_back(std::move(work)); },
                         .on_changed = [](const journal::RunName&) {}});
  forwarder_ = std::make_unique<RequestForwarder>(
      RequestForwarder::Parts{.store = store_, .secrets = parts_.secrets, .now_ms = now, .wake = [this] { notice(); }});
}

void VisitorInbox::end() {
  if (inbox_ == nullptr) return;
  // What was not done stays in the inbox: its sender sees that this owner has left, and looks who has the run.
  pending_.fail_all({HostFailure::Kind::Elsewhere, "the process that continued the run has ended"});
  perform_all();
  on_notice({});
  router_.reset();
  inbox_.reset();
  forwarder_.reset();
}

void VisitorInbox::on_notice(std::function<void()> notify) {
  const std::scoped_lock lock(notify_mutex_);
  notify_ = std::move(notify);
}

void VisitorInbox::notice() {
  parts_.wake();
  const std::scoped_lock lock(notify_mutex_);
  if (notify_) notify_();
}

void VisitorInbox::poll() {
  if (inbox_ == nullptr) return;
  inbox_->poll();
  perform_all();
}

bool VisitorInbox::has_work() const {
  if (inbox_ == nullptr) return false;
  return store_.in_progress() > 0 || !later_.empty() || inbox_->time_to_next().count() == 0;
}

void VisitorInbox::perform_all() {
  while (store_.deliver() > 0 || !later_.empty()) {
    for (const auto& work : std::exchange(later_, {})) work();
  }
}

/// A command for a run that is not here is passed on where others can take it.
void VisitorInbox::take(const journal::Command& command) {
  if (residents_->find(command.run)) return router_->take_command(command);
  const auto head = store_.owner().journals().head(command.run);
  if (!head) return refuse(command, make_failure(head.error()));
  const journal::RunState state = head->summary.state;
  if (journal::has_ended(state))
    return refuse(command, make_conflict(fmt::format("the run has ended ({})", journal::name_of(state))));
  // In a file no one else can take it: its sender withdraws it, and says which process has the store.
  if (!store_.owner().ownership().is_sole()) inbox_->redirect(command.id);
}

void VisitorInbox::refuse(const journal::Command& command, const HostFailure& why) {
  inbox_->answer(command.id, encode_reply(failure(why), parts_.store.ownership().self()),
                 journal::ReplyDurability::Full);
}

void VisitorInbox::on_run_started(RunId run, const RunIdentity& identity) {
  if (residents_ != nullptr && !identity.name.empty()) residents_->add(run, {std::string(identity.name)});
}

void VisitorInbox::on_run_released(RunId run) {
  if (residents_ == nullptr) return;
  residents_->forget(run);
  pending_.fail(run, make_conflict("the run was unloaded before the request was performed"));
}

void VisitorInbox::on_outcome_dropped(RunId run, std::string_view key) {
  pending_.fail_answer(run, key);
}

void VisitorInbox::on_recorded(const RecordBatch& batch) {
  pending_.on_recorded(batch.run, batch.first, batch.records);
}

void VisitorInbox::on_run_ended(RunId run, const EndedRun& ended) {
  using Kind = HostFailure::Kind;
  const auto* const detached = std::get_if<RunDetached>(&ended.end);
  if (detached == nullptr) return pending_.fail(run, {Kind::Conflict, "the run has ended"});
  const bool is_elsewhere = detached->refusal == journal::AppendRefusal::OldEpoch;
  pending_.fail(run, {is_elsewhere ? Kind::Elsewhere : Kind::Unavailable, detached->message});
}

}  // namespace tenon::runtime
