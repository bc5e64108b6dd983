#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/sha256.h"
#include "json/json.h"
#include "runtime/host/requests/host_input.h"

/// What is to be done with a run, as data: the process that owns the run does it.
namespace tenon::runtime {

/// `wait` may be empty for the only question that the run has asked so far.
struct AnswerQuestion {
  std::string wait;
  Input input;
};

/// Answers that are taken one after the other; the first one that is not taken ends that.
struct AnswerQuestions {
  std::vector<GivenAnswer> answers;
};

/// The models and tools that the run waits for are tried at once.
struct RetryServices {};

struct CancelRun {
  CancelScope scope = CancelScope::Run;
  std::string reason;
};

/// The conversation's next turn begins.
struct PromptAgent {
  Json input;
};

/// Answers a question, or begins the next turn.
struct SayInConversation {
  std::string text;
  SeveralQuestions several = SeveralQuestions::Refuse;
  std::string shown;  ///< the question that the person was shown; may be empty
};

/// The run begins, with the name that it is addressed by.
struct StartRun {
  Hash program;                    ///< the hash of its image (ProgramImage::hash)
  std::string function = {};       ///< empty for an agent
  std::string agent = {};          ///< empty for a function
  Json arguments = {};             ///< as RunStart has them
  std::optional<Json> input = {};  ///< as RunStart has it
  std::string shown_name = {};     ///< as RunStart has it
  std::string pool = {};           ///< as RunOptions has it
  std::string conversation = {};   ///< the key of the note that names the conversation for its client; may be empty
};

using RunAction =
    std::variant<AnswerQuestion, AnswerQuestions, RetryServices, CancelRun, PromptAgent, SayInConversation, StartRun>;

}  // namespace tenon::runtime
