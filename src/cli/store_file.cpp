#include "cli/store_file.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

namespace tenon::cli {

namespace {

/// What can be said of the path before anything is made there; empty when nothing speaks against it.
std::string find_path_problem(const std::filesystem::path& path, StoreUse use) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return "it is a folder, and a store is a file";
  const std::filesystem::path folder = path.parent_path();
  if (!folder.empty() && !std::filesystem::is_directory(folder, ignored)) {
    return fmt::format("there is no folder {}", folder.string());
  }
  const bool is_missing =
      std::filesystem::symlink_status(path, ignored).type() == std::filesystem::file_type::not_found;
  if (use != StoreUse::Change && is_missing) return "there is no store; `tenon run FILE --store` makes one";
  return {};
}

}  // namespace

std::unique_ptr<journal::SqliteStore> open_store(const StoreChoice& choice, StoreUse use,
                                                 const Environment& environment) {
  if (const std::string problem = find_path_problem(choice.path, use); !problem.empty()) {
    environment.write_error(fmt::format("tenon: {}: {}\n", choice.path, problem));
    return nullptr;
  }
  journal::StoreOptions options;
  options.access = use == StoreUse::Read ? journal::Access::Reader : journal::Access::Owner;
  options.durability = choice.durability == "process" ? journal::Durability::Process : journal::Durability::Full;
  auto store = journal::SqliteStore::open(choice.path, options);
  if (store) return std::move(*store);
  environment.write_error(fmt::format("tenon: {}\n", store.error().message));
  return nullptr;
}

}  // namespace tenon::cli
