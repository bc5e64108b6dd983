#include "journal/postgres/schema.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <array>
#include <string_view>

#include "journal/postgres/server_errors.h"

namespace tenon::journal::postgres {
namespace {

/// What each column means: docs/internals/journal.md. Names and types here are the format: a change is a new format,
/// and its step from the one before. Texts that a client chooses are byteas, because a database may have any encoding.
constexpr std::string_view format_1 = R"sql(
CREATE TABLE store(
  format bigint NOT NULL,
  number bigint NOT NULL
);

CREATE TABLE owners(
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  role bigint NOT NULL,
  label text NOT NULL,
  pool text NOT NULL,
  runs bigint NOT NULL DEFAULT 0,
  lease_ms bigint NOT NULL,
  lease_until timestamptz NOT NULL,
  backend bigint NOT NULL,
  backend_started bigint NOT NULL,
  server_started timestamptz NOT NULL,
  missing_since timestamptz,
  joined_at timestamptz NOT NULL,
  dead_at timestamptz,
  ended_at timestamptz
) WITH (fillfactor = 50);
CREATE INDEX owners_not_ended ON owners(id) WHERE ended_at IS NULL;

CREATE SEQUENCE run_ids INCREMENT BY 64;
CREATE TABLE runs(
  id bigint PRIMARY KEY,
  epoch bigint NOT NULL,
  owner bigint,
  records bigint NOT NULL,
  appends bigint NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  wake_at bigint,
  state bigint NOT NULL,
  checksum bigint NOT NULL,
  name text COLLATE "C" NOT NULL UNIQUE,
  pool text NOT NULL,
  chain bytea NOT NULL,
  title bytea NOT NULL,
  detail bytea NOT NULL
) WITH (fillfactor = 60);
CREATE INDEX runs_by_state ON runs(state, name);
CREATE INDEX runs_by_wake_at ON runs(wake_at, name) WHERE wake_at IS NOT NULL;

CREATE TABLE batches(
  run bigint NOT NULL,
  first bigint NOT NULL,
  append bigint NOT NULL,
  count bigint NOT NULL,
  chain bytea NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (run, first, append)
);

CREATE TABLE contents(
  run bigint NOT NULL,
  hash bytea NOT NULL,
  refers bytea NOT NULL,
  bytes bytea,
  PRIMARY KEY (run, hash)
);
CREATE INDEX contents_shared ON contents(hash) WHERE bytes IS NULL;
CREATE TABLE shared_bodies(
  hash bytea PRIMARY KEY,
  bytes bytea NOT NULL
);

CREATE TABLE snapshots(
  run bigint PRIMARY KEY,
  after bigint NOT NULL,
  hash bytea NOT NULL,
  bytes bytea NOT NULL
);

CREATE TABLE inbox(
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  target bigint,
  sender bigint,
  run text COLLATE "C" NOT NULL,
  pool text NOT NULL,
  token bigint NOT NULL,
  bytes bytea NOT NULL,
  reply bytea,
  replied_at timestamptz
);
CREATE INDEX inbox_unanswered ON inbox(target, id) WHERE reply IS NULL;
CREATE INDEX inbox_replies ON inbox(replied_at) WHERE reply IS NOT NULL;
CREATE INDEX inbox_by_run ON inbox(run);

CREATE TABLE notes(
  key bytea PRIMARY KEY,
  bytes bytea NOT NULL,
  expires_at bigint
);
CREATE INDEX notes_by_expiry ON notes(expires_at) WHERE expires_at IS NOT NULL;

CREATE FUNCTION reject(state text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION USING MESSAGE = 'a condition of the transaction does not hold', ERRCODE = state;
END
$$;
)sql";

/// PostgreSQL empties an unlogged table when it recovers from a crash, also from one of a single process of the server,
/// which leaves pg_postmaster_start_time() as it was.
constexpr std::string_view format_2 = R"sql(
CREATE UNLOGGED TABLE uptime(
  is_single boolean PRIMARY KEY DEFAULT true CHECK (is_single),
  since timestamptz NOT NULL
);
CREATE FUNCTION server_started() RETURNS timestamptz LANGUAGE sql STABLE AS
  'SELECT greatest(pg_postmaster_start_time(), (SELECT since FROM uptime))';
)sql";

/// Element N makes format N + 1 of format N.
constexpr std::array<std::string_view, store_format> steps = {format_1, format_2};

const Statement select_tables{R"sql(
  SELECT to_regnamespace($1::text) IS NOT NULL,
         EXISTS (SELECT FROM pg_class WHERE relnamespace = to_regnamespace($1::text) AND relkind IN ('r', 'p', 'v')),
         EXISTS (SELECT FROM pg_class WHERE relnamespace = to_regnamespace($1::text) AND relname = 'store')
)sql"};
const Statement select_store{"SELECT format, number FROM store"};

/// Distinguishes the store from all others of the database. Positive, with 31 bits.
std::int64_t random_number() {
  std::uint32_t bits = 0;
  while (getrandom(&bits, sizeof bits, 0) != sizeof bits) {
  }
  return static_cast<std::int64_t>(bits >> 1U);
}

class Preparation {
 public:
  Preparation(Session& session, const ServerAddress& address, const StoreOptions& options)
      : session_(session), address_(address), options_(options) {}

  Result<SchemaFacts, StoreError> run() {
    if (session_.server_version() < server_version_min)
      return failure(StoreError{StoreError::Kind::Format,
                                fmt::format("{}: the server is PostgreSQL {}; a store needs {} or newer", address_.name,
                                            session_.server_version() / 10'000, server_version_min / 10'000)});
    auto found = look();
    if (!found || is_current(*found)) return finish(found);
    const bool is_reader = options_.access == Access::Reader;
    if (found->format == 0 && (is_reader || !options_.creates)) return failure(missing());
    if (is_reader) return failure(old_format(*found));
    if (auto changed = change(); !changed) return failure(std::move(changed.error()));
    found = look();
    return finish(found);
  }

 private:
  struct Found {
    bool has_schema = false;
    std::int64_t format = 0;  ///< 0: no tables
    std::int64_t number = 0;
  };

  static bool is_current(const Found& found) { return found.format == store_format; }

  static Result<SchemaFacts, StoreError> finish(Result<Found, StoreError>& found) {
    if (!found) return failure(std::move(found.error()));
    return SchemaFacts{found->number};
  }

  StoreError error(const SessionError& reason) const { return make_error(address_, reason); }

  StoreError missing() const {
    return {StoreError::Kind::Missing,
            fmt::format("{}: the store does not exist: the database has no tables in the schema `{}`; `tenon run "
                        "FILE --store` creates them",
                        address_.name, address_.schema)};
  }

  StoreError old_format(const Found& found) const {
    return {StoreError::Kind::OldFormat,
            fmt::format("{}: the store's format is {}; it is upgraded to {} when an owner opens the store",
                        address_.name, found.format, store_format)};
  }

  [[nodiscard]] Result<Found, StoreError> look() {
    const auto tables = session_.run(select_tables, Parameters().bytes(address_.schema));
    if (!tables) return failure(error(tables.error()));
    Found found{.has_schema = tables->get_boolean(0, 0)};
    const bool has_tables = tables->get_boolean(0, 1);
    const bool is_store = tables->get_boolean(0, 2);
    if (!is_store && !has_tables) return found;
    const auto store = is_store ? session_.run(select_store) : Rows();
    if (!store && store.error().state == "42P01")  // what a role may not use is not there
      return failure(StoreError{
          StoreError::Kind::Denied,
          fmt::format("{}: the role may not use the schema `{}`; grant it the rights that the guide about PostgreSQL "
                      "lists",
                      address_.name, address_.schema)});
    if (!store && store.error().state != "42703") return failure(error(store.error()));  // it has no such columns
    if (!is_store || !store || store->size() != 1)
      return failure(StoreError{StoreError::Kind::Format,
                                fmt::format("{}: the schema `{}` belongs to another program; choose a free one with "
                                            "`tenon.schema=NAME`",
                                            address_.name, address_.schema)});
    found.format = store->get_integer(0, 0);
    found.number = store->get_integer(0, 1);
    if (found.format > store_format)
      return failure(StoreError{
          StoreError::Kind::Format,
          fmt::format("{}: a newer Tenon wrote this store: its format is {}, and this Tenon reads up to {}; use the "
                      "newer one",
                      address_.name, found.format, store_format)});
    return found;
  }

  /// Several owners may come to a new store at once: the first one changes it, and the others wait.
  [[nodiscard]] Result<void, StoreError> change() {
    auto done = session_.execute(
        fmt::format("BEGIN; SELECT pg_advisory_xact_lock(hashtextextended('tenon store {}', 0))", address_.schema));
    if (!done) return failure(error(done.error()));
    const auto found = look();
    if (found && is_current(*found)) return roll_back({});
    if (!found) return roll_back(failure(found.error()));
    std::string script = fmt::format("SET LOCAL search_path = \"{}\"", address_.schema);
    if (!found->has_schema) script = fmt::format("CREATE SCHEMA \"{}\"; {}", address_.schema, script);
    for (auto step = static_cast<std::size_t>(found->format); step < steps.size(); ++step)
      script += fmt::format(";{}", steps[step]);
    script += found->format == 0
                  ? fmt::format("; INSERT INTO store(format, number) VALUES({}, {})", store_format, random_number())
                  : fmt::format("; UPDATE store SET format = {}", store_format);
    done = session_.execute(script + "; COMMIT");
    if (!done) return roll_back(failure(change_error(done.error())));
    return {};
  }

  StoreError change_error(const SessionError& reason) const {
    StoreError problem = error(reason);
    if (reason.state == "42501")
      problem.message = fmt::format(
          "{}: {}; let an administrator create the schema, with: CREATE SCHEMA \"{}\" AUTHORIZATION the_role",
          address_.name, reason.message, address_.schema);
    return problem;
  }

  Result<void, StoreError> roll_back(Result<void, StoreError> result) {
    static_cast<void>(session_.execute("ROLLBACK"));
    return result;
  }

  Session& session_;
  const ServerAddress& address_;
  const StoreOptions& options_;
};

}  // namespace

Result<SchemaFacts, StoreError> prepare_schema(Session& session, const ServerAddress& address,
                                               const StoreOptions& options) {
  return Preparation(session, address, options).run();
}

}  // namespace tenon::journal::postgres
