#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/wire.h"
#include "effects/record.h"

namespace tenon::runtime {

/// The limit of open blocks: beyond it, the oldest is dropped, and its end is recorded without its usage.
inline constexpr std::size_t open_blocks_max = 10'000;

/// The blocks of a run and the turns of agents in it that were entered and not left, so that its journal has the usage
/// of each block, and the call that each turn ends. It depends on the records alone, so it is the same live and in a
/// recovery.
class OpenBlocks {
 public:
  /// The path of an agent's turn. A block has a path that is not empty.
  static constexpr std::string_view turn_path = "";

  /// `key`: of the request that reports it; `depth`: of its agent; `time`: of its record, milliseconds since 1970.
  void enter(std::string_view key, std::uint32_t depth, std::string_view path, std::int64_t time);
  struct Left {
    std::string key;  ///< of the request that reported its start; empty if read from an older snapshot
    effects::BlockUse used;
    /// Adds it to the request that reports the end.
    void add_to(effects::Requested& requested) &&;
    friend bool operator==(const Left&, const Left&) = default;
  };
  /// Nothing if it was not entered in this branch.
  std::optional<Left> leave(std::string_view key, std::uint32_t depth, std::string_view path, std::int64_t time);
  /// Counts tokens of an effect.
  void add_tokens(std::string_view key, std::uint64_t tokens);

  /// Each as a field of that number; `read` takes one of them, and returns false if the bytes are not a block.
  void write(wire::Writer& out, std::uint32_t field) const;
  [[nodiscard]] bool read(std::string_view bytes);

 private:
  struct Open {
    std::string branch;  ///< the key without its last ordinal
    std::string key;
    std::uint32_t depth = 0;
    std::string path;
    std::int64_t entered_at = 0;
    std::uint64_t tokens = 0;
  };
  /// An outer block that continues in a branch has left all inner ones, for example by a failure.
  void drop_inner(std::string_view branch, std::uint32_t depth);
  [[nodiscard]] std::vector<Open>::iterator find(std::string_view branch, std::uint32_t depth, std::string_view path);

  std::vector<Open> open_;  ///< in the order in which they were entered
};

}  // namespace tenon::runtime
