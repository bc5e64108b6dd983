#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "journal/async_store.h"
#include "runtime/host/requests/host_reply.h"
#include "runtime/host/requests/pending_replies.h"
#include "runtime/host/requests/store_notes.h"
#include "runtime/host/requests/waiting_group.h"
#include "runtime/host/run_loader.h"
#include "runtime/runtime.h"

namespace tenon::runtime {

/// Looks up a host's requests in the store before they are performed: whether they are repeated, whether they are
/// refused, and what run a client's name stands for. That takes a while, in which other requests arrive, so a key
/// counts as in progress from the beginning. Used by the host's thread.
class RequestGate {
 public:
  struct Parts {
    journal::AsyncStore& store;
    Runtime& runtime;
    StoreNotes& notes;
    RunLoader& loader;
    const PendingReplies& pending;
    std::function<bool()> is_stopped;  ///< requests are refused
    bool loads_runs = true;            ///< otherwise other owners have them
  };
  explicit RequestGate(Parts parts) : parts_(std::move(parts)) {}
  RequestGate(const RequestGate&) = delete;
  RequestGate& operator=(const RequestGate&) = delete;

  /// What was found out about a request before it is performed.
  struct Known {
    std::optional<journal::RunName> conversation = {};  ///< the run of the conversation
    std::optional<std::uint64_t> records = {};          ///< with which the run was looked at, and not refused
  };
  struct Request {
    RequestKey key;
    OnReply reply;
    std::string conversation = {};  ///< the key of the note that names its run; empty: none
    journal::RunName run = {};      ///< that `key.find_refusal` looks at
    std::uint32_t lookups =
        0;  ///< that were made in vain, because the run changed meanwhile or another owner was first
    std::optional<journal::RunName> begun = {};  ///< the conversation's run, which began during the lookup
    std::function<void(const Known& known, const OnReply& reply)> perform;
  };
  /// Performs the request, or replies to it.
  void admit(Request request);

  /// A conversation with this name begins. False if it just begins already.
  [[nodiscard]] bool begin_conversation(const std::string& note);
  /// It is durable, or it has failed.
  void end_conversation(const std::string& note, const HostReply& outcome);

 private:
  /// Requests whose keys are looked up together.
  static constexpr std::size_t requests_per_lookup = 256;

  void look_up(std::shared_ptr<Request> request);
  void find_waiting();
  void on_found(const std::shared_ptr<Request>& request, StoreNotes::Found kept);
  void perform(const std::shared_ptr<Request>& request, const Known& known);
  void end_lookup(const std::shared_ptr<Request>& request);
  void check_refusal(std::shared_ptr<Request> request, std::uint64_t records,
                     const std::optional<HostFailure>& refusal);

  const Parts parts_;
  std::set<std::string> in_progress_;  ///< keys of requests, and names of conversations that begin
  std::multimap<std::string, std::shared_ptr<Request>> looked_up_;  ///< by conversation
  WaitingGroup<std::shared_ptr<Request>> to_find_{requests_per_lookup};
};

}  // namespace tenon::runtime
