#include "engine/store_access.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <vector>

#include "engine/secret_key.h"
#include "json/reader.h"
#include "runtime/recovery/asked_questions.h"
#include "runtime/recovery/recovery.h"

namespace tenon::engine {

namespace {

/// Time limit for the reply of a store's owner, and how often it is checked for. In a database the owner of the run
/// may first have to be found dead: the limit grows by what is left of a lease, up to the maximum.
constexpr std::chrono::milliseconds owner_patience{5'000};
constexpr std::chrono::milliseconds owner_patience_max{30'000};
constexpr std::chrono::milliseconds reply_poll{20};
/// How often it is seen whether there is still a process that could take the command.
constexpr std::chrono::milliseconds taker_interval{100};
/// Processes that are asked one after the other, because each lacks something.
constexpr std::size_t refusers_max = 16;

/// Why there can be no store at the path, checked before a file is created; empty if there can be one.
std::string find_path_problem(const std::filesystem::path& path, StoreUse use) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return "it is a folder; a store is a file";
  const std::filesystem::path folder = path.parent_path();
  if (!folder.empty() && !std::filesystem::is_directory(folder, ignored)) {
    return fmt::format("the folder `{}` does not exist", folder.string());
  }
  const bool is_missing =
      std::filesystem::symlink_status(path, ignored).type() == std::filesystem::file_type::not_found;
  if (use != StoreUse::Change && is_missing) return "the store does not exist; `tenon run FILE --store` creates one";
  return {};
}

Result<std::unique_ptr<journal::StoreConnection>, journal::StoreError> try_open(const StoreChoice& choice,
                                                                                StoreUse use) {
  const auto location = journal::parse_store_url(choice.path);
  if (!location) return failure(location.error());
  if (location->kind == journal::StoreLocation::Kind::File) {
    if (const std::string problem = find_path_problem(location->path, use); !problem.empty()) {
      return failure(
          journal::StoreError{journal::StoreError::Kind::Missing, fmt::format("{}: {}", location->path, problem)});
    }
  }
  journal::StoreOptions options;
  const bool only_reads = use == StoreUse::Read || use == StoreUse::Check;
  options.access = only_reads ? journal::Access::Reader : journal::Access::Owner;
  options.creates = use == StoreUse::Change;
  if (use == StoreUse::Check) options.damaged_log = journal::DamagedLog::Report;
  if (use == StoreUse::Repair) options.damaged_log = journal::DamagedLog::Cut;
  options.role = choice.role;
  options.pool = choice.pool;
  options.patience = choice.patience;
  options.durability = choice.durability == "process" ? journal::Durability::Process : journal::Durability::Full;
  return journal::open_store(choice.path, options);
}

}  // namespace

std::function<bool()> begins_under_lease(journal::StoreConnection* store) {
  if (store == nullptr || store->ownership().is_sole()) return {};
  return [&ownership = store->ownership()] { return ownership.lease() == journal::LeaseState::Held; };
}

EngineError to_error(const journal::StoreError& error) {
  using Store = journal::StoreError::Kind;
  const bool is_in_use = error.kind == Store::InUse || error.kind == Store::Owned;
  const auto kind = is_in_use                      ? EngineError::Kind::InUse
                    : error.kind == Store::Missing ? EngineError::Kind::NotFound
                                                   : EngineError::Kind::Failed;
  return {kind, error.message};
}

EngineError to_error(const runtime::RecoveryError& error) {
  return to_error(journal::StoreError{error.store.value_or(journal::StoreError::Kind::Broken), error.message});
}

std::string without_file(std::string message, std::string_view file) {
  if (file.find('/') == std::string_view::npos) return message;  // a name in the working directory tells nothing
  for (std::size_t at = message.find(file); at != std::string::npos; at = message.find(file, at)) {
    const bool is_subject = message.compare(at + file.size(), 2, ": ") == 0;
    const std::string_view said = is_subject ? "" : "the store";
    message.replace(at, file.size() + (is_subject ? 2 : 0), said);
    at += said.size();
  }
  return message;
}

Result<std::unique_ptr<journal::StoreConnection>, EngineError> open_store(const StoreChoice& choice, StoreUse use,
                                                                          const System& system) {
  auto store = try_open(choice, use);
  if (!store) return failure(to_error(store.error()));
  for (const std::string& notice : (*store)->notices()) system.notify(NoticeKind::Warning, notice);
  return std::move(*store);
}

namespace {

/// The command as bytes for the inbox: encrypted if the run may have secrets.
Result<std::string, std::string> inbox_bytes(journal::Store& store, const StoreChoice& choice,
                                             const journal::RunName& run, const runtime::InboxCommand& command,
                                             const System& system) {
  const auto started = runtime::read_started(store, run);
  if (!started || started->secret_key.empty()) return runtime::encode(command);
  effects::SecretVault secrets(secret_keys(choice.path, system));
  if (const auto key = secrets.require(started->secret_key); !key) {
    return failure(fmt::format("run {}: {}", run.text, key.error().message));
  }
  return runtime::seal_command(command, secrets);
}

/// The open question of the run if it is the only one; otherwise empty.
std::string only_wait(const journal::RunHead& head) {
  const Json details = parse_own_json(head.summary.detail);
  std::vector<std::string> waits;
  for (const Json& detail : details.items_or_none()) {
    if (detail.contains("wait")) waits.push_back(detail.text_or("wait", ""));
  }
  return waits.size() == 1 ? waits.front() : "";
}

}  // namespace

Result<bool, EngineError> waits_for_service(const StoreChoice& choice, const journal::RunName& run,
                                            const System& system) {
  const auto store = open_store(choice, StoreUse::Read, system);
  if (!store) return failure(store.error());
  const auto head = (*store)->journals().head(run);
  if (!head) return false;
  const Json details = parse_own_json(head->summary.detail);
  return std::ranges::any_of(details.items_or_none(),
                             [](const Json& detail) { return detail.contains("unavailable"); });
}

namespace {

/// A store that has other owners than this process, in which a command is left.
class CommandWait {
 public:
  CommandWait(journal::StoreConnection& store, const StoreChoice& choice, const journal::RunName& run)
      : store_(store), choice_(choice), run_(run) {}

  /// Waits for the reply to a command. Nothing if no process that lives can take it any more; then it was withdrawn.
  Result<std::optional<runtime::HostReply>, EngineError> await_reply(std::uint64_t command, const System& system) {
    const std::chrono::milliseconds patience = this->patience();
    const auto begin = system.clock.monotonic();
    bool has_taker = true;
    for (auto looked = begin;;) {
      const auto reply = store_.inbox().take_reply(command);
      if (!reply) return failure(to_error(reply.error()));
      if (*reply) return std::optional(runtime::decode_reply(**reply));
      const auto now = system.clock.monotonic();
      if (now - looked >= taker_interval) {
        has_taker = this->has_taker(command);
        looked = system.clock.monotonic();
      }
      if (has_taker && now - begin < patience) {
        system.clock.wait(reply_poll);
        continue;
      }
      // A command left in the inbox could be applied much later, when it no longer fits.
      const auto withdrawn = store_.inbox().withdraw(command);
      if (!withdrawn) return failure(to_error(withdrawn.error()));
      if (!*withdrawn) continue;  // its reply has just come
      if (!has_taker) return std::optional<runtime::HostReply>();
      return failure(EngineError{
          EngineError::Kind::Failed,
          fmt::format("{}; it has not replied within {} s, and the command was withdrawn; `tenon runs` shows whether "
                      "the owner had started it",
                      describe_owner(), std::chrono::duration_cast<std::chrono::seconds>(patience).count())});
    }
  }

 private:
  [[nodiscard]] bool is_file() const { return store_.ownership().is_sole(); }

  [[nodiscard]] std::chrono::milliseconds patience() {
    std::int64_t lease_ms = 0;
    const auto owners = is_file() ? std::vector<journal::Owner>() : store_.ownership().owners();
    if (owners)
      for (const journal::Owner& owner : *owners)
        if (owner.id != store_.ownership().self()) lease_ms = std::max(lease_ms, owner.lease_ms);
    return std::min(owner_patience + std::chrono::milliseconds(lease_ms), owner_patience_max);
  }

  /// Whether a process that lives could take the command, as far as that can be found out.
  [[nodiscard]] bool has_taker(std::uint64_t command) {
    if (is_file()) return !try_open(choice_, StoreUse::ChangeExisting).has_value();
    const auto left = store_.inbox().without_taker({&command, 1});
    return !left || left->empty();
  }

  /// The process that was to reply: the beginning of a sentence.
  [[nodiscard]] std::string describe_owner() {
    // The message of the error names the process.
    if (is_file()) {
      const auto owned = try_open(choice_, StoreUse::ChangeExisting);
      return owned ? "the process that owned the store has ended" : owned.error().message;
    }
    const auto claimed = journal::claim_run(store_.journals(), run_);
    return claimed ? fmt::format("a server of the store was to continue run {}", run_.text) : claimed.error().message;
  }

  journal::StoreConnection& store_;
  const StoreChoice& choice_;
  const journal::RunName& run_;
};

/// What the command is left with. A process that waits at a database is an owner there too: it sees which process has
/// died, also when no other one is left that would.
StoreUse use_of_sender(const StoreChoice& choice) {
  return journal::file_of_store(choice.path) ? StoreUse::Read : StoreUse::ChangeExisting;
}

}  // namespace

Result<SentCommand, EngineError> send_to_owner(const StoreChoice& choice, const journal::RunName& run,
                                               runtime::InboxCommand command, const System& system) {
  auto store = open_store(choice, use_of_sender(choice), system);
  if (!store) return failure(std::move(store.error()));
  journal::StoreConnection& opened = **store;
  auto* const answer = std::get_if<runtime::AnswerQuestion>(&command.action);
  if (answer != nullptr && answer->wait.empty()) {
    // The answer is for the only question of the run, not for a later one.
    if (runtime::has_asked_several(opened.journals(), run).value_or(false)) {
      return failure(EngineError{EngineError::Kind::WrongInput,
                                 "the run has asked other questions before: name the one that is answered"});
    }
    if (const auto head = opened.journals().head(run)) answer->wait = only_wait(*head);
  }
  const auto bytes = inbox_bytes(opened.journals(), choice, run, command, system);
  if (!bytes) return failure(EngineError{EngineError::Kind::Failed, bytes.error()});
  SentCommand outcome;
  CommandWait wait(opened, choice, run);
  for (std::vector<journal::OwnerId> refusers;;) {
    const auto id = opened.inbox().send({.run = run, .bytes = *bytes, .except = refusers});
    const bool is_for_no_one_else = !id && !refusers.empty() && id.error().kind == journal::StoreError::Kind::Missing;
    if (is_for_no_one_else) return outcome;
    if (!id) return failure(to_error(id.error()));
    const auto awaited = wait.await_reply(*id, system);
    if (!awaited) return failure(awaited.error());
    if (!*awaited) return SentCommand{.fate = SentCommand::Fate::NoTaker};
    const runtime::HostReply& reply = **awaited;
    if (reply) return SentCommand{};
    const runtime::HostFailure& why = reply.error();
    using Refused = runtime::HostFailure::Kind;
    if (why.kind != Refused::Unequipped) {
      const bool is_wrong = why.kind != Refused::Unavailable && why.kind != Refused::Unknown;
      const auto kind = is_wrong ? EngineError::Kind::WrongInput : EngineError::Kind::Failed;
      return failure(EngineError{kind, why.message});
    }
    outcome = {.fate = SentCommand::Fate::Lacking, .lack = why.message};
    const journal::OwnerId by{why.refuser};
    const bool was_asked_before = std::ranges::find(refusers, by) != refusers.end();
    if (by.number == 0 || was_asked_before || refusers.size() == refusers_max) return outcome;
    refusers.push_back(by);
  }
}

}  // namespace tenon::engine
