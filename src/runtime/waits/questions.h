#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "runtime/effects/outcomes.h"
#include "runtime/waits/waits.h"

namespace tenon::runtime {

/// Asks people, for the program or for an extern, and gives the answers to the runs.
class Questions {
 public:
  /// All outlive this. `prompter` answers for runs without a store; it may be null.
  Questions(RunTable& runs, Recorder& recorder, RunSecrets& secrets, Outcomes& outcomes, InteractivePrompter* prompter,
            bool answers_come_later)
      : runs_(runs),
        recorder_(recorder),
        secrets_(secrets),
        outcomes_(outcomes),
        prompter_(prompter),
        answers_come_later_(answers_come_later) {}

  /// Whether `answer` accepts any text as it is: a text is expected, or an extern asks. False if nothing waits.
  [[nodiscard]] bool takes_raw_answer(RunId run, std::string_view wait) const;
  /// The answer to a question: text types raw, the rest as JSON. `notes`: become durable together with the answer.
  [[nodiscard]] Result<void, AnswerRefusal> answer(RunId run, std::string_view wait, std::string_view input,
                                                   std::vector<journal::Note> notes);
  /// A run without a store: asks until there is an answer, or no one can give one.
  void ask_interactively(RunId run, const std::string& key);
  /// A call of an extern asks a person. It is made again when there is an answer.
  void pause(RunId run, const std::string& key, std::string question);
  /// A call that is made at most once was started and then dropped, without an outcome: asks what became of it. Without
  /// a store the call fails.
  void settle_cut_off(RunId run, const std::string& key);
  /// Asks what became of a call that a process has begun that does not exist any more.
  void ask_resolution(RunId run, const std::string& key);
  /// The time for an answer is over.
  void time_out(RunId run, const std::string& key);
  /// Whether any run waits for a person's answer.
  [[nodiscard]] bool are_open() const;

 private:
  [[nodiscard]] OpenRequest* find(RunId run, std::string_view wait) const;
  [[nodiscard]] Result<void, AnswerRefusal> answer_extern(RunId run, OpenRequest& open, std::string_view input,
                                                          std::vector<journal::Note> notes);
  [[nodiscard]] Result<void, AnswerRefusal> take_resolution(RunId run, OpenRequest& open, std::string_view input,
                                                            std::vector<journal::Note> notes);

  RunTable& runs_;
  Recorder& recorder_;
  RunSecrets& secrets_;
  Outcomes& outcomes_;
  InteractivePrompter* prompter_;
  const bool answers_come_later_;  ///< also those of runs without a store
};

}  // namespace tenon::runtime
