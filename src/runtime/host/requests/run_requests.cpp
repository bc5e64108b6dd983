#include "runtime/host/requests/run_requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/ensure.h"
#include "json/reader.h"
#include "runtime/arguments.h"
#include "runtime/host/requests/request_queue.h"
#include "runtime/recovery/asked_questions.h"
#include "runtime/recovery/recovery.h"

namespace tenon::runtime {

namespace {

bool is_wrong_input(AnswerRefusal::Kind kind) {
  return kind == AnswerRefusal::Kind::WrongAnswer;
}
bool is_wrong_input(PromptRefusal::Kind kind) {
  return kind == PromptRefusal::Kind::WrongInput;
}

/// Passes the input to `take`, which reads text types raw and other types as JSON, in each of its possible readings
/// until one is accepted; otherwise returns the most specific failure. `wants_text`: a text type is expected. `wrong`:
/// makes a failure.
template <class Take, class Wrong>
auto take_input(const Input& input, bool wants_text, const Take& take, const Wrong& wrong) {
  const Json& json = input.json;
  if (!json.is_string()) {
    // The input is not shown: it may be a mistyped secret.
    return wants_text ? wrong("expected a JSON string") : take(json.dump(JsonForm::Shortest));
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

}  // namespace

void RunRequests::perform(const journal::RunName& run, RunAction action, const RequestKey& key, const OnReply& reply) {
  if (const auto* const cancel = std::get_if<CancelRun>(&action)) return cancel_run(run, *cancel, key, reply);
  if (auto* const several = std::get_if<AnswerQuestions>(&action)) {
    return answer_next(std::make_shared<AnswerList>(AnswerList{run, std::move(several->answers), key}), 0, reply);
  }
  with_run(run, reply, [this, action = std::move(action), key, reply](RunId id) {
    if (const auto* const answer = std::get_if<AnswerQuestion>(&action)) {
      give_answer(id, answer->wait, answer->input, key, reply);
    } else if (const auto* const prompt = std::get_if<PromptAgent>(&action)) {
      prompt_run(id, prompt->input, key, reply);
    } else if (const auto* const say = std::get_if<SayInConversation>(&action)) {
      say_in(id, *say, key, reply);
    } else {
      ENSURE(std::holds_alternative<RetryServices>(action));
      retry_services(id, key, reply);
    }
  });
}

void RunRequests::perform_if(const journal::RunName& run, std::uint64_t records, RunAction action,
                             const RequestKey& key, const OnReply& reply) {
  with_run(run, reply, [this, run, records, action = std::move(action), key, reply](RunId id) {
    if (parts_.runtime.last_record(id) != records || parts_.pending.contains(id)) {
      return reply(failure(HostFailure{HostFailure::Kind::Raced, "another request to the run is in progress"}));
    }
    perform(run, action, key, reply);
  });
}

/// The first answer carries the request's key: a repetition is recognized from then on.
void RunRequests::answer_next(std::shared_ptr<AnswerList> list, std::size_t at, const OnReply& reply) {
  const auto on_taken = [this, list, at, reply](HostReply taken) {
    if (!taken) {
      if (at > 0) {
        taken.error().message += fmt::format("; answers accepted before it: {}", at);
        if (taken.error().kind == HostFailure::Kind::Elsewhere) taken.error().kind = HostFailure::Kind::Conflict;
      }
      return reply(std::move(taken));
    }
    if (at == 0) list->after = taken->after;
    taken->after = list->after;
    const bool is_last = at + 1 == list->answers.size() || !list->answers[at].input;
    if (is_last) return reply(std::move(taken));
    parts_.later([this, list, at, reply] { answer_next(list, at + 1, reply); });
  };
  const GivenAnswer& given = list->answers[at];
  const RequestKey key = at == 0 ? list->key : RequestKey{};
  if (!given.input) {
    return cancel_run(list->run, {CancelScope::Turn, "its question was not answered"}, key, on_taken);
  }
  with_run(list->run, on_taken, [this, list, at, key, on_taken](RunId id) {
    const GivenAnswer& answer = list->answers[at];
    give_answer(id, answer.wait, {Input::Form::Json, *answer.input}, key, on_taken);
  });
}

void RunRequests::with_run(const journal::RunName& run, const OnReply& reply, UseRun use) {
  parts_.loader.load(run, [this, reply, use = std::move(use)](const Result<RunId, HostFailure>& loaded) {
    if (!loaded) return reply(failure(loaded.error()));
    if (parts_.is_stopped()) return reply(failure(RequestQueue::stopping()));
    use(*loaded);
  });
}

void RunRequests::begin_run(const journal::RunName& name, RunStart start, const RequestKey& key,
                            std::vector<journal::Note> notes, const OnReply& reply) {
  RunId id;
  if (start.agent) {
    id = parts_.runtime.start_conversation(std::move(start.image), *start.agent, std::move(start.options), name);
    if (refuse_detached(id, reply)) return;
    if (start.input) {
      if (auto taken = begin_turn(id, *start.input); !taken) {
        parts_.runtime.abandon(id);
        return reply(failure(std::move(taken.error())));
      }
    }
  } else {
    const bytecode::Function& function = start.image->program().functions[start.function];
    const std::string& shown_name = start.shown_name.empty() ? function.name : start.shown_name;
    auto arguments = read_json_arguments(*start.image, function, shown_name, start.arguments);
    if (!arguments) return reply(failure(HostFailure{HostFailure::Kind::WrongInput, std::move(arguments.error())}));
    id = parts_.runtime.start(std::move(start.image), start.function, std::move(*arguments), std::move(start.options),
                              name);
    if (refuse_detached(id, reply)) return;
  }
  parts_.residents.add(id, name);
  parts_.loader.note_started(name);
  for (journal::Note& note : notes) note.bytes = name.text;
  parts_.runtime.keep_notes(id, std::move(notes));
  Accepted accepted{name, "", 0};
  parts_.runtime.keep_notes(id, notes_of(key, accepted));
  ++parts_.counts.runs_started;
  await(id, {PendingReply::Until::Started, std::move(accepted), reply});
}

void RunRequests::add_run(const journal::RunName& name, const MakeRun& make, const RequestKey& key,
                          const OnReply& reply) {
  const auto made = std::make_shared<Result<journal::Append, HostFailure>>();
  parts_.store.read([made, make, name](journal::StoreConnection& store) { *made = make(store.journals(), name); },
                    [this, made, name, key, reply] {
                      if (parts_.is_stopped()) return reply(failure(RequestQueue::stopping()));
                      if (!*made) return reply(failure(std::move(made->error())));
                      const Accepted accepted{name, "", 0};
                      for (journal::Note& note : notes_of(key, accepted)) (*made)->notes.push_back(std::move(note));
                      store_run(std::make_shared<const journal::Append>(std::move(**made)), accepted, reply);
                    });
}

void RunRequests::store_run(std::shared_ptr<const journal::Append> append, const Accepted& accepted,
                            const OnReply& reply) {
  const auto stored = std::make_shared<Result<journal::AppendOutcomes, journal::StoreError>>();
  parts_.store.write(
      [stored, append](journal::StoreConnection& store) {
        *stored = store.journals().commit({append.get(), 1});
      },
      [this, stored, append, accepted, reply] {
        if (!*stored) return reply(failure(make_failure(stored->error())));
        if (const auto& refusal = (*stored)->front()) {
          const bool is_known = *refusal == journal::AppendRefusal::NoteExists;
          return reply(failure(HostFailure{is_known ? HostFailure::Kind::Raced : HostFailure::Kind::Unavailable,
                                           "the store does not take the new run"}));
        }
        ++parts_.counts.runs_started;
        parts_.loader.note_started(accepted.run);
        parts_.on_changed(accepted.run);
        reply(accepted);
        if (append->summary.state == journal::RunState::Running && !append->moves_to) {
          parts_.loader.load(accepted.run, [](const auto&) {});
        }
      });
}

/// A run without a store, because there is no key for its secrets, is removed.
bool RunRequests::refuse_detached(RunId run, const OnReply& reply) {
  const auto& end = parts_.runtime.end(run);
  const auto* const detached = end ? std::get_if<RunDetached>(&*end) : nullptr;
  if (detached == nullptr) return false;
  HostFailure why{HostFailure::Kind::Unavailable, detached->message};
  parts_.runtime.abandon(run);
  reply(failure(std::move(why)));
  return true;
}

/// To be kept together with what the request leads to: by what a repetition is recognized, and what the request wants.
std::vector<journal::Note> RunRequests::notes_of(const RequestKey& key, const Accepted& accepted) const {
  std::vector<journal::Note> notes;
  for (const auto& [prefix, bytes] : key.notes) notes.push_back({prefix + accepted.place(), bytes, std::nullopt});
  if (auto note = parts_.notes.note_of(key, accepted)) notes.push_back(std::move(*note));
  return notes;
}

void RunRequests::retry_services(RunId run, const RequestKey& key, const OnReply& reply) {
  if (parts_.runtime.retries(run).empty())
    return reply(failure(make_conflict("the run is not waiting for a model or a tool")));
  Accepted accepted{parts_.residents[run].name, "", parts_.runtime.last_record(run)};
  parts_.runtime.retry_services(run);
  parts_.runtime.keep_notes(run, notes_of(key, accepted));
  await(run, {PendingReply::Until::Retried, std::move(accepted), reply});
}

/// Its sender may have seen another question than the one that is open now.
void RunRequests::answer_only_question(RunId run, const Input& input, const RequestKey& key, const OnReply& reply) {
  const std::vector<PendingInput> questions = parts_.runtime.questions(run);
  if (questions.size() != 1) {
    return reply(failure(make_conflict(questions.empty() ? "the run has no open question"
                                                         : "the run has several open questions: specify `wait`")));
  }
  const auto answer_if = [this, wait = questions.front().wait, input, key, reply](RunId id, bool has_others) {
    if (!has_others) return give_answer(id, wait, input, key, reply);
    reply(failure(
        make_conflict("the run has asked other questions before, and this answer may be meant for one of them: specify "
                      "`wait`, which names the open one")));
  };
  if (const auto known = parts_.runtime.knows_asked_several(run)) return answer_if(run, *known);
  const journal::RunName name = parts_.residents[run].name;
  const auto has_others = std::make_shared<Result<bool, journal::StoreError>>();
  parts_.store.read(
      [has_others, name](journal::StoreConnection& store) { *has_others = has_asked_several(store.journals(), name); },
      [this, has_others, name, answer_if, reply] {
        if (!*has_others) return reply(failure(make_failure(has_others->error())));
        with_run(name, reply, [answer_if, others = **has_others](RunId id) { answer_if(id, others); });
      });
}

void RunRequests::give_answer(RunId run, const std::string& wait, const Input& input, const RequestKey& key,
                              const OnReply& reply) {
  if (wait.empty()) return answer_only_question(run, input, key, reply);
  Accepted accepted{parts_.residents[run].name, wait, parts_.runtime.last_record(run)};
  const std::vector<journal::Note> notes = notes_of(key, accepted);
  auto taken = take_input(
      input, parts_.runtime.takes_raw_answer(run, wait),
      [&](const std::string& text) { return parts_.runtime.answer(run, wait, text, notes); },
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
      message += ": it was answered, its deadline has passed, or it was never asked";
    }
    return reply(failure(
        HostFailure{is_wrong ? HostFailure::Kind::WrongInput : HostFailure::Kind::Conflict, std::move(message)}));
  }
  ++parts_.counts.answers_taken;
  await(run, {PendingReply::Until::Answered, std::move(accepted), reply});
}

void RunRequests::cancel_run(const journal::RunName& run, const CancelRun& cancel, const RequestKey& key,
                             const OnReply& reply) {
  parts_.loader.load(run, [this, run, cancel, key, reply](const Result<RunId, HostFailure>& loaded) {
    if (parts_.is_stopped()) return reply(failure(RequestQueue::stopping()));
    if (loaded) return cancel_resident(*loaded, cancel.scope, cancel.reason, key, reply);
    if (loaded.error().kind != HostFailure::Kind::Damaged) return reply(failure(loaded.error()));
    cancel_unloaded(run, cancel.reason, key, reply);
  });
}

void RunRequests::cancel_resident(RunId run, CancelScope scope, const std::string& reason, const RequestKey& key,
                                  const OnReply& reply) {
  if (parts_.runtime.end(run)) return reply(failure(make_conflict("the run has ended")));
  const Conversation* const conversation = parts_.runtime.conversation(run);
  const bool ends_turn = conversation != nullptr && scope == CancelScope::Turn;
  if (ends_turn && !conversation->is_in_turn()) return reply(failure(make_conflict("no turn is in progress")));
  Accepted accepted{parts_.residents[run].name, "", parts_.runtime.last_record(run)};
  std::vector<journal::Note> notes = notes_of(key, accepted);
  ends_turn ? parts_.runtime.cancel_turn(run, reason, std::move(notes))
            : parts_.runtime.cancel(run, reason, std::move(notes));
  await(run, {PendingReply::Until::Ended, std::move(accepted), reply});
}

/// It cannot continue, but it can end.
void RunRequests::cancel_unloaded(const journal::RunName& run, const std::string& reason, const RequestKey& key,
                                  const OnReply& reply) {
  const auto cancelled = std::make_shared<Result<void, RecoveryError>>();
  parts_.store.write(
      [cancelled, run, reason, now = parts_.now_ms()](journal::StoreConnection& store) {
        *cancelled = cancel_stored(store.journals(), run, reason, now);
      },
      [this, cancelled, run, key, reply] {
        if (!*cancelled) {
          return reply(failure(HostFailure{HostFailure::Kind::Unavailable, std::move(cancelled->error().message)}));
        }
        parts_.on_changed(run);
        const Accepted accepted{run, "", 0};
        parts_.notes.keep_reply(key, accepted, [reply, accepted] { reply(accepted); });
      });
}

/// Before a turn begins.
Result<void, HostFailure> RunRequests::upgrade_program(RunId run) {
  const Conversation* const conversation = parts_.runtime.conversation(run);
  if (!parts_.newest || conversation == nullptr || conversation->is_in_turn()) return {};
  NewestImage newest = parts_.newest(conversation->declaration().name);
  if (newest.image == nullptr) return {};
  auto taken = parts_.runtime.upgrade_program(run, std::move(newest.image), std::move(newest.libraries));
  if (taken) return {};
  return failure(make_conflict(std::move(taken.error().message)));
}

Result<void, HostFailure> RunRequests::begin_turn(RunId run, const Json& input) {
  if (auto taken = upgrade_program(run); !taken) return taken;
  const Conversation* const conversation = parts_.runtime.conversation(run);
  auto taken = take_input(
      {Input::Form::Json, input}, conversation != nullptr && conversation->takes_text(),
      [&](const std::string& text) { return parts_.runtime.prompt(run, text); },
      [](std::string message) -> Result<void, PromptRefusal> {
        return failure(PromptRefusal{PromptRefusal::Kind::WrongInput, std::move(message)});
      });
  if (taken) return {};
  switch (taken.error().kind) {
    case PromptRefusal::Kind::NoConversation:
      return failure(make_conflict("a run of a function has one turn; start another run"));
    case PromptRefusal::Kind::InTurn:
      return failure(make_conflict(parts_.runtime.questions(run).empty()
                                       ? "a turn is in progress"
                                       : "a turn is in progress and waits for an answer; resume it with one"));
    case PromptRefusal::Kind::OtherProgram:
      return failure(make_conflict(std::move(taken.error().message)));
    case PromptRefusal::Kind::WrongInput:
      return failure(HostFailure{HostFailure::Kind::WrongInput, std::move(taken.error().message)});
  }
  return {};
}

void RunRequests::prompt_run(RunId run, const Json& input, const RequestKey& key, const OnReply& reply) {
  Accepted accepted{parts_.residents[run].name, "", parts_.runtime.last_record(run)};
  if (auto taken = begin_turn(run, input); !taken) return reply(failure(std::move(taken.error())));
  parts_.runtime.keep_notes(run, notes_of(key, accepted));
  await(run, {PendingReply::Until::Prompted, std::move(accepted), reply});
}

void RunRequests::say_in(RunId run, const SayInConversation& say, const RequestKey& key, const OnReply& reply) {
  const std::vector<PendingInput> questions = parts_.runtime.questions(run);
  if (questions.empty()) return prompt_run(run, Json(say.text), key, reply);
  const PendingInput& oldest = questions.front();
  if (!say.shown.empty() && std::ranges::find(questions, say.shown, &PendingInput::wait) == questions.end()) {
    HostFailure why = make_conflict("the question that was shown is not open any more; now it is: " + oldest.text);
    why.wait = oldest.wait;
    return reply(failure(std::move(why)));
  }
  // A conversation's client was shown its newest question; which one is forgotten when the run leaves the memory.
  const bool answers_oldest = questions.size() == 1 || say.several == SeveralQuestions::Oldest;
  const std::string& wait = say.shown.empty() && answers_oldest ? oldest.wait : say.shown;
  give_answer(run, wait, {Input::Form::Json, Json(say.text)}, key, reply);
}

void RunRequests::await(RunId run, PendingReply pending) {
  parts_.pending.add(run, std::move(pending));
  parts_.residents.touch(run);
}

}  // namespace tenon::runtime
