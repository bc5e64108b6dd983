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

/// More blocks than that are not open at once; the oldest is forgotten, and left without saying what it took.
inline constexpr std::size_t open_blocks_max = 10'000;

/// The blocks of a run and the turns of agents in it that were entered and not left, so that its journal can say what
/// each block has taken, and which call each turn ends. Fed from the records alone, hence the same live and in a
/// recovery.
class OpenBlocks {
 public:
  /// The path of an agent's turn. A block has a path that is not empty.
  static constexpr std::string_view turn_path = "";

  /// `key`: of the request that tells of it; `depth`: of its agent; `time`: of its record, milliseconds since 1970.
  void enter(std::string_view key, std::uint32_t depth, std::string_view path, std::int64_t time);
  struct Left {
    std::string key;  ///< of the request that told of its beginning; empty where a snapshot of an earlier Tenon had it
    effects::BlockUse used;
    /// Adds it to the request that reports the end.
    void add_to(effects::Requested& requested) &&;
    friend bool operator==(const Left&, const Left&) = default;
  };
  /// Nothing when it was not entered in this branch.
  std::optional<Left> leave(std::string_view key, std::uint32_t depth, std::string_view path, std::int64_t time);
  /// An effect has taken them.
  void add_tokens(std::string_view key, std::uint64_t tokens);

  /// Each as a field of that number; `read` takes one of them, and gives false when the bytes are none.
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
  /// Who goes on in a branch has left all that was entered further in, be it by a failure.
  void drop_inner(std::string_view branch, std::uint32_t depth);
  [[nodiscard]] std::vector<Open>::iterator find(std::string_view branch, std::uint32_t depth, std::string_view path);

  std::vector<Open> open_;  ///< in the order in which they were entered
};

}  // namespace tenon::runtime
