#pragma once

#include <tenon/tenon.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/waker.h"
#include "engine/engine_error.h"
#include "engine/event_hub.h"
#include "engine/hosting.h"
#include "engine/system.h"
#include "library/awaited.h"
#include "library/options.h"
#include "server/catalog.h"
#include "server/run_programs.h"
#include "server/service.h"

namespace tenon::library {

/// A host or a gateway of a program that embeds Tenon, with everything that outlives it.
class HostState final {
 public:
  explicit HostState(Options options);
  ~HostState();
  HostState(const HostState&) = delete;
  HostState& operator=(const HostState&) = delete;

  [[nodiscard]] Result<void, engine::EngineError> open(journal::OwnerRole role, const std::vector<std::string>& files);
  /// False if it has begun, or was stopped.
  [[nodiscard]] bool begin();
  /// False: another thread is stopping it. After an exception it can be called again.
  [[nodiscard]] bool stop(std::chrono::milliseconds grace);
  /// Returns the port.
  [[nodiscard]] Result<std::uint16_t, engine::EngineError> serve(const server::Address& address, std::string token);

  /// Whether this process is a fork of the one that made this.
  [[nodiscard]] bool is_of_parent() const;
  [[nodiscard]] bool is_stopped() const { return is_stopped_; }
  /// `waker` is woken when the host is stopped, until `remove_waker`.
  void add_waker(const Waker& waker);
  void remove_waker(const Waker& waker);
  /// Why the host does nothing any more.
  [[nodiscard]] std::optional<std::string> broken() const;
  /// Is given up if the host does nothing any more, until `forget`.
  void expect(Awaited& awaited);
  void forget(Awaited& awaited);
  /// Calls `use` with the host, which is not closed meanwhile; with null if it was stopped.
  template <class Use>
  auto with_hosting(Use use) {
    const std::shared_lock lock(hosting_mutex_);
    return use(hosting_.get());
  }
  /// As JSON; after the end as it was then.
  [[nodiscard]] std::string status();
  /// As JSON: the files and their programs.
  [[nodiscard]] const std::string& description() const { return description_; }
  /// As JSON: the agents that have hosts of their own.
  [[nodiscard]] const std::string& placements() const { return placements_; }
  [[nodiscard]] engine::EventHub& hub() { return hub_; }
  [[nodiscard]] const server::Catalog& catalog() const { return catalog_; }
  /// For the one that reads the store.
  [[nodiscard]] server::RunPrograms& programs() { return programs_; }
  /// Calls `use` with a connection that reads the store, which other threads wait for meanwhile.
  template <class Use>
  auto read(Use use) {
    const std::scoped_lock lock(reader_mutex_);
    return use(*reader_);
  }

 private:
  [[nodiscard]] Result<engine::HostedPrograms, engine::EngineError> load(journal::OwnerRole role,
                                                                         const std::vector<std::string>& files) const;
  [[nodiscard]] std::string make_status(engine::Hosting& hosting) const;
  void end(std::chrono::milliseconds grace);
  void note_broken(std::string_view why);
  void close_store();

  Options options_;
  RealFileSystem files_;
  RealClock clock_;
  engine::System system_;
  const std::uint64_t process_;
  mutable std::mutex broken_mutex_;
  std::optional<std::string> broken_;
  std::set<Awaited*> awaited_;  ///< with the mutex above
  engine::EventHub hub_;
  std::shared_mutex hosting_mutex_;
  std::unique_ptr<engine::Hosting> hosting_;  ///< null after the end
  std::string last_status_;
  std::string description_;
  std::string placements_;
  std::mutex wakers_mutex_;
  std::set<const Waker*> wakers_;
  server::Catalog catalog_;
  server::RunPrograms programs_{catalog_};
  std::mutex reader_mutex_;
  std::unique_ptr<journal::StoreConnection> reader_;
  std::mutex begin_mutex_;  ///< of the following ones; never held while something ends
  bool has_begun_ = false;
  bool is_ending_ = false;                ///< a thread is in `stop`
  bool has_ended_ = false;                ///< `stop` has done everything
  std::atomic<bool> is_stopped_ = false;  ///< nothing begins any more, and `service_` belongs to `stop`
  std::unique_ptr<server::Service> service_;
  std::unique_ptr<std::thread> service_thread_;
};

}  // namespace tenon::library
