#include "cli/remote_chat.h"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "cli/engine_report.h"
#include "cli/shown_store.h"
#include "cli/stopping.h"
#include "engine/event_hub.h"
#include "engine/model_choice.h"
#include "engine/model_providers.h"
#include "engine/secret_key.h"
#include "engine/store_access.h"
#include "engine/stored_run.h"
#include "inference/answers/answer_choices.h"
#include "json/reader.h"
#include "runtime/host/host.h"
#include "server/catalog.h"
#include "server/run_programs.h"
#include "server/turn_answer.h"

namespace tenon::cli {
namespace {

/// How often a signal is looked for while an answer is waited for, and the store if a notice was lost.
constexpr std::chrono::milliseconds look_interval{100};
constexpr std::size_t bytes_per_take = std::size_t{64} << 10U;
/// Values that are longer are not shown.
constexpr std::size_t shown_bytes_max = std::size_t{16} << 20U;

/// The text of a turn's answer, for stdout.
class TerminalAnswer final : public server::TurnAnswer {
 public:
  TerminalAnswer(std::unique_ptr<engine::EventReader> reader, server::ShownValues values, runtime::Host& host)
      : TurnAnswer(std::move(reader), std::move(values), host, Delivery::Pieces) {}

  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  void write_begin(std::string& /*out*/) override {}
  void write_piece(const std::string& piece, std::string& out) override { out += piece; }
  void write_end(const Json& /*wait*/, std::string& out) override { out += "\n"; }
  void write_failure(Failure /*failure*/, const std::string& message, const std::string& /*code*/,
                     std::string& out) override {
    if (!text().empty()) out += "\n";
    problem_ = message;
  }

  std::string problem_;
};

/// A gateway of the store for one conversation.
class RemoteChat {
 public:
  /// The connections: a gateway's, and two for reading.
  struct Stores {
    std::unique_ptr<journal::StoreConnection> owner, reader, own_reader;
  };
  RemoteChat(const ChatCommand& command, Stores stores, const Environment& environment)
      : run_{command.run},
        environment_(environment),
        model_(engine::open_no_model()),
        store_(std::move(stores.owner), std::move(stores.reader)),
        reader_(std::move(stores.own_reader)),
        secrets_(engine::secret_keys(command.store.path, environment.system)),
        hub_(
            feed_bytes, [&environment](std::string_view text) { warn(text, environment); },
            [](std::string_view /*reason*/) {}),
        host_({.store = store_,
               .model = *model_,
               .clock = environment.system.clock,
               .random_unit = environment.system.random_unit,
               .images = engine::images_without_externs(),
               .observer = hub_,
               .secrets = &secrets_},
              {.role = journal::OwnerRole::Gateway}) {
    hub_.watch_others(store_.wakeups());
    host_.begin();
  }
  ~RemoteChat() {
    hub_.forget_others();
    host_.end();
  }
  RemoteChat(const RemoteChat&) = delete;
  RemoteChat& operator=(const RemoteChat&) = delete;

  RemoteChatEnd converse(const std::string& store);

 private:
  static constexpr std::size_t feed_bytes = std::size_t{4} << 20U;

  [[nodiscard]] bool show_questions();
  [[nodiscard]] bool has_taker();
  [[nodiscard]] runtime::HostReply say(const std::string& line);
  [[nodiscard]] bool show_answer(std::uint64_t after);

  const journal::RunName run_;
  const Environment& environment_;
  std::unique_ptr<inference::Model> model_;
  journal::ThreadedStore store_;
  std::unique_ptr<journal::StoreConnection> reader_;
  effects::SecretVault secrets_;
  server::Catalog catalog_;
  server::RunPrograms programs_{catalog_};
  engine::EventHub hub_;
  runtime::Host host_;
};

/// Shows the question that the next line answers, if there is one. False after a problem.
bool RemoteChat::show_questions() {
  const auto head = reader_->journals().head(run_);
  if (!head) {
    fail(head.error().message, environment_);
    return false;
  }
  const Json details = parse_own_json(head->summary.detail);
  for (const Json& detail : details.items_or_none()) {
    if (!detail.contains("wait")) continue;
    host_.note_shown(run_, detail.text_or("wait", ""));
    environment_.write_error(inference::answers::shown_question(detail) + "\n");
    break;
  }
  return true;
}

/// Whether a process has the run, or would take it.
bool RemoteChat::has_taker() {
  const auto taker = reader_->inbox().taker_of(run_);
  return !taker || *taker != journal::CommandTaker::None;
}

runtime::HostReply RemoteChat::say(const std::string& line) {
  auto replied = std::make_shared<std::promise<runtime::HostReply>>();
  auto reply = replied->get_future();
  host_.say(run_, line, runtime::SeveralQuestions::Oldest, {},
            [replied](runtime::HostReply given) { replied->set_value(std::move(given)); });
  return reply.get();
}

/// Shows what the turn says that follows from a message. False when the process is to end. Ctrl-C ends the turn.
bool RemoteChat::show_answer(std::uint64_t after) {
  journal::Store& store = reader_->journals();
  auto head = store.head(run_);
  if (!head) return fail(head.error().message, environment_) == exit_done;
  auto reader = std::make_unique<engine::EventReader>(hub_, store, programs_.program_at(store), *head, after);
  TerminalAnswer answer(std::move(reader), {store, run_, programs_.find(store, run_), shown_bytes_max}, host_);
  struct News {
    std::mutex mutex;
    std::condition_variable changed;
    bool is_there = true;
  };
  const auto news = std::make_shared<News>();
  answer.watch([news] {
    const std::scoped_lock lock(news->mutex);
    news->is_there = true;
    news->changed.notify_one();
  });
  while (!answer.is_done()) {
    if (environment_.interrupted->exchange(false)) {
      host_.cancel(run_, runtime::CancelScope::Turn, "interrupted", {}, [](const runtime::HostReply&) {});
      if (environment_.stop_signal->load() == SIGTERM) return false;
    }
    if (const std::string text = answer.take(bytes_per_take); !text.empty()) environment_.write_output(text);
    std::unique_lock lock(news->mutex);
    if (!std::exchange(news->is_there, false) && !answer.is_done()) news->changed.wait_for(lock, look_interval);
  }
  if (!answer.problem().empty()) fail(answer.problem(), environment_);
  return true;
}

RemoteChatEnd RemoteChat::converse(const std::string& store) {
  const auto leave = [&]() -> RemoteChatEnd {
    environment_.write_error(fmt::format("  continue with: tenon chat --run {} --store {}\n", run_.text, store));
    return {environment_.interrupted->load() ? exit_code_of_stop(environment_) : exit_done};
  };
  notify(fmt::format("another process continues run {}: what you say is passed on to it", run_.text), environment_);
  if (!show_questions()) return {exit_failed};
  for (;;) {
    if (environment_.error_is_terminal) environment_.write_error("> ");
    const auto line = environment_.read_line({});
    if (environment_.interrupted->load()) return leave();
    if (!line) return environment_.error_is_terminal ? leave() : RemoteChatEnd{exit_done};
    if (line->empty()) continue;
    const runtime::HostReply reply = say(*line);
    using Kind = runtime::HostFailure::Kind;
    if (!reply && reply.error().kind == Kind::Unavailable && !has_taker()) return {.unsaid = *line};
    if (!reply) {
      fail(reply.error().message, environment_);
      if (reply.error().kind != Kind::WrongInput) return {exit_failed};
    } else if (!show_answer(reply->after)) {
      return leave();
    }
  }
}

}  // namespace

RemoteChatEnd chat_with_server(const ChatCommand& command, const Environment& environment) {
  engine::StoreChoice gateway = command.store;
  gateway.role = journal::OwnerRole::Gateway;
  const auto open = [&](const engine::StoreChoice& choice, engine::StoreUse use) {
    return engine::open_store(choice, use, environment.system);
  };
  auto owner = open(gateway, engine::StoreUse::ChangeExisting);
  if (!owner) return {report(owner.error(), environment)};
  auto reader = open(command.store, engine::StoreUse::Read);
  if (!reader) return {report(reader.error(), environment)};
  auto own_reader = open(command.store, engine::StoreUse::Read);
  if (!own_reader) return {report(own_reader.error(), environment)};
  RemoteChat chat(command, {std::move(*owner), std::move(*reader), std::move(*own_reader)}, environment);
  return chat.converse(shown_store(command.store));
}

}  // namespace tenon::cli
