#pragma once

#include <string>

#include "base/result.h"
#include "cli/command_line.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tenon::cli {

/// The group of such options in the help.
inline constexpr const char* store_group = "Store";

CLI::Option* add_store_option(CLI::App& app, StoreChoice& store, const std::string& help);
/// Of a command that only works with a store.
void add_needed_store_option(CLI::App& app, StoreChoice& store);

/// `--wait-for-store[=TIME]`. `text` receives what `read_store_wait` reads, and outlives the parsing.
void add_store_wait_option(CLI::App& app, std::string& text, const std::string& help);
[[nodiscard]] Result<StoreWaitChoice, UsageError> read_store_wait(const std::string& text);

/// Adds the commands of `store`. `command` receives the options and outlives the parsing.
void add_store_options(CLI::App& group, StoreCommand& command);

}  // namespace tenon::cli
