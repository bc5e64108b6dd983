#include "cli/store_file.h"

#include <fmt/format.h>

#include <chrono>

namespace tenon::cli {
namespace {

/// How long the owner of a store has for a command, and how often it is looked for.
constexpr std::chrono::seconds owner_patience{20};
constexpr std::chrono::milliseconds look_again{20};

}  // namespace

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

OwnedStore open_owned_store(const StoreChoice& choice, const Environment& environment) {
  journal::StoreOptions options;
  options.durability = choice.durability == "process" ? journal::Durability::Process : journal::Durability::Full;
  auto store = journal::SqliteStore::open(choice.path, options);
  if (store) return {std::move(*store), false};
  if (store.error().kind == journal::StoreError::Kind::InUse) return {nullptr, true};
  environment.write_error(fmt::format("tenon: {}\n", store.error().message));
  return {nullptr, false};
}

int hand_over(const StoreChoice& choice, const journal::RunName& run, const runtime::InboxCommand& command,
              const Environment& environment) {
  const auto tell = [&](std::string_view message, int code) {
    environment.write_error(fmt::format("tenon: {}\n", message));
    return code;
  };
  auto store = open_store(choice, journal::Access::Reader, environment);
  if (!store) return exit_failed;
  const auto id = store->send(run, runtime::encode(command));
  if (!id) return tell(id.error().message, exit_failed);
  const auto until = environment.clock.monotonic() + owner_patience;
  while (environment.clock.monotonic() < until) {
    const auto reply = store->take_reply(*id);
    if (!reply) return tell(reply.error().message, exit_failed);
    if (*reply) {
      const auto read = runtime::decode_reply(**reply);
      if (!read) return tell("the process that owns the store answered what this Tenon cannot read", exit_failed);
      if (read->error) return tell(*read->error, exit_usage);
      return tell(fmt::format("run {}: taken by the process that owns the store, which goes on with it", run.text),
                  exit_done);
    }
    environment.clock.wait(look_again);
  }
  return tell(fmt::format("run {}: the process that owns the store has not answered; the command stays there, and "
                          "`tenon serve` takes it",
                          run.text),
              exit_failed);
}

}  // namespace tenon::cli
