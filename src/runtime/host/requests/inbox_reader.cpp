#include "runtime/host/requests/inbox_reader.h"

#include <algorithm>
#include <utility>

namespace tenon::runtime {
namespace {

/// Commands that are read together.
constexpr std::size_t commands_per_read = 256;
/// How often the inbox is read without a notice, which may have been lost, or where the system offers none, and how
/// often commands of owners that have died are looked for.
constexpr std::int64_t read_interval_ms = 1'000;
/// The same for a store whose notices are lost only if their sender ends between the command and the notice.
constexpr std::int64_t noticed_interval_ms = 5'000;

}  // namespace

InboxReader::InboxReader(Parts parts)
    : parts_(std::move(parts)), subscription_(parts_.store.wakeups().subscribe([this](journal::Wakeups::Notice notice) {
        if (notice == journal::Wakeups::Notice::Reply) return;
        if (notice == journal::Wakeups::Notice::Any) may_adopt_ = true;
        has_notice_ = true;
        parts_.wake();
      })) {}

/// What a read of the inbox has found.
struct InboxReader::Read {
  Result<std::size_t, journal::StoreError> adopted = 0;
  Result<std::vector<journal::Command>, journal::StoreError> commands;
};

void InboxReader::poll() {
  if (is_reading_ || time_to_next().count() > 0) return;
  has_notice_ = false;
  is_reading_ = true;
  read_at_ = parts_.now_ms();
  const bool adopts = may_adopt_.exchange(false) || adopted_at_ + read_interval_ms <= read_at_;
  if (adopts) adopted_at_ = read_at_;
  const auto read = std::make_shared<Read>();
  const journal::OwnerId owner = parts_.store.owner().ownership().self();
  parts_.store.read(
      [read, owner, adopts,
       known = std::vector(in_progress_.begin(), in_progress_.end())](journal::StoreConnection& store) {
        if (adopts) read->adopted = store.inbox().adopt(owner, commands_per_read);
        read->commands = store.inbox().unanswered(owner, known, commands_per_read);
      },
      [this, read] {
        is_reading_ = false;
        on_read(*read);
      });
}

std::chrono::milliseconds InboxReader::time_to_next() const {
  if (is_reading_) return std::chrono::milliseconds::max();
  if (has_notice_) return std::chrono::milliseconds{0};
  const bool is_noticed = subscription_ != nullptr && parts_.store.owner().ownership().is_sole();
  const std::int64_t interval_ms = is_noticed ? noticed_interval_ms : read_interval_ms;
  return std::chrono::milliseconds(std::max<std::int64_t>(read_at_ + interval_ms - parts_.now_ms(), 0));
}

void InboxReader::on_read(const Read& read) {
  // There may be more than were read.
  if (read.adopted && *read.adopted == commands_per_read) may_adopt_ = has_notice_ = true;
  if (read.commands && read.commands->size() == commands_per_read) has_notice_ = true;
  if (!read.adopted) parts_.report(read.adopted.error().message);
  if (!read.commands) return parts_.report(read.commands.error().message);
  for (const journal::Command& command : *read.commands) {
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
