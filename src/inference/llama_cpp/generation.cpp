#include "inference/llama_cpp/generation.h"

#include <algorithm>
#include <utility>

#include "base/ensure.h"
#include "inference/llama_cpp/sampler.h"

namespace tenon::inference::llama_cpp {
namespace {

/// How many bytes at the end of `text` are a beginning of `stop`.
std::size_t measure_begun_stop(std::string_view text, std::string_view stop) {
  for (std::size_t size = std::min(text.size(), stop.empty() ? 0 : stop.size() - 1); size > 0; --size) {
    if (text.ends_with(stop.substr(0, size))) return size;
  }
  return 0;
}

}  // namespace

Generation::Generation(GenerationId generation_id, GenerationRequest generation_request,
                       GenerationSink& generation_sink, std::chrono::steady_clock::time_point now)
    : id(generation_id), request(std::move(generation_request)), sink(&generation_sink), started_at(now) {}

Result<void, decoding::DecodingError> Generation::prepare(const Vocabulary& vocabulary, std::vector<Token> prompt,
                                                          std::optional<decoding::Constraint> constraint,
                                                          std::string_view stop, std::uint32_t path_tokens_max) {
  vocabulary_ = &vocabulary;
  constraint_ = std::move(constraint);
  stop_ = stop;
  path_ = std::move(prompt);
  path_tokens_max_ = path_tokens_max;
  usage.prompt = static_cast<std::uint32_t>(path_.size());
  if (request.sampling.tokens_max == 0) end(Finish::CutOff);
  auto forced = append_forced();
  first_choice_at_ = static_cast<std::uint32_t>(path_.size());
  return forced;
}

std::uint32_t Generation::tokens_left() const {
  const auto path = static_cast<std::uint32_t>(path_.size());
  return std::min(path_tokens_max_ - std::min(path, path_tokens_max_), request.sampling.tokens_max - usage.generated);
}

void Generation::end(Finish finish) {
  if (finish_) return;
  finish_ = finish;
  text_ += assembler_.finish();
}

void Generation::append(Token token, Origin origin) {
  if (finish_) return;
  if (vocabulary_->is_end(token)) {
    end(Finish::Complete);
    return;
  }
  path_.push_back(token);
  ++usage.generated;
  if (origin == Origin::Forced) ++usage.forced;
  const std::size_t before = text_.size();
  text_ += assembler_.append(vocabulary_->bytes_of(token));
  if (!stop_.empty()) {
    const std::size_t from = before - std::min(before, stop_.size() - 1);
    if (const std::size_t at = text_.find(stop_, from); at != std::string::npos) {
      text_.resize(at);
      end(Finish::Complete);
    }
  }
}

Result<void, decoding::DecodingError> Generation::append_forced() {
  if (!constraint_) return {};
  while (!finish_) {
    if (constraint_->has_ended()) {
      end(Finish::Complete);
      break;
    }
    const auto forced = constraint_->compute_forced();
    if (!forced) return failure(forced.error());
    if (forced->empty()) break;
    if (auto accepted = constraint_->accept(*forced); !accepted) return accepted;
    for (const Token token : *forced) {
      if (!vocabulary_->is_end(token) && tokens_left() == 0) end(Finish::CutOff);
      append(token, Origin::Forced);
    }
  }
  if (!finish_ && tokens_left() == 0) end(Finish::CutOff);
  return {};
}

Result<void, decoding::DecodingError> Generation::advance(std::span<const float> logits) {
  ENSURE(!finish_);
  std::span<const std::uint32_t> mask = vocabulary_->plain_text_mask();
  if (constraint_) {
    const auto computed = constraint_->compute_mask();
    if (!computed) return failure(computed.error());
    mask = *computed;
  }
  const std::optional<Token> token = sample(logits, mask, request.sampling, usage.generated);
  if (!token) return failure(decoding::DecodingError{"no token of the model's vocabulary can continue the answer"});
  append(*token, Origin::Chosen);
  if (!constraint_) {
    if (!finish_ && tokens_left() == 0) end(Finish::CutOff);
    return {};
  }
  if (finish_) return {};
  const Token chosen = *token;
  if (auto accepted = constraint_->accept({&chosen, 1}); !accepted) return accepted;
  return append_forced();
}

std::string Generation::take_new_text() {
  const std::size_t held_back = finish_ ? 0 : measure_begun_stop(text_, stop_);
  const std::size_t end = text_.size() - held_back;
  if (end <= text_taken_) return {};
  std::string text = text_.substr(text_taken_, end - text_taken_);
  text_taken_ = end;
  return text;
}

}  // namespace tenon::inference::llama_cpp
