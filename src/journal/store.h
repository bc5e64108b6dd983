#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/sha256.h"

/// The journal: what a run did, so that it can go on after a crash and be told afterwards. A run is a sequence of
/// records, numbered from 1, that is only ever appended to. The store knows nothing of what a record says.
namespace tenon::journal {

/// Names a run for ever: 26 characters of Crockford's base 32 in lower case, a UUID version 7 (RFC 9562), so ids sort
/// by the time at which they were made.
struct RunName {
  std::string text;
  friend auto operator<=>(const RunName&, const RunName&) = default;
};

/// As a list of runs shows it. The numbers are on disks and never reused.
enum class RunState : std::uint8_t {
  Running = 0,  ///< has something to do: after a crash, whoever owns the store goes on with it
  Waiting = 1,  ///< for a person, or for time to pass
  Idle = 2,     ///< a conversation between turns
  Done = 3,     ///< has returned
  Failed = 4,   ///< a failure has reached its end
  Cancelled = 5,
  Forgotten = 6,  ///< its contents were removed; what is left is that it was there
};

/// What is kept beside a run's records so that nobody reads them for a list.
struct RunSummary {
  RunState state = RunState::Running;
  std::string title;   ///< the function or agent
  std::string detail;  ///< for people and `runs --json`: what it waits for; opaque here
  /// When it wants to be looked at again, milliseconds since 1970; timers are found by it.
  std::optional<std::int64_t> wake_at;
  std::int64_t updated_at = 0;  ///< milliseconds since 1970
};

/// For whom a content is kept once: for its run, or for all runs that have it. All from `shared_content_bytes_min` on
/// are shared, whatever is said: looking for another run's takes longer than a few bytes do.
enum class Sharing : std::uint8_t { Run, Store };
inline constexpr std::size_t shared_content_bytes_min = std::size_t{16} << 10U;

/// Bytes that a run keeps once, however often its records refer to them, under their SHA-256.
struct Content {
  Hash hash;  ///< whoever makes the append has computed it
  std::string bytes;
  std::vector<Hash> refers;  ///< to other contents of the run, which are there as long as this one is
  Sharing sharing = Sharing::Run;
};

/// A machine's state after a record, so that recovery need not begin at the first one. A newer one replaces it; nothing
/// but time is lost without it.
struct Snapshot {
  std::uint64_t after = 0;  ///< the number of the last record that it has seen
  std::string bytes;
};

/// Something small that is found again by its key: the answer to a request that somebody may send twice, the run that a
/// client knows under a name of its own. One that is there already under the key is replaced.
struct Note {
  std::string key;
  std::string bytes;                       ///< opaque here
  std::optional<std::int64_t> expires_at;  ///< milliseconds since 1970; nothing: it stays
  friend bool operator==(const Note&, const Note&) = default;
};

/// What is made durable together.
struct Append {
  RunName run;
  std::uint64_t epoch = 0;           ///< of the owner that appends; one that is not the newest is refused
  std::uint64_t first = 1;           ///< the number of the first record: one more than the head's
  std::vector<std::string> records;  ///< may be empty: then only the summary or the snapshot is replaced
  std::vector<Content> contents;     ///< that may not be there yet
  /// Contents that the records refer to, each in `contents` or kept for this run already. A content of `contents` that
  /// neither one of these nor a content that comes with one of them refers to is not kept.
  std::vector<Hash> references;
  RunSummary summary;
  std::optional<Snapshot> snapshot;
  std::vector<Note> notes;
};

enum class AppendRefusal : std::uint8_t {
  UnknownRun,        ///< `first` is not 1 and there is no such run, or the run was forgotten
  WrongNumber,       ///< the run's head is elsewhere (another append came first), or the snapshot is ahead of it
  OldEpoch,          ///< somebody else owns the run
  UnknownReference,  ///< a referenced content is neither in the append nor one of the run's
  TooLarge,          ///< the records, the notes, a content or the snapshot have more bytes than `append_bytes_max`
};

/// One row of the store must fit into memory several times over.
inline constexpr std::size_t append_bytes_max = std::size_t{256} << 20U;
/// Of a command and of its reply.
inline constexpr std::size_t command_bytes_max = std::size_t{16} << 20U;
/// Replies that nobody took: of more than these the oldest are dropped.
inline constexpr std::size_t replies_kept_max = 1'000;

/// What the disk did instead.
struct StoreError {
  enum class Kind : std::uint8_t {
    Full,       ///< no space; nothing was committed, and the same may be tried again later
    Broken,     ///< a write or an fsync failed: what is on the disk is unknown until the store is opened again
    Damaged,    ///< a checksum or the chain does not hold
    Missing,    ///< no such store, run, snapshot or content
    InUse,      ///< another process owns the store, or holds its write lock for longer than a command takes
    Conflict,   ///< there is already another run of that name
    TooLarge,   ///< more bytes than the limit that the message names
    Denied,     ///< the file system does not let this user write, or read, there
    Format,     ///< written by a newer Tenon, or no store at all
    OldFormat,  ///< written by an older Tenon: whoever owns the store brings it to the present format
  };
  Kind kind = Kind::Broken;
  std::string message;  ///< with the file, and the run and record where that says something
};

struct RunHead {
  RunName run;
  std::uint64_t epoch = 0;
  std::uint64_t records = 0;  ///< the number of the last one; 0: none
  Hash chain;                 ///< over all records: see `chain_start`
  std::int64_t created_at = 0;
  RunSummary summary;
};

struct Record {
  std::uint64_t number = 0;
  std::string bytes;
};

struct RunFilter {
  std::optional<RunState> state;
  std::string after;  ///< names that sort after this one
  std::size_t limit = SIZE_MAX;
};

/// What somebody who does not own the store wants of a run. The owner takes it from the inbox.
struct Command {
  std::uint64_t id = 0;
  RunName run;
  std::string bytes;  ///< opaque here
};

/// Where journals are kept. One owner writes; readers read beside it.
class Store {
 public:
  virtual ~Store() = default;

  /// Makes all appends durable that fit, in one commit, and says of each whether it did: one that is refused leaves no
  /// trace and stops no other. Durable when this returns. After an error none of them is; after `Broken` every further
  /// call gives the same error.
  [[nodiscard]] virtual Result<std::vector<std::optional<AppendRefusal>>, StoreError> commit(
      std::span<const Append> appends) = 0;
  /// Raises the run's epoch: appends of former owners are refused from now on. Gives the head with the new epoch.
  [[nodiscard]] virtual Result<RunHead, StoreError> claim(const RunName& run) = 0;

  [[nodiscard]] virtual Result<RunHead, StoreError> head(const RunName& run) = 0;
  /// In the order of their names.
  [[nodiscard]] virtual Result<std::vector<RunHead>, StoreError> runs(const RunFilter& filter) = 0;
  /// Runs whose `wake_at` is not after `now`, soonest first.
  [[nodiscard]] virtual Result<std::vector<RunHead>, StoreError> due(std::int64_t now, std::size_t limit) = 0;
  /// When the next one is due.
  [[nodiscard]] virtual Result<std::optional<std::int64_t>, StoreError> next_due() = 0;
  /// Records after number `after`, in order; each one's checksum has been compared. A record that is missing or altered
  /// is `Damaged`, with its number; none is left out.
  [[nodiscard]] virtual Result<std::vector<Record>, StoreError> read(const RunName& run, std::uint64_t after,
                                                                     std::size_t limit) = 0;
  [[nodiscard]] virtual Result<std::optional<Snapshot>, StoreError> snapshot(const RunName& run) = 0;
  /// One of the run's contents. The bytes are those of the hash, or the error is `Damaged`.
  [[nodiscard]] virtual Result<std::string, StoreError> content(const RunName& run, const Hash& hash) = 0;

  /// The note under that key. One whose time is over is there until the next append with a note comes.
  [[nodiscard]] virtual Result<std::optional<Note>, StoreError> find_note(std::string_view key) = 0;

  /// Leaves a command for the owner; any process may.
  [[nodiscard]] virtual Result<std::uint64_t, StoreError> send(const RunName& run, std::string_view bytes) = 0;
  /// The commands that wait, oldest first; they stay until they are answered.
  [[nodiscard]] virtual Result<std::vector<Command>, StoreError> inbox(std::size_t limit) = 0;
  [[nodiscard]] virtual Result<void, StoreError> answer(std::uint64_t command, std::string_view reply) = 0;
  /// The reply to a command that `send` left; nothing as long as there is none. Taken once.
  [[nodiscard]] virtual Result<std::optional<std::string>, StoreError> take_reply(std::uint64_t command) = 0;
  /// Takes a command back that nobody has answered. False when it has its reply by now, or is gone.
  [[nodiscard]] virtual Result<bool, StoreError> withdraw(std::uint64_t command) = 0;
  /// Whether another process has written since `inbox` was last called. Costs a microsecond, so a loop may ask often.
  [[nodiscard]] virtual bool inbox_may_have_changed() = 0;

  /// Housekeeping that nobody should wait for, to be called after what was committed has been told. `commit` does it by
  /// itself only when it is long overdue.
  [[nodiscard]] virtual Result<void, StoreError> maintain() = 0;
};

/// The chain before a run's first record: the SHA-256 of its name. After record n it is the SHA-256 of the chain after
/// record n-1 followed by the record.
[[nodiscard]] Hash chain_start(const RunName& run);

/// A name that sorts after those made before; 74 random bits of it come from the system.
[[nodiscard]] RunName make_run_name(std::int64_t now_ms);
[[nodiscard]] bool is_run_name(std::string_view text);
[[nodiscard]] std::string_view name_of(RunState state);
/// Whether nothing can follow any more.
[[nodiscard]] bool has_ended(RunState state);

}  // namespace tenon::journal
