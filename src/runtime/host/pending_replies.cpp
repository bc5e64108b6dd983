#include "runtime/host/pending_replies.h"

#include <algorithm>
#include <vector>

namespace tenon::runtime {
namespace {

bool is_recorded(const PendingReply& pending, std::uint64_t first, std::span<const effects::Record> records) {
  const auto has = [&](const auto& is_it) { return std::ranges::any_of(records, is_it, &effects::Record::body); };
  switch (pending.until) {
    case PendingReply::Until::Started:
      return first == 1;
    case PendingReply::Until::Prompted:
      return has([](const effects::RecordBody& body) { return std::holds_alternative<effects::TurnStarted>(body); });
    case PendingReply::Until::Answered:
      return has([&](const effects::RecordBody& body) {
        const auto* const finished = std::get_if<effects::Finished>(&body);
        const auto* const continued = std::get_if<effects::Continued>(&body);
        return (finished != nullptr && finished->key == pending.accepted.wait) ||
               (continued != nullptr && continued->key == pending.accepted.wait);
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

}  // namespace

// A reply may lead to the next request, so no iterator is used across one.

void PendingReplies::on_recorded(RunId run, std::uint64_t first, std::span<const effects::Record> records) {
  std::vector<PendingReply> ready;
  auto [at, end] = pending_.equal_range(run.index);
  while (at != end) {
    if (is_recorded(at->second, first, records)) {
      ready.push_back(std::move(at->second));
      at = pending_.erase(at);
    } else {
      ++at;
    }
  }
  for (PendingReply& pending : ready) pending.reply(std::move(pending.accepted));
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
