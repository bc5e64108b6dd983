// Copying the whole store.
#include "journal/complete_file.h"
#include "journal/sqlite/sqlite_admin.h"

namespace tenon::journal::sqlite {

Result<void, StoreError> SqliteAdmin::backup(const std::string& path) {
  if (auto usable = connection_.require_usable(); !usable) return usable;
  return make_complete_file(path, [&](const std::string& partial) { return connection_.database().copy_to(partial); });
}

}  // namespace tenon::journal::sqlite
