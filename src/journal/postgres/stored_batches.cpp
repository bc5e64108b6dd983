#include "journal/postgres/stored_batches.h"

namespace tenon::journal::postgres {
namespace {

constexpr std::int64_t batches_per_read = 256;

#define TENON_BATCH_QUERY(WHERE)                                                                           \
  "SELECT run, first, append, count, chain, bytes FROM batches WHERE (run, first, append) > ($1::bigint, " \
  "$2::bigint, $3::bigint)" WHERE " ORDER BY run, first, append LIMIT $4::bigint"
const Statement select_all_batches{TENON_BATCH_QUERY("")};
const Statement select_batches_of_run{TENON_BATCH_QUERY(" AND run = $1::bigint")};
#undef TENON_BATCH_QUERY

}  // namespace

Result<void, SessionError> visit_batches(Session& session, std::optional<std::int64_t> run,
                                         const std::function<bool(const BatchRow&)>& visit) {
  BatchRow last{.run = run.value_or(0)};
  while (true) {
    Parameters given;
    given.integer(last.run).integer(last.first).integer(last.append).integer(batches_per_read);
    const auto rows = session.run(run ? select_batches_of_run : select_all_batches, given);
    if (!rows) return failure(rows.error());
    for (std::size_t at = 0; at < rows->size(); ++at) {
      last = {rows->get_integer(at, 0),  rows->get_unsigned(at, 1), rows->get_unsigned(at, 2),
              rows->get_unsigned(at, 3), rows->get_hash(at, 4),     rows->get_bytes(at, 5)};
      if (!visit(last)) return {};
    }
    if (rows->size() < static_cast<std::size_t>(batches_per_read)) return {};
  }
}

Result<Batch, BatchesProblem> BatchCheck::next(const BatchRow& row) {
  if (row.first != records_ + 1) return failure(BatchesProblem{records_ + 1, "it is missing"});
  if (row.chain_before != chain_) return failure(BatchesProblem{row.first, "the hash chain breaks here"});
  auto decoded = decode_batch(row.chain_before, row.bytes);
  if (!decoded) return failure(BatchesProblem{row.first + decoded.error().record, decoded.error().what});
  if (decoded->records.size() != row.count)
    return failure(BatchesProblem{row.first, "the number of records is not what its row says"});
  if (row.append <= last_append_) return failure(BatchesProblem{row.first, "its row is not where it belongs"});
  records_ += row.count;
  chain_ = decoded->chain;
  last_append_ = row.append;
  return std::move(*decoded);
}

std::optional<BatchesProblem> BatchCheck::finish(const RunHead& head) const {
  if (records_ < head.records) return BatchesProblem{records_ + 1, "it is missing"};
  if (records_ > head.records) return BatchesProblem{records_, "it is not counted in the run's head"};
  if (chain_ != head.chain) return BatchesProblem{records_, "it does not match the run's head"};
  return std::nullopt;
}

}  // namespace tenon::journal::postgres
