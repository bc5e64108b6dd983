#include "engine/remote_run.h"

#include <utility>

namespace tenon::engine {

RemoteRun::RemoteRun(journal::Wakeups& wakeups, const journal::RunName& run, std::function<void()> on_changed,
                     OnText on_text)
    : changed_(std::move(on_changed)), text_(std::move(on_text)), subscription_(wakeups.watch(run, *this)) {}

void RemoteRun::on_message(std::string_view message) {
  const auto received = runtime::decode_text(message);
  if (received) text_(received->view());
}

}  // namespace tenon::engine
