#include "runtime/host/requests/store_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "json/reader.h"

namespace tenon::runtime {

namespace {

/// The store is written at most this often to see whether it can be written.
constexpr std::chrono::seconds check_interval{1};
/// For how long that may take until the answer is that the store does not reply.
constexpr std::chrono::seconds check_patience{5};

/// Bytes that no store makes fewer by compressing them, the same ones each time (splitmix64).
std::string make_filler(std::size_t size) {
  std::string bytes;
  bytes.reserve(size + sizeof(std::uint64_t));
  for (std::uint64_t state = 0; bytes.size() < size;) {
    std::uint64_t mixed = state += 0x9e3779b97f4a7c15U;
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
    mixed ^= mixed >> 31U;
    for (unsigned shift = 0; shift < 64; shift += 8) bytes.push_back(static_cast<char>((mixed >> shift) & 0xffU));
  }
  bytes.resize(size);
  return bytes;
}

struct KeptReply {
  std::string fingerprint;
  StoreNotes::Kept kept;
};

std::string encode_kept(std::string fingerprint, const Accepted& accepted, std::string result) {
  Json json = Json::object();
  json.set("request", std::move(fingerprint)).set("run", accepted.run.text);
  json.set("wait", accepted.wait);
  json.set("after", static_cast<std::int64_t>(accepted.after));
  if (!result.empty()) json.set("result", std::move(result));
  return json.dump();
}

std::optional<KeptReply> decode_kept(std::string_view bytes) {
  const auto json = parse_json(bytes);
  if (!json) return std::nullopt;
  const auto text = [&](std::string_view name) {
    const Json* const value = json->find(name);
    return value != nullptr && value->is_string() ? value->as_string() : std::string();
  };
  const Json* const after = json->find("after");
  const bool has_after = after != nullptr && after->is_integer();
  const std::uint64_t number = has_after ? static_cast<std::uint64_t>(after->as_integer()) : 0;
  return KeptReply{text("request"), {{{text("run")}, text("wait"), number}, text("result")}};
}

std::string note_key(const RequestKey& key) {
  return "request/" + key.key;
}

}  // namespace

HostFailure make_failure(const journal::StoreError& error) {
  const auto kind = error.kind == journal::StoreError::Kind::Missing   ? HostFailure::Kind::NotFound
                    : error.kind == journal::StoreError::Kind::Damaged ? HostFailure::Kind::Damaged
                    : error.kind == journal::StoreError::Kind::Owned   ? HostFailure::Kind::Elsewhere
                                                                       : HostFailure::Kind::Unavailable;
  return {kind, error.message};
}

std::string Accepted::place() const {
  return fmt::format("{}_{}", run.text, after);
}

HostFailure make_conflict(std::string message) {
  return {HostFailure::Kind::Conflict, std::move(message)};
}

StoreNotes::Query StoreNotes::query_of(const RequestKey& key) const {
  return {note_key(key), fingerprint_of(key), key.fingerprint.hex(), now_ms()};
}

StoreNotes::Found StoreNotes::find(const Query& query, journal::Store& store) {
  const auto note = store.find_note(query.note);
  if (!note) return failure(make_failure(note.error()));
  return read(query, *note);
}

std::vector<StoreNotes::Found> StoreNotes::find_all(std::span<const Query> queries, journal::Store& store) {
  std::vector<std::string> keys;
  for (const Query& query : queries) keys.push_back(query.note);
  const auto notes = store.find_notes(keys);
  if (!notes) return std::vector<Found>(queries.size(), failure(make_failure(notes.error())));
  std::vector<Found> found;
  for (std::size_t at = 0; at < queries.size(); ++at) found.push_back(read(queries[at], (*notes)[at]));
  return found;
}

StoreNotes::Found StoreNotes::read(const Query& query, const std::optional<journal::Note>& note) {
  const bool is_kept = note && (!note->expires_at || *note->expires_at > query.now_ms);
  if (!is_kept) return std::optional<Kept>();
  auto reply = decode_kept(note->bytes);
  // Notes of older stores have the plain fingerprint.
  const bool is_same =
      reply && (reply->fingerprint == query.plain_fingerprint || reply->fingerprint == query.fingerprint);
  if (is_same) return std::optional<Kept>(std::move(reply->kept));
  return failure(HostFailure{HostFailure::Kind::KeyReused, "another request came with the same key"});
}

void StoreNotes::find(const RequestKey& key, std::function<void(Found)> then) {
  const auto found = std::make_shared<Found>();
  parts_.store.read(
      [found, query = query_of(key)](journal::StoreConnection& store) { *found = find(query, store.journals()); },
      [found, then = std::move(then)] { then(std::move(*found)); });
}

std::optional<journal::Note> StoreNotes::note_of(const RequestKey& key, const Accepted& accepted,
                                                 std::string result) const {
  if (key.key.empty()) return std::nullopt;
  return journal::Note{note_key(key), encode_kept(fingerprint_of(key), accepted, std::move(result)),
                       now_ms() + parts_.replies_kept.count(), journal::NoteUse::KeepFirst};
}

void StoreNotes::keep_result(const RequestKey& key, std::string result, std::function<void(Done)> then) {
  auto note = note_of(key, {}, std::move(result));
  if (!note) return then({});
  keep(std::move(*note), [then = std::move(then)](const Stored& kept) {
    if (kept) return then({});
    const bool has_raced = kept.error().kind == journal::StoreError::Kind::Conflict;
    then(failure(has_raced ? make_conflict("a request with the same key is in progress; send it again later")
                           : make_failure(kept.error())));
  });
}

void StoreNotes::keep_reply(const RequestKey& key, const Accepted& accepted, std::function<void()> then) {
  auto note = note_of(key, accepted);
  if (!note) return then();
  keep(std::move(*note), [then = std::move(then)](const Stored&) { then(); });
}

void StoreNotes::check_store(std::function<void(Done)> then) {
  const auto now = parts_.clock.monotonic();
  if (!check_began_ && checked_at_ && now - *checked_at_ < check_interval) return then(last_check_);
  checking_.push_back(std::move(then));
  if (check_began_) return poll();
  checked_at_ = check_began_ = now;
  // It has expired already: the next append with a note removes it.
  keep({"store/checked", make_filler(check_bytes_), 0},
       [this, bytes = check_bytes_](const Stored& kept) { on_checked(kept, bytes); });
}

void StoreNotes::poll() {
  if (time_to_next().count() > 0) return;
  const HostFailure late{HostFailure::Kind::Unavailable, "the store does not reply"};
  for (const auto& then : std::exchange(checking_, {})) then(failure(late));
}

std::chrono::milliseconds StoreNotes::time_to_next() const {
  if (checking_.empty()) return std::chrono::milliseconds::max();
  const auto left = *check_began_ + check_patience - parts_.clock.monotonic();
  return std::max(std::chrono::ceil<std::chrono::milliseconds>(left), std::chrono::milliseconds{0});
}

void StoreNotes::note_full(std::size_t bytes) {
  check_bytes_ = std::max(check_bytes_, std::min(check_bytes_min + bytes, check_bytes_max));
  checked_at_.reset();
}

void StoreNotes::on_checked(const Stored& kept, std::size_t bytes) {
  last_check_ = {};
  if (kept && bytes == check_bytes_) check_bytes_ = check_bytes_min;
  if (!kept) {
    using Kind = journal::StoreError::Kind;
    const Kind kind = kept.error().kind;
    last_check_ = failure(HostFailure{HostFailure::Kind::Unavailable,
                                      kind == Kind::Full     ? "cannot write the store: no space left on its disk"
                                      : kind == Kind::InUse  ? "cannot write the store: another process has locked it"
                                      : kind == Kind::Denied ? "cannot write the store: permission denied"
                                                             : "cannot write the store"});
  }
  if (last_check_ && parts_.hosts_of) return look_for_host();
  end_check();
}

void StoreNotes::look_for_host() {
  using Owners = Result<std::vector<journal::Owner>, journal::StoreError>;
  const auto owners = std::make_shared<Owners>();
  parts_.store.read([owners](journal::StoreConnection& store) { *owners = store.ownership().owners(); },
                    [this, owners] {
                      const std::string& pool = *parts_.hosts_of;
                      const bool has_host = *owners && std::ranges::any_of(**owners, [&](const journal::Owner& owner) {
                        return owner.role == journal::OwnerRole::Host && owner.pool == pool;
                      });
                      const std::string where = pool.empty() ? "" : fmt::format(" of the pool `{}`", pool);
                      const std::string why = fmt::format("no server{} continues runs of the store now", where);
                      if (!*owners) {
                        last_check_ = failure(make_failure(owners->error()));
                      } else if (!has_host) {
                        last_check_ = failure(HostFailure{HostFailure::Kind::Unavailable, why});
                      }
                      end_check();
                    });
}

void StoreNotes::end_check() {
  check_began_.reset();
  for (const auto& then : std::exchange(checking_, {})) then(last_check_);
}

void StoreNotes::keep(journal::Note note, std::function<void(const Stored&)> then) {
  const auto kept = std::make_shared<Stored>();
  parts_.store.write([kept, note = std::move(note),
                      now = now_ms()](journal::StoreConnection& store) { *kept = store.admin().keep_note(note, now); },
                     [this, kept, then = std::move(then)] {
                       if (!*kept && kept->error().kind == journal::StoreError::Kind::Broken) {
                         parts_.on_broken(kept->error().message);
                       }
                       then(*kept);
                     });
}

/// A request may contain a secret, which its plain hash would let an attacker guess: where there is a secret key, only
/// its owner can compute what is kept.
std::string StoreNotes::fingerprint_of(const RequestKey& key) const {
  if (parts_.secrets != nullptr) {
    if (const auto hash = parts_.secrets->keyed_hash("request", key.fingerprint.view())) return hash->hex();
  }
  return key.fingerprint.hex();
}

std::int64_t StoreNotes::now_ms() const {
  return wall_ms(parts_.clock);
}

}  // namespace tenon::runtime
