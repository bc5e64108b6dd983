#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/sha256.h"
#include "journal/store.h"

/// How a host answers requests, and how it recognizes those that are repeated.
namespace tenon::runtime {

/// Why a request was refused. Nothing has changed then, except for `Unknown`.
struct HostFailure {
  enum class Kind : std::uint8_t {
    NotFound,     ///< no such run
    Conflict,     ///< the run's state does not allow it: nothing waits, it has ended, a turn is in progress
    WrongInput,   ///< the input does not have the expected type
    KeyReused,    ///< another request came with the same key
    Unavailable,  ///< the store cannot be written, the host is stopping or has too much to do
    Unknown,      ///< the store does not reply: the request may have been accepted
    Raced,        ///< another owner of the store has just accepted a request with the same key or name
    Elsewhere,    ///< another owner of the store continues the run
    Unequipped,   ///< this process lacks something that the run needs: a library, or the key. Another one may have it
    Damaged,      ///< the run cannot continue: its program or its journal is damaged
  };
  Kind kind = Kind::NotFound;
  std::string message;
  std::string wait = {};      ///< the question that the message shows; may be empty
  std::uint64_t refuser = 0;  ///< Unequipped: the number of the owner that lacks it; 0: this one
};
[[nodiscard]] HostFailure make_failure(const journal::StoreError& error);
/// The run's state does not allow the request.
[[nodiscard]] HostFailure make_conflict(std::string message);

/// A request that was accepted, durably.
struct Accepted {
  journal::RunName run;
  std::string wait;         ///< the question that was answered
  std::uint64_t after = 0;  ///< records that follow from the request have higher numbers
  /// `RUN_AFTER`: names what follows from the request.
  [[nodiscard]] std::string place() const;
};
using HostReply = Result<Accepted, HostFailure>;
/// Called once, on the host's thread or, when the host is stopping, on the caller's; it may not wait.
using OnReply = std::function<void(HostReply)>;

/// A note that is kept in the same commit as what a request leads to, with a key that ends with `Accepted::place`.
struct AcceptedNote {
  std::string prefix;  ///< of the key
  std::string bytes;
};

/// By which a repeated request is recognized, for HostOptions::replies_kept.
struct RequestKey {
  std::string key;   ///< empty: none
  Hash fingerprint;  ///< of everything that the request contains
  std::vector<AcceptedNote> notes = {};
  /// Why a request that is not a repetition is refused in the present state of the store. Called on a thread that reads
  /// the store, before anything is done, and again when the run has changed meanwhile; may be empty.
  std::function<std::optional<HostFailure>(journal::Store&)> find_refusal = {};
};

}  // namespace tenon::runtime
