#include "journal/postgres/stored_contents.h"

namespace tenon::journal::postgres {
namespace {

constexpr std::int64_t contents_per_read = 256;
/// A shared body may be large.
constexpr std::int64_t bodies_per_read = 8;

#define TENON_CONTENT_PLACE "(c.run, c.hash) > ($1::bigint, $2::bytea)"
#define TENON_CONTENT_ORDER " ORDER BY c.run, c.hash LIMIT $3::bigint"
const Statement select_all_contents{
    "SELECT c.run, c.hash, c.refers, c.bytes IS NULL, c.bytes FROM contents AS c "
    "WHERE " TENON_CONTENT_PLACE TENON_CONTENT_ORDER};
const Statement select_contents_with_bodies{
    "SELECT c.run, c.hash, c.refers, c.bytes IS NULL, coalesce(c.bytes, s.bytes) FROM contents AS c "
    "LEFT JOIN shared_bodies AS s ON c.bytes IS NULL AND s.hash = c.hash "
    "WHERE c.run = $1::bigint AND " TENON_CONTENT_PLACE TENON_CONTENT_ORDER};
#undef TENON_CONTENT_PLACE
#undef TENON_CONTENT_ORDER

}  // namespace

std::optional<std::vector<Hash>> decode_hashes(std::string_view bytes) {
  if (bytes.size() % Hash::size != 0) return std::nullopt;
  std::vector<Hash> hashes;
  for (std::size_t at = 0; at < bytes.size(); at += Hash::size)
    hashes.push_back(*Hash::from_bytes(bytes.substr(at, Hash::size)));
  return hashes;
}

Result<void, SessionError> visit_contents(Session& session, std::optional<std::int64_t> run,
                                          const std::function<bool(const StoredContent&)>& visit) {
  const std::int64_t limit = run ? bodies_per_read : contents_per_read;
  std::int64_t last_run = run.value_or(0);
  std::string last_hash;
  while (true) {
    Parameters given;
    given.integer(last_run).bytes(last_hash).integer(limit);
    const auto rows = session.run(run ? select_contents_with_bodies : select_all_contents, given);
    if (!rows) return failure(rows.error());
    for (std::size_t at = 0; at < rows->size(); ++at) {
      StoredContent content{.run = rows->get_integer(at, 0),
                            .hash = rows->get_hash(at, 1),
                            .refers = decode_hashes(rows->get_bytes(at, 2)),
                            .is_shared = rows->get_boolean(at, 3),
                            .bytes = rows->find_bytes(at, 4)};
      last_run = content.run;
      last_hash = rows->get_text(at, 1);
      if (!visit(content)) return {};
    }
    if (rows->size() < static_cast<std::size_t>(limit)) return {};
  }
}

}  // namespace tenon::journal::postgres
