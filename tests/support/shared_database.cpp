#include "tests/support/shared_database.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/ensure.h"
#include "journal/batch.h"

namespace tenon::test {

using journal::AppendRefusal;
using journal::OwnerId;
using journal::OwnerRole;
using journal::RunName;
using journal::RunState;

namespace {

/// How long a session is seen to be missing before its owner counts as dead.
constexpr std::int64_t missing_ms = 200;
/// The part of a lease that its owner does not use.
constexpr std::int64_t margin_percent = 10;

journal::StoreError error(journal::StoreError::Kind kind, std::string message) {
  return {kind, std::move(message)};
}

}  // namespace

std::unique_ptr<SharedConnection> SharedDatabase::join(OwnerRole role, const std::string& pool,
                                                       std::chrono::milliseconds lease, Clock& clock) {
  const OwnerId id{next_owner_++};
  OwnerRow row;
  row.role = role;
  row.pool = pool;
  row.joined_at = now_ms;
  row.lease_ms = lease.count();
  owners_.emplace(id.number, row);
  auto connection = std::make_unique<SharedConnection>(*this, id, &clock);
  connection->keep();
  return connection;
}

std::unique_ptr<SharedConnection> SharedDatabase::connect() {
  return std::make_unique<SharedConnection>(*this, std::nullopt, nullptr);
}

bool SharedDatabase::lives(OwnerId owner) const {
  const auto found = owners_.find(owner.number);
  return found != owners_.end() && !found->second.is_dead;
}

void SharedDatabase::mark_dead(OwnerId owner) {
  OwnerRow& row = owners_.at(owner.number);
  if (std::exchange(row.is_dead, true)) return;
  row.has_session = false;
  ++abandonments_;
  for (const auto& [other, of_other] : owners_) {
    if (!of_other.is_dead) notify({other});
  }
}

/// Marks those whose lease has ended or whose session is gone; `only`: at once, only this one.
void SharedDatabase::mark_expired(std::optional<OwnerId> only) {
  std::vector<OwnerId> expired;
  for (auto& [number, row] : owners_) {
    if (row.is_dead || (only && only->number != number)) continue;
    if (!row.has_session && !row.missing_since) row.missing_since = now_ms;
    const bool is_missing = row.missing_since && *row.missing_since + missing_ms <= now_ms;
    if (row.lease_until <= now_ms || is_missing) expired.push_back({number});
  }
  for (const OwnerId owner : expired) mark_dead(owner);
}

void SharedDatabase::notify(OwnerId owner, Notice notice) {
  if (owner.number == 0 || chance(lost_notices_one_in)) return;
  noticed_.emplace_back(owner.number, notice);
}

void SharedDatabase::deliver_notices() {
  for (const auto& [owner, notice] : std::exchange(noticed_, {})) {
    for (auto* const listener : subscribers_[owner]) (*listener)(notice);
  }
}

const journal::RunHead* SharedDatabase::find_head(const RunName& run) const {
  const auto found = runs_.find(run.text);
  return found == runs_.end() ? nullptr : &found->second.head;
}

OwnerId SharedDatabase::owner_of(const RunName& run) const {
  const auto found = runs_.find(run.text);
  return found == runs_.end() || !lives(found->second.owner) ? OwnerId{} : found->second.owner;
}

std::size_t SharedDatabase::unanswered_commands() const {
  return static_cast<std::size_t>(std::ranges::count_if(inbox_, [](const auto& row) { return !row.second.reply; }));
}

/// The living host of the pool with the fewest runs; of several a random one.
OwnerId SharedDatabase::find_host(const std::string& pool, std::span<const OwnerId> except) {
  std::vector<OwnerId> best;
  std::uint64_t fewest = UINT64_MAX;
  for (const auto& [number, row] : owners_) {
    if (row.is_dead || row.role != OwnerRole::Host || row.pool != pool || row.runs > fewest) continue;
    if (std::ranges::find(except, OwnerId{number}) != except.end()) continue;
    if (row.runs < fewest) best.clear();
    fewest = row.runs;
    best.push_back({number});
  }
  return best.empty() ? OwnerId{} : best[random_() % best.size()];
}

std::optional<AppendRefusal> SharedDatabase::find_refusal(const journal::Append& append, OwnerId owner,
                                                          std::vector<journal::Content>& added) const {
  const auto found = runs_.find(append.run.text);
  if (append.first == 0) return AppendRefusal::WrongNumber;
  if (found != runs_.end()) {
    const Run& run = found->second;
    if (run.head.summary.state == RunState::Forgotten) return AppendRefusal::UnknownRun;
    if (append.epoch != run.head.epoch || run.owner != owner) return AppendRefusal::OldEpoch;
    if (run.head.records + 1 != append.first) return AppendRefusal::WrongNumber;
  } else if (append.first != 1) {
    return AppendRefusal::UnknownRun;
  }
  if (!lives(owner)) return AppendRefusal::OldEpoch;
  if (append.snapshot && append.snapshot->after > append.first - 1 + append.records.size()) {
    return AppendRefusal::WrongNumber;
  }
  for (const journal::Note& note : append.notes) {
    if (note.use == journal::NoteUse::Replace) continue;
    const auto older = notes_.find(note.key);
    if (older != notes_.end() && older->second.expires_at.value_or(INT64_MAX) > append.summary.updated_at) {
      return AppendRefusal::NoteExists;
    }
  }
  std::set<Hash> seen;
  std::vector<Hash> open(append.references.begin(), append.references.end());
  while (!open.empty()) {
    const Hash hash = open.back();
    open.pop_back();
    if (!seen.insert(hash).second || (found != runs_.end() && found->second.contents.contains(hash))) continue;
    const auto offered = std::ranges::find(append.contents, hash, &journal::Content::hash);
    if (offered == append.contents.end()) return AppendRefusal::UnknownReference;
    added.push_back(*offered);
    open.insert(open.end(), offered->refers.begin(), offered->refers.end());
  }
  return std::nullopt;
}

std::optional<AppendRefusal> SharedDatabase::apply(const journal::Append& append, OwnerId owner) {
  std::vector<journal::Content> added;
  if (const auto refusal = find_refusal(append, owner, added)) return refusal;
  const auto [entry, is_new] = runs_.try_emplace(append.run.text);
  Run& run = entry->second;
  if (is_new) {
    run.head.run = append.run;
    run.head.epoch = append.epoch;
    run.head.chain = journal::chain_start(append.run);
    run.head.created_at = append.summary.updated_at;
    run.owner = owner;
    run.pool = append.pool;
  }
  run.head.chain = journal::encode_batch(run.head.chain, append.records, append.references).chain;
  run.records.insert(run.records.end(), append.records.begin(), append.records.end());
  run.head.records = run.records.size();
  run.head.summary = append.summary;
  for (journal::Content& content : added) {
    const Hash hash = content.hash;
    run.contents.emplace(hash, std::move(content));
  }
  if (append.snapshot) run.snapshot = append.snapshot;
  for (const journal::Note& note : append.notes) notes_.insert_or_assign(note.key, note);
  if (append.moves_to) {
    run.pool = *append.moves_to;
    run.owner = find_host(run.pool);
    run.is_given = run.owner.number != 0;
    ++run.head.epoch;
    ++(run.is_given ? given_ : abandonments_);
    for (auto& [id, command] : inbox_) {
      if (command.reply || command.run != append.run) continue;
      command.target = {};
      command.pool = run.pool;
    }
    for (const auto& [other, row] : owners_) {
      if (!row.is_dead && row.pool == run.pool && (!run.is_given || other == run.owner.number)) notify({other});
    }
  }
  if (on_applied) on_applied(append);
  return std::nullopt;
}

Result<journal::RunHead, journal::StoreError> SharedDatabase::claim(const RunName& name, journal::ClaimMode mode,
                                                                    OwnerId owner) {
  using Kind = journal::StoreError::Kind;
  const auto found = runs_.find(name.text);
  if (found == runs_.end()) return failure(error(Kind::Missing, "there is no run " + name.text));
  Run& run = found->second;
  if (journal::has_ended(run.head.summary.state)) return run.head;
  const OwnerRow& claimer = owners_.at(owner.number);
  if (claimer.is_dead) return failure(error(Kind::Unavailable, "this owner has lost its lease"));
  if (mode == journal::ClaimMode::IfExpired && lives(run.owner) && run.owner != owner) mark_expired(run.owner);
  const bool is_mine = run.owner == owner;
  const bool is_free = !lives(run.owner);
  const bool is_of_pool = claimer.role != OwnerRole::Host || claimer.pool == run.pool;
  if (!is_mine && (!is_free || !is_of_pool || mode == journal::ClaimMode::IfMine)) {
    return failure(error(Kind::Owned, "another owner has the run " + name.text));
  }
  run.owner = owner;
  run.is_given = false;
  ++run.head.epoch;
  return run.head;
}

SharedConnection::~SharedConnection() {
  if (owner_ && !has_died_ && !is_cut_ && database_.lives(*owner_)) database_.mark_dead(*owner_);
}

std::optional<journal::StoreError> SharedConnection::problem() const {
  if (!has_died_ && !is_cut_) return std::nullopt;
  return error(Error::Kind::Unavailable, "the database cannot be reached");
}

Result<SharedDatabase::Run*, journal::StoreError> SharedConnection::find(const RunName& run) const {
  if (auto why = problem()) return failure(std::move(*why));
  const auto found = database_.runs_.find(run.text);
  if (found == database_.runs_.end()) return failure(error(Error::Kind::Missing, "there is no run " + run.text));
  return &found->second;
}

void SharedConnection::keep() {
  if (!owner_ || has_died_ || is_cut_) return;
  SharedDatabase::OwnerRow& row = database_.owners_.at(owner_->number);
  if (row.is_dead) {
    is_lost_ = true;
    return;
  }
  row.has_session = true;
  row.missing_since.reset();
  row.lease_until = database_.now_ms + row.lease_ms;
  is_session_lost_ = false;
  lease_end_ = clock_->monotonic() + std::chrono::milliseconds(row.lease_ms * (100 - margin_percent) / 100);
  database_.mark_expired();
}

void SharedConnection::lose_session() {
  if (!owner_ || !database_.lives(*owner_)) return;
  database_.owners_.at(owner_->number).has_session = false;
  is_session_lost_ = true;
}

void SharedConnection::die() {
  lose_session();
  has_died_ = true;
}

Result<journal::AppendOutcomes, journal::StoreError> SharedConnection::commit(
    std::span<const journal::Append> appends) {
  if (auto why = problem()) return failure(std::move(*why));
  ENSURE(owner_);
  const bool is_lost = database_.chance(database_.lost_commits_one_in);
  const auto lost = error(Error::Kind::Unavailable, "the connection was lost in the middle of a commit");
  if (is_lost && database_.random_() % 2 == 0) return failure(lost);
  journal::AppendOutcomes outcomes;
  for (const journal::Append& append : appends) outcomes.push_back(database_.apply(append, *owner_));
  if (is_lost) return failure(lost);
  return outcomes;
}

Result<journal::ClaimOutcomes, journal::StoreError> SharedConnection::claim(std::span<const RunName> runs,
                                                                            journal::ClaimMode mode) {
  if (auto why = problem()) return failure(std::move(*why));
  if (!owner_) return failure(error(Error::Kind::InUse, "a reader claims no runs"));
  journal::ClaimOutcomes outcomes;
  for (const RunName& run : runs) outcomes.push_back(database_.claim(run, mode, *owner_));
  return outcomes;
}

Result<std::optional<journal::Note>, journal::StoreError> SharedConnection::find_note(std::string_view key) {
  if (auto why = problem()) return failure(std::move(*why));
  const auto found = database_.notes_.find(std::string(key));
  return found == database_.notes_.end() ? std::nullopt : std::optional(found->second);
}

Result<journal::RunHead, journal::StoreError> SharedConnection::head(const RunName& run) {
  const auto found = find(run);
  if (!found) return failure(found.error());
  return (*found)->head;
}

Result<std::vector<journal::Record>, journal::StoreError> SharedConnection::read(const RunName& run,
                                                                                 std::uint64_t after,
                                                                                 std::size_t limit) {
  const auto found = find(run);
  if (!found) return failure(found.error());
  std::vector<journal::Record> records;
  for (std::uint64_t at = after; at < (*found)->records.size() && records.size() < limit; ++at) {
    records.push_back({at + 1, (*found)->records[at]});
  }
  return records;
}

Result<std::optional<journal::Snapshot>, journal::StoreError> SharedConnection::snapshot(const RunName& run) {
  const auto found = find(run);
  if (!found) return failure(found.error());
  ++database_.whole_reads;
  return (*found)->snapshot;
}

Result<std::string, journal::StoreError> SharedConnection::content(const RunName& run, const Hash& hash) {
  const auto found = find(run);
  if (!found) return failure(found.error());
  const auto content = (*found)->contents.find(hash);
  if (content == (*found)->contents.end()) return failure(error(Error::Kind::Missing, "there is no such content"));
  return content->second.bytes;
}

Result<std::vector<journal::RunHead>, journal::StoreError> SharedConnection::list(const journal::RunFilter& filter) {
  if (auto why = problem()) return failure(std::move(*why));
  std::vector<journal::RunHead> heads;
  for (auto at = database_.runs_.upper_bound(filter.after); at != database_.runs_.end(); ++at) {
    const journal::RunHead& head = at->second.head;
    if (heads.size() == filter.limit) break;
    if (!filter.state || head.summary.state == *filter.state) heads.push_back(head);
  }
  return heads;
}

Result<std::vector<journal::DueRun>, journal::StoreError> SharedConnection::due(const journal::DueFilter& filter) {
  if (auto why = problem()) return failure(std::move(*why));
  std::vector<journal::DueRun> due;
  for (const auto& [name, run] : database_.runs_) {
    const auto wake_at = run.head.summary.wake_at;
    const bool may_claim = run.owner == filter.owner || !database_.lives(run.owner);
    if (!wake_at || *wake_at > filter.now || !may_claim) continue;
    if (filter.after && std::pair(*wake_at, name) <= std::pair(filter.after->wake_at, filter.after->run.text)) continue;
    due.push_back({*wake_at, {name}});
  }
  std::ranges::sort(due, {}, [](const journal::DueRun& run) { return std::pair(run.wake_at, run.run.text); });
  if (due.size() > filter.limit) due.resize(filter.limit);
  return due;
}

Result<journal::StoreCounts, journal::StoreError> SharedConnection::count() {
  if (auto why = problem()) return failure(std::move(*why));
  journal::StoreCounts counts;
  for (const auto& [name, run] : database_.runs_) ++counts.runs[run.head.summary.state];
  for (const auto& [number, command] : database_.inbox_) counts.commands += command.reply ? 0U : 1U;
  return counts;
}

Result<std::optional<std::int64_t>, journal::StoreError> SharedConnection::next_due(
    const std::optional<journal::DueRun>& after, OwnerId owner) {
  const auto runs = due({.now = INT64_MAX, .after = after, .owner = owner});
  if (!runs) return failure(runs.error());
  return runs->empty() ? std::nullopt : std::optional(runs->front().wake_at);
}

Result<std::optional<journal::RunName>, journal::StoreError> SharedConnection::newest() {
  const auto heads = list({});
  if (!heads) return failure(heads.error());
  return heads->empty() ? std::nullopt : std::optional(heads->back().run);
}

Result<std::uint64_t, journal::StoreError> SharedConnection::send(const journal::NewCommand& command) {
  if (auto why = problem()) return failure(std::move(*why));
  SharedDatabase::CommandRow row{.run = command.run,
                                 .target = {},
                                 .sender = command.sender,
                                 .pool = std::string(command.pool),
                                 .bytes = std::string(command.bytes),
                                 .reply = std::nullopt};
  if (const auto found = database_.runs_.find(command.run.text); found != database_.runs_.end()) {
    row.pool = found->second.pool;
    row.target = database_.owner_of(command.run);
  } else if (command.starts_run == journal::NewCommand::StartsRun::No) {
    return failure(error(Error::Kind::Missing, "there is no run " + command.run.text));
  }
  if (std::ranges::find(command.except, row.target) != command.except.end()) row.target = {};
  if (row.target.number == 0) row.target = database_.find_host(row.pool, command.except);
  if (row.target.number == 0 && !command.except.empty()) {
    return failure(error(Error::Kind::Missing, "no other process can take the command"));
  }
  database_.notify(row.target, Notice::Command);
  const std::uint64_t id = database_.next_command_++;
  database_.inbox_.emplace(id, std::move(row));
  return id;
}

Result<journal::CommandTaker, journal::StoreError> SharedConnection::taker_of(const journal::RunName& run) {
  if (auto why = problem()) return failure(std::move(*why));
  const auto found = database_.runs_.find(run.text);
  if (found == database_.runs_.end() || journal::has_ended(found->second.head.summary.state))
    return journal::CommandTaker::None;
  if (const OwnerId owner = database_.owner_of(run); owner.number != 0) {
    const bool is_visitor = database_.owners_.at(owner.number).role == OwnerRole::Visitor;
    return is_visitor ? journal::CommandTaker::Visitor : journal::CommandTaker::Owner;
  }
  const bool has_host = database_.find_host(found->second.pool).number != 0;
  return has_host ? journal::CommandTaker::Host : journal::CommandTaker::None;
}

Result<std::size_t, journal::StoreError> SharedConnection::adopt(OwnerId owner, std::size_t limit) {
  if (auto why = problem()) return failure(std::move(*why));
  const auto self = database_.owners_.find(owner.number);
  if (self == database_.owners_.end() || self->second.is_dead || self->second.role != OwnerRole::Host) return 0;
  std::size_t count = 0;
  for (auto& [id, row] : database_.inbox_) {
    if (row.reply || database_.lives(row.target) || self->second.pool != row.pool) continue;
    if (count == limit) break;
    ++count;
    const OwnerId has_run = database_.owner_of(row.run);
    row.target = has_run.number != 0 ? has_run : owner;
    if (row.target != owner) database_.notify(row.target, Notice::Command);
  }
  return count;
}

Result<std::vector<journal::Command>, journal::StoreError> SharedConnection::unanswered(
    OwnerId owner, std::span<const std::uint64_t> known, std::size_t limit) {
  if (auto why = problem()) return failure(std::move(*why));
  std::vector<journal::Command> commands;
  const auto self = database_.owners_.find(owner.number);
  if (self == database_.owners_.end() || self->second.is_dead) return commands;
  for (const auto& [id, row] : database_.inbox_) {
    if (row.reply || commands.size() == limit) continue;
    const bool is_known = std::ranges::find(known, id) != known.end();
    if (row.target == owner && !is_known) commands.push_back({id, row.run, row.bytes});
  }
  return commands;
}

Result<void, journal::StoreError> SharedConnection::redirect(std::uint64_t command) {
  if (auto why = problem()) return failure(std::move(*why));
  const auto found = database_.inbox_.find(command);
  if (found == database_.inbox_.end() || found->second.reply) return {};
  SharedDatabase::CommandRow& row = found->second;
  const auto run = database_.runs_.find(row.run.text);
  if (run == database_.runs_.end()) return {};
  OwnerId target = database_.owner_of(row.run);
  if (target.number == 0) {
    if (row.pool == run->second.pool) return {};
    target = database_.find_host(run->second.pool);
  }
  row.pool = run->second.pool;
  row.target = target;
  database_.notify(target, Notice::Command);
  return {};
}

Result<void, journal::StoreError> SharedConnection::answer(std::uint64_t command, std::string_view reply,
                                                           journal::ReplyDurability /*durability*/) {
  if (auto why = problem()) return failure(std::move(*why));
  const auto found = database_.inbox_.find(command);
  if (found == database_.inbox_.end() || found->second.reply) {
    return failure(error(Error::Kind::Missing, "there is no such unanswered command"));
  }
  found->second.reply = std::string(reply);
  database_.notify(found->second.sender, Notice::Reply);
  return {};
}

Result<std::optional<std::string>, journal::StoreError> SharedConnection::take_reply(std::uint64_t command) {
  if (auto why = problem()) return failure(std::move(*why));
  const auto found = database_.inbox_.find(command);
  if (found == database_.inbox_.end()) return failure(error(Error::Kind::Missing, "there is no such command"));
  if (!found->second.reply) return std::optional<std::string>();
  std::optional<std::string> reply = std::move(found->second.reply);
  database_.inbox_.erase(found);
  return reply;
}

Result<std::vector<journal::CommandReply>, journal::StoreError> SharedConnection::take_replies(
    std::span<const std::uint64_t> commands) {
  if (auto why = problem()) return failure(std::move(*why));
  std::vector<journal::CommandReply> replies;
  for (const std::uint64_t command : commands) {
    auto reply = take_reply(command);
    if (reply && *reply) replies.push_back({command, std::move(**reply)});
  }
  return replies;
}

Result<std::vector<std::uint64_t>, journal::StoreError> SharedConnection::without_taker(
    std::span<const std::uint64_t> commands) {
  if (auto why = problem()) return failure(std::move(*why));
  std::vector<std::uint64_t> left;
  for (const std::uint64_t id : commands) {
    const auto found = database_.inbox_.find(id);
    if (found == database_.inbox_.end() || found->second.reply) continue;
    const SharedDatabase::CommandRow& row = found->second;
    if (!database_.lives(row.target) && database_.find_host(row.pool).number == 0) left.push_back(id);
  }
  return left;
}

Result<bool, journal::StoreError> SharedConnection::withdraw(std::uint64_t command) {
  if (auto why = problem()) return failure(std::move(*why));
  const auto found = database_.inbox_.find(command);
  if (found == database_.inbox_.end() || found->second.reply) return false;
  database_.inbox_.erase(found);
  return true;
}

journal::LeaseState SharedConnection::lease() {
  if (is_lost_) return journal::LeaseState::Lost;
  if (database_.ignores_leases) return journal::LeaseState::Held;
  const bool holds = !is_session_lost_ && clock_->monotonic() < lease_end_;
  return holds ? journal::LeaseState::Held : journal::LeaseState::Suspended;
}

void SharedConnection::report_load(std::uint64_t runs) {
  if (!has_died_ && !is_cut_) database_.owners_.at(owner_->number).runs = runs;
}

Result<std::vector<journal::RunHead>, journal::StoreError> SharedConnection::claim_abandoned(
    std::size_t limit, std::span<const RunName> except) {
  if (auto why = problem()) return failure(std::move(*why));
  std::vector<journal::RunHead> heads;
  const SharedDatabase::OwnerRow& self = database_.owners_.at(owner_->number);
  if (self.is_dead || self.role != OwnerRole::Host) return heads;
  for (auto& [name, run] : database_.runs_) {
    if (run.owner == *owner_ && std::exchange(run.is_given, false)) {
      heads.push_back(run.head);
      continue;
    }
    const bool is_abandoned = run.head.summary.state == RunState::Running && !database_.lives(run.owner);
    if (std::ranges::find(except, RunName{name}) != except.end()) continue;
    if (!is_abandoned || run.pool != self.pool || heads.size() >= limit) continue;
    run.owner = *owner_;
    run.is_given = false;
    ++run.head.epoch;
    heads.push_back(run.head);
  }
  return heads;
}

Result<void, journal::StoreError> SharedConnection::release(std::span<const RunName> runs) {
  if (auto why = problem()) return failure(std::move(*why));
  for (const RunName& name : runs) {
    const auto found = database_.runs_.find(name.text);
    if (found != database_.runs_.end() && found->second.owner == *owner_) found->second.owner = {};
  }
  return {};
}

Result<void, journal::StoreError> SharedConnection::give_back(std::span<const RunName> runs) {
  auto released = release(runs);
  if (!released) return released;
  ++database_.abandonments_;
  for (const auto& [number, row] : database_.owners_) {
    if (!row.is_dead && row.role == OwnerRole::Host) database_.notify({number});
  }
  return released;
}

Result<void, journal::StoreError> SharedConnection::rejoin() {
  if (auto why = problem()) return failure(std::move(*why));
  const SharedDatabase::OwnerRow former = database_.owners_.at(owner_->number);
  const OwnerId id{database_.next_owner_++};
  SharedDatabase::OwnerRow row;
  row.role = former.role;
  row.pool = former.pool;
  row.joined_at = database_.now_ms;
  row.lease_ms = former.lease_ms;
  database_.owners_.emplace(id.number, row);
  database_.subscribers_[id.number] = std::exchange(database_.subscribers_[owner_->number], {});
  owner_ = id;
  is_lost_ = false;
  keep();
  return {};
}

Result<std::vector<std::string>, journal::StoreError> SharedConnection::pools_without_hosts() {
  if (auto why = problem()) return failure(std::move(*why));
  std::set<std::string> pools;
  for (const auto& [name, run] : database_.runs_) {
    if (run.head.summary.state == RunState::Running && !database_.lives(run.owner)) pools.insert(run.pool);
  }
  for (const auto& [id, row] : database_.inbox_) {
    if (!row.reply && !database_.lives(row.target)) pools.insert(row.pool);
  }
  for (const auto& [number, row] : database_.owners_) {
    if (!row.is_dead && row.role == OwnerRole::Host) pools.erase(row.pool);
  }
  return std::vector<std::string>(pools.begin(), pools.end());
}

Result<std::vector<journal::Owner>, journal::StoreError> SharedConnection::owners() {
  if (auto why = problem()) return failure(std::move(*why));
  std::vector<journal::Owner> owners;
  for (const auto& [number, row] : database_.owners_) {
    if (row.is_dead) continue;
    owners.push_back({.id = {number},
                      .role = row.role,
                      .pool = row.pool,
                      .runs = row.runs,
                      .lease_ms = row.lease_until - database_.now_ms,
                      .joined_at = row.joined_at});
  }
  return owners;
}

std::unique_ptr<journal::Subscription> SharedConnection::subscribe(std::function<void(Notice)> notify) {
  class Subscribed final : public journal::Subscription {
   public:
    Subscribed(std::map<std::uint64_t, std::vector<std::function<void(Notice)>*>>& all, OwnerId owner,
               std::function<void(Notice)> notify)
        : notify_(std::move(notify)), all_(all) {
      all_[owner.number].push_back(&notify_);
    }
    ~Subscribed() override {
      for (auto& [owner, functions] : all_) std::erase(functions, &notify_);
    }

   private:
    std::function<void(Notice)> notify_;
    std::map<std::uint64_t, std::vector<std::function<void(Notice)>*>>& all_;
  };
  return std::make_unique<Subscribed>(database_.subscribers_, id(), std::move(notify));
}

Result<void, journal::StoreError> SharedConnection::keep_note(const journal::Note& note, std::int64_t now_ms) {
  if (auto why = problem()) return failure(std::move(*why));
  const auto older = database_.notes_.find(note.key);
  const bool exists = older != database_.notes_.end() && older->second.expires_at.value_or(INT64_MAX) > now_ms;
  if (note.use == journal::NoteUse::KeepFirst && exists) {
    return failure(error(Error::Kind::Conflict, "there is a note " + note.key));
  }
  database_.notes_.insert_or_assign(note.key, note);
  return {};
}

Result<std::vector<journal::Note>, journal::StoreError> SharedConnection::list_notes(std::string_view after,
                                                                                     std::size_t limit) {
  if (auto why = problem()) return failure(std::move(*why));
  std::vector<journal::Note> notes;
  for (auto at = database_.notes_.upper_bound(std::string(after)); at != database_.notes_.end(); ++at) {
    if (notes.size() < limit) notes.push_back(at->second);
  }
  return notes;
}

}  // namespace tenon::test
