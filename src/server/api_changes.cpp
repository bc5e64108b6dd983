// The changes of programs and of all runs, as one stream.
#include "graph/graph_json.h"
#include "server/api.h"

namespace tenon::server {
namespace {

/// Sends what has changed as it is when it is sent: a run that changes often is sent less often.
class ChangesBody final : public BodySource {
 public:
  using Describe = std::function<std::optional<Json>(const engine::Change& change)>;

  ChangesBody(engine::EventHub& hub, Describe describe, ServerCounts& counts)
      : changes_(hub.watch_all()), describe_(std::move(describe)), counts_(counts) {
    ++counts_.readers;
  }
  ~ChangesBody() override {
    changes_->watch({});
    --counts_.readers;
  }
  ChangesBody(const ChangesBody&) = delete;
  ChangesBody& operator=(const ChangesBody&) = delete;

  void watch(std::function<void()> notify) override { changes_->watch(std::move(notify)); }
  std::string take(std::size_t bytes_max) override {
    // The reader learns at once that it is connected.
    std::string text = is_new_ ? ": changes follow\n\n" : "";
    is_new_ = false;
    while (text.size() < bytes_max) {
      const auto next = changes_->take();
      if (!next) break;
      if (const auto change = describe_(*next)) text += make_sse(std::nullopt, change->dump());
    }
    return text;
  }
  [[nodiscard]] bool is_done() const override { return is_broken_off_; }
  [[nodiscard]] bool can_be_continued() const override { return true; }
  [[nodiscard]] std::string break_off(std::string_view) override {
    is_broken_off_ = true;
    return {};
  }

 private:
  std::shared_ptr<engine::Changes> changes_;
  Describe describe_;
  ServerCounts& counts_;
  bool is_new_ = true;
  bool is_broken_off_ = false;
};

/// {"program","version"}: null instead of the version of a file that cannot be read.
std::optional<Json> describe_program(const ProgramFiles* programs, const std::string& name) {
  const ProgramFiles::File* const file = programs == nullptr ? nullptr : programs->find(name);
  if (file == nullptr) return std::nullopt;
  const auto text = programs->read(file->path);
  return Json::object({{"program", name}, {"version", text ? Json(graph::version_of(*text)) : Json()}});
}

}  // namespace

void Api::read_changes(const Call& call) {
  HttpResponse response;
  response.content_type = "text/event-stream";
  response.headers.emplace_back("Cache-Control", "no-store");
  response.headers.emplace_back("X-Accel-Buffering", "no");
  auto describe = [this](const engine::Change& change) -> std::optional<Json> {
    switch (change.kind) {
      case engine::Change::Kind::Run: {
        const auto head = parts_.store.head({change.name});
        return head ? std::optional(describe_run(*head)) : std::nullopt;
      }
      case engine::Change::Kind::Program:
        return describe_program(parts_.programs, change.name);
      case engine::Change::Kind::Missed:
        return Json::object({{"missed", true}});
    }
    return std::nullopt;
  };
  call.answer(
      {std::move(response), std::make_unique<ChangesBody>(parts_.hub, std::move(describe), parts_.counts), true});
}

}  // namespace tenon::server
