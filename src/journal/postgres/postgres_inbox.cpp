#include "journal/postgres/postgres_inbox.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <array>

#include "journal/postgres/channels.h"

namespace tenon::journal::postgres {
namespace {

/// The living owner of a run, as a subquery. CONDITION: when it counts.
#define TENON_OWNER_WHERE(NAME, CONDITION)                                                                       \
  "(SELECT r.owner FROM runs AS r JOIN owners AS o ON o.id = r.owner AND o.dead_at IS NULL WHERE r.name = " NAME \
      CONDITION ")"
#define TENON_OWNER_OF_RUN(NAME) TENON_OWNER_WHERE(NAME, "")

/// Of the hosts of a pool, the one that has the fewest runs and commands. CONDITION: which ones.
#define TENON_HOST_WHERE(POOL, CONDITION)                                                                  \
  "(SELECT o.id FROM owners AS o WHERE o.dead_at IS NULL AND o.role = 1 AND o.pool = " POOL CONDITION      \
  " ORDER BY o.runs + (SELECT count(*) FROM (SELECT FROM inbox AS i WHERE i.target = o.id AND i.reply IS " \
  "NULL LIMIT 1000) AS waiting), random() LIMIT 1)"
#define TENON_HOST_OF_POOL(POOL) TENON_HOST_WHERE(POOL, "")

#define TENON_MAY_GET_IT " AND o.id <> ALL($7::bigint[])"
/// $1 the run, $2 the bytes, $3 the sender, $4 the pool of a new run, $5 the token, $6 whether it starts the run, $7
/// the owners that do not get it.
const Statement insert_command{
    "INSERT INTO inbox(target, sender, run, pool, token, bytes) "
    "SELECT p.target, $3::bigint, $1::text, p.pool, $5::bigint, $2::bytea FROM (SELECT q.pool, "
    "coalesce(" TENON_OWNER_WHERE("$1::text", TENON_MAY_GET_IT) ", " TENON_HOST_WHERE("q.pool", TENON_MAY_GET_IT)
        R"sql() AS target
    FROM (SELECT coalesce((SELECT r.pool FROM runs AS r WHERE r.name = $1::text), $4::text)) AS q(pool)) AS p
  WHERE ($6::boolean OR EXISTS (SELECT FROM runs AS r WHERE r.name = $1::text AND r.state <> 6))
    AND (p.target IS NOT NULL OR $7::bigint[] = '{}')
  RETURNING id, set_config('tenon.notified', target::text, false))sql"};
#undef TENON_MAY_GET_IT
/// Wakes the owner that the statement before has named; in a transaction of its own, because a NOTIFY in a transaction
/// that writes makes all others wait for it. $1: the beginning of the channel's name.
const Statement notify_named{R"sql(
  SELECT pg_notify($1::text || current_setting('tenon.notified'), $2::text)
  WHERE current_setting('tenon.notified', true) <> '')sql"};
const Statement select_taker{
    "SELECT (SELECT o.role FROM owners AS o WHERE o.id = p.owner AND o.dead_at IS NULL), " TENON_HOST_OF_POOL(
        "p.pool") " IS NOT NULL FROM runs AS p WHERE p.name = $1::text AND p.state < 3"};
const Statement select_by_token{"SELECT id FROM inbox WHERE token = $1::bigint"};

/// Commands whose target has left or died, or that never had one: a host of their pool takes them, unless their run has
/// an owner. Of two hosts that do so at once, the one that comes later finds another target than it has seen.
const Statement adopt_commands{R"sql(
  WITH seen AS MATERIALIZED (
    SELECT i.id, i.target FROM inbox AS i JOIN owners AS me ON me.id = $1::bigint AND me.role = 1 AND me.dead_at IS NULL
    WHERE i.reply IS NULL AND i.pool = me.pool
      AND NOT EXISTS (SELECT FROM owners AS o WHERE o.id = i.target AND o.dead_at IS NULL)
    ORDER BY i.id LIMIT $2::bigint)
  UPDATE inbox AS c SET target = coalesce()sql" TENON_OWNER_OF_RUN("c.run") R"sql(, $1::bigint)
  FROM seen WHERE c.id = seen.id AND c.target IS NOT DISTINCT FROM seen.target AND c.reply IS NULL
  RETURNING c.target)sql"};
const Statement select_commands{R"sql(
  SELECT id, run, bytes FROM inbox WHERE target = $1::bigint AND reply IS NULL ORDER BY id LIMIT $2::bigint)sql"};
/// To the run's owner, or to the pool that the run has moved to. A run of the same pool without an owner stays.
const Statement redirect_command{R"sql(
  UPDATE inbox AS c SET target = now.target, pool = now.pool
  FROM (SELECT i.id, r.pool, coalesce()sql" TENON_OWNER_OF_RUN(
    "i.run") ", CASE WHEN r.pool <> i.pool THEN " TENON_HOST_OF_POOL("r.pool")
                                     R"sql( ELSE i.target END) AS target
        FROM inbox AS i JOIN runs AS r ON r.name = i.run WHERE i.id = $1::bigint) AS now
  WHERE c.id = now.id AND c.reply IS NULL AND (c.target IS DISTINCT FROM now.target OR c.pool <> now.pool)
  RETURNING c.target)sql"};
const Statement notify_channel{"SELECT pg_notify($1::text, $2::text)"};

const Statement answer_command{R"sql(
  UPDATE inbox SET reply = $2::bytea, replied_at = clock_timestamp(), bytes = ''
  WHERE id = $1::bigint AND reply IS NULL RETURNING id, set_config('tenon.notified', sender::text, false))sql"};
/// The same without waiting for the disk.
const Statement answer_command_quickly{R"sql(
  WITH quickly AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
  UPDATE inbox SET reply = $2::bytea, replied_at = clock_timestamp(), bytes = '' FROM quickly
  WHERE id = $1::bigint AND reply IS NULL RETURNING id, set_config('tenon.notified', sender::text, false))sql"};
const Statement select_replies{"SELECT id, reply FROM inbox WHERE id = ANY($1::bigint[])"};
/// Need not be durable: after some time they are removed anyway.
const Statement delete_taken{R"sql(
  WITH quickly AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
  DELETE FROM inbox USING quickly WHERE id = ANY($1::bigint[]) AND reply IS NOT NULL)sql"};
const Statement select_without_taker{R"sql(
  SELECT i.id FROM inbox AS i WHERE i.id = ANY($1::bigint[]) AND i.reply IS NULL
    AND NOT EXISTS (SELECT FROM owners AS o WHERE o.dead_at IS NULL
                    AND (o.id = i.target OR (o.role = 1 AND o.pool = i.pool))))sql"};
const Statement select_command{"SELECT id FROM inbox WHERE id = $1::bigint"};
const Statement withdraw_command{"DELETE FROM inbox WHERE id = $1::bigint AND reply IS NULL RETURNING id"};
#undef TENON_OWNER_OF_RUN
#undef TENON_HOST_OF_POOL
#undef TENON_HOST_WHERE
#undef TENON_OWNER_WHERE

std::int64_t random_token() {
  std::int64_t bits = 0;
  while (getrandom(&bits, sizeof bits, 0) != sizeof bits) {
  }
  return bits;
}

StoreError too_large(const Connection& connection, std::string_view what, std::size_t size) {
  return {StoreError::Kind::TooLarge, fmt::format("{}: {} has {} bytes (maximum {}, command_bytes_max)",
                                                  connection.name(), what, size, command_bytes_max)};
}

}  // namespace

Result<std::uint64_t, StoreError> PostgresInbox::send(const NewCommand& command) {
  if (command.bytes.size() > command_bytes_max)
    return failure(too_large(connection_, "a command", command.bytes.size()));
  const std::int64_t token = random_token();
  while (true) {
    auto sent = try_send(command, token);
    if (!sent) return failure(std::move(sent.error()));
    if (*sent) return **sent;
    // The connection was lost: a command that is there is not sent again.
    const auto found = connection_.link().query(select_by_token, Parameters().integer(token));
    if (!found) return failure(found.error());
    if (found->size() == 1) return found->get_unsigned(0, 0);
  }
}

/// Nothing if it is not known whether the command was left.
Result<std::optional<std::uint64_t>, StoreError> PostgresInbox::try_send(const NewCommand& command,
                                                                         std::int64_t token) {
  const auto session = connection_.link().get();
  if (!session) return failure(session.error());
  Parameters given;
  given.bytes(command.run.text).bytes(command.bytes);
  command.sender.number == 0 ? given.null() : given.integer(command.sender.number);
  given.bytes(command.pool).integer(token).boolean(command.starts_run == NewCommand::StartsRun::Yes);
  ArrayValue except(ArrayValue::Element::Bigint);
  for (const OwnerId owner : command.except) except.add(owner.number);
  given.array(std::move(except));
  Parameters announcement;
  announcement.own_bytes(channel_prefix(connection_.number())).bytes("command");
  // Without the notice, the owner finds the command when it looks by itself.
  const std::array<Call, 2> calls = {Call{&insert_command, &given}, Call{&notify_named, &announcement, true}};
  const auto results = (*session)->run(calls, Session::Grouping::EachAlone);
  if (!results && results.error().kind == SessionError::Kind::Lost) return std::optional<std::uint64_t>();
  if (!results) return failure(connection_.error(results.error()));
  const Rows& inserted = results->front();
  if (inserted.size() == 1) return std::optional(inserted.get_unsigned(0, 0));
  if (!command.except.empty())
    return failure(StoreError{StoreError::Kind::Missing,
                              fmt::format("{}: no other process can take the command", connection_.name())});
  return failure(StoreError{StoreError::Kind::Missing, fmt::format("{}: there is no run {}, or it was forgotten",
                                                                   connection_.name(), command.run.text)});
}

Result<CommandTaker, StoreError> PostgresInbox::taker_of(const RunName& run) {
  const auto found = connection_.link().query(select_taker, Parameters().bytes(run.text));
  if (!found) return failure(found.error());
  if (found->size() == 0) return CommandTaker::None;
  const auto role = found->find_integer(0, 0);
  const bool is_visitor = role && static_cast<OwnerRole>(*role) == OwnerRole::Visitor;
  if (role) return is_visitor ? CommandTaker::Visitor : CommandTaker::Owner;
  return found->get_boolean(0, 1) ? CommandTaker::Host : CommandTaker::None;
}

Result<std::vector<Command>, StoreError> PostgresInbox::unanswered(OwnerId owner, std::size_t limit) {
  Parameters given;
  given.integer(owner.number).integer(row_limit(limit));
  const std::array<Call, 2> calls = {Call{&adopt_commands, &given}, Call{&select_commands, &given}};
  const auto results = connection_.link().repeat(calls, ServerLink::Patience::Some, Session::Grouping::EachAlone);
  if (!results) return failure(results.error());
  std::vector<Command> commands;
  const Rows& rows = results->back();
  for (std::size_t row = 0; row < rows.size(); ++row)
    commands.push_back({rows.get_unsigned(row, 0), {rows.get_text(row, 1)}, rows.get_text(row, 2)});
  const Rows& adopted = results->front();
  for (std::size_t row = 0; row < adopted.size(); ++row) {
    const std::int64_t target = adopted.get_integer(row, 0);
    if (static_cast<std::uint64_t>(target) == owner.number) continue;
    announce_command(target);
  }
  return commands;
}

Result<void, StoreError> PostgresInbox::redirect(std::uint64_t command) {
  const auto target = connection_.link().query(redirect_command, Parameters().integer(command));
  if (!target) return failure(target.error());
  const auto owner = target->size() == 0 ? std::nullopt : target->find_integer(0, 0);
  if (owner) announce_command(*owner);
  return {};
}

/// A notice that is not sent delays the command until its owner looks by itself.
void PostgresInbox::announce_command(std::int64_t owner) {
  static_cast<void>(connection_.link().query(
      notify_channel, Parameters().own_bytes(channel_of(connection_.number(), owner)).bytes("command")));
}

Result<void, StoreError> PostgresInbox::answer(std::uint64_t command, std::string_view reply,
                                               ReplyDurability durability) {
  if (auto writable = connection_.require_writable(); !writable) return writable;
  if (reply.size() > command_bytes_max) return failure(too_large(connection_, "a reply", reply.size()));
  Parameters given, announcement;
  given.integer(command).bytes(reply);
  announcement.own_bytes(channel_prefix(connection_.number())).bytes("reply");
  const Statement& statement = durability == ReplyDurability::Full ? answer_command : answer_command_quickly;
  const std::array<Call, 2> calls = {Call{&statement, &given}, Call{&notify_named, &announcement, true}};
  bool was_lost = false;
  while (true) {
    const auto session = connection_.link().get();
    if (!session) return failure(session.error());
    const auto results = (*session)->run(calls, Session::Grouping::EachAlone);
    if (results && (results->front().size() == 1 || was_lost)) return {};
    if (results)
      return failure(StoreError{StoreError::Kind::Missing,
                                fmt::format("{}: there is no unanswered command {}", connection_.name(), command)});
    if (results.error().kind != SessionError::Kind::Lost) return failure(connection_.error(results.error()));
    was_lost = true;  // the answer may be there then
  }
}

Result<Rows, StoreError> PostgresInbox::read_replies(std::span<const std::uint64_t> commands) {
  const auto is_taken = [&](std::uint64_t id) { return std::ranges::find(taken_, id) != taken_.end(); };
  ArrayValue ids(ArrayValue::Element::Bigint), taken_ids(ArrayValue::Element::Bigint);
  for (const std::uint64_t id : commands)
    if (!is_taken(id)) ids.add(id);
  for (const std::uint64_t id : taken_) taken_ids.add(id);
  Parameters given, taken;
  given.array(std::move(ids));
  taken.array(std::move(taken_ids));
  std::vector<Call> calls = {Call{&select_replies, &given}};
  if (!taken_.empty()) calls.push_back({&delete_taken, &taken});
  auto results = connection_.link().repeat(calls, ServerLink::Patience::Some, Session::Grouping::EachAlone);
  if (!results) return failure(std::move(results.error()));
  taken_.clear();
  return std::move(results->front());
}

Result<std::optional<std::string>, StoreError> PostgresInbox::take_reply(std::uint64_t command) {
  const auto rows = read_replies({&command, 1});
  if (!rows) return failure(rows.error());
  if (rows->size() == 0)
    return failure(StoreError{StoreError::Kind::Missing,
                              fmt::format("{}: there is no command {}: its reply was taken or dropped, or its run was "
                                          "forgotten",
                                          connection_.name(), command)});
  const auto reply = rows->find_bytes(0, 1);
  if (!reply) return std::optional<std::string>{};
  taken_.push_back(command);
  return std::optional(std::string(*reply));
}

Result<std::vector<CommandReply>, StoreError> PostgresInbox::take_replies(std::span<const std::uint64_t> commands) {
  const auto rows = read_replies(commands);
  if (!rows) return failure(rows.error());
  std::vector<CommandReply> replies;
  for (std::size_t row = 0; row < rows->size(); ++row) {
    const auto reply = rows->find_bytes(row, 1);
    if (!reply) continue;
    replies.push_back({rows->get_unsigned(row, 0), std::string(*reply)});
    taken_.push_back(replies.back().command);
  }
  return replies;
}

Result<std::vector<std::uint64_t>, StoreError> PostgresInbox::without_taker(std::span<const std::uint64_t> commands) {
  ArrayValue ids(ArrayValue::Element::Bigint);
  for (const std::uint64_t id : commands) ids.add(id);
  const auto rows = connection_.link().query(select_without_taker, Parameters().array(std::move(ids)));
  if (!rows) return failure(rows.error());
  std::vector<std::uint64_t> found;
  for (std::size_t row = 0; row < rows->size(); ++row) found.push_back(rows->get_unsigned(row, 0));
  return found;
}

Result<bool, StoreError> PostgresInbox::withdraw(std::uint64_t command) {
  Parameters id;
  id.integer(command);
  bool was_lost = false;
  while (true) {
    const auto session = connection_.link().get();
    if (!session) return failure(session.error());
    const auto removed = (*session)->run(withdraw_command, id);
    if (!removed && removed.error().kind != SessionError::Kind::Lost)
      return failure(connection_.error(removed.error()));
    if (removed && (removed->size() == 1 || !was_lost)) return removed->size() == 1;
    was_lost = true;
    if (!removed) continue;
    // Only its sender, which is the caller, removes a command before it is answered.
    const auto found = connection_.link().query(select_command, id);
    if (!found) return failure(found.error());
    return found->size() == 0;
  }
}

}  // namespace tenon::journal::postgres
