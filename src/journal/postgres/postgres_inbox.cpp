#include "journal/postgres/postgres_inbox.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <map>

#include "journal/postgres/channels.h"
#include "journal/postgres/notice_sending.h"

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
/// Commands for runs that an owner has. $1: the runs, $2: the bytes, $3: the senders, or 0, $4: the tokens.
const Statement insert_for_owners{R"sql(
  INSERT INTO inbox(target, sender, run, pool, token, bytes)
  SELECT r.owner, nullif(c.sender, 0), c.run, r.pool, c.token, c.bytes
  FROM unnest($1::text[], $2::bytea[], $3::bigint[], $4::bigint[]) WITH ORDINALITY AS c(run, bytes, sender, token, at)
  CROSS JOIN LATERAL (
    SELECT n.owner, n.pool FROM runs AS n JOIN owners AS o ON o.id = n.owner AND o.dead_at IS NULL
    WHERE n.name = c.run AND n.state <> 6 OFFSET 0) AS r
  ORDER BY c.at
  RETURNING token, id, target::text)sql"};
/// Wakes the owner that the statement before has named; in a transaction of its own, because a NOTIFY in a transaction
/// that writes makes all others wait for it. $1: the beginning of the channel's name.
const Statement notify_named{R"sql(
  SELECT pg_notify($1::text || current_setting('tenon.notified'), $2::text)
  WHERE current_setting('tenon.notified', true) <> '')sql"};
const Statement select_taker{
    "SELECT (SELECT o.role FROM owners AS o WHERE o.id = p.owner AND o.dead_at IS NULL), " TENON_HOST_OF_POOL(
        "p.pool") " IS NOT NULL FROM runs AS p WHERE p.name = $1::text AND p.state < 3"};
const Statement select_by_token{"SELECT id FROM inbox WHERE token = $1::bigint"};
const Statement select_by_tokens{"SELECT token, id FROM inbox WHERE token = ANY($1::bigint[])"};

/// Commands whose target has left or died, or that never had one: a host of their pool takes them, unless their run has
/// an owner. The targets are few, so each is found by itself, however many commands there are. Of two hosts that do so
/// at once, the one that comes later finds another target than it has seen.
const Statement adopt_commands{R"sql(
  WITH RECURSIVE targets(id) AS (
    (SELECT i.target FROM inbox AS i WHERE i.reply IS NULL AND i.target IS NOT NULL ORDER BY i.target LIMIT 1)
    UNION ALL
    SELECT (SELECT i.target FROM inbox AS i WHERE i.reply IS NULL AND i.target > t.id ORDER BY i.target LIMIT 1)
    FROM targets AS t WHERE t.id IS NOT NULL),
  me AS MATERIALIZED (SELECT o.pool FROM owners AS o WHERE o.id = $1::bigint AND o.role = 1 AND o.dead_at IS NULL),
  lost AS MATERIALIZED (
    SELECT t.id FROM targets AS t WHERE NOT EXISTS (SELECT FROM owners AS o WHERE o.id = t.id AND o.dead_at IS NULL)),
  seen AS MATERIALIZED (
    SELECT i.id, i.target FROM lost CROSS JOIN LATERAL (
      SELECT n.id, n.target FROM inbox AS n
      WHERE n.target = lost.id AND n.reply IS NULL AND n.pool = (SELECT pool FROM me)
      ORDER BY n.id LIMIT $2::bigint) AS i
    UNION ALL
    SELECT i.id, i.target FROM inbox AS i WHERE i.target IS NULL AND i.reply IS NULL AND i.pool = (SELECT pool FROM me)
    ORDER BY id LIMIT $2::bigint)
  UPDATE inbox AS c SET target = coalesce()sql" TENON_OWNER_OF_RUN("c.run") R"sql(, $1::bigint)
  FROM seen WHERE c.id = seen.id AND c.target IS NOT DISTINCT FROM seen.target AND c.reply IS NULL
  RETURNING c.target)sql"};
const Statement select_commands{R"sql(
  SELECT id, run, bytes FROM inbox WHERE target = $1::bigint AND reply IS NULL AND id <> ALL($3::bigint[])
  ORDER BY id LIMIT $2::bigint)sql"};
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
/// $1: commands; $2: their replies.
#define TENON_ANSWER_ALL(BEFORE, FROM)                                                                   \
  BEFORE " UPDATE inbox AS i SET reply = a.reply, replied_at = clock_timestamp(), bytes = '' FROM " FROM \
         "unnest($1::bigint[], $2::bytea[]) AS a(id, reply) WHERE i.id = a.id AND i.reply IS NULL "      \
         "RETURNING i.sender::text"
const Statement answer_commands{TENON_ANSWER_ALL("", "")};
const Statement answer_commands_quickly{TENON_ANSWER_ALL(
    "WITH quickly AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))", "quickly, ")};
#undef TENON_ANSWER_ALL
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

/// Of a command or a reply that is left together with others.
constexpr std::size_t grouped_bytes_max = command_bytes_max / 16;

std::int64_t random_token() {
  std::int64_t bits = 0;
  while (getrandom(&bits, sizeof bits, 0) != sizeof bits) {
  }
  return bits;
}

/// Of `insert_command`.
Parameters parameters_of(const NewCommand& command, std::int64_t token) {
  Parameters given;
  given.bytes(command.run.text).bytes(command.bytes);
  command.sender.number == 0 ? given.null() : given.integer(command.sender.number);
  given.bytes(command.pool).integer(token).boolean(command.starts_run == NewCommand::StartsRun::Yes);
  ArrayValue except(ArrayValue::Element::Bigint);
  for (const OwnerId owner : command.except) except.add(owner.number);
  given.array(std::move(except));
  return given;
}

StoreError too_large(const Connection& connection, std::string_view what, std::size_t size) {
  return {StoreError::Kind::TooLarge, fmt::format("{}: {} has {} bytes (maximum {}, command_bytes_max)",
                                                  connection.name(), what, size, command_bytes_max)};
}

}  // namespace

Result<std::uint64_t, StoreError> PostgresInbox::send(const NewCommand& command) {
  return send_once(command, random_token());
}

/// The token is that of one command, however often it is tried to leave it.
Result<std::uint64_t, StoreError> PostgresInbox::send_once(const NewCommand& command, std::int64_t token) {
  if (command.bytes.size() > command_bytes_max)
    return failure(too_large(connection_, "a command", command.bytes.size()));
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

struct PostgresInbox::Group {
  explicit Group(std::span<const NewCommand> given) : commands(given), outcomes(given.size()) {
    for (std::size_t at = 0; at < given.size(); ++at) tokens.push_back(random_token());
  }
  /// Whether the command is still to be left, and may be left together with others.
  [[nodiscard]] bool has(std::size_t at) const {
    return !outcomes[at] && commands[at].bytes.size() <= grouped_bytes_max;
  }

  const std::span<const NewCommand> commands;
  std::vector<std::int64_t> tokens;
  std::vector<std::optional<Result<std::uint64_t, StoreError>>> outcomes;  ///< nothing: it was not left yet
};

std::vector<Result<std::uint64_t, StoreError>> PostgresInbox::send_all(std::span<const NewCommand> commands) {
  Group group(commands);
  if (!leave_for_owners(group) || !leave_for_hosts(group)) find_left(group);
  std::vector<Result<std::uint64_t, StoreError>> outcomes;
  for (std::size_t at = 0; at < commands.size(); ++at) {
    auto& outcome = group.outcomes[at];
    outcomes.push_back(outcome ? std::move(*outcome) : send_once(commands[at], group.tokens[at]));
  }
  return outcomes;
}

/// Leaves the commands for runs that have an owner, with one statement. False if it is not known whether it did.
bool PostgresInbox::leave_for_owners(Group& group) {
  ArrayValue runs(ArrayValue::Element::Text), bytes(ArrayValue::Element::Bytea), senders(ArrayValue::Element::Bigint),
      tokens(ArrayValue::Element::Bigint);
  std::map<std::int64_t, std::size_t> places;
  for (std::size_t at = 0; at < group.commands.size(); ++at) {
    const NewCommand& command = group.commands[at];
    const bool is_for_host = command.starts_run == NewCommand::StartsRun::Yes || !command.except.empty();
    if (is_for_host || !group.has(at)) continue;
    places.emplace(group.tokens[at], at);
    runs.add(command.run.text);
    bytes.add(command.bytes);
    senders.add(command.sender.number);
    tokens.add(group.tokens[at]);
  }
  if (places.size() < 2) return true;
  const auto session = connection_.link().get();
  if (!session) return false;
  Parameters given;
  given.array(std::move(runs)).array(std::move(bytes)).array(std::move(senders)).array(std::move(tokens));
  const auto left = (*session)->run(insert_for_owners, given);
  if (!left) return false;
  std::set<std::string> owners;
  for (std::size_t row = 0; row < left->size(); ++row) {
    group.outcomes[places.at(left->get_integer(row, 0))] = left->get_unsigned(row, 1);
    owners.insert(left->get_text(row, 2));
  }
  announce(**session, owners, "command");
  return true;
}

/// Leaves the others, in one transaction: each statement chooses a host with regard to those before. False if it is not
/// known whether it did.
bool PostgresInbox::leave_for_hosts(Group& group) {
  std::vector<std::size_t> places;
  for (std::size_t at = 0; at < group.commands.size(); ++at)
    if (group.has(at)) places.push_back(at);
  if (places.size() < 2) return true;
  std::vector<Parameters> given;
  given.reserve(places.size());  // what points into them stays valid
  for (const std::size_t at : places) given.push_back(parameters_of(group.commands[at], group.tokens[at]));
  std::vector<Call> calls;
  for (const Parameters& parameters : given) calls.push_back({&insert_command, &parameters});
  const auto session = connection_.link().get();
  if (!session) return false;
  const auto results = (*session)->run(calls);
  if (!results) return false;
  std::set<std::string> owners;
  for (std::size_t number = 0; number < places.size(); ++number) {
    const Rows& inserted = (*results)[number];
    group.outcomes[places[number]] = id_of(inserted, group.commands[places[number]]);
    if (inserted.size() == 1 && inserted.find_bytes(0, 1)) owners.insert(inserted.get_text(0, 1));
  }
  announce(**session, owners, "command");
  return true;
}

/// Those that were left although the reply was lost.
void PostgresInbox::find_left(Group& group) {
  const auto found = connection_.link().query(
      select_by_tokens, Parameters().array(make_array(ArrayValue::Element::Bigint, group.tokens)));
  for (std::size_t at = 0; at < group.commands.size(); ++at) {
    auto& outcome = group.outcomes[at];
    if (outcome) continue;
    if (!found) outcome = failure(found.error());
    for (std::size_t row = 0; found && row < found->size(); ++row)
      if (found->get_integer(row, 0) == group.tokens[at]) outcome = found->get_unsigned(row, 1);
  }
}

/// What is not announced is found when its owner looks by itself.
void PostgresInbox::announce(Session& session, const std::set<std::string>& owners, const std::string& what) const {
  std::vector<Notification> notices;
  for (const std::string& owner : owners)
    if (!owner.empty()) notices.push_back({channel_prefix(connection_.number()) + owner, what});
  if (!notices.empty()) static_cast<void>(notify(session, notices));
}

/// The id of a command that was left, or why it was not.
Result<std::uint64_t, StoreError> PostgresInbox::id_of(const Rows& inserted, const NewCommand& command) const {
  if (inserted.size() == 1) return inserted.get_unsigned(0, 0);
  std::string why = command.except.empty() ? fmt::format("there is no run {}, or it was forgotten", command.run.text)
                                           : "no other process can take the command";
  return failure(StoreError{StoreError::Kind::Missing, fmt::format("{}: {}", connection_.name(), why)});
}

/// Nothing if it is not known whether the command was left.
Result<std::optional<std::uint64_t>, StoreError> PostgresInbox::try_send(const NewCommand& command,
                                                                         std::int64_t token) {
  const auto session = connection_.link().get();
  if (!session) return failure(session.error());
  const Parameters given = parameters_of(command, token);
  Parameters announcement;
  announcement.own_bytes(channel_prefix(connection_.number())).bytes("command");
  // Without the notice, the owner finds the command when it looks by itself.
  const std::array<Call, 2> calls = {Call{&insert_command, &given}, Call{&notify_named, &announcement, true}};
  const auto results = (*session)->run(calls, Session::Grouping::EachAlone);
  if (!results && results.error().kind == SessionError::Kind::Lost) return std::optional<std::uint64_t>();
  if (!results) return failure(connection_.error(results.error()));
  auto id = id_of(results->front(), command);
  if (!id) return failure(std::move(id.error()));
  return std::optional(*id);
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

Result<std::size_t, StoreError> PostgresInbox::adopt(OwnerId owner, std::size_t limit) {
  const auto adopted =
      connection_.link().query(adopt_commands, Parameters().integer(owner.number).integer(row_limit(limit)));
  if (!adopted) return failure(adopted.error());
  std::set<std::int64_t> others;
  for (std::size_t row = 0; row < adopted->size(); ++row) others.insert(adopted->get_integer(row, 0));
  others.erase(static_cast<std::int64_t>(owner.number));
  for (const std::int64_t other : others) announce_command(other);
  return adopted->size();
}

Result<std::vector<Command>, StoreError> PostgresInbox::unanswered(OwnerId owner, std::span<const std::uint64_t> known,
                                                                   std::size_t limit) {
  Parameters given;
  given.integer(owner.number).integer(row_limit(limit)).array(make_array(ArrayValue::Element::Bigint, known));
  const auto rows = connection_.link().query(select_commands, given);
  if (!rows) return failure(rows.error());
  std::vector<Command> commands;
  for (std::size_t row = 0; row < rows->size(); ++row)
    commands.push_back({rows->get_unsigned(row, 0), {rows->get_text(row, 1)}, rows->get_text(row, 2)});
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

Result<void, StoreError> PostgresInbox::answer_all(std::span<const CommandAnswer> answers) {
  const bool fits =
      std::ranges::all_of(answers, [](const CommandAnswer& given) { return given.bytes.size() <= grouped_bytes_max; });
  if (answers.size() < 2 || !fits) return Inbox::answer_all(answers);
  if (auto writable = connection_.require_writable(); !writable) return writable;
  ArrayValue commands(ArrayValue::Element::Bigint), replies(ArrayValue::Element::Bytea);
  bool is_quick = true;
  for (const CommandAnswer& given : answers) {
    commands.add(given.command);
    replies.add(given.bytes);
    is_quick = is_quick && given.durability == ReplyDurability::MayBeRepeated;
  }
  Parameters given;
  given.array(std::move(commands)).array(std::move(replies));
  for (bool was_lost = false;; was_lost = true) {
    const auto session = connection_.link().get();
    if (!session) return failure(session.error());
    const auto answered = (*session)->run(is_quick ? answer_commands_quickly : answer_commands, given);
    if (!answered && answered.error().kind != SessionError::Kind::Lost)
      return failure(connection_.error(answered.error()));
    if (!answered) continue;  // the answers may be there then
    std::set<std::string> senders;
    for (std::size_t row = 0; row < answered->size(); ++row)
      if (const auto sender = answered->find_bytes(row, 0)) senders.insert(std::string(*sender));
    announce(**session, senders, "reply");
    if (answered->size() == answers.size() || was_lost) return {};
    const std::size_t missing = answers.size() - answered->size();
    return failure(StoreError{StoreError::Kind::Missing, fmt::format("{}: {} of {} commands are not there any more",
                                                                     connection_.name(), missing, answers.size())});
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
