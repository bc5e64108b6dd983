#include "inference/llama_cpp/prompt.h"

#include <fmt/format.h>
#include <llama.h>

#include <optional>

#include "base/ensure.h"

namespace tenon::inference::llama_cpp {
namespace {

/// Texts and their tokens that are remembered, in bytes of text.
constexpr std::size_t remembered_bytes_max = 4U << 20U;

/// A placeholder for a message while the chat template is applied. No template contains the control character.
std::string make_placeholder(std::size_t index) {
  return fmt::format("\x1d{}\x1d", index);
}

std::optional<std::string> apply_template(const std::string& chat_template, std::span<const Message> messages) {
  std::vector<std::string> placeholders;
  for (std::size_t i = 0; i < messages.size(); ++i) placeholders.push_back(make_placeholder(i));
  std::vector<llama_chat_message> chat;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    chat.push_back({role_name(messages[i].role).data(), placeholders[i].c_str()});
  }
  std::string text(256 + 256 * messages.size(), '\0');
  for (int attempt = 0; attempt < 2; ++attempt) {
    const std::int32_t size =
        llama_chat_apply_template(chat_template.c_str(), chat.data(), chat.size(), /*add_ass=*/true, text.data(),
                                  static_cast<std::int32_t>(text.size()));
    if (size < 0) return std::nullopt;
    const bool complete = static_cast<std::size_t>(size) <= text.size();
    text.resize(static_cast<std::size_t>(size));
    if (complete) return text;
  }
  return std::nullopt;
}

}  // namespace

Result<PromptTokenizer, PromptError> PromptTokenizer::open(const Vocabulary& vocabulary, PromptFrame frame) {
  if (frame.kind == PromptFrame::Kind::ChatTemplate) {
    const std::vector<Message> probe{{.role = Role::User, .text = "", .entry_ends = {}}};
    if (!apply_template(frame.chat_template, probe)) {
      return failure(PromptError{.message = "llama.cpp does not support the model's chat template. Choose one that "
                                            "is close to it by name, for example "
                                            "`chatml`, or the raw mode."});
    }
  }
  return PromptTokenizer(vocabulary, std::move(frame));
}

Result<std::vector<std::string>, PromptError> PromptTokenizer::frame_messages(std::span<const Message> messages) const {
  std::vector<std::string> pieces;
  if (frame_.kind == PromptFrame::Kind::Raw) {
    pieces.push_back(frame_.raw.examples);
    bool answered = true;  // the examples end with an answer
    for (const Message& message : messages) {
      std::string& before = pieces.back();
      switch (message.role) {
        case Role::System:
          pieces.emplace_back("\n\n");
          break;
        case Role::User:
          if (!answered) before += frame_.raw.after_answer;
          before += frame_.raw.before_user;
          pieces.emplace_back(frame_.raw.before_answer);
          answered = false;
          break;
        case Role::Assistant:
          if (answered) before += frame_.raw.before_answer;
          pieces.emplace_back(frame_.raw.after_answer);
          answered = true;
          break;
      }
    }
    if (answered) pieces.back() += frame_.raw.before_answer;
    return pieces;
  }
  const std::optional<std::string> text = apply_template(frame_.chat_template, messages);
  if (!text) return failure(PromptError{.message = "The model's chat template cannot be applied to these messages."});
  std::size_t begin = 0;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const std::string placeholder = make_placeholder(i);
    const std::size_t place = text->find(placeholder, begin);
    if (place == std::string::npos) {
      return failure(PromptError{
          .message = fmt::format("The model's chat template has no place for message {} of {}, whose role is `{}`.",
                                 i + 1, messages.size(), role_name(messages[i].role))});
    }
    pieces.push_back(text->substr(begin, place - begin));
    begin = place + placeholder.size();
  }
  pieces.push_back(text->substr(begin));
  return pieces;
}

void PromptTokenizer::append_text(std::string_view text, std::vector<Token>& tokens) {
  if (text.empty()) return;
  auto found = remembered_by_text_.find(text);
  if (found == remembered_by_text_.end()) {
    if (text.size() > remembered_bytes_max) {
      const std::vector<Token> once = vocabulary_->tokenize_text(text);
      tokens.insert(tokens.end(), once.begin(), once.end());
      return;
    }
    remembered_.push_front({std::string(text), vocabulary_->tokenize_text(text)});
    found = remembered_by_text_.emplace(remembered_.front().text, remembered_.begin()).first;
    remembered_bytes_ += text.size();
    while (remembered_bytes_ > remembered_bytes_max) {
      remembered_bytes_ -= remembered_.back().text.size();
      remembered_by_text_.erase(remembered_.back().text);
      remembered_.pop_back();
    }
  } else {
    remembered_.splice(remembered_.begin(), remembered_, found->second);
  }
  const std::vector<Token>& known = remembered_.front().tokens;
  tokens.insert(tokens.end(), known.begin(), known.end());
}

void PromptTokenizer::append_message(const Message& message, std::vector<Token>& tokens) {
  const std::string_view text = message.text;
  std::size_t begin = 0;
  const auto append_entry = [&](std::size_t end) {
    std::string_view entry = text.substr(begin, end - begin);
    const bool closed = entry.ends_with('\n');
    if (closed) entry.remove_suffix(1);
    append_text(entry, tokens);
    if (closed) append_text("\n", tokens);
    begin = end;
  };
  for (const std::uint32_t end : message.entry_ends) {
    if (end > begin && end <= text.size()) append_entry(end);
  }
  append_entry(text.size());
}

Result<std::vector<Token>, PromptError> PromptTokenizer::tokenize(std::span<const Message> messages,
                                                                  std::uint32_t tokens_max) {
  std::size_t bytes = 0;
  for (const Message& message : messages) bytes += message.text.size();
  const std::size_t tokens_at_least = bytes / vocabulary_->token_bytes_max();
  if (tokens_at_least > tokens_max) {
    return failure(
        PromptError{.kind = ModelErrorKind::ContextFull,
                    .message = fmt::format("The prompt has {} bytes, at least {} tokens; the context has room for {}.",
                                           bytes, tokens_at_least, tokens_max)});
  }
  const auto pieces = frame_messages(messages);
  if (!pieces) return failure(pieces.error());
  std::vector<Token> tokens;
  const auto append_frame = [&](const std::string& piece) {
    const std::vector<Token> own = frame_.kind == PromptFrame::Kind::Raw ? vocabulary_->tokenize_text(piece)
                                                                         : vocabulary_->tokenize_template(piece);
    tokens.insert(tokens.end(), own.begin(), own.end());
  };
  append_frame(pieces->front());
  const std::span<const Token> begin = vocabulary_->prompt_begin();
  if (!begin.empty() && (tokens.empty() || tokens.front() != begin.front())) {
    tokens.insert(tokens.begin(), begin.begin(), begin.end());
  }
  for (std::size_t i = 0; i < messages.size(); ++i) {
    append_message(messages[i], tokens);
    append_frame((*pieces)[i + 1]);
  }
  return tokens;
}

}  // namespace tenon::inference::llama_cpp
