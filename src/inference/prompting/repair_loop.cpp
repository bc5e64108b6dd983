#include "inference/prompting/repair_loop.h"

#include <fmt/format.h>

#include <utility>

#include "base/counted.h"
#include "base/utf8.h"
#include "json/text.h"

namespace tenon::inference::prompting {
namespace {

std::string show(std::string_view text) {
  const std::size_t valid = find_invalid_utf8(text);
  const std::string_view shown = cut_utf8(text.substr(0, valid), shown_answer_bytes_max);
  return make_json_string(shown) + (shown.size() < text.size() ? fmt::format("… ({} bytes)", text.size()) : "");
}

}  // namespace

RepairLoop::RepairLoop(const SitePrompts& prompts, const answers::ValueReader& reader, CompletionSite site,
                       GenerationRequest request, std::uint32_t repairs_max)
    : prompts_(prompts),
      reader_(reader),
      site_(std::move(site)),
      request_(std::move(request)),
      repairs_max_(repairs_max) {}

RepairLoop::Step RepairLoop::on_answer(const Answer& answer) {
  switch (answer.finish) {
    case Finish::Complete:
      break;
    case Finish::CutOff:
      attempts_.push_back(
          {show(answer.text),
           {answer.cut_reason.empty() ? "cut off after " + counted(request_.sampling.tokens_max, "token")
                                      : answer.cut_reason}});
      return fail(types::FailureKind::ModelCutOff, "was cut off");
    case Finish::Refused:
      attempts_.push_back({show(answer.text), {"a refusal"}});
      return fail(types::FailureKind::ModelRefused, "was refused by the model");
  }
  Result<answers::AnswerValues, answers::AnswerProblems> values =
      answers::read_answer(reader_, *prompts_.shape(site_), answer.text, prompts_.program().messages);
  if (values) return std::move(*values);
  attempts_.push_back({show(answer.text), values.error()});
  if (attempts_.size() > repairs_max_) return fail(types::FailureKind::ModelUnusable, "cannot be used");
  const std::size_t valid = find_invalid_utf8(answer.text);
  const std::string_view said = cut_utf8(std::string_view(answer.text).substr(0, valid), repaired_answer_bytes_max);
  // A message without text is one that some providers refuse.
  if (!said.empty()) request_.messages.push_back({Role::Assistant, std::string(said), {}});
  request_.messages.push_back({Role::User, prompts_.make_repair_note(site_, values.error()), {}});
  return AskAgain{};
}

AnswerFailure RepairLoop::fail(types::FailureKind kind, std::string_view what) const {
  std::string message = fmt::format("the answer for `{}` {}", request_.label, what);
  if (attempts_.size() > 1)
    message += fmt::format(", even after {} repair{}", attempts_.size() - 1, attempts_.size() == 2 ? "" : "s");
  for (const Attempt& attempt : attempts_) {
    message += "\n  " + attempt.shown;
    for (const std::string& problem : attempt.problems) message += "\n    " + problem;
  }
  return {kind, std::move(message)};
}

}  // namespace tenon::inference::prompting
