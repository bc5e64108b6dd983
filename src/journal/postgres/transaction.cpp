#include "journal/postgres/transaction.h"

namespace tenon::journal::postgres {
namespace {

const Statement begin_write{"BEGIN"};
const Statement begin_one_state{"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"};
const Statement commit_transaction{"COMMIT"};
const Statement roll_back{"ROLLBACK"};

}  // namespace

Transaction::~Transaction() {
  if (is_open_ && !session_.is_lost()) static_cast<void>(session_.run(roll_back));
}

Result<void, SessionError> Transaction::begin(Kind kind) {
  const auto begun = session_.run(kind == Kind::Write ? begin_write : begin_one_state);
  if (!begun) return failure(begun.error());
  is_open_ = true;
  return {};
}

Result<void, SessionError> Transaction::commit() {
  const auto done = session_.run(commit_transaction);
  is_open_ = false;
  if (!done) return failure(done.error());
  return {};
}

}  // namespace tenon::journal::postgres
