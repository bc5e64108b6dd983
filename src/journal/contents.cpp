// Where contents stand: those of a run next to each other, so that whoever reads a run or adds to it touches few pages;
// the bytes of shared ones beside them, once for all runs that have a row of theirs.
#include <fmt/format.h>

#include <unordered_set>

#include "journal/sqlite_store.h"

namespace tenon::journal {
namespace {

bool is_shared(const Content& content) {
  return content.sharing == Sharing::Store || content.bytes.size() >= shared_content_bytes_min;
}

}  // namespace

Result<std::optional<std::int64_t>, StoreError> SqliteStore::find_content(std::int64_t run, const Hash& hash) {
  const ContentIds ids(run);
  for (std::int64_t place = ids.place_of(hash);; place = ids.next(place)) {
    Execution query(statements_.select_content_hash);
    const StepResult step = query.integer(place).step();
    if (step == StepResult::Failed) return failure(query.error());
    if (step == StepResult::Done) return std::optional<std::int64_t>{};
    if (query.get_bytes(0) == hash.view()) return std::optional(place);
  }
}

Result<std::optional<AppendRefusal>, StoreError> SqliteStore::find_new_contents(const Append& append,
                                                                                const Brought& brought,
                                                                                const RunRow* run,
                                                                                std::vector<const Content*>& added) {
  std::unordered_set<Hash> seen;
  std::vector<Hash> open(append.references.rbegin(), append.references.rend());
  while (!open.empty()) {
    const Hash hash = open.back();
    open.pop_back();
    if (!seen.insert(hash).second) continue;
    if (run != nullptr) {
      const auto place = find_content(run->id, hash);
      if (!place) return failure(place.error());
      if (*place) continue;
    }
    const auto content = brought.find(hash);
    if (content == brought.end()) return AppendRefusal::UnknownReference;
    added.push_back(content->second);
    open.insert(open.end(), content->second->refers.rbegin(), content->second->refers.rend());
  }
  return std::optional<AppendRefusal>{};
}

Result<void, StoreError> SqliteStore::write_contents(const RunRow& run, const std::vector<const Content*>& added) {
  const ContentIds ids(run.id);
  for (const Content* const content : added) {
    const bool shares = is_shared(*content);
    if (shares)
      if (auto done = share_content(*content); !done) return done;
    const std::string refers = encode_hashes(content->refers);
    // Another content of the run with the same beginning of its hash may stand there.
    for (std::int64_t place = ids.place_of(content->hash);; place = ids.next(place)) {
      Execution row(statements_.insert_content);
      row.integer(place).blob(content->hash.view()).blob(refers);
      auto done = (shares ? row.optional(std::nullopt) : row.blob(content->bytes)).finish();
      if (!done) return done;
      if (database_->changes() == 1) break;
    }
  }
  return {};
}

Result<void, StoreError> SqliteStore::share_content(const Content& content) {
  {
    Execution query(statements_.select_shared);
    const StepResult step = query.blob(content.hash.view()).step();
    if (step == StepResult::Failed) return failure(query.error());
    if (step == StepResult::Row)
      return Execution(statements_.add_uses).blob(content.hash.view()).integer(std::int64_t{1}).finish();
  }
  if (auto done = Execution(statements_.insert_body).blob(content.bytes).finish(); !done) return done;
  const std::int64_t body = database_->last_row();
  return Execution(statements_.insert_shared).blob(content.hash.view()).integer(std::int64_t{1}).integer(body).finish();
}

Result<void, StoreError> SqliteStore::forget_contents(const RunRow& run) {
  const ContentIds ids(run.id);
  std::vector<Hash> shared;
  {
    Execution links(statements_.select_links);
    links.integer(ids.first).integer(ids.last);
    while (true) {
      const StepResult step = links.step();
      if (step == StepResult::Failed) return failure(links.error());
      if (step == StepResult::Done) break;
      if (const auto hash = Hash::from_bytes(links.get_bytes(0))) shared.push_back(*hash);
    }
  }
  for (const Hash& hash : shared) {
    Execution query(statements_.select_shared);
    const StepResult step = query.blob(hash.view()).step();
    if (step == StepResult::Failed) return failure(query.error());
    if (step == StepResult::Done || query.get_integer(0) < 1)
      return failure(
          damaged(fmt::format("{}: content {}: run {} has it, and no use of it is counted; `check` tells more",
                              database_->path(), hash.hex(), run.head.run.text)));
    if (query.get_integer(0) > 1) {
      if (auto done = Execution(statements_.add_uses).blob(hash.view()).integer(std::int64_t{-1}).finish(); !done)
        return done;
      continue;
    }
    if (auto done = Execution(statements_.delete_body).integer(query.get_integer(1)).finish(); !done) return done;
    if (auto done = Execution(statements_.delete_shared).blob(hash.view()).finish(); !done) return done;
  }
  return Execution(statements_.delete_contents).integer(ids.first).integer(ids.last).finish();
}

Result<SqliteStore::Body, StoreError> SqliteStore::read_content(std::int64_t run, const Hash& hash) {
  const auto problem = [&](std::string_view what) {
    return failure(damaged(fmt::format("{}: content {}: {}", database_->path(), hash.hex(), what)));
  };
  const auto place = find_content(run, hash);
  if (!place) return failure(place.error());
  if (!*place)
    return failure(StoreError{StoreError::Kind::Missing,
                              fmt::format("{}: the run has no content {}", database_->path(), hash.hex())});
  Execution row(statements_.select_content);
  if (row.integer(**place).step() != StepResult::Row) return failure(row.error());
  auto refers = decode_hashes(row.get_bytes(1));
  if (!refers) return problem("what it refers to cannot be read");
  Body body{std::move(*refers), {}};
  if (const auto bytes = row.find_bytes(2)) {
    body.bytes = *bytes;
  } else {
    Execution shared(statements_.select_shared);
    const StepResult found = shared.blob(hash.view()).step();
    if (found == StepResult::Failed) return failure(shared.error());
    if (found == StepResult::Done) return problem("its bytes are missing");
    Execution bytes_of(statements_.select_body);
    const StepResult step = bytes_of.integer(shared.get_integer(1)).step();
    if (step == StepResult::Failed) return failure(bytes_of.error());
    if (step == StepResult::Done) return problem("its bytes are missing");
    body.bytes = bytes_of.get_bytes(0);
  }
  if (sha256(body.bytes) != hash) return problem("its bytes are not those of its hash");
  return body;
}

Result<std::int64_t, StoreError> SqliteStore::find_run_id(const RunName& run) {
  if (run_id_.first != run.text) {
    const auto row = get_run(run);
    if (!row) return failure(row.error());
    run_id_ = {run.text, row->id};
  }
  return run_id_.second;
}

Result<std::string, StoreError> SqliteStore::content(const RunName& run, const Hash& hash) {
  if (database_->broken()) return failure(*database_->broken());
  Transaction transaction(*database_);
  if (auto done = transaction.begin(Transaction::Kind::Read); !done) return failure(done.error());
  const auto id = find_run_id(run);
  if (!id) return failure(id.error());
  auto body = read_content(*id, hash);
  if (!body) return failure(body.error());
  return std::move(body->bytes);
}

}  // namespace tenon::journal
