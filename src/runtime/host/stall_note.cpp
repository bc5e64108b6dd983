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
  return find_stalls(store, {&head, 1}).front();
}

std::vector<std::optional<std::string>> find_stalls(journal::Store& store, std::span<const journal::RunHead> heads) {
  std::vector<std::optional<std::string>> stalls(heads.size());
  std::vector<std::string> keys;
  std::vector<std::size_t> places;
  for (std::size_t at = 0; at < heads.size(); ++at) {
    if (has_ended(heads[at].summary.state)) continue;
    keys.push_back(key_of(heads[at].run));
    places.push_back(at);
  }
  const auto notes = store.find_notes(keys);
  if (!notes) return stalls;
  for (std::size_t k = 0; k < keys.size(); ++k) {
    const std::string prefix = prefix_of(heads[places[k]]);
    const std::optional<journal::Note>& note = (*notes)[k];
    if (note && note->bytes.starts_with(prefix)) stalls[places[k]] = note->bytes.substr(prefix.size());
  }
  return stalls;
}

}  // namespace tenon::runtime
