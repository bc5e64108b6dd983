#include "base/signal_free_thread.h"

#include <signal.h>

#include <utility>

#include "base/descriptor.h"

namespace tenon {
namespace {

/// Blocks all signals of the calling thread while it exists.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

std::thread start_signal_free_thread(std::function<void()> work) {
  reserve_descriptors();
  const BlockedSignals blocked;  // a thread begins with the mask of the one that starts it
  return std::thread(std::move(work));
}

}  // namespace tenon
