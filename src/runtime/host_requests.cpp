// What the host is asked for, by threads of this process and by other processes.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "json/reader.h"
#include "runtime/host.h"
#include "runtime/inbox_command.h"

namespace tenon::runtime {

namespace {

bool is_wrong_input(AnswerRefusal::Kind kind) {
  return kind == AnswerRefusal::Kind::WrongAnswer;
}
bool is_wrong_input(PromptRefusal::Kind kind) {
  return kind == PromptRefusal::Kind::WrongInput;
}

/// Gives the input to `take`, which reads text types raw and the rest as JSON, in the readings that it may have, until
/// one is taken; otherwise returns the failure that says most. `wants_text`: a text type is asked for. `wrong`: makes a
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

void Host::admit(Request request) {
  if (is_broken_ || is_ending_) return request.reply(failure(RequestQueue::stopping()));
  const RequestKey& key = request.key;
  if (key.key.empty() && !key.find_refusal && request.conversation.empty()) {
    return request.perform(std::nullopt, request.reply);
  }
  if (!key.key.empty()) {
    if (!in_progress_.insert(key.key).second) {
      return request.reply(failure(conflict("a request with the same key is in progress; send it again later")));
    }
    request.reply = [this, name = key.key, reply = std::move(request.reply)](HostReply outcome) {
      in_progress_.erase(name);
      reply(std::move(outcome));
    };
  }
  look_up(std::make_shared<Request>(std::move(request)));
}

/// Finds out whether the request is repeated or refused, and what run its conversation is.
void Host::look_up(std::shared_ptr<Request> request) {
  struct Answers {
    StoreNotes::Found kept = std::optional<StoreNotes::Kept>();
    std::optional<HostFailure> refusal;
    std::uint64_t records = 0;  ///< of the run, before the refusal was looked for
    Result<std::optional<journal::Note>, journal::StoreError> conversation = std::optional<journal::Note>();
  };
  const auto answers = std::make_shared<Answers>();
  std::optional<StoreNotes::Query> query;
  if (!request->key.key.empty()) query = notes_->query_of(request->key);
  ++lookups_;
  parts_.store.read(
      [answers, query = std::move(query), request](journal::StoreConnection& reader) {
        journal::Store& store = reader.journals();
        if (query) answers->kept = StoreNotes::find(*query, store);
        if (!answers->kept || *answers->kept) return;
        if (request->key.find_refusal) {
          if (const auto head = store.head(request->run)) answers->records = head->records;
          answers->refusal = request->key.find_refusal(store);
        }
        if (!request->conversation.empty()) answers->conversation = store.find_note(request->conversation);
      },
      [this, answers, request] {
        const auto begun = begun_.find(request->conversation);
        std::optional<journal::RunName> known;
        if (begun != begun_.end()) known = begun->second;
        if (--lookups_ == 0) begun_.clear();
        const OnReply& reply = request->reply;
        if (is_broken_ || is_ending_) return reply(failure(RequestQueue::stopping()));
        if (!answers->kept) return reply(failure(std::move(answers->kept.error())));
        if (*answers->kept) return reply(std::move((*answers->kept)->accepted));
        if (request->key.find_refusal) return check_refusal(request, answers->records, answers->refusal);
        if (!answers->conversation) return reply(failure(make_failure(answers->conversation.error())));
        if (*answers->conversation) known = journal::RunName{(*answers->conversation)->bytes};
        request->perform(known, reply);
      });
}

/// Performs the request unless it is refused. What was looked at, up to record `records`, must still be all of the run.
void Host::check_refusal(std::shared_ptr<Request> request, std::uint64_t records,
                         const std::optional<HostFailure>& refusal) {
  constexpr std::uint32_t lookups_max = 8;
  loader_->load(request->run, [this, request, records, refusal](const Result<RunId, HostFailure>& loaded) {
    const OnReply& reply = request->reply;
    if (!loaded) return reply(failure(refusal ? *refusal : loaded.error()));
    if (is_broken_) return reply(failure(RequestQueue::stopping()));
    const bool has_changed = runtime_->last_record(*loaded) != records;
    if (pending_.contains(*loaded) || (has_changed && ++request->lookups == lookups_max)) {
      return reply(failure(conflict("another request to the conversation is in progress")));
    }
    if (has_changed) return look_up(request);
    if (refusal) return reply(failure(*refusal));
    request->perform(std::nullopt, reply);
  });
}

void Host::with_run(const journal::RunName& run, const OnReply& reply, std::function<void(RunId run)> use) {
  loader_->load(run, [this, reply, use = std::move(use)](const Result<RunId, HostFailure>& loaded) {
    if (!loaded) return reply(failure(loaded.error()));
    if (is_broken_) return reply(failure(RequestQueue::stopping()));
    use(*loaded);
  });
}

void Host::start(RunStart start, RequestKey key, OnReply reply) {
  const auto perform = [this, start = std::move(start), key](const auto&, const OnReply& answer) {
    begin_run(start, key, {}, answer);
  };
  post([this, request = Request{.key = std::move(key), .reply = reply, .perform = perform}] { admit(request); }, reply);
}

void Host::resume(journal::RunName run, std::string wait, std::optional<Json> input, RequestKey key, OnReply reply) {
  const auto perform = [this, run = std::move(run), wait = std::move(wait), input = std::move(input), key](
                           const auto&, const OnReply& answer) {
    with_run(run, answer, [this, wait, input, key, answer](RunId id) {
      if (!input) return retry_services(id, key, answer);
      give_answer(id, wait, {Input::Form::Json, *input}, key, answer);
    });
  };
  post([this, request = Request{.key = std::move(key), .reply = reply, .perform = perform}] { admit(request); }, reply);
}

void Host::cancel(journal::RunName run, CancelScope scope, std::string reason, RequestKey key, OnReply reply) {
  const auto perform = [this, run = std::move(run), scope, reason = std::move(reason), key](
                           const auto&, const OnReply& answer) { cancel_run(run, scope, reason, key, answer); };
  post([this, request = Request{.key = std::move(key), .reply = reply, .perform = perform}] { admit(request); }, reply);
}

void Host::prompt(journal::RunName run, Json input, RequestKey key, OnReply reply) {
  const auto perform = [this, run = std::move(run), input = std::move(input), key](const auto&, const OnReply& answer) {
    with_run(run, answer, [this, input, key, answer](RunId id) { prompt_run(id, input, key, answer); });
  };
  post([this, request = Request{.key = std::move(key), .reply = reply, .perform = perform}] { admit(request); }, reply);
}

void Host::say(std::string name, RunStart start, std::string text, SeveralQuestions several, RequestKey key,
               OnReply reply) {
  const std::string note = name.empty() ? "" : "conversation/" + name;
  const auto perform = [this, note, start = std::move(start), text = std::move(text), several, key](
                           const std::optional<journal::RunName>& known, const OnReply& answer) {
    if (!known) return begin_conversation(note, start, key, answer);
    with_run(*known, answer, [this, text, several, key, answer](RunId id) { say_in(id, text, several, key, answer); });
  };
  post(
      [this, request = Request{.key = std::move(key), .reply = reply, .conversation = note, .perform = perform}] {
        admit(request);
      },
      reply);
}

void Host::say(journal::RunName run, std::string text, SeveralQuestions several, RequestKey key, OnReply reply) {
  const auto perform = [this, run, text = std::move(text), several, key](const auto&, const OnReply& answer) {
    with_run(run, answer, [this, text, several, key, answer](RunId id) { say_in(id, text, several, key, answer); });
  };
  post(
      [this, request = Request{.key = std::move(key), .reply = reply, .run = std::move(run), .perform = perform}] {
        admit(request);
      },
      reply);
}

void Host::note_shown(journal::RunName run, std::string wait) {
  post(
      [this, run = std::move(run), wait = std::move(wait)] {
        if (const auto found = residents_->find(run)) (*residents_)[*found].shown_wait = wait;
      },
      [](const HostReply&) {});
}

void Host::answer(std::string name, std::vector<GivenAnswer> answers, RequestKey key, OnReply reply) {
  auto list = std::make_shared<AnswerList>(AnswerList{{}, std::move(answers), key});
  const auto perform = [this, list](const std::optional<journal::RunName>& known, const OnReply& answer) {
    if (!known) return answer(failure(conflict("there is no such conversation, and nothing in it waits")));
    list->run = *known;
    answer_next(list, 0, answer);
  };
  post([this, request = Request{.key = std::move(key),
                                .reply = reply,
                                .conversation = "conversation/" + name,
                                .perform = perform}] { admit(request); },
       reply);
}

/// The first answer carries the request's key: a repetition is recognized from then on.
void Host::answer_next(std::shared_ptr<AnswerList> list, std::size_t at, const OnReply& reply) {
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
  const GivenAnswer& given = list->answers[at];
  const RequestKey key = at == 0 ? list->key : RequestKey{};
  if (!given.input) return cancel_run(list->run, CancelScope::Turn, "its question was not answered", key, on_taken);
  with_run(list->run, on_taken, [this, list, at, key, on_taken](RunId id) {
    const GivenAnswer& answer = list->answers[at];
    give_answer(id, answer.wait, {Input::Form::Json, *answer.input}, key, on_taken);
  });
}

void Host::use_notes(std::function<void(Result<StoreNotes*, HostFailure>)> use) {
  post(
      [this, use] {
        if (is_broken_ || is_ending_) return use(failure(RequestQueue::stopping()));
        use(notes_.get());
      },
      [use](const HostReply& refused) { use(failure(refused.error())); });
}

void Host::begin_run(RunStart start, const RequestKey& key, std::vector<journal::Note> notes, const OnReply& reply) {
  const journal::RunName name = journal::make_run_name(now_ms());
  RunId id;
  if (start.agent) {
    id = runtime_->start_conversation(std::move(start.image), *start.agent, std::move(start.options), name);
    if (start.input) {
      if (auto taken = begin_turn(id, *start.input); !taken) {
        runtime_->abandon(id);
        return reply(failure(std::move(taken.error())));
      }
    }
  } else {
    auto arguments = start.arguments();
    if (!arguments) return reply(failure(HostFailure{HostFailure::Kind::WrongInput, std::move(arguments.error())}));
    id = runtime_->start(std::move(start.image), start.function, std::move(*arguments), std::move(start.options), name);
  }
  residents_->add(id, name);
  loader_->note_started(name);
  for (journal::Note& note : notes) {
    note.bytes = name.text;
    runtime_->keep_note(id, std::move(note));
  }
  Accepted accepted{name, "", 0};
  keep_notes(id, key, accepted);
  ++counts_.runs_started;
  await(id, {PendingReply::Until::Started, std::move(accepted), reply});
}

/// `note`: names the conversation for its client; empty: nothing does.
void Host::begin_conversation(const std::string& note, RunStart start, const RequestKey& key, const OnReply& reply) {
  if (note.empty()) return begin_run(std::move(start), key, {}, reply);
  if (!in_progress_.insert(note).second) return reply(failure(conflict("the conversation is just being begun")));
  // The run's name is not known yet: `begin_run` fills it in.
  begin_run(std::move(start), key, {{note, "", std::nullopt}}, [this, note, reply](HostReply outcome) {
    in_progress_.erase(note);
    if (outcome && lookups_ > 0) begun_.insert_or_assign(note, outcome->run);
    reply(std::move(outcome));
  });
}

/// With the run's next commit: by what a repetition is recognized, and what the request wants to be kept.
void Host::keep_notes(RunId run, const RequestKey& key, const Accepted& accepted) {
  if (auto note = notes_->note_of(key, accepted)) runtime_->keep_note(run, std::move(*note));
  keep_more(*runtime_, run, key, accepted);
}

void Host::retry_services(RunId run, const RequestKey& key, const OnReply& reply) {
  if (runtime_->retries(run).empty()) return reply(failure(conflict("the run waits for no model and no tool")));
  Accepted accepted{(*residents_)[run].name, "", runtime_->last_record(run)};
  keep_notes(run, key, accepted);
  runtime_->retry_services(run);
  await(run, {PendingReply::Until::Retried, std::move(accepted), reply});
}

void Host::give_answer(RunId run, std::string wait, const Input& input, const RequestKey& key, const OnReply& reply) {
  if (wait.empty()) {
    const std::vector<PendingInput> questions = runtime_->questions(run);
    if (questions.size() != 1) {
      return reply(failure(conflict(questions.empty() ? "the run has no open question"
                                                      : "the run asks several things; say which wait is answered")));
    }
    wait = questions.front().wait;
  }
  Accepted accepted{(*residents_)[run].name, wait, runtime_->last_record(run)};
  const auto note = notes_->note_of(key, accepted);
  auto taken = take_input(
      input, runtime_->takes_raw_answer(run, wait),
      [&](const std::string& text) { return runtime_->answer(run, wait, text, note); },
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
  keep_more(*runtime_, run, key, accepted);
  await(run, {PendingReply::Until::Answered, std::move(accepted), reply});
}

void Host::cancel_run(const journal::RunName& run, CancelScope scope, const std::string& reason, const RequestKey& key,
                      const OnReply& reply) {
  loader_->load(run, [this, run, scope, reason, key, reply](const Result<RunId, HostFailure>& loaded) {
    if (is_broken_) return reply(failure(RequestQueue::stopping()));
    if (loaded) return cancel_resident(*loaded, scope, reason, key, reply);
    if (loaded.error().kind != HostFailure::Kind::Damaged) return reply(failure(loaded.error()));
    cancel_damaged(run, reason, key, reply);
  });
}

void Host::cancel_resident(RunId run, CancelScope scope, const std::string& reason, const RequestKey& key,
                           const OnReply& reply) {
  if (runtime_->end(run)) return reply(failure(conflict("the run has ended")));
  const Conversation* const conversation = runtime_->conversation(run);
  const bool ends_turn = conversation != nullptr && scope == CancelScope::Turn;
  if (ends_turn && !conversation->is_in_turn()) return reply(failure(conflict("no turn is in progress")));
  Accepted accepted{(*residents_)[run].name, "", runtime_->last_record(run)};
  if (auto note = notes_->note_of(key, accepted)) runtime_->keep_note(run, std::move(*note));
  ends_turn ? runtime_->cancel_turn(run, reason) : runtime_->cancel(run, reason);
  await(run, {PendingReply::Until::Ended, std::move(accepted), reply});
}

/// It cannot continue, but it can end.
void Host::cancel_damaged(const journal::RunName& run, const std::string& reason, const RequestKey& key,
                          const OnReply& reply) {
  const auto cancelled = std::make_shared<Result<void, RecoveryError>>();
  parts_.store.write(
      [cancelled, run, reason, now = now_ms()](journal::StoreConnection& store) {
        *cancelled = cancel_stored(store.journals(), run, reason, now);
      },
      [this, cancelled, run, key, reply] {
        if (!*cancelled) {
          return reply(failure(HostFailure{HostFailure::Kind::Unavailable, std::move(cancelled->error().message)}));
        }
        parts_.observer.on_changed(run);
        const Accepted accepted{run, "", 0};
        notes_->keep_reply(key, accepted, [reply, accepted] { reply(accepted); });
      });
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

Result<void, HostFailure> Host::begin_turn(RunId run, const Json& input) {
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

void Host::prompt_run(RunId run, const Json& input, const RequestKey& key, const OnReply& reply) {
  Accepted accepted{(*residents_)[run].name, "", runtime_->last_record(run)};
  if (auto taken = begin_turn(run, input); !taken) return reply(failure(std::move(taken.error())));
  keep_notes(run, key, accepted);
  await(run, {PendingReply::Until::Prompted, std::move(accepted), reply});
}

void Host::say_in(RunId run, const std::string& text, SeveralQuestions several, const RequestKey& key,
                  const OnReply& reply) {
  const std::vector<PendingInput> questions = runtime_->questions(run);
  if (questions.empty()) return prompt_run(run, Json::string(text), key, reply);
  std::string& shown = (*residents_)[run].shown_wait;
  const PendingInput& oldest = questions.front();
  if (!shown.empty() && std::ranges::find(questions, shown, &PendingInput::wait) == questions.end()) {
    shown = oldest.wait;
    return reply(failure(conflict("the question that was shown is not open any more; now it is: " + oldest.text)));
  }
  std::string wait = shown.empty() && several == SeveralQuestions::Oldest ? oldest.wait : shown;
  give_answer(run, std::move(wait), {Input::Form::Json, Json::string(text)}, key, reply);
}

/// A command that was performed, but not answered because of a crash, is recognized by its number when it comes again.
void Host::take_command(const journal::Command& command) {
  const auto answer = [this, id = command.id](HostReply outcome) {
    InboxReply reply;
    if (!outcome) reply.error = std::move(outcome.error().message);
    inbox_->answer(id, encode(reply));
  };
  auto wanted = open_command(command.bytes, parts_.secrets);
  if (!wanted) return answer(failure(HostFailure{HostFailure::Kind::WrongInput, wanted.error()}));
  RequestKey key{fmt::format("inbox/{}", command.id), sha256(command.bytes)};
  const auto perform = [this, run = command.run, key, wanted = std::move(*wanted)](const auto&, const OnReply& reply) {
    if (wanted.verb == InboxCommand::Verb::Cancel) {
      return cancel_run(run, CancelScope::Run, wanted.reason.empty() ? "it was cancelled" : wanted.reason, key, reply);
    }
    with_run(run, reply, [this, key, wanted, reply](RunId id) {
      if (wanted.verb == InboxCommand::Verb::Retry) return retry_services(id, key, reply);
      give_answer(id, wanted.wait, {Input::Form::Typed, Json::string(wanted.input)}, key, reply);
    });
  };
  admit({.key = std::move(key), .reply = answer, .perform = perform});
}

}  // namespace tenon::runtime
