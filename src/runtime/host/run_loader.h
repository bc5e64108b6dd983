#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "journal/async_store.h"
#include "runtime/host/host_counts.h"
#include "runtime/host/requests/host_reply.h"
#include "runtime/host/resident_runs.h"
#include "runtime/recovery/loaded_run.h"
#include "runtime/runtime.h"

namespace tenon::runtime {

/// Brings a host's runs from the store into memory. A load takes a while: the run is claimed after the commit in
/// progress, then read, and meanwhile other runs continue. Runs that are to be loaded meanwhile are claimed together.
/// Used by the host's thread.
class RunLoader {
 public:
  struct Parts {
    journal::AsyncStore& store;
    Runtime& runtime;
    ResidentRuns& residents;
    const ImageSource& images;
    const inference::Model& model;  ///< one that follows a script has to see a run's answers again
    HostCounts& counts;
    /// A run that has work to do was claimed, and then could not be read: it is to be loaded again in a while.
    std::function<void(const journal::RunName& run)> on_unread = {};
    std::function<std::int64_t()> now_ms;   ///< by the monotonic clock
    std::function<std::int64_t()> wall_ms;  ///< since 1970
  };
  using Then = std::function<void(const Result<RunId, HostFailure>& run)>;

  explicit RunLoader(Parts parts) : parts_(std::move(parts)) {}

  /// Calls `then` with the run in memory: at once if it is there, otherwise when it has been loaded, in the order of
  /// the calls. `Conflict` for a run that has ended, `Elsewhere` for one that another owner of the store continues,
  /// `Unequipped` for one that only another process can continue: it was given back, and is not claimed for a while.
  void load(const journal::RunName& run, Then then);
  /// Counts how often this owner has lost its runs.
  [[nodiscard]] std::uint64_t term() const { return term_; }
  /// This owner has claimed the run in this term, so that it need not be claimed again when it is loaded.
  void add_claimed(journal::RunHead head, std::uint64_t term);
  [[nodiscard]] std::optional<journal::RunHead> take_claimed(const journal::RunName& run);
  [[nodiscard]] bool has_claimed(const journal::RunName& run) const { return claimed_.contains(run.text); }
  /// This owner has lost its runs: what it has claimed counts no more, and loads in progress begin again.
  void forget_claims();
  [[nodiscard]] bool is_loading(const journal::RunName& run) const { return loading_.contains(run.text); }
  /// Whether the run was given back a short while ago, for something that this process lacks.
  [[nodiscard]] bool was_given_back(const journal::RunName& run);
  /// All such runs.
  [[nodiscard]] std::vector<journal::RunName> given_back();
  /// The model that follows a script has answered this new run itself.
  void note_started(const journal::RunName& run);
  /// Loads in progress, and later ones, end with this failure.
  void stop(const HostFailure& why) { stopped_ = why; }

 private:
  void claim_waiting();
  void claim(const journal::RunName& run);
  [[nodiscard]] bool may_continue(const journal::RunName& run, std::uint64_t term);
  void on_claimed(const journal::RunName& run, Result<journal::RunHead, journal::StoreError> head);
  void on_loaded(const journal::RunName& run, LoadedRun& loaded);
  void on_failed(const journal::RunHead& head, const RecoveryError& why);
  void end(const journal::RunName& run, const Result<RunId, HostFailure>& outcome);
  void give_back(const journal::RunHead& head, const HostFailure& why);
  void forget_given_back();

  const Parts parts_;
  std::unordered_map<std::string, std::vector<Then>> loading_;  ///< what waits for each, by the run's name
  std::vector<journal::RunName> to_claim_;                      ///< of these, those that wait for a claim
  bool is_claiming_ = false;
  std::uint64_t term_ = 0;
  std::unordered_map<std::string, journal::RunHead> claimed_;  ///< that no one wanted to load yet, by the run's name
  std::set<std::string> script_followed_;  ///< runs whose answers a model that follows a script knows
  std::optional<HostFailure> stopped_;
  struct GivenBack {
    HostFailure why;
    std::int64_t until = 0;  ///< when it may be claimed again, by the monotonic clock
  };
  std::unordered_map<std::string, GivenBack> given_back_;  ///< by the run's name
};

}  // namespace tenon::runtime
