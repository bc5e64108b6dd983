#include "cli/store_file.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "cli/secret_key.h"
#include "runtime/recovery.h"

namespace tenon::cli {

namespace {

/// How long the owner of a store has for a command, and how often its reply is looked for.
constexpr std::chrono::seconds owner_patience{5};
constexpr std::chrono::milliseconds look_again{20};

/// Why there can be no store at the path, found before anything is created there; empty when there can be one.
std::string find_path_problem(const std::filesystem::path& path, StoreUse use) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return "this is a folder; a store is a file";
  const std::filesystem::path folder = path.parent_path();
  if (!folder.empty() && !std::filesystem::is_directory(folder, ignored)) {
    return fmt::format("there is no folder {}", folder.string());
  }
  const bool is_missing =
      std::filesystem::symlink_status(path, ignored).type() == std::filesystem::file_type::not_found;
  if (use != StoreUse::Change && is_missing) return "there is no store; `tenon run FILE --store` creates one";
  return {};
}

Result<std::unique_ptr<journal::StoreConnection>, journal::StoreError> try_open(const StoreChoice& choice,
                                                                                StoreUse use) {
  const auto location = journal::parse_store_url(choice.path);
  if (!location) return failure(location.error());
  if (const std::string problem = find_path_problem(location->path, use); !problem.empty()) {
    return failure(
        journal::StoreError{journal::StoreError::Kind::Missing, fmt::format("{}: {}", location->path, problem)});
  }
  journal::StoreOptions options;
  options.access = use == StoreUse::Read ? journal::Access::Reader : journal::Access::Owner;
  if (use == StoreUse::Repair) options.damaged_log = journal::DamagedLog::Cut;
  options.durability = choice.durability == "process" ? journal::Durability::Process : journal::Durability::Full;
  return journal::open_store(choice.path, options);
}

}  // namespace

static void print_notices(const journal::StoreConnection& store, const Environment& environment) {
  for (const std::string& notice : store.notices())
    environment.write_error(fmt::format("tenon: warning: {}\n", notice));
}

std::unique_ptr<journal::StoreConnection> open_store(const StoreChoice& choice, StoreUse use,
                                                     const Environment& environment) {
  auto store = try_open(choice, use);
  if (store) {
    print_notices(**store, environment);
    return std::move(*store);
  }
  environment.write_error(fmt::format("tenon: {}\n", store.error().message));
  return nullptr;
}

OwnedStore open_owned_store(const StoreChoice& choice, const Environment& environment) {
  auto store = try_open(choice, StoreUse::ChangeExisting);
  if (store) {
    print_notices(**store, environment);
    return {std::move(*store), false};
  }
  if (store.error().kind == journal::StoreError::Kind::InUse) return {nullptr, true};
  environment.write_error(fmt::format("tenon: {}\n", store.error().message));
  return {nullptr, false};
}

namespace {

/// The command as it stands in the inbox: sealed, when the run may have secrets.
Result<std::string, std::string> inbox_bytes(journal::Store& store, const StoreChoice& choice,
                                             const journal::RunName& run, const runtime::InboxCommand& command,
                                             const Environment& environment) {
  const auto started = runtime::read_started(store, run);
  if (!started || started->secret_key.empty()) return runtime::encode(command);
  effects::SecretVault secrets(secret_keys(choice.path, environment));
  if (const auto key = secrets.require(started->secret_key); !key) {
    return failure(fmt::format("run {}: {}", run.text, key.error().message));
  }
  return runtime::seal_command(command, secrets);
}

/// The wait of a run that waits for one answer; else empty.
std::string only_wait(const journal::RunHead& head) {
  const auto details = nlohmann::json::parse(head.summary.detail, nullptr, false);
  std::vector<std::string> waits;
  for (const auto& detail : details) {
    if (detail.is_object() && detail.contains("wait")) waits.push_back(detail.value("wait", ""));
  }
  return waits.size() == 1 ? waits.front() : "";
}

}  // namespace

bool waits_for_service(const StoreChoice& choice, const journal::RunName& run, const Environment& environment) {
  const auto store = open_store(choice, StoreUse::Read, environment);
  const auto head = store ? store->journals().head(run) : failure(journal::StoreError{});
  if (!head) return false;
  const auto details = nlohmann::json::parse(head->summary.detail, nullptr, false);
  return std::any_of(details.begin(), details.end(),
                     [](const auto& detail) { return detail.is_object() && detail.contains("unavailable"); });
}

int hand_over(const StoreChoice& choice, const journal::RunName& run, runtime::InboxCommand command,
              const Environment& environment) {
  const auto tell = [&](std::string_view message, int code) {
    environment.write_error(fmt::format("tenon: {}\n", message));
    return code;
  };
  auto store = open_store(choice, StoreUse::Read, environment);
  if (!store) return exit_failed;
  if (command.verb == runtime::InboxCommand::Verb::Resume && command.wait.empty()) {
    // The answer is to the question that waits now, and to none that may come.
    if (const auto head = store->journals().head(run)) command.wait = only_wait(*head);
  }
  const auto bytes = inbox_bytes(store->journals(), choice, run, command, environment);
  if (!bytes) return tell(bytes.error(), exit_failed);
  const auto id = store->inbox().send(run, *bytes);
  if (!id) return tell(id.error().message, exit_failed);
  const auto until = environment.clock.monotonic() + owner_patience;
  for (bool is_withdrawn = false; !is_withdrawn;) {
    const auto reply = store->inbox().take_reply(*id);
    if (!reply) return tell(reply.error().message, exit_failed);
    if (*reply) {
      const auto read = runtime::decode_reply(**reply);
      if (!read) return tell("the process that owns the store answered what this Tenon cannot read", exit_failed);
      if (read->error) return tell(*read->error, exit_usage);
      return tell(fmt::format("run {}: taken by the process that owns the store, which goes on with it", run.text),
                  exit_done);
    }
    if (environment.clock.monotonic() < until) {
      environment.clock.wait(look_again);
      continue;
    }
    // What is left lying could be taken much later, when it fits no more.
    const auto withdrawn = store->inbox().withdraw(*id);
    if (!withdrawn) return tell(withdrawn.error().message, exit_failed);
    is_withdrawn = *withdrawn;
  }
  // Its message names the process.
  const auto owned = try_open(choice, StoreUse::ChangeExisting);
  return tell(
      fmt::format("{}; it has not answered in {} s, and the command is taken back; `tenon runs` shows "
                  "whether it had begun",
                  owned ? "the process that owned the store has ended" : owned.error().message, owner_patience.count()),
      exit_failed);
}

}  // namespace tenon::cli
