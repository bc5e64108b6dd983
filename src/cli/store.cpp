#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/counted.h"
#include "base/descriptor.h"
#include "cli/commands.h"
#include "cli/engine_report.h"
#include "diagnostics/diagnostic.h"
#include "engine/listings.h"
#include "engine/secret_key.h"
#include "engine/store_access.h"
#include "journal/copy_store.h"

namespace tenon::cli {
namespace {

/// Limit for an exported run, which is read into memory.
constexpr std::size_t export_bytes_max = std::size_t{4} << 30U;

int check_store(journal::StoreConnection& store, const Environment& environment) {
  const auto report = store.admin().check();
  if (!report) return fail(report.error().message, environment);
  for (const std::string& problem : report->problems) fail(problem, environment);
  environment.write_output(fmt::format("{}, {}, {}, {}\n", counted(report->runs, "run"),
                                       counted(report->records, "record"), counted(report->contents, "content"),
                                       counted(report->problems.size(), "problem")));
  return report->problems.empty() ? exit_done : exit_failed;
}

int export_run(journal::StoreConnection& store, const StoreCommand& command, const Environment& environment) {
  const auto bytes = store.admin().export_run({command.run});
  if (!bytes) return fail(bytes.error().message, environment);
  if (command.file == "-") {
    environment.write_output(*bytes);
    return exit_done;
  }
  const Descriptor file(::open(command.file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (file.is_open() && write_all(file, *bytes) && ::fsync(file.number()) == 0) return exit_done;
  const int reason = errno;
  return fail(fmt::format("cannot write `{}`: {}", command.file, std::generic_category().message(reason)), environment);
}

int import_run(journal::StoreConnection& store, const StoreCommand& command, const Environment& environment) {
  const auto bytes = environment.system.files.read_file(command.file, export_bytes_max);
  if (!bytes) return fail(fmt::format("cannot read `{}`: {}", command.file, bytes.error().message), environment);
  const auto imported = store.admin().import_run(*bytes);
  if (!imported) {
    return fail(fmt::format("cannot import `{}`: {}", command.file, imported.error().message), environment);
  }
  const bool was_there = imported->outcome == journal::ImportOutcome::AlreadyThere;
  notify(fmt::format("run {}{}", imported->run.text, was_there ? " is already in the store" : ""), environment);
  return exit_done;
}

/// After a copy to another kind of store, where the key for the secrets of its runs is to be.
void notify_about_key(const StoreCommand& command, const Environment& environment) {
  const auto file = journal::file_of_store(command.store.path);
  const std::string key = file.value_or("") + ".key";
  std::error_code ignored;
  if (!file || !std::filesystem::exists(key, ignored)) return;
  const auto target = journal::file_of_store(command.target.path);
  notify(target
             ? fmt::format("the key for the secrets of the runs was not copied: copy `{}` to `{}.key`", key, *target)
             : fmt::format("the key for the secrets of the runs was not copied: set {} to the content of `{}` in all "
                           "processes that use the other store",
                           engine::secret_key_variable, key),
         environment);
}

int copy_store(const StoreCommand& command, const Environment& environment) {
  using engine::StoreUse;
  if (command.store.path == command.target.path) {
    return fail("both stores are the same", environment, exit_usage);
  }
  const auto from = engine::open_store(command.store, StoreUse::ChangeExisting, environment.system);
  if (!from) return report(from.error(), environment);
  const auto to = engine::open_store(command.target, StoreUse::Change, environment.system);
  if (!to) return report(to.error(), environment);
  const auto show = [&](const std::string& line) {
    if (!environment.error_is_terminal) return;
    environment.write_styled("\r\x1b[2K");  // in the place of the line before
    environment.write_error(line);
  };
  const auto copied = journal::copy_store(**from, **to, wall_ms(environment.system.clock),
                                          [&](std::uint64_t runs) { show(fmt::format("{} …", counted(runs, "run"))); });
  show("");
  if (!copied) return fail(copied.error().message, environment);
  for (const std::string& problem : copied->problems) fail(problem, environment);
  environment.write_output(fmt::format("{} copied, {} {} there, {}, {}\n", counted(copied->runs, "run"),
                                       copied->runs_there, copied->runs_there == 1 ? "was" : "were",
                                       counted(copied->notes, "note"), counted(copied->problems.size(), "problem")));
  notify_about_key(command, environment);
  return copied->problems.empty() ? exit_done : exit_failed;
}

int list_owners(journal::StoreConnection& store, const StoreCommand& command, const Environment& environment) {
  const auto owners = store.ownership().owners();
  if (!owners) return fail(owners.error().message, environment);
  Json list = Json::array();
  for (const journal::Owner& owner : *owners) {
    list.push_back(engine::describe_owner(owner));
    if (command.json) continue;
    const std::string pool = owner.pool.empty() ? "" : fmt::format(" of `{}`", owner.pool);
    environment.write_output(fmt::format("{}  {}{}  {}  {}\n", owner.id.number, engine::name_of(owner.role), pool,
                                         counted(owner.runs, "run"), owner.label));
  }
  if (command.json) environment.write_output(list.dump() + "\n");
  return exit_done;
}

}  // namespace

int store(const StoreCommand& command, const Environment& environment) {
  using Verb = StoreCommand::Verb;
  if (command.verb == Verb::Copy) return copy_store(command, environment);
  const bool only_reads = command.verb == Verb::Backup || command.verb == Verb::Export || command.verb == Verb::Owners;
  using engine::StoreUse;
  const StoreUse use = only_reads                     ? StoreUse::Read
                       : command.verb == Verb::Check  ? StoreUse::Check
                       : command.verb == Verb::Import ? StoreUse::Change
                       : command.verb == Verb::Repair ? StoreUse::Repair
                                                      : StoreUse::ChangeExisting;
  const auto opened = engine::open_store(command.store, use, environment.system);
  if (!opened) return report(opened.error(), environment);
  journal::StoreConnection& store = **opened;
  switch (command.verb) {
    case Verb::Backup: {
      const auto done = store.admin().backup(command.file);
      return done ? exit_done : fail(done.error().message, environment);
    }
    case Verb::Check:
    case Verb::Repair:
      return check_store(store, environment);
    case Verb::Copy:
      break;  // it opens two stores
    case Verb::Owners:
      return list_owners(store, command, environment);
    case Verb::Export:
      return export_run(store, command, environment);
    case Verb::Import:
      return import_run(store, command, environment);
    case Verb::Compact: {
      const auto done = store.admin().compact();
      return done ? exit_done : fail(done.error().message, environment);
    }
    case Verb::Forget: {
      const auto done = store.admin().forget({command.run}, wall_ms(environment.system.clock));
      return done ? exit_done : fail(done.error().message, environment);
    }
  }
  return exit_failed;
}

}  // namespace tenon::cli
