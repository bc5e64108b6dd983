#include "journal/postgres/server_errors.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace tenon::journal::postgres {
namespace {

using Kind = StoreError::Kind;

struct Meaning {
  std::string_view state;  ///< SQLSTATE, or the beginning of several
  Kind kind;
  std::string_view advice;
};

/// A prepared statement of this session is not there, or one of another session is.
constexpr std::string_view pooler_advice =
    "the server is a pooler in transaction or statement mode: use its session mode, or connect to PostgreSQL directly";

/// https://www.postgresql.org/docs/current/errcodes-appendix.html; the first one that matches counts.
constexpr std::array<Meaning, 23> meanings = {{
    {"08", Kind::Unavailable, ""},
    {"22021", Kind::Format, "the database's encoding cannot represent it; use a database with the encoding UTF8"},
    {"22P05", Kind::Format, "the database's encoding cannot represent it; use a database with the encoding UTF8"},
    {"25006", Kind::Denied,
     "the server only reads; name the one that also writes (with several hosts: `target_session_attrs=read-write`)"},
    {read_only_default_state, Kind::Denied,
     "the setting `default_transaction_read_only` of the role or the database is on; an administrator ends that with: "
     "ALTER ROLE … RESET default_transaction_read_only, or ALTER DATABASE … RESET default_transaction_read_only"},
    {"26000", Kind::Denied, pooler_advice},
    {"28000", Kind::Denied, "name a role that exists, and that the server's file pg_hba.conf admits"},
    {"28", Kind::Denied, "give the password in PGPASSWORD, in the file ~/.pgpass, or in the URL"},
    {"3D000", Kind::Missing, "create the database with: createdb"},
    {"3F000", Kind::Missing, "the store's schema was removed"},
    {"42501", Kind::Denied, "grant the role the rights that the guide about PostgreSQL lists"},
    {"42P05", Kind::Denied, pooler_advice},
    {"42P01", Kind::Format, "a table of the store is missing"},
    {"53300", Kind::Unavailable, "raise the server's `max_connections`, or use fewer processes"},
    {"53", Kind::Full, ""},
    {"54", Kind::TooLarge, ""},
    {"55P03", Kind::InUse, "another process holds a lock for longer than a change takes"},
    {"57P01", Kind::Unavailable, ""},
    {"57P02", Kind::Unavailable, ""},
    {"57P03", Kind::Unavailable, ""},
    {"58030", Kind::Broken, "the server could not read or write a file"},
    {"XX001", Kind::Damaged, ""},
    {"XX002", Kind::Damaged, "rebuild the index with REINDEX"},
}};

}  // namespace

StoreError make_error(const ServerAddress& address, const SessionError& error) {
  if (error.state == wrong_settings_state)
    return {Kind::Format,
            fmt::format("{}: the URL is wrong, or a variable or file of libpq: {}", address.name, error.message)};
  for (const Meaning& meaning : meanings) {
    if (error.state.empty() || !error.state.starts_with(meaning.state)) continue;
    std::string text = fmt::format("{}: {}", address.name, error.message);
    if (!meaning.advice.empty()) text += fmt::format("; {}", meaning.advice);
    return {meaning.kind, std::move(text)};
  }
  if (error.kind != SessionError::Kind::Rejected)
    return {Kind::Unavailable, fmt::format("{}: the server cannot be reached: {}", address.name, error.message)};
  // What was rejected has changed nothing, so that it can be repeated.
  return {Kind::Unavailable, fmt::format("{}: {} (SQLSTATE {})", address.name, error.message, error.state)};
}

bool is_transient(const SessionError& error) {
  // A deadlock, a conflict of transactions, and a statement that someone has cancelled.
  return error.state == "40P01" || error.state == "40001" || error.state == "57014";
}

}  // namespace tenon::journal::postgres
