#include "core/waiting.h"

namespace tenon::python {
namespace {

unsigned long main_thread = 0;

}  // namespace

void set_main_thread(unsigned long ident) {
  main_thread = ident;
}

bool hears_signals() {
  return PyThread_get_thread_ident() == main_thread;
}

std::uint64_t milliseconds_of(Timeout timeout) {
  if (!timeout || *timeout > 1e12) return TENON_FOREVER;
  return *timeout <= 0 ? 0 : static_cast<std::uint64_t>(*timeout * 1000);
}

}  // namespace tenon::python
