#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "effects/secret_vault.h"
#include "journal/async_store.h"
#include "runtime/host/requests/host_reply.h"

namespace tenon::runtime {

/// The notes of a host's store: replies to requests that may be repeated, and results of requests that change no run.
/// Used by the host's thread, where each `then` is called.
class StoreNotes {
 public:
  struct Parts {
    journal::AsyncStore& store;
    effects::SecretVault* secrets;  ///< may be null
    Clock& clock;
    std::chrono::milliseconds replies_kept;
    std::function<void(std::string_view message)> on_broken;  ///< a write has broken the store
    /// Of a gateway: the pool whose hosts perform its requests.
    std::optional<std::string> hosts_of = std::nullopt;
  };
  explicit StoreNotes(Parts parts) : parts_(std::move(parts)) {}
  StoreNotes(const StoreNotes&) = delete;
  StoreNotes& operator=(const StoreNotes&) = delete;

  struct Kept {
    Accepted accepted;
    std::string result;  ///< of a request that changes no run
  };
  using Found = Result<std::optional<Kept>, HostFailure>;
  using Done = Result<void, HostFailure>;

  /// What is looked for, for another thread.
  struct Query {
    std::string note;
    std::string fingerprint, plain_fingerprint;
    std::int64_t now_ms = 0;
  };
  [[nodiscard]] Query query_of(const RequestKey& key) const;
  /// What was kept for the request; nothing if it is new. `KeyReused` if another request had that key. Any thread.
  [[nodiscard]] static Found find(const Query& query, journal::Store& store);
  /// The same for several: one for each, in their order.
  [[nodiscard]] static std::vector<Found> find_all(std::span<const Query> queries, journal::Store& store);
  void find(const RequestKey& key, std::function<void(Found)> then);

  /// The note by which a repetition of the request is recognized; nothing for a request without a key.
  [[nodiscard]] std::optional<journal::Note> note_of(const RequestKey& key, const Accepted& accepted,
                                                     std::string result = {}) const;
  /// Keeps the result of a request that changes no run. `then`: when it is durable; without a key at once.
  void keep_result(const RequestKey& key, std::string result, std::function<void(Done)> then);
  /// Keeps the reply to a request whose effect on a run is durable already, as far as that is possible.
  void keep_reply(const RequestKey& key, const Accepted& accepted, std::function<void()> then);
  /// Makes a change durable that is as large as a small step of a run, to see whether requests could be accepted now.
  /// For a gateway, a host has to live, too. Within a second the result of the last check is repeated. The message
  /// names no file.
  void check_store(std::function<void(Done)> then);
  /// Answers those who have waited for the store for too long.
  void poll();
  [[nodiscard]] std::chrono::milliseconds time_to_next() const;
  /// An append of that size did not fit on the disk: until as much has been written, a check writes as much, as far as
  /// a check may.
  void note_full(std::size_t bytes);

 private:
  [[nodiscard]] static Found read(const Query& query, const std::optional<journal::Note>& note);
  /// A small step of a run changes some pages of a store.
  static constexpr std::size_t check_bytes_min = std::size_t{32} << 10U;
  static constexpr std::size_t check_bytes_max = std::size_t{1} << 20U;

  using Stored = Result<void, journal::StoreError>;
  void keep(journal::Note note, std::function<void(const Stored&)> then);
  void on_checked(const Stored& kept, std::size_t bytes);
  void look_for_host();
  void end_check();
  [[nodiscard]] std::string fingerprint_of(const RequestKey& key) const;
  [[nodiscard]] std::int64_t now_ms() const;

  Parts parts_;
  std::optional<std::chrono::nanoseconds> checked_at_;   ///< Clock::monotonic
  std::optional<std::chrono::nanoseconds> check_began_;  ///< of the one in progress
  Done last_check_;
  std::size_t check_bytes_ = check_bytes_min;
  std::vector<std::function<void(Done)>> checking_;  ///< who waits for the check in progress
};

}  // namespace tenon::runtime
