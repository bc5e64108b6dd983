#include "journal/sqlite/contents.h"

#include <fmt/format.h>

#include <unordered_set>

namespace tenon::journal::sqlite {
namespace {

bool is_shared(const Content& content) {
  return content.sharing == Sharing::Store || content.bytes.size() >= shared_content_bytes_min;
}

}  // namespace

Result<std::optional<std::int64_t>, StoreError> Contents::find(std::int64_t run, const Hash& hash) {
  const ContentIds ids(run);
  for (std::int64_t place = ids.place_of(hash);; place = ids.next(place)) {
    Execution query(connection_.statements().select_content_hash);
    const StepResult step = query.integer(place).step();
    if (step == StepResult::Failed) return failure(query.error());
    if (step == StepResult::Done) return std::optional<std::int64_t>{};
    if (query.get_bytes(0) == hash.view()) return std::optional(place);
  }
}

Result<std::optional<AppendRefusal>, StoreError> Contents::find_new(const Append& append,
                                                                    const OfferedContents& offered, const RunRow* run,
                                                                    std::vector<const Content*>& added) {
  std::unordered_set<Hash> seen;
  std::vector<Hash> open(append.references.rbegin(), append.references.rend());
  while (!open.empty()) {
    const Hash hash = open.back();
    open.pop_back();
    if (!seen.insert(hash).second) continue;
    if (run != nullptr) {
      const auto place = find(run->id, hash);
      if (!place) return failure(place.error());
      if (*place) continue;
    }
    const auto content = offered.find(hash);
    if (content == offered.end()) return AppendRefusal::UnknownReference;
    added.push_back(content->second);
    open.insert(open.end(), content->second->refers.rbegin(), content->second->refers.rend());
  }
  return std::optional<AppendRefusal>{};
}

Result<void, StoreError> Contents::write(const RunRow& run, const std::vector<const Content*>& added) {
  const ContentIds ids(run.id);
  for (const Content* const content : added) {
    const bool shares = is_shared(*content);
    if (shares)
      if (auto done = share(*content); !done) return done;
    const std::string refers = encode_hashes(content->refers);
    // Another content of the run may have the same first bytes in its hash.
    for (std::int64_t place = ids.place_of(content->hash);; place = ids.next(place)) {
      Execution row(connection_.statements().insert_content);
      row.integer(place).blob(content->hash.view()).blob(refers);
      auto done = (shares ? row.optional(std::nullopt) : row.blob(content->bytes)).finish();
      if (!done) return done;
      if (connection_.database().changes() == 1) break;
    }
  }
  return {};
}

Result<void, StoreError> Contents::share(const Content& content) {
  {
    Execution query(connection_.statements().select_shared);
    const StepResult step = query.blob(content.hash.view()).step();
    if (step == StepResult::Failed) return failure(query.error());
    if (step == StepResult::Row)
      return Execution(connection_.statements().add_uses).blob(content.hash.view()).integer(std::int64_t{1}).finish();
  }
  if (auto done = Execution(connection_.statements().insert_body).blob(content.bytes).finish(); !done) return done;
  const std::int64_t body = connection_.database().last_row();
  return Execution(connection_.statements().insert_shared)
      .blob(content.hash.view())
      .integer(std::int64_t{1})
      .integer(body)
      .finish();
}

Result<void, StoreError> Contents::forget(const RunRow& run) {
  const ContentIds ids(run.id);
  std::vector<Hash> shared;
  {
    Execution links(connection_.statements().select_links);
    links.integer(ids.first).integer(ids.last);
    while (true) {
      const StepResult step = links.step();
      if (step == StepResult::Failed) return failure(links.error());
      if (step == StepResult::Done) break;
      if (const auto hash = Hash::from_bytes(links.get_bytes(0))) shared.push_back(*hash);
    }
  }
  for (const Hash& hash : shared) {
    Execution query(connection_.statements().select_shared);
    const StepResult step = query.blob(hash.view()).step();
    if (step == StepResult::Failed) return failure(query.error());
    if (step == StepResult::Done || query.get_integer(0) < 1)
      return failure(
          damaged(fmt::format("{}: content {}: run {} has it, but its number of uses is 0; see `tenon store check`",
                              connection_.name(), hash.hex(), run.head.run.text)));
    if (query.get_integer(0) > 1) {
      if (auto done = Execution(connection_.statements().add_uses).blob(hash.view()).integer(std::int64_t{-1}).finish();
          !done)
        return done;
      continue;
    }
    if (auto done = Execution(connection_.statements().delete_body).integer(query.get_integer(1)).finish(); !done)
      return done;
    if (auto done = Execution(connection_.statements().delete_shared).blob(hash.view()).finish(); !done) return done;
  }
  return Execution(connection_.statements().delete_contents).integer(ids.first).integer(ids.last).finish();
}

Result<Contents::Body, StoreError> Contents::read(std::int64_t run, const Hash& hash) {
  const auto problem = [&](std::string_view what) {
    return failure(damaged(fmt::format("{}: content {}: {}", connection_.name(), hash.hex(), what)));
  };
  const auto place = find(run, hash);
  if (!place) return failure(place.error());
  if (!*place)
    return failure(StoreError{StoreError::Kind::Missing,
                              fmt::format("{}: the run has no content {}", connection_.name(), hash.hex())});
  Execution row(connection_.statements().select_content);
  if (row.integer(**place).step() != StepResult::Row) return failure(row.error());
  auto refers = decode_hashes(row.get_bytes(1));
  if (!refers) return problem("its references cannot be read");
  Body body{std::move(*refers), {}};
  if (const auto bytes = row.find_bytes(2)) {
    body.bytes = *bytes;
  } else {
    Execution shared(connection_.statements().select_shared);
    const StepResult found = shared.blob(hash.view()).step();
    if (found == StepResult::Failed) return failure(shared.error());
    if (found == StepResult::Done) return problem("its bytes are missing");
    Execution bytes_of(connection_.statements().select_body);
    const StepResult step = bytes_of.integer(shared.get_integer(1)).step();
    if (step == StepResult::Failed) return failure(bytes_of.error());
    if (step == StepResult::Done) return problem("its bytes are missing");
    body.bytes = bytes_of.get_bytes(0);
  }
  if (sha256(body.bytes) != hash) return problem("its bytes do not match its hash");
  return body;
}

}  // namespace tenon::journal::sqlite
