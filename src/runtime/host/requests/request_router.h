#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "effects/secret_vault.h"
#include "runtime/agent_pools.h"
#include "runtime/host/requests/inbox_reader.h"
#include "runtime/host/requests/request_forwarder.h"
#include "runtime/host/requests/request_gate.h"
#include "runtime/host/requests/run_requests.h"
#include "runtime/host/requests/shown_questions.h"

namespace tenon::runtime {

/// Finds the program of a start that another process asks for; the message says why there is none.
using StartResolver = std::function<Result<RunStart, std::string>(const StartRun& start)>;

/// Decides where a host's requests are performed: here, or by the owner of the run. Used by the host's thread.
class RequestRouter {
 public:
  struct Parts {
    RequestGate& gate;
    RunRequests& performing;
    RequestForwarder& forwarder;
    InboxReader& inbox;
    effects::SecretVault* secrets = nullptr;  ///< null: encrypted commands are refused
    std::function<std::int64_t()> now_ms;     ///< since 1970
    StartResolver resolve;                    ///< may be empty: no runs are started for other processes
    const AgentPools& pools;                  ///< outlives this
    std::function<journal::OwnerId()> self;   ///< the number of this owner
    bool is_gateway = false;                  ///< nothing is performed here
  };
  explicit RequestRouter(Parts parts) : parts_(std::move(parts)) {}
  RequestRouter(const RequestRouter&) = delete;
  RequestRouter& operator=(const RequestRouter&) = delete;

  /// Does something with a run that exists.
  void act(const journal::RunName& run, RunAction action, const RequestKey& key, const RequestGate::Known& known,
           const OnReply& reply);
  /// `note`: names the conversation for its client; empty: nothing does.
  void begin_conversation(const std::string& note, RunStart start, const RequestKey& key, const OnReply& reply);
  void begin_run(RunStart start, const std::string& note, const RequestKey& key, const OnReply& reply);
  void add_run(const MakeRun& make, const RequestKey& key, const OnReply& reply);
  /// As Host::note_shown.
  void note_shown(const journal::RunName& run, std::string wait) { shown_.note(run, std::move(wait)); }
  /// Performs what another process has left in the inbox.
  void take_command(const journal::Command& command);

 private:
  void answer(const journal::RunName& run, HostReply outcome, const OnReply& reply);
  void act_elsewhere(const journal::RunName& run, const InboxCommand& command, HostFailure why, const OnReply& reply);
  void begin_elsewhere(const journal::RunName& run, RunStart start, const std::string& note, const RequestKey& key,
                       const OnReply& reply);
  void begin_for_other(const journal::RunName& run, const StartRun& start, const RequestKey& key, const OnReply& reply);

  const Parts parts_;
  ShownQuestions shown_;
};

}  // namespace tenon::runtime
