#include "cli/store_file.h"

#include <fmt/format.h>

namespace tenon::cli {

std::unique_ptr<journal::SqliteStore> open_store(const StoreChoice& choice, journal::Access access,
                                                 const Environment& environment) {
  journal::StoreOptions options;
  options.access = access;
  options.durability = choice.durability == "process" ? journal::Durability::Process : journal::Durability::Full;
  auto store = journal::SqliteStore::open(choice.path, options);
  if (store) return std::move(*store);
  environment.write_error(fmt::format("tenon: {}\n", store.error().message));
  return nullptr;
}

}  // namespace tenon::cli
