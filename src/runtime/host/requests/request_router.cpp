#include "runtime/host/requests/request_router.h"

#include <fmt/format.h>

#include <utility>

namespace tenon::runtime {
namespace {

/// By which the client's name of a conversation is known; `note` may be empty.
std::vector<journal::Note> notes_of(const std::string& note, const journal::RunName& run) {
  std::vector<journal::Note> notes;
  if (!note.empty()) notes.push_back({note, run.text, std::nullopt, journal::NoteUse::KeepFirst});
  return notes;
}

/// The agent or the function.
const std::string& title_of(const RunStart& start) {
  const bytecode::Program& program = start.image->program();
  return start.agent ? program.agents[*start.agent].name : program.functions[start.function].name;
}

}  // namespace

/// Does it here, or leaves it to the owner of the run.
void RequestRouter::act(const journal::RunName& run, RunAction action, const RequestKey& key,
                        const RequestGate::Known& known, const OnReply& reply) {
  auto* const say = std::get_if<SayInConversation>(&action);
  if (say != nullptr) say->shown = shown_.find(run);
  const InboxCommand command{.action = std::move(action), .key = key, .if_records = known.records};
  const auto forward = [this, run, command, reply] {
    parts_.forwarder.forward(run, command, "",
                             [this, run, reply](HostReply given) { answer(run, std::move(given), reply); });
  };
  if (parts_.is_gateway) return forward();
  parts_.performing.perform(run, command.action, key, [this, run, command, forward, reply](HostReply outcome) {
    if (!outcome && outcome.error().kind == HostFailure::Kind::Elsewhere) return forward();
    if (!outcome && outcome.error().kind == HostFailure::Kind::Unequipped)
      return act_elsewhere(run, command, std::move(outcome.error()), reply);
    answer(run, std::move(outcome), reply);
  });
}

/// Another host may have what this one lacks. A run that no one can continue can still be cancelled.
void RequestRouter::act_elsewhere(const journal::RunName& run, const InboxCommand& command, HostFailure why,
                                  const OnReply& reply) {
  why.refuser = parts_.self().number;
  const auto end = [this, run, action = command.action, key = command.key, reply](HostReply given) {
    const auto* const cancel = std::get_if<CancelRun>(&action);
    const bool is_for_no_one = !given && given.error().kind == HostFailure::Kind::Unequipped;
    if (is_for_no_one && cancel != nullptr) return parts_.performing.cancel_unloaded(run, cancel->reason, key, reply);
    answer(run, std::move(given), reply);
  };
  parts_.forwarder.forward(run, command, "", end, std::move(why));
}

void RequestRouter::answer(const journal::RunName& run, HostReply outcome, const OnReply& reply) {
  // The message shows a question to the person.
  if (!outcome && !outcome.error().wait.empty()) shown_.note(run, outcome.error().wait);
  reply(std::move(outcome));
}

void RequestRouter::begin_conversation(const std::string& note, RunStart start, const RequestKey& key,
                                       const OnReply& reply) {
  if (note.empty()) return begin_run(std::move(start), note, key, reply);
  if (!parts_.gate.begin_conversation(note))
    return reply(failure(make_conflict("the conversation is being started by another request")));
  begin_run(std::move(start), note, key, [this, note, reply](HostReply outcome) {
    parts_.gate.end_conversation(note, outcome);
    reply(std::move(outcome));
  });
}

void RequestRouter::begin_run(RunStart start, const std::string& note, const RequestKey& key, const OnReply& reply) {
  const journal::RunName name = journal::make_run_name(parts_.now_ms());
  if (!parts_.pools.is_empty()) start.options.pool = parts_.pools.pool_of(title_of(start));
  const bool is_of_others = !parts_.pools.is_empty() && start.options.pool != parts_.pools.here();
  if (parts_.is_gateway || is_of_others) return begin_elsewhere(name, std::move(start), note, key, reply);
  parts_.performing.begin_run(name, std::move(start), key, notes_of(note, name), reply);
}

/// A run that does not begin here is given up with its first records, for the hosts of its pool.
void RequestRouter::add_run(const MakeRun& make, const RequestKey& key, const OnReply& reply) {
  const auto make_placed = [this, make](journal::Store& store, const journal::RunName& name) {
    auto made = make(store, name);
    if (!made) return made;
    if (!parts_.pools.is_empty()) made->pool = parts_.pools.pool_of(made->summary.title);
    const bool is_of_others = !parts_.pools.is_empty() && made->pool != parts_.pools.here();
    if (parts_.is_gateway || is_of_others) made->moves_to = made->pool;
    return made;
  };
  parts_.performing.add_run(journal::make_run_name(parts_.now_ms()), make_placed, key, reply);
}

void RequestRouter::begin_elsewhere(const journal::RunName& run, RunStart start, const std::string& note,
                                    const RequestKey& key, const OnReply& reply) {
  StartRun wanted{.program = start.image->hash(),
                  .arguments = std::move(start.arguments),
                  .input = std::move(start.input),
                  .shown_name = std::move(start.shown_name),
                  .pool = start.options.pool,
                  .conversation = note};
  (start.agent ? wanted.agent : wanted.function) = title_of(start);
  const auto end = [reply](HostReply given) {
    // No host has the program.
    const bool is_for_no_one = !given && given.error().kind == HostFailure::Kind::Unequipped;
    if (is_for_no_one) given.error().kind = HostFailure::Kind::Conflict;
    reply(std::move(given));
  };
  parts_.forwarder.forward(run, {.action = std::move(wanted), .key = key}, start.options.pool, end);
}

void RequestRouter::begin_for_other(const journal::RunName& run, const StartRun& start, const RequestKey& key,
                                    const OnReply& reply) {
  const auto lacks = [&](std::string what) {
    reply(failure(HostFailure{HostFailure::Kind::Unequipped, std::move(what)}));
  };
  if (!parts_.resolve) return lacks("no runs are started here for other processes");
  auto resolved = parts_.resolve(start);
  if (!resolved) return lacks(std::move(resolved.error()));
  resolved->arguments = start.arguments;
  resolved->input = start.input;
  resolved->shown_name = start.shown_name;
  resolved->options.pool = start.pool;
  parts_.performing.begin_run(run, std::move(*resolved), key, notes_of(start.conversation, run), reply);
}

/// A command that was performed, but not answered because of a crash, is recognized by its key when it comes again.
void RequestRouter::take_command(const journal::Command& command) {
  const auto answer = [this, id = command.id](const HostReply& outcome) {
    if (!outcome && outcome.error().kind == HostFailure::Kind::Elsewhere) return parts_.inbox.redirect(id);
    // What was accepted is recognized by the key that was recorded with it; what was refused could be accepted then.
    using journal::ReplyDurability;
    parts_.inbox.answer(id, encode_reply(outcome, parts_.self()),
                        outcome ? ReplyDurability::MayBeRepeated : ReplyDurability::Full);
  };
  auto wanted = open_command(command.bytes, parts_.secrets);
  if (!wanted) {
    using Kind = HostFailure::Kind;
    return answer(failure(HostFailure{is_sealed(command.bytes) ? Kind::Unequipped : Kind::WrongInput, wanted.error()}));
  }
  if (wanted->key.key.empty()) {
    wanted->key.key = fmt::format("inbox/{}", command.id);
    wanted->key.fingerprint = sha256(command.bytes);
  }
  auto* const cancel = std::get_if<CancelRun>(&wanted->action);
  if (cancel != nullptr && cancel->reason.empty()) cancel->reason = "it was cancelled";
  RequestKey key = wanted->key;
  const auto perform = [this, run = command.run, wanted = std::move(*wanted)](const auto&, const OnReply& reply) {
    if (const auto* const start = std::get_if<StartRun>(&wanted.action)) {
      return begin_for_other(run, *start, wanted.key, reply);
    }
    if (wanted.if_records)
      return parts_.performing.perform_if(run, *wanted.if_records, wanted.action, wanted.key, reply);
    parts_.performing.perform(run, wanted.action, wanted.key, reply);
  };
  parts_.gate.admit({.key = std::move(key), .reply = answer, .perform = perform});
}

}  // namespace tenon::runtime
