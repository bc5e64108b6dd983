#pragma once

#include <sys/stat.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/descriptor.h"
#include "base/result.h"
#include "journal/store.h"

namespace tenon::journal::sqlite {

/// Held by the one process that owns a store: a lock on a file next to it (its name and `.lock`). The kernel releases
/// it when the process ends, however it ends. The file remains; it contains the owner's process id, for people.
class OwnerLock {
 public:
  /// `InUse` if it is held, by this process too. The path is resolved (`resolve_store_path`); the name is for messages.
  [[nodiscard]] static Result<OwnerLock, StoreError> acquire(const std::string& store_path,
                                                             const std::string& store_name);
  /// Gives the lock's file the user, the group and the mode of the store's file, as far as this process may: who can
  /// open the store has to be able to lock it, also after another user has opened it.
  void give_access_of(const struct stat& store) const;
  /// Writes the owner's process id into the file: it has checked the store's log, and will write to it.
  void announce() const;

  /// Whether a process holds it at this moment.
  [[nodiscard]] static bool is_held(const std::string& store_path);
  /// Whether a process holds it that has not announced itself yet.
  [[nodiscard]] static bool is_opening(const std::string& store_path);

 private:
  explicit OwnerLock(Descriptor file) : file_(std::move(file)) {}
  void write_owner(std::string_view owner) const;
  Descriptor file_;
};

}  // namespace tenon::journal::sqlite
