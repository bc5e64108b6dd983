#include "cli/store_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

#include "base/duration.h"

namespace tenon::cli {

CLI::Option* add_store_option(CLI::App& app, StoreChoice& store, const std::string& help) {
  return app.add_option("--store", store.path, help)->type_name("FILE")->group(store_group);
}

void add_needed_store_option(CLI::App& app, StoreChoice& store) {
  add_store_option(app, store, "File with the recorded runs, or the postgres:// URL of a database")->required();
}

namespace {

/// The value of the option without one.
constexpr std::string_view any_time = "any";

}  // namespace

void add_store_wait_option(CLI::App& app, std::string& text, const std::string& help) {
  app.add_flag(fmt::format("--wait-for-store{{{}}}", any_time), text, help)->type_name("TIME")->group(store_group);
}

Result<StoreWaitChoice, UsageError> read_store_wait(const std::string& text) {
  if (text.empty()) return StoreWaitChoice{};
  if (text == any_time) return StoreWaitChoice{.is_wanted = true};
  const auto time = read_duration_ms(text);
  if (!time) {
    return failure(UsageError{
        fmt::format("invalid value for `--wait-for-store`: expected a time such as 500ms, 30s or 5m, got `{}`", text)});
  }
  return StoreWaitChoice{.is_wanted = true, .milliseconds_max = time};
}

void add_store_options(CLI::App& group, StoreCommand& command) {
  group.require_subcommand(1);
  const auto add = [&](const std::string& name, StoreCommand::Verb verb, const std::string& help,
                       const std::string& arguments = "") {
    CLI::App* const added = group.add_subcommand(name, help)->group("Commands");
    added->footer(fmt::format("Examples:\n  tenon store {}{} --store runs.store\n", name, arguments));
    added->callback([&command, verb] { command.verb = verb; });
    add_needed_store_option(*added, command.store);
    return added;
  };
  using Verb = StoreCommand::Verb;
  CLI::App* const copying = group.add_subcommand("copy", "Copy all runs to another store")->group("Commands");
  copying->footer("Examples:\n  tenon store copy runs.store postgres://tenon@db.example.org/runs\n");
  copying->callback([&command] { command.verb = Verb::Copy; });
  copying->add_option("FROM", command.store.path, "File or URL of the store to copy, which no process uses")
      ->required();
  copying->add_option("TO", command.target.path, "File or URL of the other store, which is created if needed")
      ->required();
  add("backup", Verb::Backup, "Copy the whole store to a new file, also while it is in use", " copy.store")
      ->add_option("FILE", command.file, "File to create")
      ->required();
  add("check", Verb::Check, "Verify the checksums of all records and contents");
  add("compact", Verb::Compact, "Remove snapshots and free disk space; records are kept");
  CLI::App* const exporting =
      add("export", Verb::Export, "Write a run with all its contents to a file", " RUN --output run.bin");
  exporting->add_option("RUN", command.run, "Name of the run")->required();
  exporting->add_option("--output", command.file, "File to write, or - for stdout")->type_name("FILE")->required();
  add("import", Verb::Import, "Import a run written by `store export`", " run.bin")
      ->add_option("FILE", command.file, "File to read")
      ->required();
  add("owners", Verb::Owners, "List the processes that continue runs of the store")
      ->add_flag("--json", command.json, "Print a JSON array");
  add("repair", Verb::Repair, "Recover a store whose log or summaries are damaged; lost commits are dropped");
  add("forget", Verb::Forget, "Remove the contents of a run permanently", " RUN")
      ->add_option("RUN", command.run, "Name of the run")
      ->required();
}

}  // namespace tenon::cli
