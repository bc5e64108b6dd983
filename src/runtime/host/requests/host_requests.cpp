// What the host is asked for, by threads of this process and by other processes.
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "runtime/host/host.h"
#include "runtime/host/requests/inbox_command.h"

namespace tenon::runtime {

void Host::post_request(RequestGate::Request request) {
  const OnReply reply = request.reply;
  post([this, request = std::move(request)] { gate_->admit(request); }, reply);
}

void Host::start(RunStart start, RequestKey key, OnReply reply) {
  const auto perform = [this, start = std::move(start), key](const auto&, const OnReply& answer) {
    performing_->begin_run(start, key, {}, answer);
  };
  post_request({.key = std::move(key), .reply = std::move(reply), .perform = perform});
}

void Host::resume(journal::RunName run, std::string wait, std::optional<Json> input, RequestKey key, OnReply reply) {
  const auto perform = [this, run = std::move(run), wait = std::move(wait), input = std::move(input), key](
                           const auto&, const OnReply& answer) {
    performing_->with_run(run, answer, [this, wait, input, key, answer](RunId id) {
      if (!input) return performing_->retry_services(id, key, answer);
      performing_->give_answer(id, wait, {Input::Form::Json, *input}, key, answer);
    });
  };
  post_request({.key = std::move(key), .reply = std::move(reply), .perform = perform});
}

void Host::cancel(journal::RunName run, CancelScope scope, std::string reason, RequestKey key, OnReply reply) {
  const auto perform = [this, run = std::move(run), scope, reason = std::move(reason), key](const auto&,
                                                                                            const OnReply& answer) {
    performing_->cancel_run(run, scope, reason, key, answer);
  };
  post_request({.key = std::move(key), .reply = std::move(reply), .perform = perform});
}

void Host::prompt(journal::RunName run, Json input, RequestKey key, OnReply reply) {
  const auto perform = [this, run = std::move(run), input = std::move(input), key](const auto&, const OnReply& answer) {
    performing_->with_run(run, answer,
                          [this, input, key, answer](RunId id) { performing_->prompt_run(id, input, key, answer); });
  };
  post_request({.key = std::move(key), .reply = std::move(reply), .perform = perform});
}

void Host::say(std::string name, RunStart start, std::string text, SeveralQuestions several, RequestKey key,
               OnReply reply) {
  const std::string note = name.empty() ? "" : "conversation/" + name;
  const auto perform = [this, note, start = std::move(start), text = std::move(text), several, key](
                           const std::optional<journal::RunName>& known, const OnReply& answer) {
    if (!known) return begin_conversation(note, start, key, answer);
    performing_->with_run(*known, answer, [this, text, several, key, answer](RunId id) {
      performing_->say_in(id, text, several, key, answer);
    });
  };
  post_request({.key = std::move(key), .reply = std::move(reply), .conversation = note, .perform = perform});
}

void Host::say(journal::RunName run, std::string text, SeveralQuestions several, RequestKey key, OnReply reply) {
  const auto perform = [this, run, text = std::move(text), several, key](const auto&, const OnReply& answer) {
    performing_->with_run(run, answer, [this, text, several, key, answer](RunId id) {
      performing_->say_in(id, text, several, key, answer);
    });
  };
  post_request({.key = std::move(key), .reply = std::move(reply), .run = std::move(run), .perform = perform});
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
    if (!known)
      return answer(failure(make_conflict("there is no such conversation, or nothing in it waits for an answer")));
    list->run = *known;
    answer_next(list, 0, answer);
  };
  post_request(
      {.key = std::move(key), .reply = std::move(reply), .conversation = "conversation/" + name, .perform = perform});
}

/// The first answer carries the request's key: a repetition is recognized from then on.
void Host::answer_next(std::shared_ptr<AnswerList> list, std::size_t at, const OnReply& reply) {
  const auto on_taken = [this, list, at, reply](HostReply taken) {
    if (!taken) {
      if (at > 0) taken.error().message += fmt::format("; answers accepted before it: {}", at);
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
  if (!given.input)
    return performing_->cancel_run(list->run, CancelScope::Turn, "its question was not answered", key, on_taken);
  performing_->with_run(list->run, on_taken, [this, list, at, key, on_taken](RunId id) {
    const GivenAnswer& answer = list->answers[at];
    performing_->give_answer(id, answer.wait, {Input::Form::Json, *answer.input}, key, on_taken);
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

/// `note`: names the conversation for its client; empty: nothing does.
void Host::begin_conversation(const std::string& note, RunStart start, const RequestKey& key, const OnReply& reply) {
  if (note.empty()) return performing_->begin_run(std::move(start), key, {}, reply);
  if (!gate_->begin_conversation(note))
    return reply(failure(make_conflict("the conversation is being started by another request")));
  // The run's name is not known yet: `begin_run` fills it in.
  performing_->begin_run(std::move(start), key, {{note, "", std::nullopt}}, [this, note, reply](HostReply outcome) {
    gate_->end_conversation(note, outcome);
    reply(std::move(outcome));
  });
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
      return performing_->cancel_run(run, CancelScope::Run, wanted.reason.empty() ? "it was cancelled" : wanted.reason,
                                     key, reply);
    }
    performing_->with_run(run, reply, [this, key, wanted, reply](RunId id) {
      if (wanted.verb == InboxCommand::Verb::Retry) return performing_->retry_services(id, key, reply);
      performing_->give_answer(id, wanted.wait, {Input::Form::Typed, Json(wanted.input)}, key, reply);
    });
  };
  gate_->admit({.key = std::move(key), .reply = answer, .perform = perform});
}

}  // namespace tenon::runtime
