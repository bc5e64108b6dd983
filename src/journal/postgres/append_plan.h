#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "journal/postgres/known_runs.h"
#include "journal/store.h"

namespace tenon::journal::postgres {

/// The appends to one run that become one change of its row.
struct RunStep {
  enum class Kind : std::uint8_t { Start, Continue } kind = Kind::Continue;
  std::vector<std::size_t> appends;  ///< their places in the commit, in order
  RunRow before;                     ///< of a new run: without an id, and without records
  RunRow after;                      ///< its chain is computed by `encode`
  std::string pool = {};             ///< of a new run
  /// The run is given up, and continues in this pool; then `after` has the next epoch, and no owner: the statement
  /// chooses one.
  std::optional<std::string> moves_to = {};
  std::vector<const Content*> contents = {};
  const Snapshot* snapshot = nullptr;
  std::optional<std::string> batch = {};  ///< as journal/batch.h has it, set by `encode`; none: only the row changes
};

/// A content that is to be added to a run, whose id it has.
struct ContentRow {
  std::int64_t run = 0;
  const Content* content = nullptr;
};

/// Contents that one statement adds.
struct ContentRows {
  std::vector<ContentRow> rows;
  std::vector<const Content*> bodies;  ///< shared ones whose bytes come along, ordered by their hashes, each once
  std::size_t bytes = 0;
};

/// Whether the bytes of a shared content are sent, or are in the store already.
enum class BodyUse : bool { Sent, Stored };
void add_content(ContentRows& contents, const ContentRow& row, BodyUse body);

/// Contents for which a layer's statement has no room: a statement of their own adds them, after the layer's.
struct LaterContents {
  std::vector<RunRow> runs;  ///< as the layer leaves them
  ContentRows contents;
};

/// A note, and the run with whose step it is kept.
struct StepNote {
  std::size_t step = 0;  ///< its place in the layer, until `encode`
  const Note* note = nullptr;
  /// Older notes that have expired by then do not count: the time of its append; since `encode` the earliest one of the
  /// layer.
  std::int64_t now_ms = 0;
  std::int64_t run = 0;  ///< the run's id, set by `encode`
};

/// Steps of different runs that one statement performs, and their notes, which have different keys.
struct Layer {
  std::vector<RunStep> steps;
  std::vector<StepNote> notes;
  std::size_t bytes = 0;
  ContentRows contents = {};              ///< of the steps, set by `encode`
  std::vector<LaterContents> later = {};  ///< the rest of them
};

/// How a commit is performed: layers that are applied one after the other in one transaction, and appends that are
/// refused. If the plan depends on something that is not known, there are no layers, and it is made again when that was
/// read.
struct AppendPlan {
  std::vector<Layer> layers;
  std::vector<std::pair<std::size_t, AppendRefusal>> refused;
  std::vector<std::size_t> deferred;  ///< to be planned again after the layers were applied
  std::set<RunName> unknown_runs;     ///< whose rows are to be read
  /// Contents of runs (their ids) that are referenced, and may be in the store or not.
  std::set<std::pair<std::int64_t, Hash>> unknown_contents;
  /// Bodies that runs share and that are not sent, because they were in the store; set by `encode`.
  std::set<Hash> assumed_bodies;

  [[nodiscard]] bool is_complete() const { return unknown_runs.empty() && unknown_contents.empty(); }
};

/// Plans one commit from what is known, and from what was read for it.
class AppendPlanner {
 public:
  /// Both outlive it.
  AppendPlanner(std::span<const Append> appends, KnownRuns& known) : appends_(appends), known_(known) {}

  /// Plans the appends at these places, in their order.
  [[nodiscard]] AppendPlan plan(std::span<const std::size_t> places);

  /// The run's row was read; none: there is no such run.
  void note_row(const RunName& run, std::optional<RunRow> row) { read_.insert_or_assign(run.text, std::move(row)); }
  /// What is known of the run turned out to be wrong: its row is to be read. If it was to be started and does not exist
  /// then, this owner was marked as dead.
  void note_outdated(const RunStep& step);
  /// The run's row is to be read before the next plan.
  void note_doubtful(const RunName& run);
  /// The run has changed as planned.
  void note_applied(const RunStep& step);
  /// Whether the run, by its id, has a content was looked up.
  enum class Presence : bool { Missing, Stored };
  void note_content(std::int64_t run, const Hash& hash, Presence presence) {
    contents_.insert_or_assign({run, hash}, presence);
  }
  /// The store has a note of this key that has not expired.
  void note_existing(std::string key) { existing_notes_.insert(std::move(key)); }

 private:
  /// A run while appends to it are planned.
  struct PlannedRun {
    std::optional<RunRow> row;  ///< as it will be; none: it does not exist
    KnownRun* known = nullptr;  ///< null for a new run
    bool is_certain = false;    ///< the row was read for this commit
    bool is_deferred = false;   ///< so that later appends to it are too
    std::set<Hash> contents;    ///< that are added
  };
  enum class Decision : std::uint8_t { Apply, Wait, Defer };

  [[nodiscard]] PlannedRun* find_run(const Append& append, AppendPlan& plan);
  [[nodiscard]] std::optional<AppendRefusal> find_refusal(const Append& append, const PlannedRun& run) const;
  [[nodiscard]] bool has_planned_note(const Append& append) const;
  [[nodiscard]] bool has_existing_note(const Append& append) const;
  [[nodiscard]] std::optional<AppendRefusal> find_contents(const Append& append, PlannedRun& run, AppendPlan& plan,
                                                           std::vector<const Content*>& added);
  void add(std::size_t place, PlannedRun& run, std::vector<const Content*> contents, AppendPlan& plan);
  [[nodiscard]] bool is_new_layer_due(const Append& append, std::size_t bytes, const AppendPlan& plan) const;

  const std::span<const Append> appends_;
  KnownRuns& known_;
  std::map<std::string, std::optional<RunRow>> read_;  ///< rows that were read for this commit
  std::set<std::string> outdated_;                     ///< runs whose rows are to be read
  std::set<std::string> not_started_;                  ///< runs that this owner may not start
  std::map<std::pair<std::int64_t, Hash>, Presence> contents_;
  std::set<std::string> existing_notes_;

  // While a plan is made.
  std::unordered_map<std::string_view, PlannedRun> runs_;         ///< by their names, which the appends have
  std::set<std::string_view> planned_notes_;                      ///< keys of all layers
  std::set<std::string_view> last_notes_;                         ///< keys of the last layer
  std::unordered_map<std::string_view, std::size_t> last_steps_;  ///< the places of runs in the last layer
};

/// Completes the plan: computes the batches of the steps and the chains after them, puts the steps in the order of
/// their runs, and divides their contents. `new_ids`: for runs that are started (`count_starts`), in any order.
void encode(AppendPlan& plan, std::span<const Append> appends, std::span<const std::int64_t> new_ids,
            const KnownRuns& known);
[[nodiscard]] std::size_t count_starts(const AppendPlan& plan);

/// Whether a content is kept once for all runs.
[[nodiscard]] bool is_shared(const Content& content);
/// The hashes of the contents that a content refers to, one after the other.
[[nodiscard]] std::string encode_hashes(const std::vector<Hash>& hashes);

/// A statement has at most about this many bytes; a single append may have more.
inline constexpr std::size_t layer_bytes_max = std::size_t{32} << 20U;
/// An append has at most this many bytes besides its contents: the server takes messages of 1 GiB.
inline constexpr std::size_t statement_bytes_max = std::size_t{768} << 20U;
/// Appends to one run with at most this many bytes become one batch.
inline constexpr std::size_t merged_bytes_max = std::size_t{1} << 20U;

}  // namespace tenon::journal::postgres
