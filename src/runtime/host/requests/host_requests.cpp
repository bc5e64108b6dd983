// The requests that the host receives from threads of this process.
#include <utility>

#include "runtime/host/host.h"

namespace tenon::runtime {

namespace {

std::string conversation_note(const std::string& name) {
  return name.empty() ? std::string() : "conversation/" + name;
}

}  // namespace

void Host::post_request(RequestGate::Request request) {
  const OnReply reply = request.reply;
  post([this, request = std::move(request)] { gate_->admit(request); }, reply);
}

void Host::post_action(journal::RunName run, RunAction action, RequestKey key, OnReply reply) {
  const auto perform = [this, run, action = std::move(action), key](const RequestGate::Known& known,
                                                                    const OnReply& answer) {
    router_->act(run, action, key, known, answer);
  };
  post_request({.key = std::move(key), .reply = std::move(reply), .run = std::move(run), .perform = perform});
}

void Host::start(RunStart start, RequestKey key, OnReply reply) {
  const auto perform = [this, start = std::move(start), key](const auto&, const OnReply& answer) {
    router_->begin_run(start, "", key, answer);
  };
  post_request({.key = std::move(key), .reply = std::move(reply), .perform = perform});
}

void Host::add(MakeRun make, RequestKey key, OnReply reply) {
  const auto perform = [this, make = std::move(make), key](const auto&, const OnReply& answer) {
    router_->add_run(make, key, answer);
  };
  post_request({.key = std::move(key), .reply = std::move(reply), .perform = perform});
}

void Host::resume(journal::RunName run, std::string wait, std::optional<Json> input, RequestKey key, OnReply reply) {
  RunAction action = RetryServices{};
  if (input) action = AnswerQuestion{std::move(wait), {Input::Form::Json, std::move(*input)}};
  post_action(std::move(run), std::move(action), std::move(key), std::move(reply));
}

void Host::cancel(journal::RunName run, CancelScope scope, std::string reason, RequestKey key, OnReply reply) {
  post_action(std::move(run), CancelRun{scope, std::move(reason)}, std::move(key), std::move(reply));
}

void Host::prompt(journal::RunName run, Json input, RequestKey key, OnReply reply) {
  post_action(std::move(run), PromptAgent{std::move(input)}, std::move(key), std::move(reply));
}

void Host::say(std::string name, RunStart start, std::string text, SeveralQuestions several, RequestKey key,
               OnReply reply) {
  const std::string note = conversation_note(name);
  const auto perform = [this, note, start = std::move(start), text = std::move(text), several, key](
                           const RequestGate::Known& known, const OnReply& answer) {
    if (!known.conversation) return router_->begin_conversation(note, start, key, answer);
    router_->act(*known.conversation, SayInConversation{text, several, {}}, key, known, answer);
  };
  post_request({.key = std::move(key), .reply = std::move(reply), .conversation = note, .perform = perform});
}

void Host::say(journal::RunName run, std::string text, SeveralQuestions several, RequestKey key, OnReply reply) {
  post_action(std::move(run), SayInConversation{std::move(text), several, {}}, std::move(key), std::move(reply));
}

void Host::note_shown(journal::RunName run, std::string wait) {
  post([this, run = std::move(run), wait = std::move(wait)] { router_->note_shown(run, wait); },
       [](const HostReply&) {});
}

void Host::answer(std::string name, std::vector<GivenAnswer> answers, RequestKey key, OnReply reply) {
  const auto perform = [this, answers = std::move(answers), key](const RequestGate::Known& known,
                                                                 const OnReply& answer) {
    if (!known.conversation) {
      return answer(failure(make_conflict("there is no such conversation, or nothing in it waits for an answer")));
    }
    router_->act(*known.conversation, AnswerQuestions{answers}, key, known, answer);
  };
  post_request(
      {.key = std::move(key), .reply = std::move(reply), .conversation = conversation_note(name), .perform = perform});
}

void Host::repeat_text(journal::RunName run, HostListener::Follower follower) {
  const auto repeat = [this, run = std::move(run), follower] {
    if (is_broken_ || is_ending_ || is_gateway()) return;
    if (const auto resident = residents_->find(run)) listener_->repeat_text(*resident, follower);
  };
  post(repeat, [](const HostReply&) {});  // without it, the answer is seen when it is complete
}

void Host::use_notes(std::function<void(Result<StoreNotes*, HostFailure>)> use) {
  post(
      [this, use] {
        if (is_broken_ || is_ending_) return use(failure(RequestQueue::stopping()));
        use(notes_.get());
      },
      [use](const HostReply& refused) { use(failure(refused.error())); });
}

}  // namespace tenon::runtime
