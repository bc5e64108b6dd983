#include "runtime/host/stall_note.h"

#include <fmt/format.h>

#include <chrono>

namespace tenon::runtime {
namespace {

/// Longer than the pause after which a host tries again, so that there is a note as long as no one can continue the
/// run.
constexpr std::chrono::milliseconds stall_kept = std::chrono::minutes(5);

std::string key_of(const journal::RunName& run) {
  return "stall/" + run.text;
}

/// The note is `EPOCH MESSAGE`.
std::string prefix_of(const journal::RunHead& head) {
  return fmt::format("{} ", head.epoch);
}

}  // namespace

journal::Note make_stall_note(const journal::RunHead& head, std::string_view why, std::int64_t now_ms) {
  return {key_of(head.run), prefix_of(head) + std::string(why), now_ms + stall_kept.count()};
}

std::optional<std::string> find_stall(journal::Store& store, const journal::RunHead& head) {
  const auto note = store.find_note(key_of(head.run));
  const std::string prefix = prefix_of(head);
  if (!note || !*note || !(*note)->bytes.starts_with(prefix)) return std::nullopt;
  return (*note)->bytes.substr(prefix.size());
}

}  // namespace tenon::runtime
