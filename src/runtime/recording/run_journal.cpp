#include "runtime/recording/run_journal.h"

#include "base/wire.h"
#include "effects/pieces.h"
#include "runtime/program_image.h"
#include "runtime/recovery/asked_questions.h"
#include "runtime/recovery/recovery.h"
#include "vm/values/context.h"

namespace tenon::runtime {

static constexpr std::size_t remembered_texts = 8;

effects::StoredText RunJournal::keep(std::string text) {
  if (!is_stored()) pending_bytes_ += text.size();
  if (!is_stored() || text.size() <= effects::inline_text_bytes_max) return {std::move(text), std::nullopt};
  const Hash hash = sha256(text);
  if (read_ != ReadRecords::None) pending_.texts.try_emplace(hash, text);
  keep_content(std::move(text), hash, journal::Sharing::Run);
  return {{}, hash};
}

effects::StoredText RunJournal::keep_changing(std::string text) {
  if (!is_stored() || text.size() < effects::pieced_text_bytes_min) return keep(std::move(text));
  effects::PiecedText pieces = effects::split_into_pieces(text, stored_pieces_);
  for (effects::Piece& piece : pieces.added) {
    pending_bytes_ += piece.bytes.size();
    contents_.push_back({piece.hash, std::move(piece.bytes), std::move(piece.refers), journal::Sharing::Run});
  }
  references_.push_back(pieces.root);
  // Of older texts, only as many are remembered as several texts have.
  if (stored_pieces_.size() > remembered_texts * pieces.hashes.size()) stored_pieces_.clear();
  stored_pieces_.merge(pieces.hashes);
  if (read_ != ReadRecords::None) pending_.texts.try_emplace(pieces.root, std::move(text));
  return {{}, pieces.root, true};
}

void RunJournal::keep_content(std::string bytes, const Hash& hash, journal::Sharing sharing) {
  references_.push_back(hash);
  pending_bytes_ += bytes.size();
  contents_.push_back({hash, std::move(bytes), {}, sharing});
}

Hash RunJournal::keep_program(const ProgramImage& image) {
  if (!is_stored()) return {};
  keep_content(image.bundle(), image.hash(), journal::Sharing::Store);
  return image.hash();
}

Hash RunJournal::keep_context(const vm::Value& context) {
  if (!is_stored()) return {};
  for (vm::RecordedNode& node : vm::take_unrecorded(context)) {
    journal::Content content{node.hash, std::move(node.bytes), {}};
    if (!node.parent.is_zero()) content.refers.push_back(node.parent);
    pending_bytes_ += content.bytes.size();
    contents_.push_back(std::move(content));
  }
  const Hash hash = vm::context_hash(context);
  if (vm::context_length(context) > 0) references_.push_back(hash);
  return hash;
}

bool RunJournal::is_read(const effects::Record& record) const {
  if (read_ != ReadRecords::Emitted) return read_ == ReadRecords::All;
  const auto* const requested = std::get_if<effects::Requested>(&record.body);
  return requested != nullptr && requested->kind == effects::EffectKind::Emitted;
}

const std::string& RunJournal::add(effects::Record&& record) {
  static const std::string none;
  ++records_;
  if (is_stored()) {
    if (const auto* const started = std::get_if<effects::Started>(&record.body)) know_start(*started);
    if (asked_ && is_question(record.body)) ++*asked_;
    bytes_.push_back(effects::encode(record));
    if (chain_) chain_ = sha256(chain_->view(), bytes_.back());
    bytes_since_snapshot_ += bytes_.back().size();
    pending_bytes_ += bytes_.back().size();
  }
  if (is_read(record)) pending_.records.push_back(std::move(record));
  return is_stored() ? bytes_.back() : none;
}

void RunJournal::set_snapshot(std::string bytes) {
  bytes_since_snapshot_ = 0;
  bytes += start_;
  if (asked_) {
    wire::Writer asked;
    asked.present_field(snapshot_asked, *asked_);
    bytes += asked.take();
  }
  if (bytes.size() > journal::append_bytes_max) return;
  pending_bytes_ += bytes.size();
  snapshot_ = journal::Snapshot{records_, std::move(bytes)};
}

void RunJournal::know_start(const effects::Started& started) {
  wire::Writer out;
  out.present_field(snapshot_start, effects::encode({0, started}));
  start_ = out.take();
}

std::optional<effects::Started> RunJournal::started() const {
  return find_start(start_);
}

journal::Append RunJournal::take(journal::RunSummary summary) {
  pending_bytes_ = 0;
  journal::Append append;
  append.run = *name_;
  append.epoch = epoch_;
  append.first = records_ - bytes_.size() + 1;
  append.records = std::exchange(bytes_, {});
  append.contents = std::exchange(contents_, {});
  append.references = std::exchange(references_, {});
  append.summary = std::move(summary);
  append.snapshot = std::exchange(snapshot_, std::nullopt);
  append.notes = std::exchange(notes_, {});
  append.pool = std::exchange(pool_, {});
  append.moves_to = std::exchange(moves_to_, std::nullopt);
  return append;
}

RecordList RunJournal::take_records() {
  if (!is_stored()) pending_bytes_ = 0;
  pending_.first = records_ - pending_.records.size() + 1;
  return std::exchange(pending_, {});
}

}  // namespace tenon::runtime
