#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "journal/async_store.h"
#include "runtime/host/host_counts.h"
#include "runtime/host/requests/waiting_group.h"

namespace tenon::runtime {

/// Takes the commands that other processes leave in a store's inbox: soon after they are announced, and otherwise when
/// it looks by itself. Used by the host's thread.
class InboxReader {
 public:
  struct Parts {
    journal::AsyncStore& store;
    std::function<std::int64_t()> now_ms;                    ///< by the monotonic clock
    std::function<void()> wake;                              ///< on any thread: there is something to poll for
    std::function<void(const journal::Command&)> take;       ///< is followed by `answer`
    std::function<void(const std::string& message)> report;  ///< a problem, for people
    HostCounts& counts;
  };
  explicit InboxReader(Parts parts);
  InboxReader(const InboxReader&) = delete;
  InboxReader& operator=(const InboxReader&) = delete;

  /// Looks into the inbox if there may be something.
  void poll();
  /// Until `poll` looks by itself; the longest time: not before the host is woken.
  [[nodiscard]] std::chrono::milliseconds time_to_next() const;
  /// Another owner has the command's run.
  void redirect(std::uint64_t command);
  /// The command was performed, or refused.
  void answer(std::uint64_t command, std::string reply, journal::ReplyDurability durability);

 private:
  void answer_waiting();
  struct Read;
  void on_read(const Read& read);

  const Parts parts_;
  std::atomic<bool> has_notice_{true};
  std::atomic<bool> may_adopt_{true};  ///< an owner may have left or died
  bool is_reading_ = false;
  std::int64_t read_at_ = 0;     ///< by `now_ms`
  std::int64_t adopted_at_ = 0;  ///< by `now_ms`
  WaitingGroup<journal::CommandAnswer> to_answer_;
  std::set<std::uint64_t> in_progress_;                  ///< taken, and not answered durably
  std::unique_ptr<journal::Subscription> subscription_;  ///< last: it uses the others
};

}  // namespace tenon::runtime
