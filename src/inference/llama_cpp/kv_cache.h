#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "inference/llama_cpp/vocabulary.h"

namespace tenon::inference::llama_cpp {

/// The number of one of llama.cpp's sequences.
using SequenceNumber = std::int32_t;

/// What the cache asks of llama.cpp's memory. Positions count from 0.
class KvMemory {
 public:
  virtual ~KvMemory() = default;
  /// Lets `target`, which is empty, share the first `count` cells of `source`.
  virtual void share(SequenceNumber source, SequenceNumber target, std::uint32_t count) = 0;
  /// Keeps the first `count` cells of a sequence. False when the model's memory cannot be cut there.
  [[nodiscard]] virtual bool truncate(SequenceNumber sequence, std::uint32_t count) = 0;
  /// Whether all cells from position 0 to `count` are there, so that what follows sees all it must see.
  [[nodiscard]] virtual bool is_whole(SequenceNumber sequence, std::uint32_t count) = 0;
  /// Keeps a sequence's cells from position `first` on from being used again, whatever becomes of the sequence, until
  /// `clear`. No other sequence shares them.
  virtual void bury(SequenceNumber sequence, std::uint32_t first) = 0;
  /// Empties all sequences and frees all cells.
  virtual void clear() = 0;
};

struct KvCacheOptions {
  std::uint32_t cells = 0;      ///< tokens in the memory, shared ones counted once
  std::uint32_t sequences = 0;  ///< sequences in it
  /// Whether a sequence can be cut or shared at any place. A recurrent model's cannot: it is only continued.
  enum class Cut : std::uint8_t { Anywhere, Nowhere } cut = Cut::Anywhere;
  /// Attention sums over cells in the order of their numbers. With `Ascending` a path's cells always ascend, so that
  /// the sum has the same bits whatever else the memory has held; the price is that a cell is used once, and that all
  /// are given up together when none is left.
  enum class CellOrder : std::uint8_t { Any, Ascending } order = CellOrder::Any;
};

/// Which tokens are in llama.cpp's key-value memory. Each sequence is a path of the context tree from its root;
/// sequences that begin alike share their cells. A path is in use while a generation runs on it; the others are
/// kept as long as there is room, and the least recently used is dropped first. See docs/internals/kv_cache.md.
class KvCache final {
 public:
  /// Borrows the memory, which is empty.
  KvCache(KvMemory& memory, KvCacheOptions options);

  /// Which part of a prompt is in the cache already, or will be soon.
  struct Match {
    SequenceNumber source = -1;   ///< -1: nothing
    std::uint32_t planned = 0;    ///< tokens that `source` has in common with the prompt
    std::uint32_t evaluated = 0;  ///< of these, those whose cells stand
  };
  /// The longest common beginning of the prompt and any sequence; of equally long ones, the one that is further
  /// evaluated. A whole prompt counts only where the logits of its last token are kept too, since the answer begins
  /// from these.
  [[nodiscard]] Match find_longest(std::span<const Token> prompt) const;

  /// The cells that could not be given to anybody else once the prompt is in use and evaluated, those of all other
  /// paths in use included. More than `cells_max()`: it does not fit now.
  [[nodiscard]] std::uint32_t measure_load(std::span<const Token> prompt, const Match& match) const;

  /// A sequence for the prompt that begins with the evaluated tokens of `match`, and is in use. None when all sequences
  /// are in use. Kept paths that stand in the way are dropped.
  [[nodiscard]] std::optional<SequenceNumber> take(std::span<const Token> prompt, const Match& match);

  /// Makes room for `count` more cells by dropping kept paths. False when those in use leave too little, and with
  /// ascending cells when the last ones are taken: `clear` is the way then.
  [[nodiscard]] bool make_room(std::uint32_t count);

  /// Says that `tokens` follow in a sequence in use; they are not evaluated yet.
  void append(SequenceNumber sequence, std::span<const Token> tokens);
  /// Says that the next `count` tokens of a sequence were evaluated. There was room for them.
  void mark_evaluated(SequenceNumber sequence, std::uint32_t count);
  /// Keeps the logits that follow a sequence's evaluated tokens, for a prompt that ends there.
  void keep_logits(SequenceNumber sequence, std::span<const float> logits);
  /// The logits kept for the end of the evaluated tokens; empty when there are none.
  [[nodiscard]] std::span<const float> find_logits(SequenceNumber sequence) const;
  /// Ends the use of a sequence; its evaluated tokens are kept as long as there is room.
  void release(SequenceNumber sequence);
  /// Forgets everything; all sequences are unused then, and all cells free.
  void clear();
  [[nodiscard]] KvCacheOptions::CellOrder order() const { return order_; }

  /// All tokens of a sequence, and how many of them are evaluated.
  [[nodiscard]] std::span<const Token> tokens_of(SequenceNumber sequence) const;
  [[nodiscard]] std::uint32_t evaluated_of(SequenceNumber sequence) const;

  [[nodiscard]] std::uint32_t cells_used() const { return static_cast<std::uint32_t>(cells_.size() - free_.size()); }
  /// The number of these that belong to paths in use.
  [[nodiscard]] std::uint32_t cells_in_use() const { return cells_in_use_; }
  [[nodiscard]] std::uint32_t cells_max() const { return static_cast<std::uint32_t>(cells_.size()); }

 private:
  struct Cell {
    std::uint16_t paths = 0;         // sequences that go through it
    std::uint16_t paths_in_use = 0;  // of these, those in use
  };
  struct Sequence {
    std::vector<Token> tokens;
    std::vector<std::uint32_t> cells;  // of the evaluated tokens
    std::vector<float> logits;
    std::uint32_t logits_at = 0;  // the number of tokens that the logits follow
    bool in_use = false;
    std::uint64_t used_at = 0;
  };

  Sequence& at(SequenceNumber sequence) { return sequences_[static_cast<std::size_t>(sequence)]; }
  [[nodiscard]] const Sequence& at(SequenceNumber sequence) const {
    return sequences_[static_cast<std::size_t>(sequence)];
  }
  [[nodiscard]] std::optional<SequenceNumber> find_empty() const;
  /// The least recently used sequence that is not in use, other than `except`.
  [[nodiscard]] std::optional<SequenceNumber> find_oldest_unused(SequenceNumber except) const;
  void begin_use(SequenceNumber sequence);
  void end_use(SequenceNumber sequence);
  [[nodiscard]] bool cut(SequenceNumber sequence, std::uint32_t count);
  void drop(SequenceNumber sequence);

  KvMemory& memory_;
  KvCacheOptions::Cut cut_;
  KvCacheOptions::CellOrder order_;
  std::vector<Sequence> sequences_;
  std::vector<Cell> cells_;
  std::vector<std::uint32_t> free_;
  std::uint32_t cells_in_use_ = 0;
  std::uint64_t uses_ = 0;
};

}  // namespace tenon::inference::llama_cpp
