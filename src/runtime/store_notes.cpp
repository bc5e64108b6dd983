#include "runtime/store_notes.h"

#include "json/reader.h"

namespace tenon::runtime {

namespace {

/// The store is written at most this often to see whether it can be written.
constexpr std::chrono::seconds check_interval{1};

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
                                                                       : HostFailure::Kind::Unavailable;
  return {kind, error.message};
}

Result<std::optional<StoreNotes::Kept>, HostFailure> StoreNotes::find(const RequestKey& key) const {
  const auto note = parts_.reader.journals().find_note(note_key(key));
  if (!note) return failure(make_failure(note.error()));
  const bool is_kept = *note && (!(*note)->expires_at || *(*note)->expires_at > now_ms());
  if (!is_kept) return std::optional<Kept>();
  auto reply = decode_kept((*note)->bytes);
  // Notes of older stores have the plain fingerprint.
  if (reply && (reply->fingerprint == key.fingerprint.hex() || reply->fingerprint == fingerprint_of(key))) {
    return std::optional<Kept>(std::move(reply->kept));
  }
  return failure(HostFailure{HostFailure::Kind::KeyReused, "another request came with the same key"});
}

std::optional<journal::Note> StoreNotes::note_of(const RequestKey& key, const Accepted& accepted,
                                                 std::string result) const {
  if (key.key.empty()) return std::nullopt;
  return journal::Note{note_key(key), encode_kept(fingerprint_of(key), accepted, std::move(result)),
                       now_ms() + parts_.replies_kept.count()};
}

Result<void, HostFailure> StoreNotes::keep_result(const RequestKey& key, std::string result) {
  const auto note = note_of(key, {}, std::move(result));
  if (!note) return {};
  const auto kept = keep(*note);
  if (!kept) return failure(make_failure(kept.error()));
  return {};
}

void StoreNotes::keep_reply(const RequestKey& key, const Accepted& accepted) {
  if (const auto note = note_of(key, accepted)) static_cast<void>(keep(*note));
}

Result<void, HostFailure> StoreNotes::check_store() {
  const auto now = parts_.clock.monotonic();
  if (checked_at_ && now - *checked_at_ < check_interval) return last_check_;
  // It has expired already: the next append with a note removes it.
  const auto kept = keep({"store/checked", "", 0});
  checked_at_ = now;
  last_check_ = {};
  if (!kept) {
    using Kind = journal::StoreError::Kind;
    const Kind kind = kept.error().kind;
    last_check_ = failure(HostFailure{HostFailure::Kind::Unavailable,
                                      kind == Kind::Full     ? "cannot write the store: no space left on its disk"
                                      : kind == Kind::InUse  ? "cannot write the store: another process has locked it"
                                      : kind == Kind::Denied ? "cannot write the store: permission denied"
                                                             : "cannot write the store"});
  }
  return last_check_;
}

Result<void, journal::StoreError> StoreNotes::keep(const journal::Note& note) {
  parts_.finish_commit();
  auto kept = parts_.store.admin().keep_note(note);
  if (!kept && kept.error().kind == journal::StoreError::Kind::Broken) parts_.on_broken(kept.error().message);
  return kept;
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
  return std::chrono::duration_cast<std::chrono::milliseconds>(parts_.clock.wall().time_since_epoch()).count();
}

}  // namespace tenon::runtime
