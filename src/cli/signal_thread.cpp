#include "cli/signal_thread.h"

#include <signal.h>
#include <unistd.h>

#include <system_error>
#include <thread>

#include "base/descriptor.h"

namespace tenon::cli {

void handle_on_own_thread(std::initializer_list<int> signals) {
  reserve_descriptors();
  sigset_t handled;
  sigset_t before;
  sigemptyset(&handled);
  for (const int signal : signals) sigaddset(&handled, signal);
  pthread_sigmask(SIG_BLOCK, &handled, &before);
  try {
    std::thread([before] {
      pthread_sigmask(SIG_SETMASK, &before, nullptr);
      for (;;) ::pause();
    }).detach();
  } catch (const std::system_error&) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
}

}  // namespace tenon::cli
