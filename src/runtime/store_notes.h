#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "effects/secret_vault.h"
#include "journal/open_store.h"
#include "runtime/host_reply.h"

namespace tenon::runtime {

/// The notes of a host's store: replies to requests that may be repeated, and results of requests that change no run.
/// Used by the host's thread.
class StoreNotes {
 public:
  struct Parts {
    journal::StoreConnection& store;
    journal::StoreConnection& reader;  ///< the same store, opened for reading
    effects::SecretVault* secrets;     ///< may be null
    Clock& clock;
    std::chrono::milliseconds replies_kept;
    std::function<void()> finish_commit;                      ///< waits until the store is not used by a commit
    std::function<void(std::string_view message)> on_broken;  ///< a write has broken the store
  };
  explicit StoreNotes(Parts parts) : parts_(std::move(parts)) {}
  StoreNotes(const StoreNotes&) = delete;
  StoreNotes& operator=(const StoreNotes&) = delete;

  struct Kept {
    Accepted accepted;
    std::string result;  ///< of a request that changes no run
  };
  /// What was kept for the request; nothing when it is new. `KeyReused` when another request had that key.
  [[nodiscard]] Result<std::optional<Kept>, HostFailure> find(const RequestKey& key) const;
  /// The note that makes a repetition of the request known; nothing for a request without a key.
  [[nodiscard]] std::optional<journal::Note> note_of(const RequestKey& key, const Accepted& accepted,
                                                     std::string result = {}) const;
  /// Keeps the result of a request with a key that changes no run. Durable when it returns.
  [[nodiscard]] Result<void, HostFailure> keep_result(const RequestKey& key, std::string result);
  /// Keeps the reply to a request whose effect on a run is durable already. Without a key nothing is kept.
  void keep_reply(const RequestKey& key, const Accepted& accepted);
  /// Makes a small change durable, to see whether requests could be accepted now. Within a second the result of the
  /// last check is repeated. The message names no file.
  [[nodiscard]] Result<void, HostFailure> check_store();

 private:
  [[nodiscard]] Result<void, journal::StoreError> keep(const journal::Note& note);
  [[nodiscard]] std::string fingerprint_of(const RequestKey& key) const;
  [[nodiscard]] std::int64_t now_ms() const;

  Parts parts_;
  std::optional<std::chrono::nanoseconds> checked_at_;  ///< Clock::monotonic
  Result<void, HostFailure> last_check_;
};

}  // namespace tenon::runtime
