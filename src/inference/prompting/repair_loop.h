#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "inference/answers/answer_reader.h"
#include "inference/answers/value_reader.h"
#include "inference/model.h"
#include "inference/prompting/site_prompts.h"
#include "types/table/type_table.h"

namespace tenon::inference::prompting {

/// How often an invalid answer is returned to the model with the reasons, by default.
inline constexpr std::uint32_t default_repairs_max = 2;
/// How much of an invalid answer is sent back, and how much of it a failure shows; in bytes.
inline constexpr std::size_t repaired_answer_bytes_max = 16U * 1024U;
inline constexpr std::size_t shown_answer_bytes_max = 500;

/// There was no usable answer.
struct AnswerFailure {
  types::FailureKind kind = types::FailureKind::ModelUnusable;  ///< or ModelRefused, ModelCutOff
  std::string message;  ///< for people, several lines: each answer, cut, and what was wrong with it
};

/// Repeats one generation until its answer can be used: a pure state machine, which the runtime drives. Each invalid
/// answer is sent back to the model as a message, followed by a note with the reasons; the context does not change. A
/// refusal and an answer that was cut off at its length end the loop at once: asking the same again would not help.
class RepairLoop {
 public:
  /// `prompts` and `reader` outlive this. `request` is what make_request gave for `site`.
  RepairLoop(const SitePrompts& prompts, const answers::ValueReader& reader, CompletionSite site,
             GenerationRequest request, std::uint32_t repairs_max = default_repairs_max);

  /// The request to send now: at first the original one, then with the invalid answers and the notes after it.
  [[nodiscard]] const GenerationRequest& request() const { return request_; }
  [[nodiscard]] std::uint32_t repairs() const { return static_cast<std::uint32_t>(attempts_.size()); }

  /// Ask again with `request()`.
  struct AskAgain {};
  using Step = std::variant<answers::AnswerValues, AskAgain, AnswerFailure>;
  /// Reads the answer to `request()`. After a value or a failure the loop is over.
  [[nodiscard]] Step on_answer(const Answer& answer);

 private:
  struct Attempt {
    std::string shown;
    std::vector<std::string> problems;
  };

  [[nodiscard]] AnswerFailure fail(types::FailureKind kind, std::string_view what) const;

  const SitePrompts& prompts_;
  const answers::ValueReader& reader_;
  CompletionSite site_;
  GenerationRequest request_;
  std::uint32_t repairs_max_;
  std::vector<Attempt> attempts_;
};

}  // namespace tenon::inference::prompting
