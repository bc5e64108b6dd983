#include "runtime/host/requests/request_forwarder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace tenon::runtime {
namespace {

/// How long the reply of another owner is waited for. It may have to be found dead first, and its runs be taken over.
constexpr std::int64_t reply_wait_ms = 30'000;
/// How long a host that takes commands may be away, because it is being restarted, and how often it is looked for.
constexpr std::int64_t taker_wait_ms = 3'000;
constexpr std::int64_t taker_interval_ms = 1'000;
/// How often replies are looked for without a notice, which may have been lost.
constexpr std::int64_t reply_interval_ms = 500;
/// Processes that are asked one after the other.
constexpr std::size_t refusers_max = 16;

Result<std::string, std::string> to_bytes(const InboxCommand& command, effects::SecretVault* secrets) {
  // The answer to a question may be a secret.
  if (secrets != nullptr && secrets->has_key()) return seal_command(command, *secrets);
  return encode(command);
}

}  // namespace

RequestForwarder::RequestForwarder(Parts parts) : parts_(std::move(parts)) {
  if (parts_.store.owner().ownership().is_sole()) return;
  subscription_ = parts_.store.wakeups().subscribe([this](journal::Wakeups::Notice notice) {
    if (notice == journal::Wakeups::Notice::Command) return;
    has_notice_ = true;
    parts_.wake();
  });
}

void RequestForwarder::forward(const journal::RunName& run, const InboxCommand& command, std::string pool,
                               OnReply reply, std::optional<HostFailure> refused) {
  auto bytes = to_bytes(command, parts_.secrets);
  if (!bytes) return reply(failure(HostFailure{HostFailure::Kind::Unavailable, std::move(bytes.error())}));
  const bool starts = std::holds_alternative<StartRun>(command.action);
  auto outgoing = std::make_shared<Outgoing>(Outgoing{.run = run,
                                                      .bytes = std::move(*bytes),
                                                      .starts = starts,
                                                      .pool = std::move(pool),
                                                      .reply = std::move(reply),
                                                      .refusers = {},
                                                      .refusal = std::nullopt});
  if (refused) return refuse(outgoing, std::move(*refused));
  send(outgoing);
}

void RequestForwarder::send(const std::shared_ptr<Outgoing>& command) {
  to_send_.add(command);
  send_waiting();
}

/// Commands that come while others are being sent are sent together.
void RequestForwarder::send_waiting() {
  const auto group = to_send_.start();
  if (group == nullptr) return;
  const auto ids = std::make_shared<std::vector<Result<std::uint64_t, journal::StoreError>>>();
  const journal::OwnerId sender = parts_.store.owner().ownership().self();
  parts_.store.read(
      [ids, sender, group](journal::StoreConnection& store) {
        using StartsRun = journal::NewCommand::StartsRun;
        std::vector<journal::NewCommand> commands;
        for (const auto& command : *group)
          commands.push_back({.run = command->run,
                              .bytes = command->bytes,
                              .starts_run = command->starts ? StartsRun::Yes : StartsRun::No,
                              .pool = command->pool,
                              .sender = sender,
                              .except = command->refusers});
        *ids = store.inbox().send_all(commands);
      },
      [this, ids, group] {
        to_send_.finish();
        for (std::size_t at = 0; at < group->size(); ++at) on_sent((*group)[at], (*ids)[at]);
        send_waiting();
      });
}

void RequestForwarder::on_sent(const std::shared_ptr<Outgoing>& command,
                               const Result<std::uint64_t, journal::StoreError>& id) {
  if (!id) return command->reply(failure(command->refusal ? *command->refusal : make_failure(id.error())));
  const std::int64_t now = parts_.now_ms();
  sent_.emplace(*id, Sent{command, now + reply_wait_ms, now + taker_wait_ms});
  read_at_ = std::min(read_at_, now + reply_interval_ms);
}

/// Sends the command to another process than those that lack something.
void RequestForwarder::refuse(const std::shared_ptr<Outgoing>& command, HostFailure why) {
  const journal::OwnerId by{why.refuser};
  const bool was_asked_before = std::ranges::find(command->refusers, by) != command->refusers.end();
  if (by.number == 0 || was_asked_before || command->refusers.size() == refusers_max) {
    return command->reply(failure(std::move(why)));
  }
  command->refusers.push_back(by);
  command->refusal = std::move(why);
  send(command);
}

void RequestForwarder::poll() {
  if (sent_.empty() || is_reading_) return;
  const std::int64_t now = parts_.now_ms();
  if (has_notice_.exchange(false) || read_at_ <= now) take_replies();
  std::vector<std::uint64_t> late, doubtful;
  for (auto& [id, sent] : sent_) {
    if (sent.is_withdrawing) continue;
    if (sent.withdraw_at <= now) late.push_back(id);
    if (sent.withdraw_at <= now || sent.look_at > now) continue;
    sent.look_at = now + taker_interval_ms;
    doubtful.push_back(id);
  }
  if (!doubtful.empty()) look_for_takers(std::move(doubtful));
  for (const std::uint64_t id : late) withdraw(id);
}

std::chrono::milliseconds RequestForwarder::time_to_next() const {
  if (sent_.empty() || is_reading_) return std::chrono::milliseconds::max();
  if (has_notice_) return std::chrono::milliseconds{0};
  return std::chrono::milliseconds(std::max<std::int64_t>(read_at_ - parts_.now_ms(), 0));
}

void RequestForwarder::take_replies() {
  is_reading_ = true;
  read_at_ = parts_.now_ms() + reply_interval_ms;
  std::vector<std::uint64_t> ids;
  ids.reserve(sent_.size());
  for (const auto& [id, sent] : sent_) ids.push_back(id);
  const auto replies = std::make_shared<Result<std::vector<journal::CommandReply>, journal::StoreError>>();
  parts_.store.read(
      [replies, ids = std::move(ids)](journal::StoreConnection& store) { *replies = store.inbox().take_replies(ids); },
      [this, replies] {
        is_reading_ = false;
        if (!*replies) return;  // read again after a while
        for (const auto& [command, bytes] : **replies) end(command, decode_reply(bytes));
      });
}

void RequestForwarder::look_for_takers(std::vector<std::uint64_t> commands) {
  const auto left = std::make_shared<Result<std::vector<std::uint64_t>, journal::StoreError>>();
  parts_.store.read([left, commands = std::move(commands)](
                        journal::StoreConnection& store) { *left = store.inbox().without_taker(commands); },
                    [this, left] {
                      if (!*left) return;  // looked for again after a while
                      for (const std::uint64_t command : **left) {
                        const auto found = sent_.find(command);
                        if (found == sent_.end() || found->second.is_withdrawing) continue;
                        found->second.has_no_taker = true;
                        withdraw(command);
                      }
                    });
}

/// A command that is left in the inbox could be performed much later, when its sender has long given up.
void RequestForwarder::withdraw(std::uint64_t command) {
  sent_.at(command).is_withdrawing = true;
  const auto withdrawn = std::make_shared<Result<bool, journal::StoreError>>();
  parts_.store.read(
      [withdrawn, command](journal::StoreConnection& store) { *withdrawn = store.inbox().withdraw(command); },
      [this, withdrawn, command] {
        const auto found = sent_.find(command);
        if (found == sent_.end()) return;
        Sent& sent = found->second;
        sent.is_withdrawing = false;
        const bool is_late = *withdrawn && !**withdrawn;
        if (!*withdrawn || (is_late && !std::exchange(sent.was_withdrawn_late, true))) {
          sent.withdraw_at = parts_.now_ms() + reply_interval_ms;
          sent.has_no_taker = false;
          has_notice_ = true;  // its reply may have come
          return;
        }
        std::string why =
            sent.has_no_taker
                ? "no server of the store continues runs now: all hosts of the run's pool have ended"
                : fmt::format("the process that continues the run has not replied within {} s", reply_wait_ms / 1'000);
        end(command, failure(HostFailure{HostFailure::Kind::Unavailable, std::move(why)}));
      });
}

void RequestForwarder::end(std::uint64_t command, HostReply reply) {
  const auto ended = sent_.extract(command);
  if (ended.empty()) return;
  const std::shared_ptr<Outgoing>& sent = ended.mapped().command;
  const bool is_unequipped = !reply && reply.error().kind == HostFailure::Kind::Unequipped;
  if (is_unequipped) return refuse(sent, std::move(reply.error()));
  sent->reply(std::move(reply));
}

void RequestForwarder::fail_all(const HostFailure& why) {
  for (const auto& command : to_send_.take()) command->reply(failure(why));
  for (const auto& [command, sent] : std::exchange(sent_, {})) sent.command->reply(failure(why));
}

}  // namespace tenon::runtime
