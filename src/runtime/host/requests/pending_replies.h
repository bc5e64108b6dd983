#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "effects/record.h"
#include "runtime/events.h"
#include "runtime/host/requests/host_reply.h"

namespace tenon::runtime {

/// A reply that waits until what it says is durable.
struct PendingReply {
  enum class Until : std::uint8_t { Started, Prompted, Answered, Retried, Ended };
  Until until = Until::Started;
  Accepted accepted;
  OnReply reply;
};

/// The replies of a host that wait for records of their runs. Used by the host's thread.
class PendingReplies {
 public:
  void add(RunId run, PendingReply pending) { pending_.emplace(run.index, std::move(pending)); }
  [[nodiscard]] bool contains(RunId run) const { return pending_.contains(run.index); }
  [[nodiscard]] bool is_empty() const { return pending_.empty(); }
  /// Gives the replies that waited for one of these records. An answer without a record is refused when its turn or its
  /// run has ended. `first`: the number of the first.
  void on_recorded(RunId run, std::uint64_t first, std::span<const effects::Record> records);
  void fail(RunId run, const HostFailure& why);
  /// The answer to the question of this key is not recorded any more.
  void fail_answer(RunId run, std::string_view wait);
  void fail_all(const HostFailure& why);

 private:
  std::unordered_multimap<std::uint32_t, PendingReply> pending_;  ///< by RunId
};

}  // namespace tenon::runtime
