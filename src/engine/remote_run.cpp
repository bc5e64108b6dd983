#include "engine/remote_run.h"

#include <utility>

namespace tenon::engine {
namespace {

/// Generations of a run that are remembered, in case they are streamed again.
constexpr std::size_t generations_max = 256;

}  // namespace

RemoteRun::RemoteRun(journal::Wakeups& wakeups, const journal::RunName& run, std::function<void()> on_changed,
                     OnText on_text)
    : changed_(std::move(on_changed)), text_(std::move(on_text)), subscription_(wakeups.watch(run, *this)) {}

void RemoteRun::on_message(std::string_view message) {
  const auto received = runtime::decode_text(message);
  if (!received) return;
  if (writing_.size() >= generations_max && !writing_.contains(received->generation)) writing_.clear();
  const auto [found, is_new] = writing_.try_emplace(received->generation, Writing{received->attempt, 0, 0});
  Writing& writing = found->second;
  const bool begins_again = received->attempt != writing.owners_attempt || received->offset < writing.end;
  if (!is_new && begins_again) ++writing.attempt;
  writing.owners_attempt = received->attempt;
  writing.end = received->offset + received->piece.size();
  runtime::TextProgress text = received->view();
  text.attempt = writing.attempt;
  text_(text);
}

}  // namespace tenon::engine
