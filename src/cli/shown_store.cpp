#include "cli/shown_store.h"

#include "base/shell_word.h"
#include "journal/open_store.h"

namespace tenon::cli {

std::string shown_store(const engine::StoreChoice& store) {
  return store.path.empty() ? std::string() : make_shell_word(journal::name_of_store(store.path));
}

}  // namespace tenon::cli
