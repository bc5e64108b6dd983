#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algebra/artifacts.h"
#include "base/result.h"
#include "journal/store.h"
#include "runtime/recovery/recovery.h"

/// What a recorded run did about trust (docs/language/23-trust.md): why each call that acts was made or refused.
namespace tenon::algebra {

/// Values are plain JSON, as events have them. Sources are as vm::describe names them. Places are
/// FILE:LINE:COLUMN. Numbers of records are 0 where there is none.
struct TrustStep {
  enum class Kind : std::uint8_t {
    Call,      ///< a call of an extern that acts was made
    Refused,   ///< such a call, or a value that must be trusted, was refused
    Narrow,    ///< a model was asked for a narrow answer
    Spent,     ///< it was not, because its budget had too few bits left
    Endorsed,  ///< the program answers for a value
    Approval,  ///< a person was asked to approve of a value or a call
  };
  /// What has become of a question to a person, or a request.
  enum class Outcome : std::uint8_t {
    None,      ///< there is none yet
    Done,      ///< Approval: the value as it was shown
    Changed,   ///< Approval: another value
    Declined,  ///< Approval: no
    Failed,
    Dropped,  ///< there will be none: its branch, or the run, has ended
  };
  struct Value {
    std::string name;  ///< of the parameter; empty for a value that has none
    std::string value;
    std::vector<std::string> sources;
  };
  /// Where something that is not trusted has come in for the last time before.
  struct Origin {
    std::string source;
    std::string place;
    std::uint64_t record = 0;
  };
  /// How it came to what it decides (flows::Step).
  struct Way {
    std::string place;
    std::string kind;
    std::string text;
  };

  Kind kind = Kind::Call;
  std::uint64_t turn = 0;  ///< of a conversation, from 1
  std::string place;
  std::uint64_t requested = 0;  ///< the record of the request
  /// What `tenon fork --at` takes: the record of the outcome; of a refusal its own; otherwise the newest one before.
  std::uint64_t record = 0;
  std::string name;           ///< the extern that is called; the function whose answer or value it is
  std::vector<Value> values;  ///< Call, Refused: those that must be trusted; Endorsed, Approval: the value
  /// Call: what its trusted arguments and its being made depend on. Refused: what of that is not trusted. Narrow,
  /// Approval: what is before the eyes of who answers.
  std::vector<std::string> sources;
  std::vector<std::string> allowed;  ///< Call: as effects::Requested has it
  std::string text;                  ///< Refused: what must be trusted; Endorsed: why; Approval: the question
  Outcome outcome = Outcome::None;
  std::string answer;         ///< Narrow: the answer; Approval: the other value; Failed: the message
  bool is_of_call = false;    ///< Approval: `else approve`
  std::uint64_t bits = 0;     ///< Narrow, Spent: of the answer
  std::size_t budget = 0;     ///< Narrow, Spent: index into TrustSteps::budgets
  std::uint64_t spent = 0;    ///< Narrow: of the budget with this answer; Spent: without it
  std::uint64_t times = 1;    ///< Refused: one after another
  std::vector<Origin> from;   ///< Refused, Approval of a call: of what is not trusted
  std::vector<Way> way = {};  ///< Refused, Approval of a call: a short one, as the program's code has it
};

/// Bits that a budget allows, each time that it is entered.
struct BitBudget {
  std::string place;  ///< of the `budget`; empty: the run's own, or the turn's
  std::uint64_t turn = 0;
  std::uint64_t allowed = 0;
  std::uint64_t spent = 0;
};

struct TrustSteps {
  std::string run;
  bool has_sinks = false;  ///< whether a program of the run has anything that must be trusted
  std::vector<TrustStep> steps;
  std::vector<BitBudget> budgets;  ///< those that bits were charged to
};

/// Feeds the run's journal to its program again; nothing is performed. In the order in which it happened; of what
/// branches do at the same time, requests come last. Fails as runtime::recover does.
[[nodiscard]] Result<TrustSteps, AlgebraError> find_trust_steps(journal::Store& store, const journal::RunName& run,
                                                                const runtime::ImageSource& images);

/// For people.
[[nodiscard]] std::string draw_trust_steps(const TrustSteps& found);
/// docs/guides/recorded_runs.md has the form.
[[nodiscard]] std::string write_trust_steps(const TrustSteps& found);

}  // namespace tenon::algebra
