// What a server can refuse, and what the error says to do about it.
#include "journal/postgres/server_errors.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/mount.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <random>

#include "journal/postgres/schema.h"
#include "tests/support/cutting_proxy.h"
#include "tests/support/postgres_testing.h"

namespace tenon::journal::postgres {
namespace {

using test::expect_soon;
using test::make_append;
using test::PostgresServer;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using Kind = StoreError::Kind;

class ServerErrorsTest : public test::PostgresStoreTest {
 protected:
  /// The URL of this store for another role, with more options.
  [[nodiscard]] std::string url_for(const std::string& role, const std::string& options = "") const {
    std::string url = path;
    return url.replace(url.find("//tenon@"), 8, "//" + role + "@") + options;
  }
  [[nodiscard]] static StoreError open_error(const std::string& url, const StoreOptions& options = {}) {
    const auto opened = open_store(url, options);
    EXPECT_FALSE(opened.has_value());
    return opened ? StoreError{} : opened.error();
  }
  /// Creates a role that is removed at the end. `options`: as of CREATE ROLE.
  void create_role(const std::string& role, const std::string& options) {
    execute(fmt::format("DROP ROLE IF EXISTS {0}; CREATE ROLE {0} LOGIN {1}", role, options));
  }
  [[nodiscard]] std::string schema() const {
    const std::size_t begin = path.find("schema=") + 7;
    return path.substr(begin, path.find('&', begin) - begin);
  }
  /// Makes every statement that adds rows to a table fail with this SQLSTATE, `times` times.
  void fail_with(const std::string& table, const std::string& state, int times) {
    execute(fmt::format(R"sql(
      SET search_path = "{0}";
      CREATE SEQUENCE failures;
      CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF nextval('"{0}".failures') <= {3} THEN RAISE EXCEPTION 'provoked' USING ERRCODE = '{2}'; END IF;
        RETURN NULL; END $$;
      CREATE TRIGGER fail AFTER INSERT ON {1} FOR EACH STATEMENT EXECUTE FUNCTION fail())sql",
                        schema(), table, state, times));
  }
  RunName run = make_run_name(1);
};

TEST_F(ServerErrorsTest, AConflictOfTransactionsIsRepeated) {
  ASSERT_EQ(commit(make_append(run, 1, {"a"})), std::nullopt);
  for (const char* const state : {"40001", "40P01", "57014"}) {
    fail_with("batches", state, 3);
    const std::uint64_t first = store->journals().head(run)->records + 1;
    EXPECT_EQ(commit(make_append(run, first, {"b"})), std::nullopt);
    EXPECT_EQ(read_all(run).size(), first);
    execute(
        fmt::format("SET search_path = \"{}\"; DROP TRIGGER fail ON batches; DROP FUNCTION fail; DROP SEQUENCE "
                    "failures",
                    schema()));
  }
  expect_clean(*store);
}

TEST_F(ServerErrorsTest, ADeadlockIsRepeated) {
  reopen(host);
  path += "&options=-cdeadlock_timeout%3D50ms";
  reopen(host);
  const RunName other = make_run_name(2);
  ASSERT_EQ(commit(make_append(run, 1, {"a"})), std::nullopt);
  ASSERT_EQ(commit(make_append(other, 1, {"a"})), std::nullopt);
  // The other side never gives up.
  const auto holder = connect();
  const auto lock = [&](const RunName& locked) {
    return fmt::format("SELECT FROM runs WHERE name = '{}' FOR UPDATE", locked.text);
  };
  ASSERT_TRUE(holder->execute("SET deadlock_timeout = '1h'; BEGIN; " + lock(other)).has_value());
  const std::vector<Append> appends = {make_append(run, 2, {"b"}), make_append(other, 2, {"b"})};
  auto outcomes = std::async(std::launch::async, [&] { return store->journals().commit(appends); });
  expect_soon([&] {
    return query_number("SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'transactionid'") == 1;
  });
  // It gets the lock only because the server has ended the commit.
  ASSERT_TRUE(holder->execute(lock(run) + "; COMMIT").has_value());
  EXPECT_THAT(*outcomes.get(), ElementsAre(std::nullopt, std::nullopt));
  EXPECT_THAT(read_all(run), ElementsAre("a", "b"));
  expect_clean(*store);
}

TEST_F(ServerErrorsTest, AFullDiskAppliesNothingAndTheSameCallSucceedsLater) {
  ASSERT_EQ(commit(make_append(run, 1, {"a"})), std::nullopt);
  fail_with("batches", "53100", 1);
  const Append append = make_append(run, 2, {"b"});
  const auto full = store->journals().commit({&append, 1});
  ASSERT_FALSE(full.has_value());
  EXPECT_EQ(full.error().kind, Kind::Full);
  EXPECT_THAT(full.error().message, HasSubstr("provoked"));
  EXPECT_THAT(read_all(run), ElementsAre("a"));
  EXPECT_EQ(commit(append), std::nullopt);
  expect_clean(*store);
}

/// A small disk for the store's tables: a file system of its own, or for users who may not mount one a folder in which
/// the server finds no room once it was filled.
class SmallDisk {
 public:
  SmallDisk() {
    std::filesystem::permissions(folder_.file(""), std::filesystem::perms::all);
    mounted_ = ::mount("tenon", folder_.file("").c_str(), "tmpfs", 0, "size=4m,mode=0777") == 0;
  }
  ~SmallDisk() {
    if (mounted_) ::umount2(folder_.file("").c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  [[nodiscard]] PostgresServer::Options server_options() const {
    if (mounted_) return {};
    return {.environment = {"LD_PRELOAD=" TENON_FULL_DISK, "TENON_TEST_FULL_DISK=" + marker()}};
  }
  /// A file system of its own is full when it is.
  void fill() const {
    if (!mounted_) std::ofstream(marker()).put('\n');
  }
  /// There is room again.
  [[nodiscard]] bool grow() const {
    if (!mounted_) return std::filesystem::remove(marker());
    return ::mount("tenon", folder_.file("").c_str(), "tmpfs", MS_REMOUNT, "size=16m") == 0;
  }
  [[nodiscard]] std::string folder() const { return folder_.file("tables"); }

 private:
  [[nodiscard]] std::string marker() const { return folder_.file("full"); }

  test::TemporaryFolder folder_;
  bool mounted_ = false;
};

TEST_F(ServerErrorsTest, ADiskWithoutRoomIsReportedAndTheStoreStaysWhole) {
  const SmallDisk disk;
  std::filesystem::create_directory(disk.folder());
  std::filesystem::permissions(disk.folder(), std::filesystem::perms::all);
  PostgresServer server(disk.server_options());
  path = server.new_url();
  const int given = ::chown(disk.folder().c_str(), 65'534, 65'534);  // as root, the server's user
  ASSERT_TRUE(given == 0 || ::geteuid() != 0);
  execute("CREATE TABLESPACE small LOCATION '" + disk.folder() + "'");
  path += "&options=-cdefault_tablespace%3Dsmall";
  reopen(host);
  std::mt19937 random(1);
  std::uint64_t first = 1;
  std::optional<StoreError> full;
  for (; !full && first < 200; ++first) {
    if (first == 3) disk.fill();
    std::string large(100'000, '\0');
    for (char& byte : large) byte = static_cast<char>(random());  // it cannot be compressed
    const Append append = make_append(run, first, {large});
    const auto outcomes = store->journals().commit({&append, 1});
    if (!outcomes) full = outcomes.error();
  }
  ASSERT_TRUE(full.has_value());
  EXPECT_EQ(full->kind, Kind::Full);
  EXPECT_THAT(full->message, HasSubstr("No space left on device"));
  EXPECT_EQ(read_all(run).size(), first - 2);
  expect_clean(*store);
  ASSERT_TRUE(disk.grow());
  EXPECT_EQ(commit(make_append(run, first - 1, {"b"})), std::nullopt);
  expect_clean(*store);
  store.reset();
}

TEST_F(ServerErrorsTest, AWrongPasswordIsNotShown) {
  create_role("with_password", "SUPERUSER PASSWORD 'right'");
  EXPECT_TRUE(open_store(url_for("with_password:right"), {}).has_value());
  EXPECT_TRUE(open_store(url_for("with_password", "&password=right"), {}).has_value());
  for (const std::string& url : {url_for("with_password:wr0ng"), url_for("with_password", "&password=wr0ng"),
                                 url_for("with_password", "&pass%77ord=wr0ng")}) {
    const StoreError error = open_error(url);
    EXPECT_EQ(error.kind, Kind::Denied);
    EXPECT_THAT(error.message, HasSubstr("password authentication failed"));
    EXPECT_THAT(error.message, HasSubstr("PGPASSWORD"));
    EXPECT_THAT(error.message, Not(HasSubstr("wr0ng")));
  }
  const StoreError without = open_error(url_for("with_password"));
  EXPECT_EQ(without.kind, Kind::Denied);
  EXPECT_THAT(without.message, HasSubstr("no password supplied"));
}

TEST_F(ServerErrorsTest, AUrlThatCannotBeReadDoesNotShowItsPassword) {
  for (const char* const url : {"postgres:ann:wr0ng@host/x",
                                "postgres:/ann:wr0ng@host/x",
                                "postgres://ann:wr0ng/part@host/x",
                                "postgres://ann:wr0ng%zz@host/x",
                                "postgres://ann:wr0ng?x@host:1/x?nothing=1",
                                "postgres://ann@host/x?password=wr0ng%zz",
                                "postgres://ann:wr0ng@host/x?tenon.lease=1",
                                "postgres://ann:wr0ng@host/x?tenon.unknown=1",
                                "postgres://ann@host/x?tenon.schema=A&password=wr0ng",
                                "postgres://ann:wr0ng@host/x?nothing=1",
                                "postgres://ann:wr0ng@[::1/x",
                                "postgres://ann:x@wr0ng@host/x",
                                "postgres://ann:x/y@wr0ng@host/x",
                                "postgres://ann:x?y@wr0ng@host/x",
                                "postgres://ann@host/x?Password=wr0ng",
                                "postgres://ann@host/x?pass=wr0ng&tenon.lease=1",
                                "postgres://ann:wr0ng/x",
                                " postgres://ann:wr0ng@host/x",
                                "\"postgres://ann:wr0ng@host/x\"",
                                "host=localhost user=ann password=wr0ng",
                                "password = wr0ng host=localhost",
                                "postgres://ann@host/x?sslpassword=wr0ng&tenon.lease=x"}) {
    const StoreError error = open_error(url);
    EXPECT_EQ(error.kind, Kind::Format) << url << ": " << error.message;
    EXPECT_THAT(error.message, Not(HasSubstr("wr0ng"))) << url;
    EXPECT_THAT(name_of_store(url), Not(HasSubstr("wr0ng")));
  }
}

TEST_F(ServerErrorsTest, AUrlIsNotWhatItWasMeantToBe) {
  const auto message = [&](const std::string& url) { return open_error(url).message; };
  EXPECT_THAT(message("postgres://ann:a@b@host/x"), HasSubstr("in a password write `@` as `%40`"));
  EXPECT_THAT(message("postgres://ann:a/b@host/x"), HasSubstr("`/` as `%2F`"));
  EXPECT_THAT(message("postgres://ann:word"), HasSubstr("the port is a number"));
  EXPECT_THAT(message(" postgres://host/x"), HasSubstr("begins with `postgres://`, with nothing before it"));
  EXPECT_THAT(message("host=localhost dbname=x"),
              HasSubstr("write a database as `postgres://USER@HOST:PORT/DATABASE`"));
  EXPECT_EQ(file_of_store("./host=x"), "./host=x");
  for (const char* const wrong : {"&sslmode=wings", "&service=nosuch", "&port=x"}) {
    const StoreError error = open_error(path + wrong);
    EXPECT_EQ(error.kind, Kind::Format) << error.message;
    EXPECT_THAT(error.message, HasSubstr("the URL is wrong, or a variable or file of libpq: ")) << wrong;
  }
}

TEST_F(ServerErrorsTest, AnUnknownRole) {
  const StoreError error = open_error(url_for("stranger9"));
  EXPECT_EQ(error.kind, Kind::Denied);
  EXPECT_THAT(error.message, HasSubstr("role \"stranger9\" does not exist"));
  EXPECT_THAT(error.message, HasSubstr("name a role that exists"));
  EXPECT_THAT(error.message, Not(HasSubstr("PGPASSWORD")));
}

TEST_F(ServerErrorsTest, AnUnknownDatabaseOrServer) {
  std::string url = path;
  const StoreError database = open_error(url.replace(url.find("/postgres?"), 10, "/nothing?"));
  EXPECT_EQ(database.kind, Kind::Missing);
  EXPECT_THAT(database.message, HasSubstr("database \"nothing\" does not exist; create the database with: createdb"));
  const StoreError server = open_error("postgres://ann@/runs?host=" + folder.file(""));
  EXPECT_EQ(server.kind, Kind::Unavailable);
  EXPECT_THAT(server.message, HasSubstr("the server cannot be reached"));
}

TEST_F(ServerErrorsTest, TooManyConnections) {
  create_role("lonely", "SUPERUSER CONNECTION LIMIT 0");
  execute("ALTER ROLE lonely NOSUPERUSER");
  const StoreError error = open_error(url_for("lonely"));
  EXPECT_EQ(error.kind, Kind::Unavailable);
  EXPECT_THAT(error.message, HasSubstr("too many connections"));
  EXPECT_THAT(error.message, HasSubstr("max_connections"));
}

TEST_F(ServerErrorsTest, AServerThatOnlyReads) {
  const auto address = parse_server_url("postgres://ann@host/x");
  ASSERT_TRUE(address.has_value());
  const StoreError error = make_error(*address, {SessionError::Kind::Rejected, "25006", "cannot execute it"});
  EXPECT_EQ(error.kind, Kind::Denied);
  EXPECT_THAT(error.message, HasSubstr("cannot execute it; the server only reads; name the one that also writes"));
}

/// What PgBouncer's transaction mode leads to.
TEST_F(ServerErrorsTest, APreparedStatementOfAnotherConnection) {
  const auto address = parse_server_url("postgres://ann@host/x");
  ASSERT_TRUE(address.has_value());
  for (const char* const state : {"42P05", "26000"}) {
    const StoreError error = make_error(*address, {SessionError::Kind::Rejected, state, "prepared statement \"s1\" …"});
    EXPECT_EQ(error.kind, Kind::Denied);
    EXPECT_THAT(error.message, HasSubstr("a pooler in transaction or statement mode: use its session mode"));
  }
}

TEST_F(ServerErrorsTest, ARoleThatOnlyReadsByDefault) {
  const std::string read_only = "&options=-cdefault_transaction_read_only%3Don";
  const StoreError error = open_error(path + read_only);
  EXPECT_EQ(error.kind, Kind::Denied);
  EXPECT_THAT(error.message,
              HasSubstr("the setting `default_transaction_read_only` of the role or the database is on"));
  EXPECT_THAT(error.message, HasSubstr("ALTER ROLE … RESET default_transaction_read_only"));
  ASSERT_EQ(commit(make_append(run, 1, {"a"})), std::nullopt);
  const auto reader = open_store(path + read_only, {.access = Access::Reader});
  ASSERT_TRUE(reader.has_value()) << reader.error().message;
  EXPECT_EQ((*reader)->journals().head(run)->records, 1U);
}

TEST_F(ServerErrorsTest, MissingRights) {
  create_role("guest", "");
  const StoreError stranger = open_error(url_for("guest"));
  EXPECT_EQ(stranger.kind, Kind::Denied);
  EXPECT_THAT(stranger.message, HasSubstr("may not use the schema"));
  // A store that does not exist yet.
  std::string url = url_for("guest");
  const StoreError creator = open_error(url.replace(url.find("schema=") + 7, schema().size(), "new_one"));
  EXPECT_EQ(creator.kind, Kind::Denied);
  EXPECT_THAT(creator.message, HasSubstr("CREATE SCHEMA \"new_one\" AUTHORIZATION"));
  // A role that may read.
  ASSERT_EQ(commit(make_append(run, 1, {"a"})), std::nullopt);
  execute(
      fmt::format("GRANT USAGE ON SCHEMA {0} TO guest; GRANT SELECT ON ALL TABLES IN SCHEMA {0} TO guest", schema()));
  const auto reader = open_store(url_for("guest"), {.access = Access::Reader});
  ASSERT_TRUE(reader.has_value()) << reader.error().message;
  EXPECT_THAT(read_all((*reader)->journals(), run), ElementsAre("a"));
  EXPECT_EQ((*reader)->inbox().send({run, "resume"}).error().kind, Kind::Denied);
  const StoreError owner = open_error(url_for("guest"));
  EXPECT_EQ(owner.kind, Kind::Denied);
  EXPECT_THAT(owner.message, HasSubstr("grant the role the rights"));
  execute("DROP OWNED BY guest; DROP ROLE guest");
}

/// What the guide says that a role needs is enough.
TEST_F(ServerErrorsTest, ARoleThatOwnsTheSchemaNeedsNothingElse) {
  create_role("keeper", "");
  std::string url = url_for("keeper");
  url.replace(url.find("schema=") + 7, schema().size(), "of_keeper");
  execute("CREATE SCHEMA of_keeper AUTHORIZATION keeper");
  auto first = open_store(url, host);
  ASSERT_TRUE(first.has_value()) << first.error().message;
  ASSERT_EQ(commit((*first)->journals(), make_append(run, 1, {"a"})), std::nullopt);
  const auto second = open_store(url, host);
  ASSERT_TRUE(second.has_value()) << second.error().message;
  // It may end the sessions of an owner that is dead.
  const std::uint64_t id = (*first)->ownership().self().number;
  execute(
      fmt::format("UPDATE of_keeper.owners SET lease_until = clock_timestamp() - interval '1 s' WHERE id = {}", id));
  expect_soon([&] { return has(**second, run, ClaimMode::IfExpired); });
  EXPECT_TRUE((*second)->admin().forget(run, 1).has_value());
  first->reset();
  EXPECT_TRUE((*second)->admin().compact().has_value());
  expect_clean(**second);
}

TEST_F(ServerErrorsTest, AServerThatIsTooOld) {
  test::CuttingProxy proxy(PostgresServer::shared().socket());
  proxy.announce_version("12");
  std::string url = path;
  const std::string sockets = PostgresServer::shared().socket_folder();
  url.replace(url.find(sockets), sockets.size(), proxy.folder());
  const StoreError error = open_error(url);
  EXPECT_EQ(error.kind, Kind::Format);
  EXPECT_THAT(error.message, HasSubstr("the server is PostgreSQL 12; a store needs 13 or newer"));
}

TEST_F(ServerErrorsTest, ASchemaThatIsNoStoreAndAStoreThatIsNewer) {
  execute("CREATE SCHEMA of_another; CREATE TABLE of_another.runs(x text)");
  std::string url = path;
  const StoreError other = open_error(url.replace(url.find("schema=") + 7, schema().size(), "of_another"));
  EXPECT_EQ(other.kind, Kind::Format);
  EXPECT_THAT(other.message, HasSubstr("belongs to another program"));
  execute("DROP SCHEMA of_another CASCADE");
  execute(fmt::format("UPDATE {}.store SET format = 99", schema()));
  const StoreError newer = open_error(path);
  EXPECT_EQ(newer.kind, Kind::Format);
  EXPECT_THAT(newer.message, HasSubstr("a newer Tenon wrote this store"));
}

TEST_F(ServerErrorsTest, AnOlderStoreIsUpgradedWhenAnOwnerOpensIt) {
  ASSERT_EQ(commit(make_append(run, 1, {"a"})), std::nullopt);
  store.reset();
  execute(fmt::format(
      "SET search_path = \"{}\"; DROP FUNCTION server_started; DROP TABLE uptime; UPDATE store SET format = 1",
      schema()));
  const auto reader = open_store(path, {.access = Access::Reader});
  ASSERT_FALSE(reader.has_value());
  EXPECT_EQ(reader.error().kind, Kind::OldFormat);
  reopen(host);
  EXPECT_EQ(query_number(fmt::format("SELECT format FROM {}.store", schema())), store_format);
  EXPECT_TRUE(has(*store, run));
  EXPECT_THAT(read_all(run), ElementsAre("a"));
  expect_clean(*store);
}

TEST_F(ServerErrorsTest, ADatabaseOfAnotherEncoding) {
  execute("DROP DATABASE IF EXISTS latin");
  execute("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'");
  {
    std::string url = path;
    const auto latin = open_store(url.replace(url.find("/postgres?"), 10, "/latin?"), host);
    ASSERT_TRUE(latin.has_value()) << latin.error().message;
    Append append = make_append(run, 1, {"→ 🙂"});
    append.summary.title = "→";
    append.notes = {{"schlüssel →", "🙂", std::nullopt}};
    ASSERT_EQ(commit((*latin)->journals(), append), std::nullopt);
    EXPECT_EQ((*latin)->journals().head(run)->summary.title, "→");
    append = make_append(make_run_name(2), 1, {"a"});
    append.pool = "→";
    const auto refused = (*latin)->journals().commit({&append, 1});
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().kind, Kind::Format);
    EXPECT_THAT(refused.error().message, HasSubstr("use a database with the encoding UTF8"));
  }
  execute("DROP DATABASE latin WITH (FORCE)");
}

}  // namespace
}  // namespace tenon::journal::postgres
