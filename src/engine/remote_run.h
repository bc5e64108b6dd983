#pragma once

#include <functional>
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

  const std::function<void()> changed_;
  const OnText text_;
  std::unique_ptr<journal::Subscription> subscription_;  ///< last: it uses the others
};

}  // namespace tenon::engine
