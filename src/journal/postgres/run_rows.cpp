#include "journal/postgres/run_rows.h"

#include "journal/row_checksum.h"

namespace tenon::journal::postgres {

std::int64_t checksum_of(const RunRow& run) {
  const RunHead& head = run.head;
  const RunSummary& summary = head.summary;
  RowChecksum sum;
  sum.add(run.id).add(head.run.text).add(head.records).add(run.appends).add(head.chain.view());
  sum.add(head.created_at).add(summary.updated_at).add(static_cast<std::uint64_t>(summary.state));
  sum.add(std::uint64_t{summary.wake_at.has_value()}).add(summary.wake_at.value_or(0));
  sum.add(summary.title).add(summary.detail);
  return sum.value();
}

RunRow read_unverified_run_row(const Rows& rows, std::size_t row, int first_column) {
  int column = first_column;
  const auto next = [&] { return column++; };
  RunRow run;
  run.id = rows.get_integer(row, next());
  run.head.run.text = rows.get_text(row, next());
  run.head.epoch = rows.get_unsigned(row, next());
  run.owner = rows.find_integer(row, next()).value_or(0);
  run.head.records = rows.get_unsigned(row, next());
  run.appends = rows.get_unsigned(row, next());
  run.head.chain = rows.get_hash(row, next());
  run.head.created_at = rows.get_integer(row, next());
  RunSummary& summary = run.head.summary;
  summary.updated_at = rows.get_integer(row, next());
  const std::int64_t state = rows.get_integer(row, next());
  const bool is_state = state >= 0 && state <= static_cast<std::int64_t>(RunState::Forgotten);
  run.head.is_damaged = !is_state;
  summary.state = is_state ? static_cast<RunState>(state) : RunState::Running;
  summary.wake_at = rows.find_integer(row, next());
  summary.title = rows.get_text(row, next());
  summary.detail = rows.get_text(row, next());
  run.checksum = rows.get_integer(row, next());
  return run;
}

bool is_intact(const RunRow& unverified) {
  return !unverified.head.is_damaged && unverified.checksum == checksum_of(unverified);
}

RunRow read_run_row(const Rows& rows, std::size_t row, int first_column) {
  RunRow run = read_unverified_run_row(rows, row, first_column);
  if (is_intact(run)) return run;
  RunSummary& summary = run.head.summary;
  run.head.is_damaged = true;
  summary.state = RunState::Running;
  summary.wake_at.reset();
  summary.detail.clear();
  return run;
}

}  // namespace tenon::journal::postgres
