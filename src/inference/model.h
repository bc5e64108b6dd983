#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tenon::inference {

enum class Role : std::uint8_t { System, User, Assistant };

/// As every chat API names it: `system`, `user`, `assistant`.
[[nodiscard]] constexpr std::string_view role_name(Role role) {
  switch (role) {
    case Role::System:
      return "system";
    case Role::User:
      return "user";
    case Role::Assistant:
      break;
  }
  return "assistant";
}

/// One message of a prompt. `text` is sent unchanged.
struct Message {
  Role role = Role::User;
  std::string text;
  /// Byte offsets in `text`, ascending, at which a context entry (with its newline) ends. A backend that keeps a KV
  /// cache tokenizes entry by entry, so that a shared prefix of entries is a shared prefix of tokens. May be empty.
  std::vector<std::uint32_t> entry_ends;
};

/// The form of a typed answer: JSON that satisfies `json_schema`. Made once for a call site and shared by its
/// requests, so a backend may keep what it compiles from it under the address or the name.
struct AnswerSchema {
  std::string name;         ///< `[a-zA-Z0-9_-]{1,64}`, as OpenAI's response_format asks
  std::string json_schema;  ///< JSON text, in the subset of docs/internals/answers.md
  /// The same for OpenAI's strict mode, which has some of it in descriptions; empty: not possible, so the schema is
  /// sent as a hint. The answer is validated anyway.
  std::string strict_schema = {};
};

/// What is required of a plain text answer, without the white space around it. A hint, as a schema is: every answer is
/// validated anyway.
struct TextForm {
  std::optional<std::uint64_t> length_min, length_max;  ///< code points
  std::vector<std::string> patterns;                    ///< each a whole match, RE2 syntax
};

struct Sampling {
  float temperature = 0.0F;  ///< 0: greedy
  std::uint64_t seed = 0;
  std::uint32_t tokens_max = 1024;  ///< length of one answer; a longer one is cut off
};

/// Attempts at sending a request that an earlier process made, and that failed. A backend that sends again continues
/// their count.
struct EarlierAttempts {
  std::uint32_t count = 0;
  std::chrono::milliseconds wait{0};  ///< before the next one
  std::string reason;                 ///< of the last one, for people
};

/// The part of a request's messages that says in words what form the answer has.
struct FormNote {
  std::size_t message = 0;  ///< index into GenerationRequest::messages
  std::size_t begin = 0;    ///< byte offset in that message's text from which on it is about the form; 0: all of it
  /// The note has nothing but keys and types, so a model that gets the schema needs no part of it.
  bool is_bare = true;
  /// What the doc comments of the types say about the keys, as a text; empty: nothing.
  std::string keys = {};
};

struct GenerationRequest {
  std::vector<Message> messages;
  std::shared_ptr<const AnswerSchema> schema;  ///< none: the answer is plain text
  /// The form of a plain text, for backends that mask tokens; null: any text. Made once for a call site.
  std::shared_ptr<const TextForm> text_form;
  Sampling sampling;
  std::string label;  ///< names the call for people and scripts: the function that is completed or filled
  std::chrono::milliseconds timeout{120'000};
  EarlierAttempts earlier;
  /// What describes the answer's form; none where there is no schema and no text_form, or no place of its own for the
  /// form. A backend that enforces the form need not send it.
  std::optional<FormNote> form_note;
  bool is_judgement = false;  ///< a judge is asked about a contract; of several models, the judge answers
};

/// For a backend that is sent the schema and enforces it: removes a message that only repeats the schema, unless it is
/// the only message.
inline void leave_out_form_message(GenerationRequest& request) {
  const std::optional<FormNote>& note = request.form_note;
  if (!request.schema || !note || note->begin > 0 || !note->is_bare || request.messages.size() < 2) return;
  request.messages.erase(request.messages.begin() + static_cast<std::ptrdiff_t>(note->message));
  request.form_note.reset();
}

/// Whether `leave_out_form` changes the request.
[[nodiscard]] inline bool has_redundant_form(const GenerationRequest& request) {
  const std::optional<FormNote>& note = request.form_note;
  return note && (note->begin > 0 || !note->keys.empty() || request.messages.size() >= 2);
}

/// For a backend whose token masks enforce the form: removes what describes the form, and puts what doc comments say
/// about its keys in its place. A message that describes nothing else is removed unless it is the only one.
inline void leave_out_form(GenerationRequest& request) {
  if (!has_redundant_form(request)) return;
  const FormNote note = std::move(*request.form_note);
  request.form_note.reset();
  Message& message = request.messages[note.message];
  message.text.resize(note.begin);
  std::erase_if(message.entry_ends, [&](std::uint32_t end) { return end > note.begin; });
  if (!note.keys.empty()) {
    if (note.begin > 0) message.text += '\n';
    message.text += note.keys;
  }
  if (message.text.empty())
    request.messages.erase(request.messages.begin() + static_cast<std::ptrdiff_t>(note.message));
}

/// The request after `leave_out_form`; none where that changes nothing.
[[nodiscard]] inline std::optional<GenerationRequest> without_form(const GenerationRequest& request) {
  if (!has_redundant_form(request)) return std::nullopt;
  GenerationRequest sent = request;
  leave_out_form(sent);
  return sent;
}

/// What a generation cost. Counts are tokens.
struct Usage {
  std::uint32_t prompt = 0;     ///< the prompt's length
  std::uint32_t computed = 0;   ///< prompt tokens that were evaluated for this call
  std::uint32_t reused = 0;     ///< prompt tokens whose KV entries existed already (or the provider's cached_tokens)
  std::uint32_t generated = 0;  ///< the answer's length, forced tokens included
  std::uint32_t forced = 0;     ///< answer tokens that the schema determined, and that were not sampled
  std::uint32_t attempts = 1;   ///< requests that were sent, transport retries included
  double milliseconds = 0;
  bool is_estimated = false;   ///< the backend reports no tokens: a token for four bytes
  bool is_reuse_known = true;  ///< otherwise `computed` is the whole prompt, and the provider may have reused of it
};

enum class Finish : std::uint8_t { Complete, CutOff, Refused };

/// As traces and recordings name it.
[[nodiscard]] constexpr std::string_view finish_name(Finish finish) {
  switch (finish) {
    case Finish::Complete:
      return "complete";
    case Finish::CutOff:
      return "cut_off";
    case Finish::Refused:
      break;
  }
  return "refused";
}

/// The model's text, not yet parsed.
struct Answer {
  std::string text;
  Finish finish = Finish::Complete;
  Usage usage;
  std::string model;  ///< the name that the backend reports
  /// Why the answer is cut off, for people; empty: because of its length.
  std::string cut_reason = {};
  /// What a reasoning model has thought, where that is known apart from its text. For people.
  std::string thoughts = {};
};

enum class ModelErrorKind : std::uint8_t {
  Unreachable,  ///< no connection, or cut, also after the retries
  TimedOut,
  Rejected,       ///< the backend refuses the request (HTTP 4xx, a schema it cannot enforce)
  Misconfigured,  ///< it refuses every request until a person changes the key, the model's name, the URL or the account
  Overloaded,     ///< 429 or 5xx, also after the retries
  BadReply,       ///< the backend's reply violates its protocol
  ContextFull,    ///< the prompt does not fit into the model's context
  Cancelled,
  ScriptEnded,  ///< a scripted or recorded model has no answer for this request
};

struct ModelError {
  ModelErrorKind kind = ModelErrorKind::Unreachable;
  std::string message;  ///< for people; contains no key and no address, because a run's hash covers it
  Usage usage;
  /// For people, and not recorded: the host that was asked, empty for models in the process; what else the transport
  /// says, with addresses and times.
  std::string endpoint = {};
  std::string detail = {};
  /// The time that the backend asks to wait before anything is sent again.
  std::optional<std::chrono::milliseconds> retry_after = {};
};

using GenerationOutcome = std::variant<Answer, ModelError>;

/// Chosen by the caller, unique among its generations in progress.
using GenerationId = std::uint64_t;

/// Receives what a model reports; called only from within `Model::start`, `cancel` and `poll`.
class GenerationSink {
 public:
  virtual ~GenerationSink() = default;
  /// A provisional piece of the answer. A piece of a higher attempt invalidates those of earlier attempts.
  virtual void on_text(GenerationId generation, std::uint32_t attempt, std::string_view piece) = 0;
  /// An attempt at sending has failed, `failed` in total, and the next one follows in `wait`.
  virtual void on_attempt_failed(GenerationId /*generation*/, std::uint32_t /*failed*/, std::string_view /*reason*/,
                                 std::chrono::milliseconds /*wait*/) {}
  /// Called exactly once for every started generation, including a cancelled one.
  virtual void on_finished(GenerationId generation, GenerationOutcome outcome) = 0;
};

/// The asynchronous interface of language models. Owned and driven by one thread, which calls `poll` until what it
/// waits for has finished; thousands of generations may be in progress. Only `wake` may be called from elsewhere.
class Model {
 public:
  virtual ~Model() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;
  virtual void start(GenerationId generation, GenerationRequest request, GenerationSink& sink) = 0;
  /// What `start` sends for `request`, for those who show it: without messages that the backend leaves out, and with
  /// the schema that it sends. Nothing if everything is sent as it is.
  [[nodiscard]] virtual std::optional<GenerationRequest> sent_form(const GenerationRequest& /*request*/) const {
    return std::nullopt;
  }
  virtual void cancel(GenerationId generation) = 0;
  /// Does the pending work; if there is none, waits at most `wait` for some.
  virtual void poll(std::chrono::milliseconds wait) = 0;
  /// Requests to elsewhere begin, and are sent again, only while this is true; meanwhile they wait. Set before the
  /// first generation; called on the model's thread.
  virtual void begin_only_while(std::function<bool()> /*may_begin*/) {}
  /// Whether the answers depend on what was asked before, so that a run that continues after a crash has to call
  /// `skip`.
  [[nodiscard]] virtual bool follows_a_script() const { return false; }
  /// The answer to this request is known from a journal: a model that follows a script continues after it.
  virtual void skip(const GenerationRequest& /*request*/) {}
  /// Of a model that follows a script: what was not asked for and probably should have been, for people, such as "2 of
  /// 3 answers for `classify` (line 4)".
  [[nodiscard]] virtual std::vector<std::string> unused_answers() const { return {}; }
  /// Ends a `poll` that waits. From any thread.
  virtual void wake() = 0;
};

}  // namespace tenon::inference
