#pragma once

#include <initializer_list>

namespace tenon::cli {

/// Starts a thread on which the handlers of `signals` run from now on: they interrupt no system call of the calling
/// thread, nor of threads started after this call. So an extern never sees EINTR because of them. If the system starts
/// no thread, the handlers run on any thread, as before.
void handle_on_own_thread(std::initializer_list<int> signals);

}  // namespace tenon::cli
