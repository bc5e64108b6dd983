#pragma once

#include <functional>
#include <memory>
#include <unordered_set>

#include "journal/store.h"
#include "runtime/conversation.h"
#include "runtime/recovery/known_outcomes.h"
#include "runtime/run_core.h"

namespace tenon::runtime {

/// Whether a run continues with the model that has answered it so far.
enum class SameModel : bool { No, Yes };

/// Returns the program of a bundle, with its externs bound; the same one for the same hash.
using ImageSource =
    std::function<Result<std::shared_ptr<const ProgramImage>, ImageError>(const Hash& hash, std::string_view bundle)>;

/// Why a run cannot continue.
struct RecoveryError {
  std::string message;
  std::optional<journal::StoreError::Kind> store = std::nullopt;  ///< when it is the store's
  bool is_of_process = false;  ///< this process lacks something that another one may have: a library, or the key
};

/// A run as its journal leaves it.
struct RecoveredRun {
  journal::RunHead head;
  effects::Started started;                   ///< libraries and key: those with which it continues
  std::shared_ptr<const ProgramImage> image;  ///< with which it continues
  std::uint32_t function = 0;
  std::unique_ptr<Conversation> conversation;  ///< of an agent's run
  std::unique_ptr<RunCore> core;  ///< of a conversation its newest turn; null when its turns are not looked at again
  std::unique_ptr<KnownOutcomes> known;          ///< of a fork: what it may still take
  std::optional<effects::TurnEnded> turn_ended;  ///< the newest turn's end, unless a turn is in progress
  std::optional<effects::Ended> ended;
  std::uint64_t newest_record = 0;  ///< its number; when an observer is called, that of the record that it sees
  std::uint64_t bytes_since_snapshot = 0;
  std::uint64_t snapshot_bytes = 0;
  std::optional<std::uint64_t> asked;     ///< questions to people; nothing if the snapshot does not say it
  std::unordered_set<Hash> state_pieces;  ///< of the conversation's state, if it is kept in pieces
};

/// Called for each generation whose outcome is recorded, before the machine gets it. `asked`: calls of the model.
using ReplayedGeneration = std::function<void(const ProgramImage& image, const effects::RunSettings& settings,
                                              const OpenRequest& open, std::uint64_t asked)>;

/// Follows a recovery that begins at the first record, to see again what the run did.
class RecoveryObserver {
 public:
  virtual ~RecoveryObserver() = default;
  /// The core is a new one, of the run or of its next turn, and is before its first instruction. `input`: the text
  /// of Started::arguments, or of TurnStarted::input.
  virtual void on_begun(RecoveredRun& run, const std::string& input) = 0;
  /// All branches of the core wait, or it has ended: after its start, and after each outcome.
  virtual void on_quiescent(RecoveredRun& run) = 0;
  /// Before the machine gets the outcome of an open request. `value`: the text of Finished::value.
  virtual void on_outcome(RecoveredRun& run, const effects::Finished& finished, const std::string& value) = 0;
  /// The run or its turn was cancelled, and its blocks of `finally` begin.
  virtual void on_cancelled(RecoveredRun& /*run*/, const effects::CancelWanted& /*wanted*/) {}
  /// The program has come to the end of a turn, and so has the journal; `result` is the type of the turn's value. The
  /// conversation has the state that the program has made; it continues with `recorded`, that of the journal.
  virtual void on_turn_rebuilt(RecoveredRun& /*run*/, types::TypeId /*result*/, const std::string& /*recorded*/) {}
  /// A request of the program is in the journal.
  virtual void on_requested(RecoveredRun& /*run*/, const effects::Requested& /*requested*/) {}
  virtual void on_refused(RecoveredRun& /*run*/, const effects::FlowRefused& /*refused*/) {}
  /// RecoveredRun::turn_ended says how.
  virtual void on_turn_ended(RecoveredRun& run) = 0;
  /// RecoveredRun::image continues the conversation from here on.
  virtual void on_program_taken(RecoveredRun& /*run*/) {}
};

/// Feeds the journal to a machine; from the newest snapshot on when there is one and `use` says so, which no `observer`
/// can follow.
enum class SnapshotUse : bool { Ignore, Use };
[[nodiscard]] Result<RecoveredRun, RecoveryError> recover(journal::RunReader& store, const journal::RunHead& head,
                                                          const ImageSource& images, SnapshotUse use,
                                                          const ReplayedGeneration& on_replayed = {},
                                                          RecoveryObserver* observer = nullptr);

/// Continues a recovery, or a run as it was in memory, with the records after number `after`, which `former` has not
/// seen.
[[nodiscard]] Result<RecoveredRun, RecoveryError> recover_further(journal::RunReader& store,
                                                                  const journal::RunHead& head, RecoveredRun former,
                                                                  std::uint64_t after, const ImageSource& images);

/// The run's start, where its snapshot repeats it.
[[nodiscard]] std::optional<effects::Started> find_start(std::string_view snapshot);

/// The first record of a run.
[[nodiscard]] Result<effects::Started, RecoveryError> read_started(journal::RunReader& store,
                                                                   const journal::RunName& run);

/// The same, with the program, libraries and key with which the run continues now: of a conversation those of the
/// newest program that has taken over, for which all its records are read.
[[nodiscard]] Result<effects::Started, RecoveryError> read_program(journal::RunReader& store,
                                                                   const journal::RunName& run);

/// Cancels a run that no process continues, if it has something to clean up (`finally`): the process that continues it
/// does that, and ends it. False, and nothing done, if there is nothing, or if it was cancelled before.
[[nodiscard]] Result<bool, RecoveryError> request_stored_cancel(journal::Store& store, const journal::RunName& run,
                                                                const std::string& reason, std::int64_t now_ms,
                                                                const ImageSource& images);

/// Ends a run that no process continues, at once.
[[nodiscard]] Result<void, RecoveryError> cancel_stored(journal::Store& store, const journal::RunName& run,
                                                        const std::string& reason, std::int64_t now_ms);

/// A run as a snapshot keeps it: a conversation, a machine that continues, or both.
[[nodiscard]] std::string write_snapshot(const Conversation* conversation, const RunCore* core);

/// The text itself, or the content that the run has of it, or what its pieces make, whose hashes are added to `pieces`
/// unless it is null.
[[nodiscard]] Result<std::string, journal::StoreError> resolve(journal::RunReader& store, const journal::RunName& run,
                                                               const effects::StoredText& text,
                                                               std::unordered_set<Hash>* pieces = nullptr);

}  // namespace tenon::runtime
