#include "journal/sqlite/upgrade.h"

#include <unordered_set>
#include <vector>

#include "journal/batch.h"
#include "journal/sqlite/statements.h"

namespace tenon::journal::sqlite {
namespace {

/// Format 1 does not say what is a program. What several records refer to and is not quite short may be one.
constexpr std::size_t shared_before_bytes_min = 1'024;

class Upgrade {
 public:
  explicit Upgrade(Database& database)
      : batches_(database, "SELECT run, chain, bytes FROM batches ORDER BY id"),
        content_(database,
                 "SELECT contents_1.uses, bodies_1.refers, bodies_1.bytes FROM contents_1 "
                 "JOIN bodies_1 ON bodies_1.id = contents_1.body WHERE contents_1.hash = ?1"),
        database_(database),
        statements_(database) {}

  Result<void, StoreError> run() {
    Execution batches(batches_);
    while (true) {
      const StepResult step = batches.step();
      if (step == StepResult::Failed) return failure(batches.error());
      if (step == StepResult::Done) return {};
      const auto chain = Hash::from_bytes(batches.get_bytes(1));
      const auto batch = chain ? decode_batch(*chain, batches.get_bytes(2)) : Result<Batch, BatchProblem>{};
      if (!chain || !batch) continue;
      if (auto done = take(batches.get_integer(0), batch->references); !done) return done;
    }
  }

 private:
  Result<void, StoreError> take(std::int64_t run, std::vector<Hash> open) {
    const ContentIds ids(run);
    while (!open.empty()) {
      const Hash hash = open.back();
      open.pop_back();
      auto place = free_place(ids, hash);
      if (!place) return failure(place.error());
      if (!*place) continue;  // the run has it
      Execution content(content_);
      const StepResult step = content.blob(hash.view()).step();
      if (step == StepResult::Failed) return failure(content.error());
      if (step == StepResult::Done) continue;
      const std::string_view refers = content.get_bytes(1), bytes = content.get_bytes(2);
      const bool shares = bytes.size() >= shared_content_bytes_min ||
                          (bytes.size() >= shared_before_bytes_min && content.get_integer(0) > 1);
      if (shares)
        if (auto done = share(hash, bytes); !done) return done;
      Execution row(statements_.insert_content);
      row.integer(**place).blob(hash.view()).blob(refers);
      auto done = (shares ? row.optional(std::nullopt) : row.blob(bytes)).finish();
      if (!done) return done;
      if (const auto others = decode_hashes(refers)) open.insert(open.end(), others->begin(), others->end());
    }
    return {};
  }

  /// Nothing when the run has the content.
  Result<std::optional<std::int64_t>, StoreError> free_place(const ContentIds& ids, const Hash& hash) {
    for (std::int64_t place = ids.place_of(hash);; place = ids.next(place)) {
      Execution query(statements_.select_content_hash);
      const StepResult step = query.integer(place).step();
      if (step == StepResult::Failed) return failure(query.error());
      if (step == StepResult::Done) return std::optional(place);
      if (query.get_bytes(0) == hash.view()) return std::optional<std::int64_t>{};
    }
  }

  Result<void, StoreError> share(const Hash& hash, std::string_view bytes) {
    if (auto done = Execution(statements_.add_uses).blob(hash.view()).integer(std::int64_t{1}).finish(); !done)
      return done;
    if (database_.changes() == 1) return {};
    if (auto done = Execution(statements_.insert_body).blob(bytes).finish(); !done) return done;
    const std::int64_t body = database_.last_row();
    return Execution(statements_.insert_shared).blob(hash.view()).integer(std::int64_t{1}).integer(body).finish();
  }

  Statement batches_;
  Statement content_;
  Database& database_;
  Statements statements_;
};

}  // namespace

Result<void, StoreError> take_contents_of_format_1(Database& database) {
  return Upgrade(database).run();
}

}  // namespace tenon::journal::sqlite
