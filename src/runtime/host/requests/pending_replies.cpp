#include "runtime/host/requests/pending_replies.h"

#include <algorithm>
#include <vector>

#include "effects/wait_name.h"

namespace tenon::runtime {
namespace {

bool is_recorded(const PendingReply& pending, std::span<const effects::Record> records) {
  const auto has = [&](const auto& is_it) { return std::ranges::any_of(records, is_it, &effects::Record::body); };
  switch (pending.until) {
    case PendingReply::Until::Started:
      return has([](const effects::RecordBody& body) { return std::holds_alternative<effects::Started>(body); });
    case PendingReply::Until::Prompted:
      return has([](const effects::RecordBody& body) { return std::holds_alternative<effects::TurnStarted>(body); });
    case PendingReply::Until::Answered:
      return has([&](const effects::RecordBody& body) {
        const auto* const finished = std::get_if<effects::Finished>(&body);
        const auto* const continued = std::get_if<effects::Continued>(&body);
        const std::string& wait = pending.accepted.wait;
        return (finished != nullptr && finished->key == effects::key_of_wait(wait)) ||
               (continued != nullptr && effects::wait_name(continued->key, continued->earlier) == wait);
      });
    case PendingReply::Until::Retried:
      return has([](const effects::RecordBody& body) {
        const auto* const attempted = std::get_if<effects::Attempted>(&body);
        return attempted != nullptr && attempted->what == effects::Attempted::What::Retried;
      });
    case PendingReply::Until::Ended:
      return has([](const effects::RecordBody& body) {
        return std::holds_alternative<effects::CancelWanted>(body) || std::holds_alternative<effects::Ended>(body) ||
               std::holds_alternative<effects::TurnEnded>(body);
      });
  }
  return false;
}

HostFailure answer_dropped() {
  return make_conflict("the question was given up before its answer was recorded");
}

/// Whether what the answer belongs to has ended.
bool is_too_late(const PendingReply& pending, std::span<const effects::Record> records) {
  if (pending.until != PendingReply::Until::Answered) return false;
  return std::ranges::any_of(records, [](const effects::Record& record) {
    return std::holds_alternative<effects::TurnEnded>(record.body) ||
           std::holds_alternative<effects::Ended>(record.body);
  });
}

}  // namespace

// A reply may lead to the next request, so no iterator is used across one.

void PendingReplies::on_recorded(RunId run, std::uint64_t first, std::span<const effects::Record> records) {
  std::vector<PendingReply> ready, too_late;
  auto [at, end] = pending_.equal_range(run.index);
  while (at != end) {
    // What was recorded before the request may become durable after it came.
    const std::uint64_t after = at->second.accepted.after;
    const std::uint64_t earlier = after < first ? 0 : std::min<std::uint64_t>(after - first + 1, records.size());
    const auto later = records.subspan(earlier);
    if (is_recorded(at->second, later)) {
      ready.push_back(std::move(at->second));
      at = pending_.erase(at);
    } else if (is_too_late(at->second, later)) {
      too_late.push_back(std::move(at->second));
      at = pending_.erase(at);
    } else {
      ++at;
    }
  }
  for (PendingReply& pending : ready) pending.reply(std::move(pending.accepted));
  for (const PendingReply& pending : too_late) pending.reply(failure(answer_dropped()));
}

void PendingReplies::fail_answer(RunId run, std::string_view key) {
  std::vector<PendingReply> failed;
  auto [at, end] = pending_.equal_range(run.index);
  while (at != end) {
    const PendingReply& pending = at->second;
    if (pending.until == PendingReply::Until::Answered && effects::key_of_wait(pending.accepted.wait) == key) {
      failed.push_back(std::move(at->second));
      at = pending_.erase(at);
    } else {
      ++at;
    }
  }
  for (const PendingReply& pending : failed) pending.reply(failure(answer_dropped()));
}

void PendingReplies::fail(RunId run, const HostFailure& why) {
  std::vector<PendingReply> failed;
  const auto [begin, end] = pending_.equal_range(run.index);
  for (auto at = begin; at != end; ++at) failed.push_back(std::move(at->second));
  pending_.erase(begin, end);
  for (const PendingReply& pending : failed) pending.reply(failure(why));
}

void PendingReplies::fail_all(const HostFailure& why) {
  for (const auto& [run, pending] : std::exchange(pending_, {})) pending.reply(failure(why));
}

}  // namespace tenon::runtime
