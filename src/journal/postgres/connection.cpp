#include "journal/postgres/connection.h"

#include <fmt/format.h>

#include "base/counted.h"
#include "journal/postgres/owner_rows.h"

namespace tenon::journal::postgres {
namespace {

const Statement select_fsync{"SELECT current_setting('fsync')"};

}  // namespace

Connection::Connection(ServerAddress address, const StoreOptions& options)
    : address_(std::move(address)),
      options_(options),
      link_(address_, stop_,
            {.application_name = "tenon",
             .durability = options_.durability,
             .reply_time = options_.patience.value_or(std::chrono::milliseconds{0}),
             .silence = silence_of(lease()),
             .patience = options_.patience}) {}

Result<std::unique_ptr<Connection>, StoreError> Connection::open(ServerAddress address, const StoreOptions& options) {
  std::unique_ptr<Connection> connection(new Connection(std::move(address), options));
  if (auto done = connection->prepare(); !done) return failure(std::move(done.error()));
  return connection;
}

Result<void, StoreError> Connection::prepare() {
  const auto session = link_.get(ServerLink::Patience::Once);
  if (!session) return failure(session.error());
  const auto facts = prepare_schema(**session, address_, options_);
  if (!facts) return failure(facts.error());
  facts_ = *facts;
  if (options_.access == Access::Reader || options_.durability != Durability::Full) return {};
  const auto fsync = (*session)->run(select_fsync);
  if (!fsync) return failure(error(fsync.error()));
  if (fsync->get_bytes(0, 0) == "off")
    notices_.push_back(fmt::format(
        "{}: the server's setting `fsync` is off: a crash of its machine may damage the store, and lose runs", name()));
  return {};
}

void Connection::set_owner(std::int64_t owner) {
  owner_ = owner;
  static_cast<void>(link_.rename(application_name_of(number(), owner)));  // if it fails, the next session has the name
}

Result<void, StoreError> Connection::require_writable() const {
  if (options_.access == Access::Owner) return {};
  return failure(StoreError{StoreError::Kind::InUse,
                            fmt::format("{}: the store was opened for reading; only an owner writes", name())});
}

StoreError Connection::missing_run(const RunName& run) const {
  return {StoreError::Kind::Missing, fmt::format("{}: there is no run {}", name(), run.text)};
}

StoreError Connection::forgotten_run(const RunName& run, std::uint64_t records) const {
  return {StoreError::Kind::Missing, fmt::format("{}: run {} was forgotten; of its {} nothing is left", name(),
                                                 run.text, counted(records, "record"))};
}

StoreError Connection::damaged(std::string_view what) const {
  return {StoreError::Kind::Damaged, fmt::format("{}: {}", name(), what)};
}

StoreError Connection::damaged_record(const RunName& run, std::uint64_t number, std::string_view what) const {
  return damaged(fmt::format("run {}, record {}: {}", run.text, number, what));
}

}  // namespace tenon::journal::postgres
