#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "journal/open_store.h"
#include "journal/postgres/schema.h"
#include "journal/postgres/server_link.h"

namespace tenon::journal::postgres {

/// An open store: where it is, its link to the server, and who it is there. Used by one thread at a time, except where
/// it says `Any thread`.
class Connection {
 public:
  /// Looks at the store's tables; an owner creates or upgrades them. It has not joined the owners then.
  [[nodiscard]] static Result<std::unique_ptr<Connection>, StoreError> open(ServerAddress address,
                                                                            const StoreOptions& options);

  [[nodiscard]] const ServerAddress& address() const { return address_; }
  [[nodiscard]] const std::string& name() const { return address_.name; }
  [[nodiscard]] const StoreOptions& options() const { return options_; }
  [[nodiscard]] std::chrono::milliseconds lease() const { return address_.lease.value_or(options_.lease); }
  /// The store's number in its database.
  [[nodiscard]] std::int64_t number() const { return facts_.number; }
  [[nodiscard]] ServerLink& link() { return link_; }
  /// Any thread.
  [[nodiscard]] StopSignal& stop() { return stop_; }
  /// As StoreConnection::notices.
  [[nodiscard]] std::vector<std::string>& notices() { return notices_; }

  /// The id of this owner; 0: of none. Any thread.
  [[nodiscard]] std::int64_t owner() const { return owner_; }
  /// The connection is this owner's from now on.
  void set_owner(std::int64_t owner);

  /// Fails when the connection is a reader's.
  [[nodiscard]] Result<void, StoreError> require_writable() const;
  [[nodiscard]] StoreError error(const SessionError& reason) const { return make_error(address_, reason); }
  [[nodiscard]] StoreError missing_run(const RunName& run) const;
  [[nodiscard]] StoreError forgotten_run(const RunName& run, std::uint64_t records) const;
  [[nodiscard]] StoreError damaged(std::string_view what) const;
  [[nodiscard]] StoreError damaged_record(const RunName& run, std::uint64_t number, std::string_view what) const;

 private:
  Connection(ServerAddress address, const StoreOptions& options);
  [[nodiscard]] Result<void, StoreError> prepare();

  const ServerAddress address_;
  const StoreOptions options_;
  StopSignal stop_;
  ServerLink link_;
  SchemaFacts facts_;
  std::vector<std::string> notices_;
  std::atomic<std::int64_t> owner_{0};
};

}  // namespace tenon::journal::postgres
