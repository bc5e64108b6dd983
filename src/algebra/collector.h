#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "algebra/artifacts.h"
#include "algebra/call_sites.h"
#include "effects/effect.h"
#include "runtime/run_core.h"

namespace tenon::vm {
struct Fiber;
struct Frame;
}  // namespace tenon::vm

namespace tenon::algebra {

/// What a model was sent for a call.
struct Prompt {
  effects::EffectKind kind = effects::EffectKind::Complete;
  Hash request;  ///< effects::DescribedRequest::identity
  Hash context;
};

/// A call that is being assembled.
struct Call {
  std::uint32_t tool = 0;
  std::uint32_t alternative = 0;
  std::string at;
  std::optional<std::uint32_t> parent;  ///< the call of the algebra within which this one was made
  std::uint32_t depth = 0;              ///< how many such calls are around it
  std::vector<std::string> arguments;   ///< as in Query
  CallTypes types;
  std::vector<Prompt> prompts;
  std::vector<Pause> pauses;
  bool is_handoff = false;  ///< to an agent that takes over the rest of the turn
  CallResult result;
  std::optional<std::string> refusal;  ///< of a model's answer that violates a contract: the reasons, as JSON
  CallOrigin origin;                   ///< if labels are kept
};

/// The role of a request in its call.
struct CallRequest {
  static constexpr std::uint32_t no_call = UINT32_MAX;
  std::uint32_t call =
      no_call;  ///< index into Collector::calls; none for requests that the compiler adds to an agent's call
  effects::EffectKind kind = effects::EffectKind::Extern;
};

/// Observes a machine that is fed from a journal or from artifacts, and assembles its calls: one call for each call
/// of a tool, whether one request belongs to it (an extern), two (the model fills an extern's arguments) or none (a
/// completed function that has returned by itself). The name of a call does not depend on the order of the outcomes.
class Collector final : public vm::Observer {
 public:
  /// All three outlive the collector.
  Collector(const CallSites& sites, const runtime::ProgramImage& image) : sites_(sites), image_(image) {}

  enum class Labels : bool { Dropped, Kept };
  void keep_labels() { labels_ = Labels::Kept; }
  /// Before the first instruction.
  void begin(runtime::RunCore& core);
  /// The function that the machine started with: an index into Program::functions.
  [[nodiscard]] std::uint32_t function() const { return function_; }
  /// All branches wait: adds the new requests.
  void take_requests(runtime::RunCore& core);
  /// Before an open request gets this outcome.
  void take_outcome(const runtime::RunCore& core, const std::string& key, const effects::OutcomeForm& outcome);
  /// After the last outcome: calls without a result that is still needed are discarded.
  enum class RunState : std::uint8_t { Waits, Ended };
  void finish(const runtime::RunCore& core, RunState state);

  /// All questions that were asked before a request's outcome.
  void set_pauses(std::uint32_t call, std::vector<Pause> pauses) { calls_[call].pauses = std::move(pauses); }

  [[nodiscard]] const std::vector<Call>& calls() const { return calls_; }
  /// In the order of the program.
  [[nodiscard]] std::vector<std::uint32_t> order() const;
  [[nodiscard]] const std::map<Hash, ContextEntry>& contexts() const { return contexts_; }
  /// Whether requests identify all that a model was sent. Programs that were recorded without some prompt templates do
  /// not have them, so their requests are not part of the artifacts.
  [[nodiscard]] bool identifies_requests() const {
    return image_.prompts().templates().is_recorded(inference::prompting::TemplateKind::Ensures);
  }
  /// What agents have emitted, in the order of the program: JSON texts.
  [[nodiscard]] std::vector<std::string> said() const;
  /// The request with that key, if it was added.
  [[nodiscard]] const CallRequest* find(const std::string& key) const;
  /// The key of the open request that gets its outcome before all else: a notification, which has no answer. Nothing
  /// if there is none.
  [[nodiscard]] std::optional<std::string> find_notification(const runtime::RunCore& core) const;

  void on_call(std::string_view branch, std::uint32_t function, std::span<const vm::Value> arguments) override;
  void on_return(std::string_view branch, std::uint32_t function, const vm::Value& value) override;
  void on_unwind(std::string_view branch, std::uint32_t function, const vm::Value& failure) override;
  void on_abandon(std::string_view branch, std::uint32_t function) override;

 private:
  struct Branch;
  /// A block's branches by number.
  using Block = std::map<std::uint32_t, Branch*>;
  /// An item of a branch: a call, or a block.
  struct Item {
    std::uint32_t call = 0;
    std::optional<std::uint64_t> block;  ///< its ordinal among the machine's; then it is not a call
  };
  struct OpenCall {
    std::uint32_t call = 0;
    std::uint32_t depth = 0;  ///< the frame's number in its branch
  };
  /// The model has answered, the call has not been made yet.
  struct AwaitedCall {
    std::uint32_t call = 0;
    std::uint32_t depth = 0;
    std::uint32_t pc = 0;
    std::optional<std::uint32_t> function = std::nullopt;  ///< in which the pc is; none: in that of the request
  };
  /// A text that was emitted after so many items of the branch.
  struct SaidText {
    std::size_t items = 0;
    std::string text;
  };
  struct Branch {
    std::string key;   ///< the machine's
    std::string name;  ///< of the algebra: the prefix of its calls' names, with the dot; empty at the root
    std::optional<std::uint32_t> parent;  ///< the call around the block
    std::uint32_t depth = 1;              ///< frames
    std::vector<Item> items;
    std::map<std::uint64_t, Block> blocks;
    std::vector<OpenCall> open;
    std::vector<AwaitedCall> awaited;
    std::vector<SaidText> said;
  };

  Branch& branch(std::string_view key);
  std::uint32_t add_call(Branch& branch, std::uint32_t tool);
  /// The awaited call at which the branch's frame of that depth is.
  std::optional<std::uint32_t> take_awaited(Branch& branch, const vm::Frame& caller);
  void leave(Branch& branch, CallResult result);
  void add_context(const vm::Value& context);
  [[nodiscard]] std::string write(const vm::Value& value, types::TypeId type);
  [[nodiscard]] std::string origin_of(std::span<const vm::Value> values) const;
  [[nodiscard]] std::string origin_of_outcome(const vm::Request& request) const;
  void take_request(const std::string& key, const runtime::OpenRequest& open);
  void add_prompt(std::uint32_t call, const runtime::OpenRequest& open);
  void append_order(const Branch& branch, std::vector<std::uint32_t>& order) const;
  void append_said(const Branch& branch, std::vector<std::string>& said) const;
  [[nodiscard]] const vm::Fiber& fiber(std::string_view key) const;

  const CallSites& sites_;
  const runtime::ProgramImage& image_;
  Labels labels_ = Labels::Dropped;
  const vm::MachineState* state_ = nullptr;
  std::uint32_t function_ = 0;
  std::vector<Call> calls_;
  std::map<Hash, ContextEntry> contexts_;
  std::unordered_map<std::string, CallRequest> requests_;
  std::unordered_map<std::string, std::unique_ptr<Branch>> branches_;
  Branch* newest_ = nullptr;  ///< the newest one that was looked up
};

}  // namespace tenon::algebra
