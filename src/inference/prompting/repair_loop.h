#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "inference/answers/answer_reader.h"
#include "inference/answers/value_reader.h"
#include "inference/model.h"
#include "inference/prompting/site_prompts.h"
#include "types/type_table.h"

namespace tenon::inference::prompting {

/// How often a model is told what was wrong and asked again, when nobody says otherwise.
inline constexpr std::uint32_t default_repairs_max = 2;
/// What of an answer that cannot be used is sent back, and what of it a failure shows; in bytes.
inline constexpr std::size_t repaired_answer_bytes_max = 16U * 1024U;
inline constexpr std::size_t shown_answer_bytes_max = 500;

/// No usable answer came.
struct AnswerFailure {
  types::FailureKind kind = types::FailureKind::ModelUnusable;  ///< or ModelRefused, ModelCutOff
  std::string message;  ///< for people, several lines: each answer, cut, and what was wrong with it
};

/// The talk about one generation until its answer can be used: a pure state machine, which the runtime drives. Each
/// answer that cannot be used goes back to the model as its own message, behind it a note of what was wrong; the
/// context stays as it is. A refusal and an answer that was cut off at its length end the talk at once: saying the same
/// again would not help.
class RepairLoop {
 public:
  /// `prompts` and `reader` outlive this. `request` is what make_request gave for `site`.
  RepairLoop(const SitePrompts& prompts, const answers::ValueReader& reader, CompletionSite site,
             GenerationRequest request, std::uint32_t repairs_max = default_repairs_max);

  /// What is to be sent now: at first the request itself, then with the talk behind it.
  [[nodiscard]] const GenerationRequest& request() const { return request_; }
  [[nodiscard]] std::uint32_t repairs() const { return static_cast<std::uint32_t>(attempts_.size()); }

  /// Ask again with `request()`.
  struct AskAgain {};
  using Step = std::variant<answers::AnswerValues, AskAgain, AnswerFailure>;
  /// Takes the answer to `request()`. After a value or a failure the talk is over.
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
