#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "journal/wakeups.h"
#include "runtime/host/text_pieces.h"

namespace tenon::engine {

/// Follows a run that another process may own: when it has new records, and the pieces of its answers. The functions
/// are called on another thread, one at a time, and not after this is destroyed.
class RemoteRun final : private journal::Wakeups::Watcher {
 public:
  using OnText = std::function<void(const runtime::TextProgress& text)>;

  RemoteRun(journal::Wakeups& wakeups, const journal::RunName& run, std::function<void()> on_changed, OnText on_text);

 private:
  void on_changed() override { changed_(); }
  void on_message(std::string_view message) override;

  /// Attempts are counted by each owner from 0, and a reader sees those of one owner after those of another.
  struct Writing {
    std::uint32_t owners_attempt = 0;
    std::uint32_t attempt = 0;
    std::uint64_t end = 0;  ///< the offset after the newest piece
  };

  const std::function<void()> changed_;
  const OnText text_;
  std::map<std::string, Writing> writing_;               ///< by generation
  std::unique_ptr<journal::Subscription> subscription_;  ///< last: it uses the others
};

}  // namespace tenon::engine
