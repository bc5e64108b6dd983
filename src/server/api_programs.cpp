// The programs' texts and graphs, and how they are edited.
#include <fmt/format.h>

#include <mutex>

#include "graph/edit_json.h"
#include "graph/graph_json.h"
#include "json/reader.h"
#include "server/api.h"
#include "server/program_replies.h"
#include "syntax/parse.h"

namespace tenon::server {
namespace {

/// {"name","version","text","graph","problem"}; `problem` only when the text cannot be edited as a graph.
Json describe(const std::string& name, const std::string& text) {
  const source::SourceFile file({0}, name, text);
  diagnostics::Diagnostics diagnostics;
  const syntax::SyntaxTree tree = syntax::parse(file, diagnostics);
  Json program = Json::object({{"name", name}, {"version", graph::version_of(text)}, {"text", text}});
  program["graph"] = parse_own_json(graph::to_json(graph::make_graph(tree), tree));
  if (const auto problem = graph::find_graph_problem(text)) program["problem"] = *problem;
  return program;
}

std::string dumped(const Json& json) {
  return json.dump();
}

}  // namespace

const ProgramFiles::File* find_program_file(const ProgramFiles* programs, const Api::Call& call) {
  if (programs == nullptr) {
    call.answer(whole(make_editing_is_off()));
    return nullptr;
  }
  const ProgramFiles::File* const file = programs->find(call.names.front());
  if (file == nullptr) {
    call.answer(whole(make_error(
        404, "not_found", fmt::format("unknown program `{}`; GET /v1/programs lists them", call.names.front()))));
  }
  return file;
}

void Api::list_programs(const Call& call) {
  Json programs = Json::array();
  if (parts_.programs != nullptr) {
    for (const ProgramFiles::File& file : parts_.programs->files)
      programs.push_back(Json::object({{"name", file.name}, {"file", without_folder(file.path, file.path)}}));
  }
  call.answer(whole(make_json(dumped(Json::object({{"programs", std::move(programs)}})))));
}

void Api::show_program(const Call& call) {
  const ProgramFiles::File* const file = find_program_file(parts_.programs, call);
  if (file == nullptr) return;
  auto text = read_program(*parts_.programs, *file);
  if (!text) return call.answer(whole(std::move(text.error())));
  call.answer(whole(make_json(dumped(describe(file->name, *text)))));
}

namespace {

/// A request to edit a program, as its body has it.
struct EditRequest {
  ProgramFiles::File file;
  std::string version;  ///< of the text that the edits are made for
  std::string ops;
  bool is_dry_run = false;
};

/// What the edits make of the program.
struct Edited {
  std::string text;
  std::string answer;
};

Result<Edited, HttpResponse> make_edited(const EditRequest& request, const ProgramFiles& programs) {
  auto present = read_program(programs, request.file);
  if (!present) return failure(std::move(present.error()));
  if (const std::string version = graph::version_of(*present); request.version != version) {
    return failure(refuse_edit(409, "version_conflict", "the program has changed since that version; read it again",
                               Json::object({{"version", version}})));
  }
  const auto edits = graph::read_edits(request.ops);
  if (!edits) return failure(make_refusal(edits.error()));
  const auto edited = graph::apply_edits(*present, *edits, [&](std::string_view changed) -> std::optional<std::string> {
    auto problem = programs.check(request.file.path, changed);
    if (!problem) return std::nullopt;
    return without_folder(std::move(*problem), request.file.path);
  });
  if (!edited) return failure(make_refusal(edited.error()));
  Json answer = describe(request.file.name, edited->text);
  answer["inverse"] = parse_own_json(graph::to_json(edited->inverse));
  return Edited{edited->text, dumped(answer)};
}

/// Writes the edited text, unless the program has changed in the meantime. A file that has that text already is left
/// alone: the same request was repeated before its first attempt had ended.
HttpResponse write_edited(const EditRequest& request, const Edited& edited, const ProgramFiles& programs) {
  const auto present = programs.read(request.file.path);
  const std::string version = present ? graph::version_of(*present) : request.version;
  const bool is_written = version == graph::version_of(edited.text);
  if (!is_written && version != request.version) {
    return refuse_edit(409, "version_conflict", "the program has changed since that version; read it again",
                       Json::object({{"version", version}}));
  }
  if (!is_written && !programs.write(request.file.path, edited.text)) {
    return make_error(503, "unavailable", "cannot write the program's file; it is unchanged");
  }
  return make_json(edited.answer);
}

/// Edits a program for a request with an Idempotency-Key. The result is kept before the file is written: whenever a
/// crash comes, the repeated request finds the result and, where the file is still the old one, writes it then.
class RepeatableEdit final : public BodySource {
 public:
  RepeatableEdit(EditRequest request, const ProgramFiles& programs, runtime::Host& host, runtime::RequestKey key)
      : request_(std::move(request)), programs_(programs), host_(host), key_(std::move(key)) {}

  void watch(std::function<void()> notify) override {
    progress_->notify = std::move(notify);
    host_.use_notes([key = key_, progress = progress_](Notes notes) {
      const auto set = [progress](Found found) { progress->set([&] { progress->found = std::move(found); }); };
      if (!notes) return set(failure(notes.error()));
      (*notes)->find(key, set);
    });
  }
  [[nodiscard]] std::string take(std::size_t) override {
    const auto [found, kept] = progress_->take_news();
    if (!is_done_ && found) look_up(*found);
    if (!is_done_ && kept) end(*kept ? write_edited(request_, *edited_, programs_) : make_answer(kept->error()).head);
    return std::exchange(out_, {});
  }
  [[nodiscard]] bool is_done() const override { return is_done_; }
  [[nodiscard]] std::optional<int> status() const override { return status_; }
  [[nodiscard]] std::string break_off(std::string_view reason) override {
    end(make_error(503, "draining", reason));
    return std::exchange(out_, {});
  }

 private:
  using Notes = Result<runtime::StoreNotes*, runtime::HostFailure>;
  using Found = runtime::StoreNotes::Found;
  using Kept = runtime::StoreNotes::Done;
  /// What the host's thread has answered.
  struct Progress {
    std::mutex mutex;
    std::optional<Found> found;
    std::optional<Kept> kept;
    std::function<void()> notify;

    std::pair<std::optional<Found>, std::optional<Kept>> take_news() {
      const std::scoped_lock lock(mutex);
      return {std::exchange(found, std::nullopt), std::exchange(kept, std::nullopt)};
    }
    template <class Change>
    void set(const Change& change) {
      {
        const std::scoped_lock lock(mutex);
        change();
      }
      notify();
    }
  };

  void look_up(const Found& found) {
    if (!found) return end(make_answer(found.error()).head);
    if (*found) return repeat((*found)->result);
    auto edited = make_edited(request_, programs_);
    if (!edited) return end(std::move(edited.error()));
    edited_ = std::move(*edited);
    if (request_.is_dry_run) return end(make_json(edited_->answer));
    host_.use_notes([key = key_, answer = edited_->answer, progress = progress_](Notes notes) {
      const auto set = [progress](Kept kept) { progress->set([&] { progress->kept = std::move(kept); }); };
      if (!notes) return set(failure(notes.error()));
      (*notes)->keep_result(key, answer, set);
    });
  }

  void repeat(const std::string& answer) {
    const Json kept = parse_own_json(answer);
    const auto present = programs_.read(request_.file.path);
    const bool is_unwritten = present && graph::version_of(*present) == request_.version;
    if (!is_unwritten) return end(make_json(answer));
    end(write_edited(request_, {kept.text_or("text", ""), answer}, programs_));
  }

  void end(HttpResponse response) {
    is_done_ = true;
    status_ = response.status;
    out_ = std::move(response.body);
  }

  EditRequest request_;
  const ProgramFiles& programs_;
  runtime::Host& host_;
  runtime::RequestKey key_;
  std::shared_ptr<Progress> progress_ = std::make_shared<Progress>();
  std::optional<Edited> edited_;
  std::string out_;
  int status_ = 200;
  bool is_done_ = false;
};

}  // namespace

void Api::edit_program(const Call& call) {
  if (!has_usable_key(call.request, call.answer)) return;
  const ProgramFiles::File* const file = find_program_file(parts_.programs, call);
  if (file == nullptr) return;
  const auto body = read_body(call.request, call.answer, {"version", "ops", "dry_run"});
  if (!body) return;
  const bool is_complete = body->get("version").is_string() && body->contains("ops") &&
                           (!body->contains("dry_run") || body->get("dry_run").is_boolean());
  if (!is_complete) {
    return call.answer(
        whole(make_error(422, "wrong_input",
                         "expected an object with `version`, a string, `ops`, and optionally `dry_run`, a boolean")));
  }
  EditRequest request{*file, body->text_or("version", ""), body->get("ops").dump(), body->boolean_or("dry_run", false)};
  runtime::RequestKey key = key_of(call.request);
  if (!key.key.empty()) {
    HttpAnswer answer;
    answer.is_streamed = false;
    answer.body = std::make_unique<RepeatableEdit>(std::move(request), *parts_.programs, parts_.host, std::move(key));
    return call.answer(std::move(answer));
  }
  auto edited = make_edited(request, *parts_.programs);
  if (!edited) return call.answer(whole(std::move(edited.error())));
  if (request.is_dry_run) return call.answer(whole(make_json(edited->answer)));
  call.answer(whole(write_edited(request, *edited, *parts_.programs)));
}

}  // namespace tenon::server
