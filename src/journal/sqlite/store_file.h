#pragma once

#include <sys/stat.h>

#include <string>

#include "base/result.h"
#include "journal/open_store.h"

namespace tenon::journal::sqlite {

/// The absolute path of the store's file without symbolic links: the log (`-wal`, `-shm`) and the lock (`.lock`) are
/// beside it, whichever name was given. The file need not exist, its folder must (`Missing`).
[[nodiscard]] Result<std::string, StoreError> resolve_store_path(const std::string& name);

/// `Denied` for a file that has several names (hard links) or is mounted without its folder: it would have a log under
/// each name, and each log lacks the commits of the others. The path is resolved, the name is for messages.
[[nodiscard]] Result<void, StoreError> require_one_name(const std::string& path, const std::string& name);

/// The file of a store while a connection of this process uses it. An owner holds a lock on the file itself, which it
/// meets under every name, also under one that the file got while it is in use.
///
/// It is created before the connection opens the file, and outlives it: SQLite's locks are POSIX record locks, which
/// end when the process closes any descriptor of the file. So all descriptors of a file are closed with its last
/// connection. Any thread.
class StoreFile {
 public:
  /// `path` is resolved, `name` is for messages. An owner creates the file, and gets `InUse` if the file has an owner.
  /// A reader may open a file that does not exist.
  [[nodiscard]] static Result<StoreFile, StoreError> open(const std::string& path, const std::string& name,
                                                          Access access);
  StoreFile(StoreFile&& other) noexcept;
  StoreFile& operator=(StoreFile&&) = delete;
  ~StoreFile();

  /// Of the file when it was opened: its user, group and mode.
  [[nodiscard]] const struct stat& status() const { return status_; }

 private:
  StoreFile() = default;
  [[nodiscard]] Result<void, StoreError> own(const std::string& path, const std::string& name);

  bool is_registered_ = false;
  int locked_ = -1;  ///< the descriptor with this owner's lock; the registry closes it
  struct stat status_ {};
};

}  // namespace tenon::journal::sqlite
