#include "inference/llama_cpp/kv_cache.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/ensure.h"

namespace tenon::inference::llama_cpp {
namespace {

std::uint32_t count_common(std::span<const Token> a, std::span<const Token> b) {
  const std::size_t shorter = std::min(a.size(), b.size());
  const auto [end, ignored] = std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(shorter), b.begin());
  return static_cast<std::uint32_t>(end - a.begin());
}

}  // namespace

KvCache::KvCache(KvMemory& memory, KvCacheOptions options)
    : memory_(memory),
      cut_(options.cut),
      order_(options.order),
      sequences_(options.sequences),
      cells_(options.cells),
      free_(options.cells) {
  ENSURE(options.cells > 0 && options.sequences > 0);
  std::iota(free_.begin(), free_.end(), 0U);
}

KvCache::Match KvCache::find_longest(std::span<const Token> prompt) const {
  Match best;
  for (std::size_t i = 0; i < sequences_.size(); ++i) {
    const Sequence& sequence = sequences_[i];
    std::uint32_t planned = count_common(prompt, sequence.tokens);
    const auto evaluated_all = static_cast<std::uint32_t>(sequence.cells.size());
    if (cut_ == KvCacheOptions::Cut::Nowhere &&
        (sequence.in_use || planned != evaluated_all || planned != sequence.tokens.size())) {
      continue;
    }
    const bool logits_come = sequence.in_use && evaluated_all < prompt.size();
    const bool logits_kept = !sequence.logits.empty() && sequence.logits_at == prompt.size();
    if (planned == prompt.size() && planned > 0 && !logits_come && !logits_kept) --planned;
    if (cut_ == KvCacheOptions::Cut::Nowhere && planned != evaluated_all) continue;
    const std::uint32_t evaluated = std::min(planned, evaluated_all);
    if (planned > best.planned || (planned == best.planned && planned > 0 && evaluated > best.evaluated)) {
      best = {static_cast<SequenceNumber>(i), planned, evaluated};
    }
  }
  return best;
}

std::uint32_t KvCache::measure_load(std::span<const Token> prompt, const Match& match) const {
  const auto missing = static_cast<std::uint32_t>(prompt.size()) - match.evaluated;
  if (order_ == KvCacheOptions::CellOrder::Ascending) return cells_used() + missing;
  std::uint32_t load = cells_in_use_ + missing;
  for (std::uint32_t i = 0; i < match.evaluated; ++i) {
    if (cells_[at(match.source).cells[i]].paths_in_use == 0) ++load;
  }
  return load;
}

std::optional<SequenceNumber> KvCache::find_empty() const {
  for (std::size_t i = 0; i < sequences_.size(); ++i) {
    if (!sequences_[i].in_use && sequences_[i].tokens.empty()) return static_cast<SequenceNumber>(i);
  }
  return std::nullopt;
}

std::optional<SequenceNumber> KvCache::find_oldest_unused(SequenceNumber except) const {
  std::optional<SequenceNumber> oldest;
  for (std::size_t i = 0; i < sequences_.size(); ++i) {
    const auto number = static_cast<SequenceNumber>(i);
    const Sequence& sequence = sequences_[i];
    if (sequence.in_use || sequence.tokens.empty() || number == except) continue;
    if (!oldest || sequence.used_at < at(*oldest).used_at) oldest = number;
  }
  return oldest;
}

void KvCache::begin_use(SequenceNumber number) {
  Sequence& sequence = at(number);
  ENSURE(!sequence.in_use);
  sequence.in_use = true;
  for (const std::uint32_t cell : sequence.cells) {
    if (cells_[cell].paths_in_use++ == 0) ++cells_in_use_;
  }
}

void KvCache::end_use(SequenceNumber number) {
  Sequence& sequence = at(number);
  ENSURE(sequence.in_use);
  sequence.in_use = false;
  sequence.used_at = ++uses_;
  for (const std::uint32_t cell : sequence.cells) {
    if (--cells_[cell].paths_in_use == 0) --cells_in_use_;
  }
}

/// Cuts an unused sequence to its first `count` tokens. Cells that no other path goes through become free, or are
/// retired (`bury`) where cells must ascend. False when the memory cannot be cut there; nothing has changed then.
bool KvCache::cut(SequenceNumber number, std::uint32_t count) {
  Sequence& sequence = at(number);
  ENSURE(!sequence.in_use);
  std::size_t own = count;  // paths part for good: once a cell is this path's alone, so are all that follow
  while (own < sequence.cells.size() && cells_[sequence.cells[own]].paths > 1) ++own;
  const bool buries = order_ == KvCacheOptions::CellOrder::Ascending;
  if (buries && own < sequence.cells.size()) memory_.bury(number, static_cast<std::uint32_t>(own));
  if (!memory_.truncate(number, count)) return false;
  for (std::size_t i = count; i < sequence.cells.size(); ++i) {
    if (--cells_[sequence.cells[i]].paths == 0 && !buries) free_.push_back(sequence.cells[i]);
  }
  sequence.cells.resize(std::min<std::size_t>(count, sequence.cells.size()));
  sequence.tokens.resize(sequence.cells.size());
  if (sequence.logits_at > count || count == 0) sequence.logits.clear();
  return true;
}

void KvCache::drop(SequenceNumber number) {
  const bool dropped = cut(number, 0);
  ENSURE(dropped);  // a whole sequence can always go
}

std::optional<SequenceNumber> KvCache::take(std::span<const Token> prompt, const Match& match) {
  std::uint32_t kept = match.evaluated;
  SequenceNumber target = -1;
  const bool source_is_free = match.source >= 0 && !at(match.source).in_use;
  const bool continues = source_is_free && at(match.source).cells.size() == kept;
  if (continues) {
    target = match.source;
  } else {
    std::optional<SequenceNumber> empty = find_empty();
    if (!empty) {
      if (const auto oldest = find_oldest_unused(match.source)) {
        drop(*oldest);
        empty = oldest;
      }
    }
    if (empty) {
      target = *empty;
      if (kept > 0) {
        memory_.share(match.source, target, kept);
        Sequence& path = at(target);
        const Sequence& source = at(match.source);
        path.cells.assign(source.cells.begin(), source.cells.begin() + kept);
        path.tokens.assign(source.tokens.begin(), source.tokens.begin() + kept);
        for (const std::uint32_t cell : path.cells) ++cells_[cell].paths;
        if (source.logits_at == kept) {
          path.logits = source.logits;
          path.logits_at = kept;
        }
      }
    } else if (source_is_free) {
      target = match.source;  // the one kept path left: what it has beyond the prompt goes
      if (!cut(target, kept)) {
        drop(target);
        kept = 0;
      }
    } else {
      return std::nullopt;
    }
  }
  if (kept > 0 && !memory_.is_whole(target, kept)) {
    drop(target);  // a sliding window has let go of the beginning: never go on from there
    kept = 0;
  }
  begin_use(target);
  Sequence& sequence = at(target);
  sequence.tokens.assign(prompt.begin(), prompt.end());
  return target;
}

bool KvCache::make_room(std::uint32_t count) {
  while (free_.size() < count) {
    if (order_ == KvCacheOptions::CellOrder::Ascending) return false;
    const std::optional<SequenceNumber> oldest = find_oldest_unused(-1);
    if (!oldest) return false;
    drop(*oldest);
  }
  return true;
}

void KvCache::append(SequenceNumber number, std::span<const Token> tokens) {
  Sequence& sequence = at(number);
  ENSURE(sequence.in_use);
  sequence.tokens.insert(sequence.tokens.end(), tokens.begin(), tokens.end());
}

void KvCache::mark_evaluated(SequenceNumber number, std::uint32_t count) {
  Sequence& sequence = at(number);
  ENSURE(sequence.in_use && sequence.cells.size() + count <= sequence.tokens.size() && free_.size() >= count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t cell = free_.back();
    free_.pop_back();
    cells_[cell] = {.paths = 1, .paths_in_use = 1};
    sequence.cells.push_back(cell);
  }
  cells_in_use_ += count;
}

void KvCache::keep_logits(SequenceNumber number, std::span<const float> logits) {
  Sequence& sequence = at(number);
  sequence.logits.assign(logits.begin(), logits.end());
  sequence.logits_at = static_cast<std::uint32_t>(sequence.cells.size());
}

std::span<const float> KvCache::find_logits(SequenceNumber number) const {
  const Sequence& sequence = at(number);
  if (sequence.logits_at != sequence.cells.size()) return {};
  return sequence.logits;
}

void KvCache::release(SequenceNumber number) {
  end_use(number);
  Sequence& sequence = at(number);
  sequence.tokens.resize(sequence.cells.size());
}

void KvCache::clear() {
  memory_.clear();
  for (Sequence& sequence : sequences_) sequence = {};
  std::fill(cells_.begin(), cells_.end(), Cell{});
  free_.resize(cells_.size());
  std::iota(free_.begin(), free_.end(), 0U);
  cells_in_use_ = 0;
}

std::span<const Token> KvCache::tokens_of(SequenceNumber number) const {
  return at(number).tokens;
}

std::uint32_t KvCache::evaluated_of(SequenceNumber number) const {
  return static_cast<std::uint32_t>(at(number).cells.size());
}

}  // namespace tenon::inference::llama_cpp
