#include "journal/postgres/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <utility>

#include "journal/postgres/owner_rows.h"
#include "journal/postgres/row_repair.h"

namespace tenon::journal::postgres {
namespace {

/// In the same transaction as the next statements: a claim is durable whatever the store's durability is, and waits for
/// a lock only as long as a healthy owner may hold it.
const Statement prepare_claim{R"sql(
  SELECT set_config('lock_timeout', '1s', true),
         set_config('synchronous_commit',
                    CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on'
                    ELSE current_setting('synchronous_commit') END, true))sql"};
/// In the order of all others. The statement after it sees what those that held the locks have changed.
const Statement lock_rows{"SELECT id FROM runs WHERE name = ANY($1::text[]) ORDER BY id FOR UPDATE"};
/// $2: the owner; $3: the pool of a host; $4: whether runs of no living owner are taken as well.
const Statement claim_rows{R"sql(
  UPDATE runs AS r SET epoch = r.epoch + 1, owner = $2::bigint
  WHERE r.name = ANY($1::text[]) AND r.state < 3
    AND (r.owner = $2::bigint OR (
      $4::boolean AND ($3::text IS NULL OR r.pool = $3::text)
      AND NOT EXISTS (SELECT FROM owners AS o WHERE o.id = r.owner AND o.dead_at IS NULL)))
    AND EXISTS (SELECT FROM owners AS o WHERE o.id = $2::bigint AND o.dead_at IS NULL)
  RETURNING )sql" TENON_HEAD_COLUMNS};
const Statement select_claimed{"SELECT " TENON_HEAD_COLUMNS R"sql(, o.label, o.dead_at IS NULL, r.pool
  FROM runs AS r LEFT JOIN owners AS o ON o.id = r.owner WHERE r.name = ANY($1::text[]))sql"};
const Statement select_repaired{"SELECT " TENON_HEAD_COLUMNS
                                " FROM runs AS r WHERE r.owner = $2::bigint AND r.name = "
                                "ANY($1::text[])"};
/// In an order of the owner's own, so that several owners take different ones.
#define TENON_SELECT_ABANDONED                                                           \
  "SELECT r.name, r.epoch FROM runs AS r WHERE r.state = 0 AND r.pool = $2::text "       \
  "AND NOT EXISTS (SELECT FROM owners AS o WHERE o.id = r.owner AND o.dead_at IS NULL) " \
  "AND r.name <> ALL($4::text[]) "                                                       \
  "ORDER BY hashint8extended(r.id, $1::bigint) LIMIT $3::bigint"
const Statement select_abandoned{TENON_SELECT_ABANDONED};
/// Where a transaction that does not end holds one of them, as an administrator's may. It writes more.
const Statement select_abandoned_unlocked{TENON_SELECT_ABANDONED " FOR UPDATE OF r SKIP LOCKED"};
#undef TENON_SELECT_ABANDONED
/// $2: the owner. A run that it has is its own already.
const Statement select_given{"SELECT " TENON_HEAD_COLUMNS
                             " FROM runs AS r WHERE r.name = ANY($1::text[]) AND r.owner = $2::bigint AND r.state < 3"};
const Statement select_own{"SELECT r.name, r.epoch FROM runs AS r WHERE r.state = 0 AND r.owner = $1::bigint"};
const Statement release_rows{R"sql(
  UPDATE runs SET owner = NULL WHERE id IN (
    SELECT id FROM runs WHERE name = ANY($1::text[]) AND owner = $2::bigint ORDER BY id FOR UPDATE))sql"};
const Statement commit_quickly{"SELECT set_config('synchronous_commit', 'off', true)"};

/// While the sessions of a marked owner are being ended.
constexpr std::chrono::milliseconds end_look_interval{5};
constexpr int end_looks_max = 200;
/// While runs are given to this owner, others are looked for this often.
constexpr std::chrono::seconds search_interval{4};

ArrayValue names_of(std::span<const RunName> runs) {
  ArrayValue names(ArrayValue::Element::Text);
  for (const RunName& run : runs) names.add(run.text);
  return names;
}

/// Why a run was not claimed: the row of `select_claimed`.
StoreError owned(const Connection& connection, const RunRow& run, const Rows& rows, std::size_t at) {
  const auto label = rows.find_bytes(at, run_column_count);
  const bool is_owned = label && rows.get_boolean(at, run_column_count + 1);
  const StoreOptions& options = connection.options();
  const std::string_view pool = rows.get_bytes(at, run_column_count + 2);
  std::string why;
  if (is_owned && run.owner != connection.owner()) {
    why = fmt::format("{} continues it", *label);
  } else if (options.role == OwnerRole::Host && pool != options.pool) {
    why = fmt::format("it belongs to the pool `{}`, and this process continues runs of `{}`", pool, options.pool);
  } else {
    why = "this process no longer continues runs of the store, or another one takes the run now";
  }
  return {StoreError::Kind::Owned, fmt::format("{}: run {}: {}", connection.name(), run.head.run.text, why)};
}

}  // namespace

Result<std::vector<RunRow>, StoreError> Claims::take(std::span<const RunName> runs, ClaimMode mode) {
  const StoreOptions& options = connection_.options();
  Parameters names;
  names.array(names_of(runs));
  Parameters given;
  given.array(names_of(runs)).integer(connection_.owner());
  options.role == OwnerRole::Host ? given.bytes(options.pool) : given.null();
  given.boolean(mode != ClaimMode::IfMine);
  const std::array<Call, 3> calls = {Call{&prepare_claim, nullptr}, Call{&lock_rows, &names},
                                     Call{&claim_rows, &given}};
  auto results = connection_.link().repeat(calls);
  if (!results) return failure(std::move(results.error()));
  std::vector<RunRow> taken;
  for (std::size_t row = 0; row < results->back().size(); ++row) taken.push_back(read_run_row(results->back(), row));
  if (auto done = repair(taken); !done) return failure(std::move(done.error()));
  for (const RunRow& row : taken) known_.put(row);
  return taken;
}

/// Those of the doubtful claims that have been made after all, and by which the runs are still claimed.
Result<std::vector<RunRow>, StoreError> Claims::find_doubtful() {
  std::vector<RunRow> taken;
  if (doubtful_.empty()) return taken;
  std::vector<RunName> names;
  for (const auto& [name, epoch] : doubtful_) names.push_back({name});
  const auto rows =
      connection_.link().query(select_repaired, Parameters().array(names_of(names)).integer(connection_.owner()));
  if (!rows) return failure(rows.error());
  for (std::size_t at = 0; at < rows->size(); ++at) {
    RunRow row = read_run_row(*rows, at);
    if (row.head.epoch == doubtful_.at(row.head.run.text)) taken.push_back(std::move(row));
  }
  if (auto done = repair(taken); !done) return failure(std::move(done.error()));
  doubtful_.clear();
  for (const RunRow& row : taken) known_.put(row);
  return taken;
}

Result<void, StoreError> Claims::repair(std::vector<RunRow>& claimed) {
  std::vector<std::int64_t> damaged;
  std::vector<RunName> names;
  for (const RunRow& row : claimed) {
    if (!row.head.is_damaged) continue;
    damaged.push_back(row.id);
    names.push_back(row.head.run);
  }
  if (damaged.empty()) return {};
  if (auto repaired = repair_rows(connection_, damaged); !repaired) return failure(std::move(repaired.error()));
  const auto rows =
      connection_.link().query(select_repaired, Parameters().array(names_of(names)).integer(connection_.owner()));
  if (!rows) return failure(rows.error());
  std::erase_if(claimed, [](const RunRow& row) { return row.head.is_damaged; });
  for (std::size_t at = 0; at < rows->size(); ++at) claimed.push_back(read_run_row(*rows, at));
  return {};
}

Result<Claims::Found, StoreError> Claims::claim_each(std::span<const RunName> runs, ClaimMode mode) {
  auto taken = take(runs, mode);
  if (!taken) return failure(std::move(taken.error()));
  Found found;
  for (RunRow& row : *taken) {
    std::string name = row.head.run.text;
    found.outcomes.emplace(std::move(name), std::move(row.head));
  }
  std::vector<RunName> others;
  for (const RunName& run : runs)
    if (!found.outcomes.contains(run.text)) others.push_back(run);
  if (others.empty()) return found;
  const auto rows = connection_.link().query(select_claimed, Parameters().array(names_of(others)));
  if (!rows) return failure(rows.error());
  for (std::size_t at = 0; at < rows->size(); ++at) {
    RunRow row = read_run_row(*rows, at);
    const std::string name = row.head.run.text;
    if (row.head.summary.state == RunState::Forgotten) {
      found.outcomes.emplace(name, failure(connection_.forgotten_run(row.head.run, row.head.records)));
    } else if (has_ended(row.head.summary.state)) {
      found.outcomes.emplace(name, std::move(row.head));
    } else if (row.head.is_damaged && row.owner == 0) {
      found.outcomes.emplace(name, failure(connection_.damaged(fmt::format(
                                       "run {}: its row is damaged, and its records cannot be read", name))));
      found.damaged.push_back(std::move(row));
    } else {
      if (row.owner != 0 && row.owner != connection_.owner()) found.owners.insert(row.owner);
      found.outcomes.emplace(name, failure(owned(connection_, row, *rows, at)));
    }
  }
  return found;
}

Result<void, StoreError> Claims::claim_again(std::span<const RunName> runs, ClaimMode mode, Found& found) {
  if (runs.empty()) return {};
  auto claimed = claim_each(runs, mode);
  if (!claimed) return failure(std::move(claimed.error()));
  for (auto& [name, outcome] : claimed->outcomes) found.outcomes.insert_or_assign(name, std::move(outcome));
  return {};
}

Result<bool, StoreError> Claims::end_expired(const std::set<std::int64_t>& owners) {
  const std::vector<std::int64_t> suspects(owners.begin(), owners.end());
  const auto session = connection_.link().get();
  if (!session) return failure(session.error());
  const auto marked = mark_dead(**session, connection_.number(), suspects);
  if (!marked) return failure(connection_.error(marked.error()));
  for (const std::int64_t owner : *marked) {
    // What is not ended here is ended by the next owner that looks.
    const std::string name = application_name_of(connection_.number(), owner);
    for (int looks = 0; looks < end_looks_max; ++looks) {
      const auto left = end_sessions(**session, name);
      if (!left) return failure(connection_.error(left.error()));
      if (*left == 0) {
        static_cast<void>(note_ended(**session, owner));
        break;
      }
      if (!connection_.link().wait(end_look_interval)) break;
    }
  }
  return !marked->empty();
}

Result<ClaimOutcomes, StoreError> Claims::claim(std::span<const RunName> runs, ClaimMode mode) {
  if (auto writable = connection_.require_writable(); !writable) return failure(writable.error());
  auto found = claim_each(runs, mode);
  if (!found) return failure(std::move(found.error()));
  if (!found->damaged.empty()) {
    std::vector<std::int64_t> ids;
    std::vector<RunName> names;
    for (const RunRow& row : found->damaged) {
      ids.push_back(row.id);
      names.push_back(row.head.run);
    }
    if (auto done = repair_rows(connection_, ids); !done) return failure(std::move(done.error()));
    if (auto done = claim_again(names, mode, *found); !done) return failure(std::move(done.error()));
  }
  if (mode == ClaimMode::IfExpired && !found->owners.empty()) {
    const auto ended = end_expired(found->owners);
    if (!ended) return failure(ended.error());
    std::vector<RunName> again;
    for (const auto& [name, outcome] : found->outcomes)
      if (*ended && !outcome && outcome.error().kind == StoreError::Kind::Owned) again.push_back({name});
    if (auto done = claim_again(again, mode, *found); !done) return failure(std::move(done.error()));
  }
  ClaimOutcomes outcomes;
  outcomes.reserve(runs.size());
  for (const RunName& run : runs) {
    const auto outcome = found->outcomes.find(run.text);
    outcomes.push_back(outcome == found->outcomes.end() ? failure(connection_.missing_run(run)) : outcome->second);
  }
  return outcomes;
}

Result<void, StoreError> Claims::look_for_given() {
  const auto rows = connection_.link().query(select_own, Parameters().integer(connection_.owner()));
  if (!rows) return failure(rows.error());
  for (std::size_t at = 0; at < rows->size(); ++at) {
    RunName name{rows->get_text(at, 0)};
    const KnownRun* const known = known_.find(name);
    if (known == nullptr || known->row.head.epoch != rows->get_unsigned(at, 1)) given_.push_back(std::move(name));
  }
  return {};
}

Result<std::vector<RunRow>, StoreError> Claims::take_given() {
  std::vector<RunRow> taken;
  if (given_.empty()) return taken;
  const auto rows =
      connection_.link().query(select_given, Parameters().array(names_of(given_)).integer(connection_.owner()));
  if (!rows) return failure(rows.error());
  for (std::size_t at = 0; at < rows->size(); ++at) {
    RunRow row = read_run_row(*rows, at);
    const KnownRun* const known = known_.find(row.head.run);
    if (known == nullptr || known->row.head.epoch != row.head.epoch) taken.push_back(std::move(row));
  }
  if (auto done = repair(taken); !done) return failure(std::move(done.error()));
  given_.clear();
  for (const RunRow& row : taken) known_.put(row);
  return taken;
}

Result<void, StoreError> Claims::search(const Wanted& wanted, std::vector<RunHead>& heads) {
  for (const Statement* select = &select_abandoned;;) {
    Parameters given;
    given.integer(connection_.owner()).bytes(connection_.options().pool).integer(row_limit(wanted.limit));
    given.array(names_of(wanted.except));
    const auto rows = connection_.link().query(*select, given);
    if (!rows) return failure(rows.error());
    if (rows->size() == 0) return {};
    std::vector<RunName> names;
    for (std::size_t at = 0; at < rows->size(); ++at) names.push_back({rows->get_text(at, 0)});
    auto taken = take(names, ClaimMode::IfFree);
    if (!taken && taken.error().kind == StoreError::Kind::InUse && select == &select_abandoned) {
      select = &select_abandoned_unlocked;
      continue;
    }
    if (!taken) {
      for (std::size_t at = 0; at < rows->size(); ++at)
        doubtful_.insert_or_assign(names[at].text, rows->get_unsigned(at, 1) + 1);
      return failure(std::move(taken.error()));
    }
    for (RunRow& row : *taken) heads.push_back(std::move(row.head));
    // Where another owner has taken all of them, there may be more.
    if (!heads.empty() || names.size() < wanted.limit) return {};
  }
}

Result<std::vector<RunHead>, StoreError> Claims::claim_abandoned(const Wanted& wanted, std::vector<RunName> given,
                                                                 Search search) {
  if (auto writable = connection_.require_writable(); !writable) return failure(writable.error());
  std::vector<RunHead> heads;
  // What has become of runs is found out with the next call if this one fails.
  const auto failed = [&](StoreError& error) {
    for (const RunHead& head : heads) doubtful_.insert_or_assign(head.run.text, head.epoch);
    return failure(std::move(error));
  };
  std::ranges::move(given, std::back_inserter(given_));
  const auto now = std::chrono::steady_clock::now();
  const bool searches = search == Search::Now || given_.empty() || now >= searched_at_ + search_interval;
  auto found = find_doubtful();
  if (!found) return failure(std::move(found.error()));
  for (RunRow& row : *found) heads.push_back(std::move(row.head));
  if (searches && connection_.options().role == OwnerRole::Host)
    if (auto looked = look_for_given(); !looked) return failed(looked.error());
  found = take_given();
  if (!found) return failed(found.error());
  for (RunRow& row : *found) heads.push_back(std::move(row.head));
  if (!searches) return heads;
  if (auto done = this->search(wanted, heads); !done) return failed(done.error());
  searched_at_ = now;
  return heads;
}

Result<void, StoreError> Claims::release(std::span<const RunName> runs) {
  if (auto writable = connection_.require_writable(); !writable) return failure(writable.error());
  for (const RunName& run : runs) known_.forget(run);
  Parameters given;
  given.array(names_of(runs)).integer(connection_.owner());
  const std::array<Call, 2> calls = {Call{&commit_quickly, nullptr}, Call{&release_rows, &given}};
  const auto done = connection_.link().repeat(calls);
  if (!done) return failure(done.error());
  return {};
}

}  // namespace tenon::journal::postgres
