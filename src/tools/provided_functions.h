#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "inference/answers/value_reader.h"
#include "tools/extern_caller.h"

namespace tenon::tools {

/// The result of a call as JSON of the declared type, or why there is none.
using ProvidedResult = Result<std::string, std::string>;

/// A call of an extern that the embedding program performs.
struct ProvidedCall {
  std::string arguments;  ///< a JSON array
  std::string key;        ///< the effect's key, the same if the call is repeated; empty for a run without a store
  /// Set when the result is no longer needed.
  std::shared_ptr<const std::atomic<bool>> is_cancelled;
  /// Ends the call. Called once, from any thread, during the function or at any time after it.
  std::function<void(ProvidedResult result)> finish;
};
/// Starts a call, on the thread that runs the program, without waiting.
using ProvidedFunction = std::function<void(ProvidedCall call)>;
/// By the names of the externs.
using ProvidedFunctionMap = std::map<std::string, ProvidedFunction, std::less<>>;

/// Calls the externs that the embedding program provides (BindingKind::Provided), and passes the others on.
class ProvidedFunctions final : public ExternCaller {
 public:
  /// `next`: for the other externs. `notify`: called on any thread when a call was finished, so that an owner who waits
  /// elsewhere can `poll`; may be empty.
  ProvidedFunctions(ProvidedFunctionMap functions, std::unique_ptr<ExternCaller> next, std::function<void()> notify);
  ~ProvidedFunctions() override;
  ProvidedFunctions(const ProvidedFunctions&) = delete;
  ProvidedFunctions& operator=(const ProvidedFunctions&) = delete;

  [[nodiscard]] std::optional<ExternOutcome> start(CallId id, ExternCall call, Placement placement,
                                                   ExternSink& sink) override;
  void cancel(CallId id) override;
  void poll(std::chrono::milliseconds wait) override;
  void wake() override { next_->wake(); }

 private:
  struct Finished;
  struct Pending {
    std::uint64_t number = 0;  ///< of the call; ids are reused
    std::shared_ptr<const ExternTable> table;
    std::uint32_t subject = 0;
    ExternSink* sink = nullptr;
    std::shared_ptr<std::atomic<bool>> is_cancelled;
  };

  [[nodiscard]] ExternOutcome read(const Pending& call, const ProvidedResult& result);

  const ProvidedFunctionMap functions_;
  std::unique_ptr<ExternCaller> next_;
  std::shared_ptr<Finished> finished_;  ///< shared with calls that end after this has
  std::uint64_t next_number_ = 1;
  std::unordered_map<CallId, Pending> pending_;
};

}  // namespace tenon::tools
