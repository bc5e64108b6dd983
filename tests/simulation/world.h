#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "bytecode/program.h"
#include "inference/answers/value_reader.h"
#include "inference/model.h"
#include "journal/committer.h"
#include "tests/simulation/ledger.h"
#include "tests/simulation/random.h"
#include "tools/extern_caller.h"

/// The world of a simulated process: time, a model, externs, people. All of it is derived from seeds.
namespace tenon::simulation {

/// Thrown when a simulated process ends, through all frames of its code.
struct ProcessEnd {};

/// Counts all interactions between the runtime and the world, so that a run can be interrupted at each of these
/// moments.
class Moments {
 public:
  enum class What : std::uint8_t { Nothing, EndProcess, Stop };
  void arm(std::uint64_t at, What what) {
    at_ = at;
    what_ = what;
    count_ = 0;
    stop_ = false;
  }
  void pass() {
    if (count_++ != at_ || what_ == What::Nothing) return;
    if (what_ == What::EndProcess) throw ProcessEnd{};
    stop_ = true;
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::atomic<bool>& stop() { return stop_; }

 private:
  std::uint64_t at_ = 0;
  What what_ = What::Nothing;
  std::uint64_t count_ = 0;
  std::atomic<bool> stop_ = false;
};

/// A clock that only advances when the run waits. Survives the process.
class SimulatedClock final : public Clock {
 public:
  explicit SimulatedClock(std::int64_t now_ms = 1'700'000'000'000) : now_ms_(now_ms) {}
  std::chrono::nanoseconds monotonic() override { return std::chrono::milliseconds(now_ms_); }
  std::chrono::system_clock::time_point wall() override {
    return std::chrono::system_clock::time_point(std::chrono::milliseconds(now_ms_));
  }
  void wait(std::chrono::milliseconds time) override { now_ms_ += time.count(); }
  void wait(std::chrono::milliseconds time, const Waker& /*waker*/) override { wait(time); }
  [[nodiscard]] std::int64_t now_ms() const { return now_ms_; }
  void advance_to(std::int64_t ms) { now_ms_ = std::max(now_ms_, ms); }

 private:
  std::int64_t now_ms_;
};

/// How the world behaves.
struct Behaviour {
  std::uint64_t seed = 0;
  bool has_errors = false;      ///< models and externs fail now and then
  bool shuffles = false;        ///< outcomes arrive in any order, not by their delays
  bool repeats = false;         ///< outcomes are reported again, and after a cancellation
  bool varies_answers = false;  ///< the same question is answered differently the next time
};

/// Pending operations, ordered by their time.
template <class Id, class Outcome>
class Pending {
 public:
  void add(Id id, std::int64_t due, Outcome outcome) { pending_.emplace(id, Entry{due, std::move(outcome)}); }
  bool remove(Id id) { return pending_.erase(id) > 0; }
  [[nodiscard]] bool is_empty() const { return pending_.empty(); }
  /// The next one, or a random one.
  [[nodiscard]] std::optional<Id> next(bool any, Random& random) const {
    if (pending_.empty()) return std::nullopt;
    if (any) return std::next(pending_.begin(), static_cast<std::ptrdiff_t>(random.below(pending_.size())))->first;
    auto soonest = pending_.begin();
    for (auto at = pending_.begin(); at != pending_.end(); ++at) {
      if (at->second.due < soonest->second.due) soonest = at;
    }
    return soonest->first;
  }
  [[nodiscard]] std::int64_t due(Id id) const { return pending_.at(id).due; }
  Outcome take(Id id) {
    Outcome outcome = std::move(pending_.at(id).outcome);
    pending_.erase(id);
    return outcome;
  }

 private:
  struct Entry {
    std::int64_t due = 0;
    Outcome outcome;
  };
  std::map<Id, Entry> pending_;
};

/// Returns a value that conforms to the schema, or now and then an invalid answer or an error. Retries requests that
/// fail in transport.
class SimulatedModel final : public inference::Model {
 public:
  /// `life`: the number of the process, on which varying answers depend.
  SimulatedModel(const Behaviour& behaviour, std::uint64_t life, SimulatedClock& clock, Moments& moments);
  [[nodiscard]] std::string_view name() const override { return "simulated"; }
  void start(inference::GenerationId id, inference::GenerationRequest request,
             inference::GenerationSink& sink) override;
  void cancel(inference::GenerationId id) override;
  void poll(std::chrono::milliseconds wait) override;
  void wake() override {}

 private:
  Behaviour behaviour_;
  SimulatedClock& clock_;
  Moments& moments_;
  Random random_;
  std::uint64_t variation_;
  struct Reply {
    inference::GenerationOutcome outcome;
    std::uint32_t failed = 0;    ///< attempts to send
    std::uint32_t failures = 0;  ///< attempts that fail before one succeeds
  };
  Pending<inference::GenerationId, Reply> pending_;
  std::set<std::string> away_;  ///< requests for which it could not be reached once
  inference::GenerationSink* sink_ = nullptr;
};

/// The ledger of a run, by its name. Called when an effect begins.
using LedgerOf = std::function<Ledger&(std::string_view run)>;

/// External functions: their effects survive the process. Each call is reported to the ledger.
class SimulatedExterns final : public tools::ExternCaller {
 public:
  SimulatedExterns(const Behaviour& behaviour, std::uint64_t life, const bytecode::Program& program,
                   SimulatedClock& clock, Moments& moments, LedgerOf ledger_of);
  std::optional<tools::ExternOutcome> start(tools::CallId id, tools::ExternCall call, tools::Placement placement,
                                            tools::ExternSink& sink) override;
  void cancel(tools::CallId id) override;
  void poll(std::chrono::milliseconds wait) override;
  void wake() override {}

 private:
  tools::ExternOutcome outcome_of(const tools::ExternCall& call, const std::string& arguments, Ledger& ledger);

  Behaviour behaviour_;
  const bytecode::Program& program_;
  SimulatedClock& clock_;
  Moments& moments_;
  LedgerOf ledger_of_;
  Random random_;
  std::uint64_t variation_;
  vm::Refinements refinements_;
  inference::answers::ValueReader reader_;
  std::set<std::string> away_;  ///< calls whose service could not be reached once
  Pending<tools::CallId, tools::ExternOutcome> pending_;
  tools::ExternSink* sink_ = nullptr;
};

/// Commits that take time, on the single thread: each is performed when the runtime waits for it, or at some point when
/// it polls.
class SimulatedCommitter final : public journal::Committer {
 public:
  SimulatedCommitter(journal::Store& store, std::uint64_t seed) : store_(store), random_(seed) {}
  void begin(std::span<const journal::Append> appends) override;
  [[nodiscard]] std::optional<journal::CommitOutcome> take() override;
  [[nodiscard]] journal::CommitOutcome finish() override;
  void rest() override;

 private:
  journal::CommitOutcome commit();

  journal::Store& store_;
  Random random_;
  std::optional<std::span<const journal::Append>> wanted_;
  std::optional<journal::CommitOutcome> outcome_;
};

/// A value that conforms to the schema, as JSON.
[[nodiscard]] std::string make_json(const std::string& schema, Random& random);
/// A person's answer to a question: a string as it is, all other values as JSON.
[[nodiscard]] std::string make_answer(const std::string& schema, Random& random);

}  // namespace tenon::simulation
