#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/sha256.h"

/// The journal: what a run did, so that it can be resumed after a crash and inspected later. A run is a sequence of
/// records, numbered from 1, that is only ever appended to. The store does not know what a record means.
namespace tenon::journal {

/// Identifies a run permanently: 26 characters of Crockford's base 32 in lower case, a UUID version 7 (RFC 9562), so
/// names sort by the time at which they were made.
struct RunName {
  std::string text;
  friend auto operator<=>(const RunName&, const RunName&) = default;
};

/// A run's state, as a list of runs shows it. The numbers are stored and never reused.
enum class RunState : std::uint8_t {
  Running = 0,  ///< has work to do: the owner of the store resumes it after a crash
  Waiting = 1,  ///< for a person, or for time to pass
  Idle = 2,     ///< a conversation between turns
  Done = 3,     ///< has returned
  Failed = 4,   ///< ended with a failure
  Cancelled = 5,
  Forgotten = 6,  ///< its contents were removed; only its head remains
};

/// Kept beside a run's records, so that listing runs does not read them. It can be derived from the records.
struct RunSummary {
  RunState state = RunState::Running;
  std::string title;   ///< the function or agent
  std::string detail;  ///< for people and `runs --json`: what it waits for; opaque here
  /// When the run is next due, in milliseconds since 1970; timers are found by it.
  std::optional<std::int64_t> wake_at;
  std::int64_t updated_at = 0;  ///< milliseconds since 1970
  friend bool operator==(const RunSummary&, const RunSummary&) = default;
};

/// Whether a content is kept once for each run or once for all runs. Contents of `shared_content_bytes_min` or more are
/// always shared: finding another run's copy costs more than storing a few bytes.
enum class Sharing : std::uint8_t { Run, Store };
inline constexpr std::size_t shared_content_bytes_min = std::size_t{16} << 10U;

/// Bytes that a run keeps once, however often its records refer to them, under their SHA-256.
struct Content {
  Hash hash;  ///< computed by the caller
  std::string bytes;
  std::vector<Hash> refers;  ///< other contents of the run, which are kept as long as this one
  Sharing sharing = Sharing::Run;
};

/// A machine's state after a record, so that recovery need not start at the first one. A newer one replaces it. Without
/// it recovery only takes longer.
struct Snapshot {
  std::uint64_t after = 0;  ///< the number of the last record that it includes
  std::string bytes;
};

/// What becomes of an older note with the same key. One that has expired counts as none.
enum class NoteUse : std::uint8_t {
  Replace,
  KeepFirst,  ///< the older one stays, and the append is rejected (`NoteExists`)
};

/// A small value that is found by its key: the response to a request that may be repeated, or the run to which a client
/// gave its own name.
struct Note {
  std::string key;
  std::string bytes;                       ///< opaque here
  std::optional<std::int64_t> expires_at;  ///< milliseconds since 1970; none: it is kept
  NoteUse use = NoteUse::Replace;
  friend bool operator==(const Note&, const Note&) = default;
};

/// The part of a commit that concerns one run. It is applied as a whole or not at all.
struct Append {
  RunName run;
  std::uint64_t epoch = 0;           ///< of the owner that appends; an outdated one is rejected
  std::uint64_t first = 1;           ///< the number of the first record: one more than the head's
  std::vector<std::string> records;  ///< may be empty: then only the summary or the snapshot is replaced
  std::vector<Content> contents;     ///< may include contents that the run has already
  /// Contents that the records refer to; each is in `contents` or was stored for this run before. A content that is not
  /// reachable from these references is not stored.
  std::vector<Hash> references;
  RunSummary summary;
  std::optional<Snapshot> snapshot;
  std::vector<Note> notes;
  /// Of a new run: the pool of the hosts that may continue it (OwnerRole::Host).
  std::string pool = {};
  /// The run is given up with this append, and continues in a host of this pool; its epoch is raised. If there is one
  /// that lives, it is the run's owner from then on (Ownership::given). Only where a store may have several owners.
  std::optional<std::string> moves_to = {};
};

/// Why an append was rejected.
enum class AppendRefusal : std::uint8_t {
  UnknownRun,        ///< `first` is not 1 and the run does not exist, or it was forgotten
  WrongNumber,       ///< `first` does not follow the run's last record, or the snapshot is ahead of it
  OldEpoch,          ///< the run has a newer owner
  UnknownReference,  ///< a referenced content is neither in the append nor stored for the run
  NoteExists,        ///< one of the notes is to be kept first, and there is one with its key
  TooLarge,  ///< the records, the notes, a content or the snapshot have more bytes than `append_bytes_max`, or the key
             ///< of a note more than `note_key_bytes_max`
};

/// A row of the store must fit into memory several times.
inline constexpr std::size_t append_bytes_max = std::size_t{256} << 20U;
/// A key must fit into an index.
inline constexpr std::size_t note_key_bytes_max = 2'000;
/// The size of all that an append adds to the store, without its summary.
[[nodiscard]] std::size_t bytes_of(const Append& append);
/// Whether an append is rejected with `TooLarge`.
[[nodiscard]] bool is_too_large(const Append& append);

/// Why the store failed.
struct StoreError {
  enum class Kind : std::uint8_t {
    Full,         ///< no space left; nothing was committed, and the same call may be repeated later
    Broken,       ///< a write or an fsync failed: the state on disk is unknown until the store is opened again
    Damaged,      ///< a checksum or the chain does not match
    Missing,      ///< no such store, run, snapshot or content
    InUse,        ///< another process owns the store, or holds its write lock for longer than a command takes
    Owned,        ///< another owner of the store has the run
    Conflict,     ///< a different run of that name exists
    TooLarge,     ///< more bytes than the limit that the message names
    Denied,       ///< no permission to write, or to read, there
    Format,       ///< written by a newer Tenon, or not a store
    OldFormat,    ///< written by an older Tenon: an owner upgrades it when it opens the store
    Unavailable,  ///< the store's server cannot be reached now; whether a commit was applied is not known
  };
  Kind kind = Kind::Broken;
  std::string message;  ///< names the file, and the run and record where that helps
};

struct RunHead {
  RunName run;
  std::uint64_t epoch = 0;
  std::uint64_t records = 0;  ///< the number of the last one; 0: none
  Hash chain;                 ///< over all records: see `chain_start`
  std::int64_t created_at = 0;
  RunSummary summary;
  /// The store does not vouch for the summary: it was changed on the disk. An owner derives it from the records.
  bool is_damaged = false;
};

struct Record {
  std::uint64_t number = 0;
  std::string bytes;
};

/// For each append of a commit: none when it was applied, otherwise why not.
using AppendOutcomes = std::vector<std::optional<AppendRefusal>>;

/// Which runs a claim takes. A run is free if no owner has it, or one that has left or died.
enum class ClaimMode : std::uint8_t {
  IfMine,     ///< only those that the caller owns
  IfFree,     ///< also free ones
  IfExpired,  ///< also those of an owner whose lease has ended, which is marked as dead
};

/// For each run of a claim: its head with the new epoch; of a run that has ended the head as it is; or why it was not
/// claimed, `Owned` when another owner has it.
using ClaimOutcomes = std::vector<Result<RunHead, StoreError>>;

/// Where runs are read. Used by one thread at a time.
class RunReader {
 public:
  virtual ~RunReader() = default;

  [[nodiscard]] virtual Result<RunHead, StoreError> head(const RunName& run) = 0;
  /// Returns records after number `after`, in order, with verified checksums. A record that is missing or altered is
  /// `Damaged`, with its number; none is skipped.
  [[nodiscard]] virtual Result<std::vector<Record>, StoreError> read(const RunName& run, std::uint64_t after,
                                                                     std::size_t limit) = 0;
  [[nodiscard]] virtual Result<std::optional<Snapshot>, StoreError> snapshot(const RunName& run) = 0;
  /// Returns one of the run's contents. The bytes match the hash, or the error is `Damaged`.
  [[nodiscard]] virtual Result<std::string, StoreError> content(const RunName& run, const Hash& hash) = 0;
};

/// Where journals are kept. Owners write, each to its own runs; readers read at the same time.
class Store : public RunReader {
 public:
  /// Makes all valid appends durable in one commit; a rejected append leaves no trace and does not affect the others.
  /// Durable when this returns. After an error none is applied; after `Broken` every further call returns that error.
  [[nodiscard]] virtual Result<AppendOutcomes, StoreError> commit(std::span<const Append> appends) = 0;
  /// Makes the caller the owner of runs, durably: raises their epochs, so that appends of former owners are rejected.
  [[nodiscard]] virtual Result<ClaimOutcomes, StoreError> claim(std::span<const RunName> runs, ClaimMode mode) = 0;

  /// Returns the note with that key. An expired one is found until the next append with a note.
  [[nodiscard]] virtual Result<std::optional<Note>, StoreError> find_note(std::string_view key) = 0;
  /// The same for several: one for each key, in their order.
  [[nodiscard]] virtual Result<std::vector<std::optional<Note>>, StoreError> find_notes(
      std::span<const std::string> keys);

  /// Housekeeping that no caller should wait for; call it after reporting a commit. `commit` does it by itself only
  /// when it is long overdue.
  [[nodiscard]] virtual Result<void, StoreError> maintain() = 0;
};

/// Claims one run.
[[nodiscard]] Result<RunHead, StoreError> claim_run(Store& store, const RunName& run,
                                                    ClaimMode mode = ClaimMode::IfFree);

/// The chain before a run's first record: the SHA-256 of its name. After record n it is the SHA-256 of the chain after
/// record n-1 followed by the record.
[[nodiscard]] Hash chain_start(const RunName& run);

/// A name that sorts after those made before; 74 random bits of it come from the system.
[[nodiscard]] RunName make_run_name(std::int64_t now_ms);
/// The names that this process makes from now on sort after this one, whatever the clock says. Not after one that was
/// made in the last hours that a name can express, which an error or an import from elsewhere has brought.
void make_run_names_after(const RunName& newest);
inline constexpr std::size_t run_name_bytes = 26;
[[nodiscard]] bool is_run_name(std::string_view text);
/// The name whose chain starts with `chain`, if it differs from a damaged name in one character at most.
[[nodiscard]] std::optional<RunName> find_name(const RunName& damaged, const Hash& chain);
[[nodiscard]] std::string_view name_of(RunState state);
[[nodiscard]] std::optional<RunState> find_state(std::string_view name);
/// Whether the run can never continue.
[[nodiscard]] bool has_ended(RunState state);

}  // namespace tenon::journal
