#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/sha256.h"
#include "types/type_table.h"

/// What a journal's records say. A record's number is its place in the run's journal; it is not part of its bytes.
/// Encoded as a message (base/wire.h) whose numbers are on disks and never reused: docs/internals/journal.md lists
/// them.
namespace tenon::effects {

/// Of the encoded form. Raised when its meaning changes; older records are read for ever.
inline constexpr std::uint32_t record_format = 1;

/// Text of up to this many bytes stands in its record; a longer one is a content of the store, named by its hash.
inline constexpr std::size_t inline_text_bytes_max = 1'024;

/// JSON or other text, here or in the store.
struct StoredText {
  std::string text;          ///< empty when it is in the store
  std::optional<Hash> hash;  ///< of a content of the store
  friend bool operator==(const StoredText&, const StoredText&) = default;
};

/// What a run was started with that its outcomes depend on.
struct RunSettings {
  std::string model;                   ///< as `--model` names it; a resumed run uses it when nobody says otherwise
  std::string judge;                   ///< the same as `--judge` names it; empty: the model is its own judge
  std::string prompts;                 ///< the style's name, for people; the wordings themselves are the program's
  std::vector<std::string> libraries;  ///< of the externs: absolute paths, for a resume that is told of none
  float temperature = 0;
  std::uint64_t seed = 0;
  std::uint32_t answer_tokens_max = 0;
  std::uint32_t repairs_max = 0;
  std::uint64_t generation_timeout_ms = 0;
  /// Bounds of the run; absent: none.
  std::optional<std::uint64_t> model_calls_max, instructions_max, depth_max, tokens_max, cost_millionths_max,
      milliseconds_max;
  friend bool operator==(const RunSettings&, const RunSettings&) = default;
};

/// The run begins.
struct Started {
  Hash program;          ///< the bundle (program_bundle.h), a content of the store
  std::string function;  ///< with its type arguments; empty for a conversation
  std::string agent;     ///< of a conversation
  StoredText arguments;  ///< an array, a value (value_form.h) for each parameter; fresh contexts are null
  RunSettings settings;
  std::string secret_key;     ///< SealingKey::id of the key that seals the run's secrets; empty when it can have none
  std::optional<Hash> known;  ///< of a fork: a content, the outcomes that it may still take (runtime/known_outcomes.h)
  friend bool operator==(const Started&, const Started&) = default;
};

/// Who performs an effect. The numbers are on disks.
enum class EffectKind : std::uint8_t {
  Complete = 0,  ///< the model gives a function's value
  Fill = 1,      ///< the model gives missing arguments
  Select = 2,    ///< the model chooses a clause
  Extern = 3,
  Ask = 4,  ///< a person
  Now = 5,
  Random = 6,
  Sleep = 7,
  AgentCalled = 8,     ///< subject: the agent that begins a turn for `agent`
  AgentReturned = 9,   ///< subject: the agent that has ended it
  HandedOff = 10,      ///< subject: the agent that goes on with the turn of `agent`
  AnswerRefused = 11,  ///< subject: the function whose contract does not hold of what a model has given
  BlockEntered = 12,   ///< subject: the path of the block that begins
  BlockLeft = 13,      ///< subject: the path of the block that has ended
  Emitted = 14,        ///< an agent says something before its turn ends; no subject
};
inline constexpr std::uint8_t effect_kind_count = 15;
/// What one agent has of another.
[[nodiscard]] constexpr bool is_between_agents(EffectKind kind) {
  return kind == EffectKind::AgentCalled || kind == EffectKind::AgentReturned || kind == EffectKind::HandedOff;
}
/// What a program tells of itself, without anybody who answers.
[[nodiscard]] constexpr bool is_block_event(EffectKind kind) {
  return kind >= EffectKind::BlockEntered && kind <= EffectKind::Emitted;
}
/// What the world is only told: nobody performs it, and its outcome is ().
[[nodiscard]] constexpr bool is_notification(EffectKind kind) {
  return is_between_agents(kind) || kind == EffectKind::AnswerRefused || is_block_event(kind);
}
/// Of these, what a runtime's listener is told as a notice.
[[nodiscard]] constexpr bool is_program_event(EffectKind kind) {
  return kind == EffectKind::AnswerRefused || is_block_event(kind);
}
[[nodiscard]] constexpr bool is_generation(EffectKind kind) {
  return kind <= EffectKind::Select;
}
/// `complete`, `fill`, `select`, `extern`, `ask`, `now`, `random`, `sleep`, `agent_called`, `agent_returned`,
/// `handed_off`, `answer_refused`, `block_entered`, `block_left`, `emitted`.
[[nodiscard]] std::string_view effect_name(EffectKind kind);

/// What a block has taken, from `BlockEntered` to `BlockLeft`.
struct BlockUse {
  std::uint64_t milliseconds = 0;  ///< between the two records
  std::uint64_t tokens = 0;        ///< of the model's answers in between, those of its branches and agents too
  friend bool operator==(const BlockUse&, const BlockUse&) = default;
};

/// The run wants something from the world. Durable before it is performed.
struct Requested {
  std::string key;                         ///< the request's place in the run, stable over crashes: vm::Request::key
  EffectKind kind = EffectKind::Complete;  ///< the first of the kinds: what a record without the field says
  std::string subject;                     ///< the function that is completed, filled or called; empty for a select
  Hash request;                            ///< of all that the answer may depend on
  Hash context;                            ///< of what the model sees; zero for what is no generation
  StoredText arguments;  ///< an array, a value for each; null where the model gives one; empty where there are none
  StoredText form;       ///< JSON: of a generation and of an ask the schema of the answer; else empty
  std::string place;     ///< FILE:LINE:COL
  /// Ask, Sleep, an Extern that is given a time: when it ends by itself, milliseconds since 1970.
  std::optional<std::int64_t> wake_at;
  std::string agent;                 ///< whose function asks; empty outside of one
  std::uint32_t depth = 0;           ///< agents called by agents around it
  std::vector<std::string> callers;  ///< Ask: the agents that wait for `agent`, its caller first; `depth` of them
  std::optional<BlockUse> used = std::nullopt;  ///< BlockLeft: what the block has taken; absent when it was not entered
  /// AgentReturned: the key of the AgentCalled that it ends; empty where that is not known. AnswerRefused: of the
  /// generation whose answer it is.
  std::string call;
  friend bool operator==(const Requested&, const Requested&) = default;
};

/// What an effect took.
struct Cost {
  std::uint64_t model_calls = 0, tokens = 0, cost_millionths = 0, milliseconds = 0;
  std::string model;                                      ///< the name that the backend gave
  std::uint64_t computed = 0, reused = 0, generated = 0;  ///< tokens
  friend bool operator==(const Cost&, const Cost&) = default;
};

/// One try of an effect has not given an outcome, and another follows. Counts, costs and waits survive a crash.
struct Attempted {
  enum class What : std::uint8_t {
    Unusable = 0,   ///< the model's answer was read and refused; it is told why
    Transport = 1,  ///< no answer came; the same is sent again
  };
  std::string key;
  What what = What::Unusable;
  std::uint32_t attempt = 0;            ///< counts from 0 within its kind
  StoredText answer;                    ///< Unusable: the model's words
  std::string reason;                   ///< for people
  std::optional<std::int64_t> next_at;  ///< Transport: not again before, milliseconds since 1970
  Cost cost;                            ///< of this try alone
  std::string agent;                    ///< as the request has it
  std::uint32_t depth = 0;              ///< as the request has it
  friend bool operator==(const Attempted&, const Attempted&) = default;
};

/// Why an effect gave nothing, or a run ended.
struct FailureText {
  types::FailureKind kind = types::FailureKind::Raised;
  std::string message;
  std::string blame;
  std::string place;  ///< of a run's end
  friend bool operator==(const FailureText&, const FailureText&) = default;
};

/// An extern has prompted an agent of the program instead of giving a value.
struct PromptedAgent {
  enum class Then : std::uint8_t {
    Wait = 0,    ///< the extern's value is what the agent's turn ends with (PauseForChild)
    Finish = 1,  ///< the agent goes on with the turn in which the extern was called (FinishAgent)
  };
  std::string agent;
  Then then = Then::Wait;
  friend bool operator==(const PromptedAgent&, const PromptedAgent&) = default;
};

/// The outcome of a request: from here on it is never performed again.
struct Finished {
  std::string key;
  EffectKind kind = EffectKind::Complete;  ///< this and the next three: as the request has them
  std::string subject;
  std::string agent;
  std::uint32_t depth = 0;
  /// Complete, Extern, Ask, Now, Random, Sleep: the value. Fill, Select: an array of those that were missing.
  StoredText value;
  std::uint32_t clause = 0;            ///< Select: the clause, each set of tools counting as many as it has
  std::optional<FailureText> failure;  ///< then there is no value
  Cost cost;
  std::optional<PromptedAgent> prompted;  ///< Extern: then `value` is the prompt's input
  std::string tool;                       ///< Select: the name of the chosen tool of a set; else empty
  friend bool operator==(const Finished&, const Finished&) = default;
};

/// Somebody has ended the run, or its turn. What was under way is not waited for; the blocks of `finally` around it run
/// before the end is recorded.
struct CancelWanted {
  std::string reason;
  bool ends_run = false;  ///< of a conversation: all of it; false in older records, which the end follows at once
  friend bool operator==(const CancelWanted&, const CancelWanted&) = default;
};

/// A person is asked before a call of an extern has its outcome.
struct Paused {
  enum class Why : std::uint8_t {
    Asks = 0,    ///< the extern itself wants an input, and is called again with it
    CutOff = 1,  ///< a `once` extern was cut off: the person says what has become of it
  };
  std::string key;
  std::string question;
  std::string agent;  ///< this and the next two: as a request of Ask has them; empty in older records
  std::uint32_t depth = 0;
  std::vector<std::string> callers;
  Why why = Why::Asks;
  StoredText form = {};  ///< CutOff: JSON, the schema of what can be said
  friend bool operator==(const Paused&, const Paused&) = default;
};

/// The answer to the newest question about a call. An extern that has asked is called again with it: an effect with a
/// key of its own. What was cut off is begun again, with the same key, unless its outcome follows.
struct Continued {
  std::string key;
  StoredText input;
  std::string agent;  ///< this and the next: as the request has it; empty in older records
  std::uint32_t depth = 0;
  std::optional<std::int64_t> wake_at = std::nullopt;  ///< of the call that is made now: as Requested::wake_at
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

/// Somebody has said something to an agent, and its turn begins.
struct TurnStarted {
  std::uint64_t turn = 0;  ///< counts from 1
  std::string agent;
  StoredText input;  ///< as it was said
  friend bool operator==(const TurnStarted&, const TurnStarted&) = default;
};

/// A model's answer that is plain text, whole: what a client that has shown its pieces keeps.
struct Said {
  std::string key;  ///< of the generation
  StoredText text;
  std::string agent;  ///< this and the next: as the request has it
  std::uint32_t depth = 0;
  friend bool operator==(const Said&, const Said&) = default;
};

/// A turn that ends now has changed the state of the agent that answers next.
struct StateChanged {
  std::string agent;
  StoredText entries;  ///< JSON: an object of the entries that have another value than before the turn
  friend bool operator==(const StateChanged&, const StateChanged&) = default;
};

/// The turn's end. A failed one does not end the conversation.
struct TurnEnded {
  std::uint64_t turn = 0;
  Ended::How how = Ended::How::Returned;
  StoredText value;  ///< Returned: JSON
  FailureText failure;
  StoredText state;   ///< the agent's state from now on: JSON
  Hash conversation;  ///< the context of what was said up to now; zero when nothing was
  std::string agent;  ///< that has the next turn; empty in older records: the one that went on with this one
  std::vector<std::string> added_entries = {};  ///< of the state: those that the program's text does not have
  friend bool operator==(const TurnEnded&, const TurnEnded&) = default;
};

/// Another program goes on with a conversation, from its next turn on.
struct ProgramTaken {
  Hash program;                                 ///< its bundle, a content of the store
  std::string agent;                            ///< whose state it is
  StoredText state;                             ///< as the new program has it: JSON; empty before the first turn
  std::vector<std::string> libraries;           ///< of its externs, as RunSettings has them
  std::string secret_key;                       ///< as Started has it
  std::vector<std::string> added_entries = {};  ///< as TurnEnded has them
  friend bool operator==(const ProgramTaken&, const ProgramTaken&) = default;
};

using RecordBody = std::variant<Started, Requested, Attempted, Finished, CancelWanted, Ended, TurnStarted, TurnEnded,
                                Paused, Continued, Said, StateChanged, ProgramTaken>;

struct Record {
  std::int64_t time = 0;  ///< milliseconds since 1970
  RecordBody body;
  friend bool operator==(const Record&, const Record&) = default;
};

struct RecordError {
  std::string message;
};

[[nodiscard]] std::string encode(const Record& record);
/// Bytes of any kind are answered with a record or an error.
[[nodiscard]] Result<Record, RecordError> decode_record(std::string_view bytes);

}  // namespace tenon::effects
