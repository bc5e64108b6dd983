#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "journal/store.h"

/// The write-ahead log as it lies on disk, read before SQLite does. SQLite stops at the first frame that does not match
/// its checksum and drops what follows, as if it had never been written: right for the end of a log that a crash cut
/// off, wrong for a frame in the middle. Format: https://sqlite.org/fileformat2.html#walformat
namespace tenon::journal::sqlite {

struct LogDamage {
  std::uint32_t frame = 0;          ///< the first frame that cannot be read, from 1; 0: the log's header
  std::uint32_t frames = 0;         ///< in the log
  std::uint32_t commits_after = 0;  ///< commits that are intact or partly intact, and that SQLite would drop
  std::uint64_t intact_bytes = 0;   ///< of the log, up to the end of the last commit before the damage
  /// Whether commits were lost that had been synced before later ones were written. If not, the damage is in the last
  /// commit of the log, and a crash while that commit was being written leaves the same.
  bool is_certain = false;
  /// The runs in the commits that SQLite would drop, ordered, as far as their pages are intact: new ones, and others
  /// whose rows are on the same pages.
  std::vector<std::string> runs;
};

/// Returns what is damaged in the log of the store at `store_path`; none for a log that is intact, cut off or missing.
/// No process may have the store open for writing.
[[nodiscard]] Result<std::optional<LogDamage>, StoreError> find_log_damage(const std::string& store_path);

/// The same while other processes may write to the log: damage counts only if the log stays as it is while it is read a
/// second time. None for a log that keeps changing: its writer has checked it.
[[nodiscard]] Result<std::optional<LogDamage>, StoreError> find_lasting_log_damage(const std::string& store_path);

/// Describes the damage in a sentence that names the log's file.
[[nodiscard]] std::string describe(const LogDamage& damage, const std::string& store_path);

/// Cuts the log before the damage. The log as it was is kept in a new file next to the store, whose path is returned.
[[nodiscard]] Result<std::string, StoreError> cut_log(const LogDamage& damage, const std::string& store_path);

}  // namespace tenon::journal::sqlite
