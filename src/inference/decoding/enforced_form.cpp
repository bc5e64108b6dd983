#include "inference/decoding/enforced_form.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "base/ensure.h"
#include "inference/decoding/constraint.h"

namespace tenon::inference::decoding {
namespace {

/// The 256 bytes and an end: whether a pattern is supported does not depend on the vocabulary.
Vocabulary make_byte_vocabulary() {
  Vocabulary bytes;
  for (int byte = 0; byte < 256; ++byte) bytes.tokens.emplace_back(1, static_cast<char>(byte));
  bytes.end = static_cast<Token>(bytes.tokens.size());
  bytes.tokens.emplace_back("\xff<end>");
  bytes.tokenize = [](std::string_view text) {
    std::vector<Token> tokens;
    for (const char character : text) tokens.push_back(static_cast<unsigned char>(character));
    return tokens;
  };
  return bytes;
}

class SupportedPatterns {
 public:
  bool contains(const std::string& pattern) {
    const std::lock_guard lock(mutex_);
    const auto known = known_.find(pattern);
    if (known != known_.end()) return known->second;
    if (compiler_ == nullptr) {
      auto opened = ConstraintCompiler::open(make_byte_vocabulary());
      ENSURE(opened.has_value());
      compiler_ = std::move(*opened);
    }
    if (known_.size() >= known_max) known_.clear();
    return known_.emplace(pattern, compiler_->supports(pattern)).first->second;
  }

 private:
  static constexpr std::size_t known_max = 4096;

  std::mutex mutex_;
  std::unique_ptr<ConstraintCompiler> compiler_;
  std::map<std::string, bool> known_;
};

}  // namespace

bool enforces(const TextForm& form) {
  static SupportedPatterns supported;
  return std::ranges::all_of(form.patterns, [](const std::string& pattern) { return supported.contains(pattern); });
}

std::optional<GenerationRequest> without_enforced_form(const GenerationRequest& request) {
  if (request.text_form != nullptr && !enforces(*request.text_form)) return std::nullopt;
  return without_form(request);
}

}  // namespace tenon::inference::decoding
