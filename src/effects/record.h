#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/sha256.h"
#include "bytecode/bounds.h"
#include "effects/agent_scope.h"
#include "effects/effect_kinds.h"
#include "types/table/type_table.h"
#include "vm/prompt_kind.h"

/// The records of a journal, in a store or in memory, where they have no hashes. A record's number is its position in
/// the run's journal; it is not part of its bytes. Encoded as a message (base/wire.h) whose numbers are stored on disks
/// and never reused: docs/internals/journal.md describes the format.
namespace tenon::effects {

/// The version of the encoding. Raised when its meaning changes; older records can always be read.
inline constexpr std::uint32_t record_format = 1;

/// Text of up to this many bytes is part of its record; a longer text is a content of the store, named by its hash.
inline constexpr std::size_t inline_text_bytes_max = 1'024;

/// The message of a failure is part of its record; a longer one is cut.
inline constexpr std::size_t failure_text_bytes_max = std::size_t{1} << 20U;

/// JSON or other text, in the record or in the store.
struct StoredText {
  std::string text;           ///< empty if it is in the store
  std::optional<Hash> hash;   ///< of a content of the store
  bool is_in_pieces = false;  ///< the content is the list of the text's pieces (effects/pieces.h)
  friend bool operator==(const StoredText&, const StoredText&) = default;
};

/// When an effect whose model or tool cannot be reached is performed again. Absent: the default of
/// runtime/effects/retry.h.
struct RetrySettings {
  std::optional<std::uint64_t> initial_ms = {};          ///< the delay before the first retry; at least 1
  std::optional<std::uint64_t> factor_thousandths = {};  ///< of each delay to the previous one; at least 1,000
  std::optional<std::uint64_t> interval_max_ms = {};     ///< the longest delay
  /// Since the first failure; then the run waits to be resumed. 0: the effect fails at once.
  std::optional<std::uint64_t> elapsed_max_ms = {};
  friend bool operator==(const RetrySettings&, const RetrySettings&) = default;
};

/// Settings of a run that its outcomes depend on.
struct RunSettings {
  std::string model;                   ///< as given to `--model`; a resumed run uses it by default
  std::string judge;                   ///< as given to `--judge`; empty: the model is its own judge
  std::string prompts;                 ///< the style's name, for people; the program contains the templates
  std::vector<std::string> libraries;  ///< of the externs: absolute paths, the default for a resume
  float temperature = 0;
  std::uint64_t seed = 0;
  std::uint32_t answer_tokens_max = 0;
  std::uint32_t repairs_max = 0;
  std::uint64_t generation_timeout_ms = 0;
  bytecode::Bounds bounds;  ///< of the run
  RetrySettings retry;
  bool has_persons_arguments = false;  ///< a person has given the run's arguments, not the operator
  friend bool operator==(const RunSettings&, const RunSettings&) = default;
};

/// The run starts.
struct Started {
  Hash program;          ///< the bundle (program_bundle.h), a content of the store; zero in memory
  std::string function;  ///< with its type arguments; empty for a conversation
  std::string agent;     ///< of a conversation
  StoredText arguments;  ///< an array with a value (value_form.h) for each parameter; new contexts are null
  RunSettings settings;
  std::string secret_key;  ///< SealingKey::id of the key that encrypts the run's secrets; empty if there are none
  std::optional<Hash>
      known;  ///< of a fork: a content, the outcomes that it can still reuse (runtime/recovery/known_outcomes.h)
  friend bool operator==(const Started&, const Started&) = default;
};

/// The usage of a block, from `BlockEntered` to `BlockLeft`.
struct BlockUse {
  std::uint64_t milliseconds = 0;  ///< between the two records
  std::uint64_t tokens = 0;        ///< of the model's answers in between, including those of branches and called agents
  friend bool operator==(const BlockUse&, const BlockUse&) = default;
};

/// The run requests an effect. Durable before the effect is performed.
struct Requested {
  std::string key;                         ///< position in the run, stable across crashes: vm::Request::key
  EffectKind kind = EffectKind::Complete;  ///< the first of the kinds: the default for a missing field
  std::string subject;                     ///< the function that is completed, filled or called; empty for a select
  Hash request;                            ///< of everything that the answer may depend on; zero in memory
  Hash context;                            ///< of what the model sees; zero if it is not a generation, and in memory
  StoredText arguments;  ///< an array with a value for each; null for a missing argument; empty if there are none
  StoredText form;       ///< JSON: the schema of the answer of a generation or an ask; else empty
  std::string place;     ///< FILE:LINE:COL
  /// Ask, Sleep, an Extern with `within`: when it ends by itself, milliseconds since 1970.
  std::optional<std::int64_t> wake_at;
  AgentScope scope;
  std::vector<std::string> callers;             ///< Ask: the agents that wait for the one that asks, its caller first
  std::optional<BlockUse> used = std::nullopt;  ///< BlockLeft: the block's usage; absent if it was not entered
  /// An ask for approval: what the value depends on; an Extern that acts: what it depends on that it is called so. As
  /// vm::describe names sources; empty for the program's own text, and in older records.
  std::vector<std::string> sources = {};
  /// An Extern that acts: why it may be called so, as vm::reasons_for_call has it; empty in older records.
  std::vector<std::string> allowed = {};
  /// AgentReturned: the key of the AgentCalled that it ends; empty if unknown. AnswerRefused: the key of the generation
  /// that gave the answer.
  std::string call;
  friend bool operator==(const Requested&, const Requested&) = default;
};

/// The cost of an effect.
struct Cost {
  std::uint64_t model_calls = 0, tokens = 0, cost_millionths = 0, milliseconds = 0;
  std::string model;                                      ///< the name that the backend reports
  std::uint64_t computed = 0, reused = 0, generated = 0;  ///< tokens
  std::uint64_t forced = 0;                               ///< of those generated: as inference::Usage::forced
  friend bool operator==(const Cost&, const Cost&) = default;
};

/// An attempt at an effect did not lead to an outcome, and another follows. Counts, costs and delays survive a crash.
struct Attempted {
  enum class What : std::uint8_t {
    Unusable = 0,   ///< the model's answer was rejected; the model gets the reasons
    Transport = 1,  ///< there was no answer; the same request is sent again
    /// The model or the tool cannot be reached, after all attempts at sending. The run waits and tries again.
    Unavailable = 2,
    Retried = 3,  ///< the wait that Unavailable started is over: the effect is performed again
  };
  std::string key;
  What what = What::Unusable;
  /// Counts from 0: Unusable within the request, Transport since the newest attempt of another kind, Unavailable while
  /// the service cannot be reached.
  std::uint32_t attempt = 0;
  StoredText answer;   ///< Unusable: the model's answer
  std::string reason;  ///< for people
  /// Transport, Unavailable: the earliest time of the next attempt, milliseconds since 1970; an Unavailable without it
  /// waits to be resumed. Retried: as Requested::wake_at.
  std::optional<std::int64_t> next_at;
  Cost cost;         ///< of this attempt alone
  AgentScope scope;  ///< as in the request
  /// Unavailable: when the service could not be reached for the first time, milliseconds since 1970.
  std::int64_t since = 0;
  std::string service = {};  ///< Unavailable: the name of the model or the extern
  bool is_tool = false;      ///< Unavailable: it is an extern
  friend bool operator==(const Attempted&, const Attempted&) = default;
};

/// Why an effect failed, or a run ended.
struct FailureText {
  types::FailureKind kind = types::FailureKind::Raised;
  std::string message;
  std::string blame;
  std::string place;  ///< of a run's end
  friend bool operator==(const FailureText&, const FailureText&) = default;
};

/// The outcome of a request: from here on the effect is never performed again.
struct Finished {
  /// An AgentPrompt without its input.
  struct Prompted {
    std::string agent;
    vm::PromptKind kind = vm::PromptKind::PauseForChild;
    friend bool operator==(const Prompted&, const Prompted&) = default;
  };
  std::string key;
  EffectKind kind = EffectKind::Complete;  ///< this and the next two: as in the request
  std::string subject;
  AgentScope scope;
  /// Complete, Extern, Ask, Now, Random, Sleep: the value. Fill, Select: an array of the missing arguments.
  StoredText value;
  std::uint32_t clause = 0;            ///< Select: the clause, where each set of tools counts as many as it contains
  std::optional<FailureText> failure;  ///< if set, there is no value
  Cost cost;
  std::optional<Prompted> prompted;  ///< Extern: it has prompted an agent; `value` is the input
  std::string tool;                  ///< Select: the name of the chosen tool of a set; else empty
  friend bool operator==(const Finished&, const Finished&) = default;
};

/// The run or its turn was cancelled. Pending effects are not awaited, except for calls that are made at most once and
/// those of `shield` blocks; the `finally` blocks around them run before the end is recorded.
struct CancelWanted {
  std::string reason;
  bool ends_run = false;  ///< of a conversation: the entire run; false in older records, followed by the end
  friend bool operator==(const CancelWanted&, const CancelWanted&) = default;
};

/// A person is asked before a call of an extern has an outcome.
struct Paused {
  enum class Why : std::uint8_t {
    Asks = 0,    ///< the extern asks for an input, and is called again with it
    CutOff = 1,  ///< a `once` extern was interrupted: the person decides what became of it
  };
  std::string key;
  std::string question;
  AgentScope scope;  ///< this and the next: as in a request of Ask; empty in older records
  std::vector<std::string> callers;
  Why why = Why::Asks;
  StoredText form = {};       ///< CutOff: JSON, the schema of the possible decisions
  std::uint32_t earlier = 0;  ///< questions about the same call; 0 in older records
  friend bool operator==(const Paused&, const Paused&) = default;
};

/// The answer to the newest question about a call. An extern that has asked is called again with it: an effect with its
/// own key. An interrupted call is started again with the same key, unless its outcome follows.
struct Continued {
  std::string key;
  StoredText input;
  AgentScope scope;                                    ///< as in the request; empty in older records
  std::optional<std::int64_t> wake_at = std::nullopt;  ///< of the call that follows: as in Requested::wake_at
  std::uint32_t earlier = 0;                           ///< as in Paused
  friend bool operator==(const Continued&, const Continued&) = default;
};

/// The run's end.
struct Ended {
  enum class How : std::uint8_t { Returned = 0, Failed = 1, Cancelled = 2 };
  How how = How::Returned;
  StoredText value;  ///< Returned
  FailureText failure;
  friend bool operator==(const Ended&, const Ended&) = default;
};

/// An agent has received a message, and its turn starts.
struct TurnStarted {
  std::uint64_t turn = 0;  ///< counts from 1
  std::string agent;
  StoredText input;  ///< the message as it was sent
  friend bool operator==(const TurnStarted&, const TurnStarted&) = default;
};

/// A complete model answer in plain text: what a client keeps that has shown its pieces.
struct Said {
  std::string key;  ///< of the generation
  StoredText text;
  AgentScope scope;  ///< as in the request
  friend bool operator==(const Said&, const Said&) = default;
};

/// A turn that ends now has changed the state of the next agent.
struct StateChanged {
  std::string agent;
  StoredText entries;  ///< JSON: an object of the entries whose values differ from those before the turn
  friend bool operator==(const StateChanged&, const StateChanged&) = default;
};

/// A call of an extern that acts, or a value that must be trusted, was refused: as vm::Refusal has it. Recorded before
/// what the program does next, from which it follows.
struct FlowRefused {
  std::string subject;
  std::string what;
  std::vector<std::string> sources;
  std::string place;  ///< FILE:LINE:COL
  AgentScope scope;
  std::uint64_t times = 1;
  friend bool operator==(const FlowRefused&, const FlowRefused&) = default;
};

/// The turn's end. A failed one does not end the conversation.
struct TurnEnded {
  std::uint64_t turn = 0;
  Ended::How how = Ended::How::Returned;
  StoredText value;  ///< Returned: JSON
  FailureText failure;
  StoredText state;   ///< the agent's state from now on: JSON
  Hash conversation;  ///< the context of the conversation so far; zero if it is empty
  std::string agent;  ///< the next agent; empty in older records: the one that ended this turn
  std::vector<std::string> added_entries = {};  ///< of the state: entries that are not in the program's text
  friend bool operator==(const TurnEnded&, const TurnEnded&) = default;
};

/// The conversation is upgraded to another program, from its next turn on.
struct ProgramTaken {
  Hash program;                                 ///< its bundle, a content of the store
  std::string agent;                            ///< the agent of the state
  StoredText state;                             ///< for the new program: JSON; empty before the first turn
  std::vector<std::string> libraries;           ///< of its externs, as in RunSettings
  std::string secret_key;                       ///< as in Started
  std::vector<std::string> added_entries = {};  ///< as in TurnEnded
  friend bool operator==(const ProgramTaken&, const ProgramTaken&) = default;
};

/// The text, cut at `failure_text_bytes_max`.
[[nodiscard]] std::string cut_failure_text(std::string text);

using RecordBody = std::variant<Started, Requested, Attempted, Finished, CancelWanted, Ended, TurnStarted, TurnEnded,
                                Paused, Continued, Said, StateChanged, ProgramTaken, FlowRefused>;

struct Record {
  std::int64_t time = 0;  ///< milliseconds since 1970
  RecordBody body;
  friend bool operator==(const Record&, const Record&) = default;
};

struct RecordError {
  std::string message;
};

[[nodiscard]] std::string encode(const Record& record);
/// Any bytes result in a record or an error.
[[nodiscard]] Result<Record, RecordError> decode_record(std::string_view bytes);

}  // namespace tenon::effects
