#include "journal/inbox.h"

#include <utility>

namespace tenon::journal {

std::vector<Result<std::uint64_t, StoreError>> Inbox::send_all(std::span<const NewCommand> commands) {
  std::vector<Result<std::uint64_t, StoreError>> outcomes;
  outcomes.reserve(commands.size());
  for (const NewCommand& command : commands) outcomes.push_back(send(command));
  return outcomes;
}

Result<void, StoreError> Inbox::answer_all(std::span<const CommandAnswer> answers) {
  Result<void, StoreError> outcome;
  for (const CommandAnswer& given : answers) {
    auto answered = answer(given.command, given.bytes, given.durability);
    if (!answered && outcome) outcome = std::move(answered);
  }
  return outcome;
}

}  // namespace tenon::journal
