#include "runtime/host/requests/inbox_reader.h"

#include <algorithm>
#include <utility>

namespace tenon::runtime {
namespace {

/// Commands that are read together.
constexpr std::size_t commands_per_read = 256;
/// How often the inbox is read without a notice, which may have been lost.
constexpr std::int64_t read_interval_ms = 1'000;

}  // namespace

InboxReader::InboxReader(Parts parts)
    : parts_(std::move(parts)), subscription_(parts_.store.wakeups().subscribe([this](journal::Wakeups::Notice notice) {
        if (notice == journal::Wakeups::Notice::Reply) return;
        has_notice_ = true;
        parts_.wake();
      })) {}

void InboxReader::poll() {
  if (is_reading_ || time_to_next().count() > 0) return;
  has_notice_ = false;
  is_reading_ = true;
  read_at_ = parts_.now_ms();
  const auto commands = std::make_shared<Result<std::vector<journal::Command>, journal::StoreError>>();
  const journal::OwnerId owner = parts_.store.owner().ownership().self();
  parts_.store.read(
      [commands, owner, known = std::vector(in_progress_.begin(), in_progress_.end())](
          journal::StoreConnection& store) { *commands = store.inbox().unanswered(owner, known, commands_per_read); },
      [this, commands] {
        is_reading_ = false;
        // There may be more than were read.
        if (*commands && (*commands)->size() == commands_per_read) has_notice_ = true;
        on_read(*commands);
      });
}

std::chrono::milliseconds InboxReader::time_to_next() const {
  if (is_reading_) return std::chrono::milliseconds(read_interval_ms);
  if (has_notice_) return std::chrono::milliseconds{0};
  return std::chrono::milliseconds(std::max<std::int64_t>(read_at_ + read_interval_ms - parts_.now_ms(), 0));
}

void InboxReader::on_read(const Result<std::vector<journal::Command>, journal::StoreError>& commands) {
  if (!commands) return parts_.report(commands.error().message);
  for (const journal::Command& command : *commands) {
    in_progress_.insert(command.id);
    parts_.take(command);
  }
}

void InboxReader::redirect(std::uint64_t command) {
  const auto redirected = std::make_shared<Result<void, journal::StoreError>>();
  parts_.store.write(
      [command, redirected](journal::StoreConnection& store) { *redirected = store.inbox().redirect(command); },
      [this, command, redirected] {
        in_progress_.erase(command);
        if (!*redirected) parts_.report(redirected->error().message);
      });
}

void InboxReader::answer(std::uint64_t command, std::string reply, journal::ReplyDurability durability) {
  to_answer_.add({command, std::move(reply), durability});
  answer_waiting();
}

/// Replies that come while others are being given are given together.
void InboxReader::answer_waiting() {
  const auto group = to_answer_.start();
  if (group == nullptr) return;
  const auto answered = std::make_shared<Result<void, journal::StoreError>>();
  parts_.store.write(
      [group, answered](journal::StoreConnection& store) { *answered = store.inbox().answer_all(*group); },
      [this, group, answered] {
        to_answer_.finish();
        for (const journal::CommandAnswer& given : *group) in_progress_.erase(given.command);
        if (!*answered) parts_.report(answered->error().message);
        parts_.counts.commands_taken += group->size();
        answer_waiting();
      });
}

}  // namespace tenon::runtime
