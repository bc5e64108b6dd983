#include "runtime/host/requests/request_gate.h"

#include <algorithm>
#include <utility>

#include "runtime/host/requests/request_queue.h"

namespace tenon::runtime {
namespace {

/// Of one request, made in vain.
constexpr std::uint32_t lookups_max = 8;

}  // namespace

void RequestGate::admit(Request request) {
  if (parts_.is_stopped()) return request.reply(failure(RequestQueue::stopping()));
  const RequestKey& key = request.key;
  if (key.key.empty() && !key.find_refusal && request.conversation.empty()) {
    return request.perform({}, request.reply);
  }
  if (!key.key.empty()) {
    if (!in_progress_.insert(key.key).second) {
      return request.reply(failure(make_conflict("a request with the same key is in progress; send it again later")));
    }
    request.reply = [this, name = key.key, reply = std::move(request.reply)](HostReply outcome) {
      in_progress_.erase(name);
      reply(std::move(outcome));
    };
  }
  look_up(std::make_shared<Request>(std::move(request)));
}

/// Performs the request. When another owner was first with its key or its name, it is looked up again.
void RequestGate::perform(const std::shared_ptr<Request>& request, const Known& known) {
  request->perform(known, [this, request](HostReply outcome) {
    const bool has_raced = !outcome && outcome.error().kind == HostFailure::Kind::Raced;
    if (has_raced && !parts_.is_stopped() && ++request->lookups < lookups_max) return look_up(request);
    request->reply(std::move(outcome));
  });
}

/// Finds out whether the request is repeated or refused, and what run its conversation is.
void RequestGate::look_up(std::shared_ptr<Request> request) {
  if (!request->key.find_refusal && request->conversation.empty()) {
    to_find_.add(std::move(request));
    return find_waiting();
  }
  struct Answers {
    StoreNotes::Found kept = std::optional<StoreNotes::Kept>();
    std::optional<HostFailure> refusal;
    std::uint64_t records = 0;  ///< of the run, before the refusal was looked for
    Result<std::optional<journal::Note>, journal::StoreError> conversation = std::optional<journal::Note>();
  };
  const auto answers = std::make_shared<Answers>();
  std::optional<StoreNotes::Query> query;
  if (!request->key.key.empty()) query = parts_.notes.query_of(request->key);
  if (!request->conversation.empty()) looked_up_.emplace(request->conversation, request);
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
        end_lookup(request);
        const OnReply& reply = request->reply;
        if (parts_.is_stopped()) return reply(failure(RequestQueue::stopping()));
        if (!answers->kept) return reply(failure(std::move(answers->kept.error())));
        if (*answers->kept) return reply(std::move((*answers->kept)->accepted));
        if (request->key.find_refusal) return check_refusal(request, answers->records, answers->refusal);
        if (!answers->conversation) return reply(failure(make_failure(answers->conversation.error())));
        const std::optional<journal::Note>& note = *answers->conversation;
        perform(request, {.conversation = note ? journal::RunName{note->bytes} : request->begun});
      });
}

/// Keys that come while others are being looked up are looked up together.
void RequestGate::find_waiting() {
  const auto group = to_find_.start();
  if (group == nullptr) return;
  std::vector<StoreNotes::Query> queries;
  for (const auto& request : *group) queries.push_back(parts_.notes.query_of(request->key));
  const auto found = std::make_shared<std::vector<StoreNotes::Found>>();
  parts_.store.read(
      [found, queries = std::move(queries)](journal::StoreConnection& reader) {
        *found = StoreNotes::find_all(queries, reader.journals());
      },
      [this, found, group] {
        to_find_.finish();
        find_waiting();
        for (std::size_t at = 0; at < group->size(); ++at) on_found((*group)[at], std::move((*found)[at]));
      });
}

void RequestGate::on_found(const std::shared_ptr<Request>& request, StoreNotes::Found kept) {
  if (parts_.is_stopped()) return request->reply(failure(RequestQueue::stopping()));
  if (!kept) return request->reply(failure(std::move(kept.error())));
  if (*kept) return request->reply(std::move((*kept)->accepted));
  perform(request, {});
}

void RequestGate::end_lookup(const std::shared_ptr<Request>& request) {
  const auto [begin, end] = looked_up_.equal_range(request->conversation);
  const auto found = std::find_if(begin, end, [&](const auto& entry) { return entry.second == request; });
  if (found != end) looked_up_.erase(found);
}

/// Performs the request unless it is refused. What was looked at, up to record `records`, must still be all of the run.
void RequestGate::check_refusal(std::shared_ptr<Request> request, std::uint64_t records,
                                const std::optional<HostFailure>& refusal) {
  if (!parts_.loads_runs) {
    if (refusal) return request->reply(failure(*refusal));
    return perform(request, {.records = records});
  }
  parts_.loader.load(request->run, [this, request, records, refusal](const Result<RunId, HostFailure>& loaded) {
    const OnReply& reply = request->reply;
    using Kind = HostFailure::Kind;
    const bool is_elsewhere =
        !loaded && (loaded.error().kind == Kind::Elsewhere || loaded.error().kind == Kind::Unequipped);
    if (is_elsewhere && !refusal) return perform(request, {.records = records});
    if (!loaded) return reply(failure(refusal ? *refusal : loaded.error()));
    if (parts_.is_stopped()) return reply(failure(RequestQueue::stopping()));
    const bool has_changed = parts_.runtime.last_record(*loaded) != records;
    if (parts_.pending.contains(*loaded) || (has_changed && ++request->lookups == lookups_max)) {
      return reply(failure(make_conflict("another request to the conversation is in progress")));
    }
    if (has_changed) return look_up(request);
    if (refusal) return reply(failure(*refusal));
    perform(request, {});
  });
}

bool RequestGate::begin_conversation(const std::string& note) {
  return in_progress_.insert(note).second;
}

void RequestGate::end_conversation(const std::string& note, const HostReply& outcome) {
  in_progress_.erase(note);
  if (!outcome) return;
  // A request that was looked up before this was durable has not found it.
  const auto [begin, end] = looked_up_.equal_range(note);
  for (auto at = begin; at != end; ++at) at->second->begun = outcome->run;
}

}  // namespace tenon::runtime
