#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "journal/open_store.h"

/// A database that several simulated processes share: a store with owners and leases, in memory and on one thread. The
/// seed and the calls determine everything.
namespace tenon::test {

class SharedConnection;

class SharedDatabase {
 public:
  explicit SharedDatabase(std::uint64_t seed) : random_(seed) {}
  SharedDatabase(const SharedDatabase&) = delete;
  SharedDatabase& operator=(const SharedDatabase&) = delete;

  /// The time by which leases are counted, in milliseconds since 1970.
  std::int64_t now_ms = 1'700'000'000'000;
  /// A commit in so many fails as if the connection was lost, before or after it was applied; 0: none.
  std::uint64_t lost_commits_one_in = 0;
  /// A notice in so many is lost; 0: none.
  std::uint64_t lost_notices_one_in = 0;
  /// How often a run was read from its snapshot or its start on.
  std::uint64_t whole_reads = 0;
  /// Leases hold for ever in the eyes of their owners: for tests of those who are to notice that.
  bool ignores_leases = false;
  /// Is called for each append that was applied, when it is durable.
  std::function<void(const journal::Append& append)> on_applied;

  /// A connection of a new owner, whose monotonic clock is `clock`.
  [[nodiscard]] std::unique_ptr<SharedConnection> join(journal::OwnerRole role, const std::string& pool,
                                                       std::chrono::milliseconds lease, Clock& clock);
  /// A connection that only reads, and uses the inbox.
  [[nodiscard]] std::unique_ptr<SharedConnection> connect();
  /// Passes the notices on that were sent since the last call.
  void deliver_notices();

  [[nodiscard]] const journal::RunHead* find_head(const journal::RunName& run) const;
  /// None if no living owner has the run.
  [[nodiscard]] journal::OwnerId owner_of(const journal::RunName& run) const;
  [[nodiscard]] std::size_t unanswered_commands() const;

 private:
  friend class SharedConnection;
  struct Run {
    journal::RunHead head;
    journal::OwnerId owner;
    bool is_given = false;  ///< to its owner, which has not seen it yet
    std::string pool;
    std::vector<std::string> records;
    std::map<Hash, journal::Content> contents;
    std::optional<journal::Snapshot> snapshot;
  };
  struct OwnerRow {
    journal::OwnerRole role = journal::OwnerRole::Host;
    std::string pool;
    std::int64_t joined_at = 0;
    std::int64_t lease_until = 0;
    std::int64_t lease_ms = 0;
    bool has_session = true;                    ///< otherwise its process has ended, or its connection is cut
    std::optional<std::int64_t> missing_since;  ///< when that was seen first
    bool is_dead = false;
    std::uint64_t runs = 0;
  };
  struct CommandRow {
    journal::RunName run;
    journal::OwnerId target, sender;
    std::string pool, bytes;
    std::optional<std::string> reply;
  };

  [[nodiscard]] bool lives(journal::OwnerId owner) const;
  [[nodiscard]] bool chance(std::uint64_t one_in) { return one_in != 0 && random_() % one_in == 0; }
  void mark_dead(journal::OwnerId owner);
  void mark_expired(std::optional<journal::OwnerId> only = std::nullopt);
  using Notice = journal::Wakeups::Notice;
  void notify(journal::OwnerId owner, Notice notice = Notice::Any);
  [[nodiscard]] journal::OwnerId find_host(const std::string& pool, std::span<const journal::OwnerId> except = {});
  [[nodiscard]] std::optional<journal::AppendRefusal> find_refusal(const journal::Append& append,
                                                                   journal::OwnerId owner,
                                                                   std::vector<journal::Content>& added) const;
  [[nodiscard]] std::optional<journal::AppendRefusal> apply(const journal::Append& append, journal::OwnerId owner);
  [[nodiscard]] Result<journal::RunHead, journal::StoreError> claim(const journal::RunName& name,
                                                                    journal::ClaimMode mode, journal::OwnerId owner);

  std::mt19937_64 random_;
  std::map<std::string, Run> runs_;
  std::map<std::string, journal::Note> notes_;
  std::map<std::uint64_t, CommandRow> inbox_;
  std::map<std::uint64_t, OwnerRow> owners_;
  std::map<std::uint64_t, std::vector<std::function<void(Notice)>*>> subscribers_;  ///< by owner
  std::vector<std::pair<std::uint64_t, Notice>> noticed_;                           ///< owners with notices
  std::uint64_t next_owner_ = 1;
  std::uint64_t next_command_ = 1;
  std::uint64_t abandonments_ = 0;
  std::uint64_t given_ = 0;
};

/// How a process is connected. The simulation calls what a thread of a real store does by itself.
class SharedConnection final : public journal::StoreConnection,
                               private journal::Store,
                               private journal::RunQueries,
                               private journal::Inbox,
                               private journal::Ownership,
                               private journal::Wakeups,
                               private journal::StoreAdmin {
 public:
  SharedConnection(SharedDatabase& database, std::optional<journal::OwnerId> owner, Clock* clock)
      : database_(database), owner_(owner), clock_(clock) {}
  /// Leaves the store.
  ~SharedConnection() override;

  [[nodiscard]] journal::Store& journals() override { return *this; }
  [[nodiscard]] journal::RunQueries& runs() override { return *this; }
  [[nodiscard]] journal::Inbox& inbox() override { return *this; }
  [[nodiscard]] journal::Ownership& ownership() override { return *this; }
  [[nodiscard]] journal::Wakeups& wakeups() override { return *this; }
  [[nodiscard]] journal::StoreAdmin& admin() override { return *this; }
  [[nodiscard]] const std::vector<std::string>& notices() const override { return notices_; }

  /// Renews the lease, unless the connection is cut, and looks for owners that are dead.
  void keep();
  /// The network between the process and the database is interrupted, or works again: calls fail meanwhile.
  void set_cut(bool is_cut) { is_cut_ = is_cut; }
  /// The database sees that the session is gone, although the process may live.
  void lose_session();
  /// The process has ended: nothing reaches the database any more.
  void die();
  [[nodiscard]] journal::OwnerId id() const { return owner_.value_or(journal::OwnerId{}); }

 private:
  using Error = journal::StoreError;
  template <class T>
  using Result = tenon::Result<T, Error>;

  [[nodiscard]] std::optional<Error> problem() const;
  [[nodiscard]] Result<SharedDatabase::Run*> find(const journal::RunName& run) const;

  // Store
  Result<journal::AppendOutcomes> commit(std::span<const journal::Append> appends) override;
  Result<journal::ClaimOutcomes> claim(std::span<const journal::RunName> runs, journal::ClaimMode mode) override;
  Result<std::optional<journal::Note>> find_note(std::string_view key) override;
  Result<void> maintain() override { return {}; }
  Result<journal::RunHead> head(const journal::RunName& run) override;
  Result<std::vector<journal::Record>> read(const journal::RunName& run, std::uint64_t after,
                                            std::size_t limit) override;
  Result<std::optional<journal::Snapshot>> snapshot(const journal::RunName& run) override;
  Result<std::string> content(const journal::RunName& run, const Hash& hash) override;
  // RunQueries
  Result<std::vector<journal::RunHead>> list(const journal::RunFilter& filter) override;
  Result<std::vector<journal::DueRun>> due(const journal::DueFilter& filter) override;
  Result<std::optional<std::int64_t>> next_due(const std::optional<journal::DueRun>& after,
                                               journal::OwnerId owner) override;
  Result<std::optional<journal::RunName>> newest() override;
  Result<journal::StoreCounts> count() override;
  // Inbox
  Result<std::uint64_t> send(const journal::NewCommand& command) override;
  Result<journal::CommandTaker> taker_of(const journal::RunName& run) override;
  Result<std::size_t> adopt(journal::OwnerId owner, std::size_t limit) override;
  using journal::Inbox::unanswered;
  Result<std::vector<journal::Command>> unanswered(journal::OwnerId owner, std::span<const std::uint64_t> known,
                                                   std::size_t limit) override;
  Result<void> redirect(std::uint64_t command) override;
  Result<void> answer(std::uint64_t command, std::string_view reply, journal::ReplyDurability durability) override;
  Result<std::optional<std::string>> take_reply(std::uint64_t command) override;
  Result<std::vector<journal::CommandReply>> take_replies(std::span<const std::uint64_t> commands) override;
  Result<std::vector<std::uint64_t>> without_taker(std::span<const std::uint64_t> commands) override;
  Result<bool> withdraw(std::uint64_t command) override;
  // Ownership
  journal::OwnerId self() const override { return id(); }
  journal::LeaseState lease() override;
  void report_load(std::uint64_t runs) override;
  bool is_sole() const override { return false; }
  std::uint64_t abandonments() const override { return database_.abandonments_; }
  std::uint64_t given() const override { return database_.given_; }
  Result<std::vector<journal::RunHead>> claim_abandoned(std::size_t limit,
                                                        std::span<const journal::RunName> except) override;
  Result<void> release(std::span<const journal::RunName> runs) override;
  Result<void> give_back(std::span<const journal::RunName> runs) override;
  Result<void> rejoin() override;
  Result<std::vector<std::string>> pools_without_hosts() override;
  Result<std::vector<journal::Owner>> owners() override;
  // Wakeups
  std::unique_ptr<journal::Subscription> subscribe(std::function<void(Notice)> notify) override;
  std::unique_ptr<journal::Subscription> watch(const journal::RunName& /*run*/, Watcher& /*watcher*/) override {
    return nullptr;
  }
  bool is_watched(const journal::RunName& /*run*/) override { return false; }
  void publish(const journal::RunName& /*run*/, std::string /*message*/) override {}
  // StoreAdmin: of these, the simulation uses the notes.
  Result<void> keep_note(const journal::Note& note, std::int64_t now_ms) override;
  Result<std::vector<journal::Note>> list_notes(std::string_view after, std::size_t limit) override;
  Result<journal::CheckReport> check() override { return journal::CheckReport{}; }
  Result<std::string> export_run(const journal::RunName& /*run*/) override { return failure(not_there()); }
  Result<journal::Imported> import_run(std::string_view /*bytes*/) override { return failure(not_there()); }
  Result<journal::Imported> import_forgotten(const journal::RunHead& /*head*/) override { return failure(not_there()); }
  Result<void> forget(const journal::RunName& /*run*/, std::int64_t /*now_ms*/) override {
    return failure(not_there());
  }
  Result<void> backup(const std::string& /*path*/) override { return failure(not_there()); }
  Result<void> compact() override { return failure(not_there()); }
  static Error not_there() { return {Error::Kind::Format, "a simulated store cannot do that"}; }

  SharedDatabase& database_;
  std::optional<journal::OwnerId> owner_;  ///< none: of a reader
  Clock* clock_;
  std::chrono::nanoseconds lease_end_{0};  ///< by the process's monotonic clock
  bool is_lost_ = false;                   ///< it has learnt that it was marked dead
  bool is_session_lost_ = false;           ///< until the next renewal
  bool is_cut_ = false;
  bool has_died_ = false;
  std::vector<std::string> notices_;
};

}  // namespace tenon::test
