// What the host is asked for, by threads of this process and by other processes.
#include <fmt/format.h>

#include <algorithm>

#include "json/reader.h"
#include "runtime/host.h"
#include "runtime/inbox_command.h"

namespace tenon::runtime {

namespace {

/// Commands of other processes that are looked at together.
constexpr std::size_t commands_per_round = 64;
/// How often the inbox is read without a notice.
constexpr std::int64_t inbox_poll_ms = 1'000;

bool is_wrong_input(AnswerRefusal::Kind kind) {
  return kind == AnswerRefusal::Kind::WrongAnswer;
}
bool is_wrong_input(PromptRefusal::Kind kind) {
  return kind == PromptRefusal::Kind::WrongInput;
}

/// Gives what was said to `take`, which reads text types raw and the rest as JSON, in the readings that it may have,
/// until one is taken; otherwise the failure that says most. `wants_text`: a text type is asked for. `wrong`: makes a
/// failure.
template <class Take, class Wrong>
auto take_input(const Input& input, bool wants_text, const Take& take, const Wrong& wrong) {
  const Json& json = input.json;
  if (!json.is_string()) {
    // Its words are not repeated: a mistyped secret is nearly one.
    return wants_text ? wrong("a text is asked for, and this is no JSON string") : take(json.dump(JsonForm::Shortest));
  }
  const std::string& text = json.as_string();
  if (wants_text) return take(text);
  const bool is_typed = input.form == Input::Form::Typed;
  auto first = take(is_typed ? text : json.dump(JsonForm::Shortest));
  if (first || !is_wrong_input(first.error().kind)) return first;
  auto second = take(is_typed ? json.dump(JsonForm::Shortest) : text);
  if (second) return second;
  // A text that holds JSON was meant as that JSON, any other one as a text.
  const bool holds_json = parse_json(text).has_value();
  return holds_json == is_typed ? first : second;
}

/// What the request wants to be kept, in addition to its reply.
void keep_more(Runtime& runtime, RunId run, const RequestKey& key, const Accepted& accepted) {
  if (!key.notes) return;
  for (journal::Note& note : key.notes(accepted)) runtime.keep_note(run, std::move(note));
}

HostFailure conflict(std::string message) {
  return {HostFailure::Kind::Conflict, std::move(message)};
}

}  // namespace

void Host::start(RunStart start, RequestKey key, OnReply reply) {
  post(
      [this, start = std::move(start), key = std::move(key), reply] {
        if (!is_repeated(key, reply)) begin_run(start, key, {}, reply);
      },
      reply);
}

void Host::resume(journal::RunName run, std::string wait, std::optional<Json> input, RequestKey key, OnReply reply) {
  post(
      [this, run = std::move(run), wait = std::move(wait), input = std::move(input), key = std::move(key), reply] {
        if (!is_repeated(key, reply)) {
          give_answer(run, wait, input ? std::optional(Input{Input::Form::Json, *input}) : std::nullopt, key, reply);
        }
      },
      reply);
}

void Host::cancel(journal::RunName run, CancelScope scope, std::string reason, RequestKey key, OnReply reply) {
  post(
      [this, run = std::move(run), scope, reason = std::move(reason), key = std::move(key), reply] {
        if (!is_repeated(key, reply)) cancel_now(run, scope, reason, key, reply);
      },
      reply);
}

void Host::prompt(journal::RunName run, Json input, RequestKey key, OnReply reply) {
  post(
      [this, run = std::move(run), input = std::move(input), key = std::move(key), reply] {
        if (!is_repeated(key, reply)) prompt_now(run, input, key, reply);
      },
      reply);
}

void Host::say(std::string name, RunStart start, std::string text, SeveralQuestions several, RequestKey key,
               OnReply reply) {
  post(
      [this, name = std::move(name), start = std::move(start), text = std::move(text), several, key = std::move(key),
       reply] {
        if (is_repeated(key, reply)) return;
        if (name.empty()) return begin_run(start, key, {}, reply);
        const std::string known = "conversation/" + name;
        const auto note = parts_.reader->journals().find_note(known);
        if (!note) return reply(failure(make_failure(note.error())));
        if (*note) return say_now({(*note)->bytes}, text, several, key, reply);
        if (!under_way_.insert(known).second) return reply(failure(conflict("the conversation is just being begun")));
        // The run's name is not known yet: `begin_run` fills it in.
        begin_run(start, key, {{known, "", std::nullopt}}, [this, known, reply](HostReply outcome) {
          under_way_.erase(known);
          reply(std::move(outcome));
        });
      },
      reply);
}

void Host::say(journal::RunName run, std::string text, SeveralQuestions several, RequestKey key, OnReply reply) {
  post(
      [this, run = std::move(run), text = std::move(text), several, key = std::move(key), reply] {
        if (is_repeated(key, reply)) return;
        // `find_refusal` has not seen what is not durable.
        const auto found = resident_.find(run.text);
        if (key.find_refusal && found != resident_.end() && pending_.contains(found->second.index)) {
          return reply(failure(conflict("another request to the conversation is in progress")));
        }
        say_now(run, text, several, key, reply);
      },
      reply);
}

void Host::note_shown(journal::RunName run, std::string wait) {
  post(
      [this, run = std::move(run), wait = std::move(wait)] {
        const auto found = resident_.find(run.text);
        if (found != resident_.end()) hosted_[found->second.index].shown_wait = wait;
      },
      [](const HostReply&) {});
}

void Host::answer(std::string name, std::vector<GivenAnswer> answers, RequestKey key, OnReply reply) {
  auto list = std::make_shared<AnswerList>(AnswerList{{}, std::move(answers), std::move(key)});
  post(
      [this, name = std::move(name), list, reply] {
        if (is_broken_) return reply(failure(stopping()));
        if (is_repeated(list->key, reply)) return;
        const auto note = parts_.reader->journals().find_note("conversation/" + name);
        if (!note) return reply(failure(make_failure(note.error())));
        if (!*note) return reply(failure(conflict("there is no such conversation, and nothing in it waits")));
        list->run = {(*note)->bytes};
        answer_next(list, 0, reply);
      },
      reply);
}

/// The first answer carries the request's key: what comes again is known from then on.
void Host::answer_next(std::shared_ptr<AnswerList> list, std::size_t at, OnReply reply) {
  const GivenAnswer& given = list->answers[at];
  const auto on_taken = [this, list, at, reply](HostReply taken) {
    if (!taken) {
      if (at > 0) taken.error().message += fmt::format("; {} answered before it: taken", at);
      return reply(std::move(taken));
    }
    if (at == 0) list->after = taken->after;
    taken->after = list->after;
    const bool is_last = at + 1 == list->answers.size() || !list->answers[at].input;
    if (is_last) return reply(std::move(taken));
    post([this, list, at, reply] { answer_next(list, at + 1, reply); }, reply);
  };
  const RequestKey key = at == 0 ? list->key : RequestKey{};
  if (given.input) return give_answer(list->run, given.wait, Input{Input::Form::Json, *given.input}, key, on_taken);
  cancel_now(list->run, CancelScope::Turn, "its question was not answered", key, on_taken);
}

bool Host::is_repeated(const RequestKey& key, const OnReply& reply) {
  if (key.key.empty() && !key.find_refusal) return false;
  if (is_broken_) {
    reply(failure(stopping()));
    return true;
  }
  auto kept = key.key.empty() ? std::optional<StoreNotes::Kept>() : notes_->find(key);
  if (!kept || *kept) {
    reply(std::move(kept).map([](std::optional<StoreNotes::Kept> found) { return std::move(found->accepted); }));
    return true;
  }
  if (under_way_.contains(key.key)) {
    reply(failure(conflict("a request with the same key is in progress; send it again later")));
    return true;
  }
  auto refusal = key.find_refusal ? key.find_refusal(parts_.reader->journals()) : std::nullopt;
  if (refusal) reply(failure(std::move(*refusal)));
  return refusal.has_value();
}

void Host::use_notes(std::function<void(Result<StoreNotes*, HostFailure>)> use) {
  post(
      [this, use] {
        if (is_broken_) return use(failure(stopping()));
        use(notes_.get());
      },
      [use](const HostReply& refused) { use(failure(refused.error())); });
}

void Host::await(RunId run, Pending pending) {
  if (!pending.request_key.empty()) under_way_.insert(pending.request_key);
  pending_.emplace(run.index, std::move(pending));
  touch(run);
}

void Host::begin_run(RunStart start, const RequestKey& key, std::vector<journal::Note> notes, OnReply reply) {
  if (is_broken_) return reply(failure(stopping()));
  const journal::RunName name = journal::make_run_name(now_ms());
  RunId id;
  if (start.agent) {
    id = runtime_->start_conversation(std::move(start.image), *start.agent, std::move(start.options), name);
    if (start.input) {
      if (auto taken = prompt_run(id, *start.input); !taken) {
        runtime_->abandon(id);
        return reply(failure(std::move(taken.error())));
      }
    }
  } else {
    auto arguments = start.arguments();
    if (!arguments) return reply(failure(HostFailure{HostFailure::Kind::WrongInput, std::move(arguments.error())}));
    id = runtime_->start(std::move(start.image), start.function, std::move(*arguments), std::move(start.options), name);
  }
  if (hosted_.size() <= id.index) hosted_.resize(id.index + 1);
  hosted_[id.index] = Hosted{name, 0, false, {}, {}};
  resident_.emplace(name.text, id);
  if (parts_.model.follows_a_script()) script_followed_.insert(name.text);
  for (journal::Note& note : notes) {
    note.bytes = name.text;
    runtime_->keep_note(id, std::move(note));
  }
  Accepted accepted{name, "", 0};
  if (auto note = notes_->note_of(key, accepted)) runtime_->keep_note(id, std::move(*note));
  keep_more(*runtime_, id, key, accepted);
  ++counts_.runs_started;
  await(id, {Pending::Until::Started, std::move(accepted), key.key, std::move(reply)});
}

void Host::give_answer(const journal::RunName& run, std::string wait, const std::optional<Input>& input,
                       const RequestKey& key, OnReply reply) {
  if (is_broken_) return reply(failure(stopping()));
  const auto id = load(run);
  if (!id) return reply(failure(id.error()));
  if (!input) {
    if (runtime_->retries(*id).empty()) return reply(failure(conflict("the run waits for no model and no tool")));
    Accepted accepted{run, "", runtime_->last_record(*id)};
    if (auto note = notes_->note_of(key, accepted)) runtime_->keep_note(*id, std::move(*note));
    keep_more(*runtime_, *id, key, accepted);
    runtime_->retry_services(*id);
    return await(*id, {Pending::Until::Retried, std::move(accepted), key.key, std::move(reply)});
  }
  if (wait.empty()) {
    const std::vector<PendingInput> questions = runtime_->questions(*id);
    if (questions.size() != 1) {
      return reply(failure(conflict(questions.empty() ? "the run has no open question"
                                                      : "the run asks several things; say which wait is answered")));
    }
    wait = questions.front().wait;
  }
  Accepted accepted{run, wait, runtime_->last_record(*id)};
  const auto note = notes_->note_of(key, accepted);
  auto taken = take_input(
      *input, runtime_->takes_raw_answer(*id, wait),
      [&](const std::string& text) { return runtime_->answer(*id, wait, text, note); },
      [](std::string message) -> Result<void, AnswerRefusal> {
        return failure(AnswerRefusal{AnswerRefusal::Kind::WrongAnswer, std::move(message)});
      });
  if (!taken) {
    if (taken.error().kind == AnswerRefusal::Kind::NoKey) {
      return reply(failure(HostFailure{HostFailure::Kind::Unavailable, std::move(taken.error().message)}));
    }
    const bool is_wrong = taken.error().kind == AnswerRefusal::Kind::WrongAnswer;
    std::string message = std::move(taken.error().message);
    if (taken.error().kind == AnswerRefusal::Kind::NoSuchWait) {
      message += ": it was answered, its time is over, or it was never asked";
    }
    return reply(failure(
        HostFailure{is_wrong ? HostFailure::Kind::WrongInput : HostFailure::Kind::Conflict, std::move(message)}));
  }
  ++counts_.answers_taken;
  keep_more(*runtime_, *id, key, accepted);
  await(*id, {Pending::Until::Answered, std::move(accepted), key.key, std::move(reply)});
}

void Host::cancel_now(const journal::RunName& run, CancelScope scope, const std::string& reason, const RequestKey& key,
                      OnReply reply) {
  if (is_broken_) return reply(failure(stopping()));
  const auto id = load(run);
  if (id) {
    if (runtime_->end(*id)) return reply(failure(conflict("the run has ended")));
    const Conversation* const conversation = runtime_->conversation(*id);
    const bool ends_turn = conversation != nullptr && scope == CancelScope::Turn;
    if (ends_turn && !conversation->is_in_turn()) return reply(failure(conflict("no turn is in progress")));
    Accepted accepted{run, "", runtime_->last_record(*id)};
    if (auto note = notes_->note_of(key, accepted)) runtime_->keep_note(*id, std::move(*note));
    if (ends_turn) {
      runtime_->cancel_turn(*id, reason);
    } else {
      runtime_->cancel(*id, reason);
    }
    return await(*id, {Pending::Until::Ended, std::move(accepted), key.key, std::move(reply)});
  }
  if (id.error().kind != HostFailure::Kind::Damaged) return reply(failure(id.error()));
  // It cannot continue, but it can end.
  const auto cancelled = cancel_stored(runtime_->store(), run, reason, now_ms());
  if (!cancelled) return reply(failure(HostFailure{HostFailure::Kind::Unavailable, cancelled.error().message}));
  parts_.observer.on_changed(run);
  const Accepted accepted{run, "", 0};
  notes_->keep_reply(key, accepted);
  reply(accepted);
}

/// Before a turn begins.
Result<void, HostFailure> Host::upgrade_program(RunId run) {
  const Conversation* const conversation = runtime_->conversation(run);
  if (!parts_.newest || conversation == nullptr || conversation->is_in_turn()) return {};
  NewestImage newest = parts_.newest(conversation->declaration().name);
  if (newest.image == nullptr) return {};
  auto taken = runtime_->upgrade_program(run, std::move(newest.image), std::move(newest.libraries));
  if (taken) return {};
  return failure(conflict(std::move(taken.error().message)));
}

Result<void, HostFailure> Host::prompt_run(RunId run, const Json& input) {
  if (auto taken = upgrade_program(run); !taken) return taken;
  const Conversation* const conversation = runtime_->conversation(run);
  auto taken = take_input(
      {Input::Form::Json, input}, conversation != nullptr && conversation->takes_text(),
      [&](const std::string& text) { return runtime_->prompt(run, text); },
      [](std::string message) -> Result<void, PromptRefusal> {
        return failure(PromptRefusal{PromptRefusal::Kind::WrongInput, std::move(message)});
      });
  if (taken) return {};
  switch (taken.error().kind) {
    case PromptRefusal::Kind::NoConversation:
      return failure(conflict("a run of a function has one turn; start another run"));
    case PromptRefusal::Kind::InTurn:
      return failure(conflict(runtime_->questions(run).empty()
                                  ? "a turn is in progress"
                                  : "a turn is in progress and waits for an answer; resume it with one"));
    case PromptRefusal::Kind::OtherProgram:
      return failure(conflict(std::move(taken.error().message)));
    case PromptRefusal::Kind::WrongInput:
      return failure(HostFailure{HostFailure::Kind::WrongInput, std::move(taken.error().message)});
  }
  return {};
}

void Host::prompt_now(const journal::RunName& run, const Json& input, const RequestKey& key, OnReply reply) {
  if (is_broken_) return reply(failure(stopping()));
  const auto id = load(run);
  if (!id) return reply(failure(id.error()));
  Accepted accepted{run, "", runtime_->last_record(*id)};
  if (auto taken = prompt_run(*id, input); !taken) return reply(failure(std::move(taken.error())));
  if (auto note = notes_->note_of(key, accepted)) runtime_->keep_note(*id, std::move(*note));
  keep_more(*runtime_, *id, key, accepted);
  await(*id, {Pending::Until::Prompted, std::move(accepted), key.key, std::move(reply)});
}

void Host::say_now(const journal::RunName& run, const std::string& text, SeveralQuestions several,
                   const RequestKey& key, OnReply reply) {
  if (is_broken_) return reply(failure(stopping()));
  const auto id = load(run);
  const std::vector<PendingInput> questions = id ? runtime_->questions(*id) : std::vector<PendingInput>();
  if (questions.empty()) return prompt_now(run, Json(text), key, std::move(reply));
  std::string& shown = hosted_[id->index].shown_wait;
  const PendingInput& oldest = questions.front();
  if (!shown.empty() && std::ranges::find(questions, shown, &PendingInput::wait) == questions.end()) {
    shown = oldest.wait;
    return reply(failure(conflict("the question that was shown is not open any more; now it is: " + oldest.text)));
  }
  std::string wait = shown.empty() && several == SeveralQuestions::Oldest ? oldest.wait : shown;
  give_answer(run, std::move(wait), Input{Input::Form::Json, Json(text)}, key, std::move(reply));
}

void Host::take_inbox() {
  if (!has_inbox_notice_.exchange(false) && !has_inbox_rest_ && now_ms() < inbox_read_at_ + inbox_poll_ms) return;
  inbox_read_at_ = now_ms();
  const auto commands = parts_.reader->inbox().unanswered(commands_per_round + commands_under_way_.size());
  if (!commands) return parts_.observer.on_problem(commands.error().message);
  has_inbox_rest_ = commands->size() >= commands_per_round;
  for (const journal::Command& command : *commands) {
    if (commands_under_way_.insert(command.id).second) take_command(command);
  }
}

/// A command that was performed and not answered, for a crash, is known by its number when it comes again.
void Host::take_command(const journal::Command& command) {
  const auto reply = [this, id = command.id](HostReply outcome) {
    commands_under_way_.erase(id);
    InboxReply answer;
    if (!outcome) answer.error = std::move(outcome.error().message);
    static_cast<void>(runtime_->store());  // waits for the commit in progress
    const auto answered = parts_.store->inbox().answer(id, encode(answer));
    if (!answered) parts_.observer.on_problem(answered.error().message);
    ++counts_.commands_taken;
  };
  const auto wanted = open_command(command.bytes, parts_.secrets);
  if (!wanted) return reply(failure(HostFailure{HostFailure::Kind::WrongInput, wanted.error()}));
  const RequestKey key{fmt::format("inbox/{}", command.id), sha256(command.bytes)};
  if (is_repeated(key, reply)) return;
  switch (wanted->verb) {
    case InboxCommand::Verb::Resume:
      return give_answer(command.run, wanted->wait, Input{Input::Form::Typed, Json(wanted->input)}, key, reply);
    case InboxCommand::Verb::Retry:
      return give_answer(command.run, "", std::nullopt, key, reply);
    case InboxCommand::Verb::Cancel:
      return cancel_now(command.run, CancelScope::Run, wanted->reason.empty() ? "it was cancelled" : wanted->reason,
                        key, reply);
  }
}

}  // namespace tenon::runtime
