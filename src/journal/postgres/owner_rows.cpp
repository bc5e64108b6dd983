#include "journal/postgres/owner_rows.h"

#include <fmt/format.h>

#include <array>

namespace tenon::journal::postgres {
namespace {

/// Before an owner compares or stores when the server was started. The sessions that all locks belonged to have ended
/// if the table is empty.
const Statement note_start{"INSERT INTO uptime(since) VALUES (clock_timestamp()) ON CONFLICT DO NOTHING"};
const Statement join_durably{"SELECT set_config('synchronous_commit', 'on', true)"};
const Statement insert_owner{R"sql(
  WITH joined AS (
    INSERT INTO owners(role, label, pool, lease_ms, lease_until, backend, backend_started, server_started, joined_at)
    VALUES ($2::bigint, $3::text, $4::text, $5::bigint, clock_timestamp() + $5::bigint * interval '1 ms',
            pg_backend_pid(), $6::bigint, server_started(), clock_timestamp())
    RETURNING id)
  SELECT id, pg_advisory_lock($1::bigint::integer, (id & 2147483647)::integer) FROM joined)sql"};
/// Only in the session that holds the lock.
const Statement renew_lease{R"sql(
  UPDATE owners SET lease_until = clock_timestamp() + lease_ms * interval '1 ms', runs = $3::bigint,
    missing_since = NULL
  WHERE id = $1::bigint AND dead_at IS NULL AND backend = pg_backend_pid() AND backend_started = $2::bigint
  RETURNING 1)sql"};
const Statement take_lock{"SELECT pg_try_advisory_lock($1::bigint::integer, ($2::bigint & 2147483647)::integer)"};
const Statement move_lease{R"sql(
  UPDATE owners SET lease_until = clock_timestamp() + lease_ms * interval '1 ms', runs = $3::bigint,
    missing_since = NULL, backend = pg_backend_pid(), backend_started = $2::bigint,
    server_started = server_started()
  WHERE id = $1::bigint AND dead_at IS NULL RETURNING 1)sql"};
const Statement mark_left{R"sql(
  UPDATE owners SET dead_at = clock_timestamp(), ended_at = clock_timestamp()
  WHERE id = $1::bigint AND ended_at IS NULL)sql"};
const Statement select_owners{R"sql(
  SELECT id, role, label, pool, runs,
         (extract(epoch FROM lease_until - clock_timestamp()) * 1000)::bigint,
         (extract(epoch FROM joined_at) * 1000)::bigint
  FROM owners WHERE dead_at IS NULL AND lease_until > clock_timestamp() ORDER BY id)sql"};

/// The owners whose locks are held, as the table `held`. $1: the store's number.
#define TENON_HELD_LOCKS                                                                                        \
  "held AS MATERIALIZED (SELECT objid::bigint AS id FROM pg_locks WHERE locktype = 'advisory' AND granted AND " \
  "objsubid = 2 AND classid::bigint = $1::bigint AND database = (SELECT d.oid FROM pg_database AS d WHERE "     \
  "d.datname = current_database()))"
#define TENON_IS_MISSING "(o.server_started = server_started() AND (o.id & 2147483647) NOT IN (SELECT id FROM held))"
/// After a restart every lease lasts one term at least. The row may be older than the lease if another server has taken
/// over with the data of a replica, so it has a term more.
#define TENON_IS_OVER                                                                           \
  "(clock_timestamp() > CASE WHEN o.server_started = server_started() THEN o.lease_until ELSE " \
  "greatest(o.lease_until, server_started()) + o.lease_ms * interval '1 ms' END)"

const Statement see_owners{"WITH " TENON_HELD_LOCKS R"sql(
  SELECT o.id, o.dead_at IS NOT NULL, coalesce(o.dead_at < clock_timestamp() - interval '2 s', false),
         o.dead_at IS NULL AND ()sql" TENON_IS_OVER " OR " TENON_IS_MISSING R"sql(),
         coalesce((extract(epoch FROM clock_timestamp() - o.missing_since) * 1000)::bigint, -1)
  FROM owners AS o WHERE o.ended_at IS NULL AND o.id <> $2::bigint)sql"};
const Statement note_missing{"WITH " TENON_HELD_LOCKS R"sql(
  UPDATE owners AS o SET missing_since = clock_timestamp()
  WHERE o.id = ANY($2::bigint[]) AND o.dead_at IS NULL AND o.missing_since IS NULL AND )sql" TENON_IS_MISSING};
/// $3: the grace in milliseconds. An owner that has returned meanwhile has reset `missing_since`.
const Statement mark_if_dead{"WITH " TENON_HELD_LOCKS R"sql(
  UPDATE owners AS o SET dead_at = clock_timestamp()
  WHERE o.id = ANY($2::bigint[]) AND o.dead_at IS NULL
    AND ()sql" TENON_IS_OVER R"sql(
         OR (o.missing_since < clock_timestamp() - $3::bigint * interval '1 ms' AND )sql" TENON_IS_MISSING R"sql())
  RETURNING o.id)sql"};
#undef TENON_HELD_LOCKS
#undef TENON_IS_MISSING
#undef TENON_IS_OVER

const Statement end_named_sessions{R"sql(
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE application_name = $1::text AND datname = current_database() AND pid <> pg_backend_pid())sql"};
const Statement set_ended{"UPDATE owners SET ended_at = clock_timestamp() WHERE id = $1::bigint AND ended_at IS NULL"};
const Statement delete_ended{"DELETE FROM owners WHERE ended_at < clock_timestamp() - interval '1 hour'"};

Result<void, SessionError> without_rows(const Result<Rows, SessionError>& rows) {
  if (!rows) return failure(rows.error());
  return {};
}

}  // namespace

Result<std::int64_t, SessionError> join(Session& session, std::int64_t store, const NewOwner& owner) {
  Parameters given;
  given.integer(store).integer(static_cast<std::int64_t>(owner.role)).bytes(owner.label).bytes(owner.pool);
  given.integer(owner.lease.count()).integer(session.backend().started_us);
  const std::array<Call, 3> calls = {Call{&join_durably, nullptr}, Call{&note_start, nullptr},
                                     Call{&insert_owner, &given}};
  const auto results = session.run(calls);
  if (!results) return failure(results.error());
  return results->back().get_integer(0, 0);
}

Result<Renewal, SessionError> renew(Session& session, std::int64_t owner, std::uint64_t runs) {
  const auto rows =
      session.run(renew_lease, Parameters().integer(owner).integer(session.backend().started_us).integer(runs));
  if (!rows) return failure(rows.error());
  return rows->size() == 1 ? Renewal::Held : Renewal::Marked;
}

Result<Renewal, SessionError> return_to(Session& session, std::int64_t store, std::int64_t owner, std::uint64_t runs) {
  Parameters lock;
  lock.integer(store).integer(owner);
  const std::array<Call, 2> calls = {Call{&note_start, nullptr}, Call{&take_lock, &lock}};
  const auto locked = session.run(calls);
  if (!locked) return failure(locked.error());
  if (!locked->back().get_boolean(0, 0))
    return failure(SessionError{SessionError::Kind::Lost, {}, "a former session of this process has its lock"});
  const auto rows =
      session.run(move_lease, Parameters().integer(owner).integer(session.backend().started_us).integer(runs));
  if (!rows) return failure(rows.error());
  return rows->size() == 1 ? Renewal::Held : Renewal::Marked;
}

Result<void, SessionError> leave(Session& session, std::int64_t owner) {
  return without_rows(session.run(mark_left, Parameters().integer(owner)));
}

Result<std::vector<Owner>, SessionError> list_owners(Session& session) {
  const auto rows = session.run(select_owners);
  if (!rows) return failure(rows.error());
  std::vector<Owner> owners;
  for (std::size_t row = 0; row < rows->size(); ++row)
    owners.push_back({.id = {rows->get_unsigned(row, 0)},
                      .role = static_cast<OwnerRole>(rows->get_integer(row, 1)),
                      .label = rows->get_text(row, 2),
                      .pool = rows->get_text(row, 3),
                      .runs = rows->get_unsigned(row, 4),
                      .lease_ms = rows->get_integer(row, 5),
                      .joined_at = rows->get_integer(row, 6)});
  return owners;
}

Result<std::vector<SeenOwner>, SessionError> see_others(Session& session, std::int64_t store, std::int64_t self) {
  const auto rows = session.run(see_owners, Parameters().integer(store).integer(self));
  if (!rows) return failure(rows.error());
  std::vector<SeenOwner> others;
  for (std::size_t row = 0; row < rows->size(); ++row)
    others.push_back({.id = rows->get_integer(row, 0),
                      .is_marked = rows->get_boolean(row, 1),
                      .is_marked_long = rows->get_boolean(row, 2),
                      .is_suspect = rows->get_boolean(row, 3),
                      .missing_ms = rows->get_integer(row, 4)});
  return others;
}

Result<std::vector<std::int64_t>, SessionError> mark_dead(Session& session, std::int64_t store,
                                                          std::span<const std::int64_t> suspects) {
  ArrayValue ids(ArrayValue::Element::Bigint);
  for (const std::int64_t id : suspects) ids.add(id);
  const std::string encoded = ids.take();
  Parameters missing, marking;
  missing.integer(store).bytes(encoded);
  marking.integer(store).bytes(encoded).integer(missing_grace.count());
  const std::array<Call, 2> calls = {Call{&note_missing, &missing}, Call{&mark_if_dead, &marking}};
  const auto results = session.run(calls, Session::Grouping::EachAlone);
  if (!results) return failure(results.error());
  std::vector<std::int64_t> marked;
  for (std::size_t row = 0; row < results->back().size(); ++row) marked.push_back(results->back().get_integer(row, 0));
  return marked;
}

Result<std::size_t, SessionError> end_sessions(Session& session, const std::string& application_name) {
  const auto ended = session.run(end_named_sessions, Parameters().bytes(application_name));
  if (!ended) return failure(ended.error());
  return ended->size();
}

Result<void, SessionError> note_ended(Session& session, std::int64_t owner) {
  return without_rows(session.run(set_ended, Parameters().integer(owner)));
}

Result<void, SessionError> remove_ended(Session& session) {
  return without_rows(session.run(delete_ended));
}

std::string application_name_of(std::int64_t store, std::int64_t owner) {
  return fmt::format("tenon {} of store {}", owner, store);
}

}  // namespace tenon::journal::postgres
