#include "inference/openai_http/chat_reply.h"

#include <algorithm>
#include <array>
#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/src.hpp>  // the library itself: only here is it used
#include <cmath>
#include <limits>

namespace tenon::inference {
namespace {

/// Lists and objects within each other; a reply that nests deeper is not read.
constexpr std::size_t reply_depth_max = 1'000;

/// Where in the document the reader is. `Other` is everything that is skipped.
enum class Place : std::uint8_t {
  Outside,
  Top,
  Choices,
  Choice,
  Message,
  Parts,
  Part,
  ToolCalls,
  Usage,
  PromptDetails,
  Error,
  Other
};

enum class Field : std::uint8_t {
  None,
  Model,
  Choices,
  Usage,
  Error,
  ErrorText,
  Message,
  FinishReason,
  Content,
  Refusal,
  ToolCalls,
  Text,
  PromptTokens,
  CompletionTokens,
  PromptDetails,
  CachedTokens,
  ErrorMessage,
  ErrorType,
  ErrorCode,
  ErrorParam
};

struct NamedField {
  Place place;
  std::string_view key;
  Field field;
};

/// `delta` is what a chunk calls its piece of a message; `detail` and a `message` at the top are the error texts of
/// servers that have no error object.
constexpr std::array named_fields = {
    NamedField{Place::Top, "choices", Field::Choices},
    NamedField{Place::Top, "model", Field::Model},
    NamedField{Place::Top, "usage", Field::Usage},
    NamedField{Place::Top, "error", Field::Error},
    NamedField{Place::Top, "message", Field::ErrorText},
    NamedField{Place::Top, "detail", Field::ErrorText},
    NamedField{Place::Choice, "message", Field::Message},
    NamedField{Place::Choice, "delta", Field::Message},
    NamedField{Place::Choice, "finish_reason", Field::FinishReason},
    NamedField{Place::Message, "content", Field::Content},
    NamedField{Place::Message, "refusal", Field::Refusal},
    NamedField{Place::Message, "tool_calls", Field::ToolCalls},
    NamedField{Place::Message, "function_call", Field::ToolCalls},
    NamedField{Place::Part, "text", Field::Text},
    NamedField{Place::Part, "refusal", Field::Refusal},
    NamedField{Place::Usage, "prompt_tokens", Field::PromptTokens},
    NamedField{Place::Usage, "completion_tokens", Field::CompletionTokens},
    NamedField{Place::Usage, "prompt_tokens_details", Field::PromptDetails},
    NamedField{Place::PromptDetails, "cached_tokens", Field::CachedTokens},
    NamedField{Place::Error, "message", Field::ErrorMessage},
    NamedField{Place::Error, "type", Field::ErrorType},
    NamedField{Place::Error, "code", Field::ErrorCode},
    NamedField{Place::Error, "param", Field::ErrorParam},
};

std::uint32_t as_count(double number) {
  if (!(number > 0)) return 0;
  return static_cast<std::uint32_t>(std::min<double>(number, std::numeric_limits<std::uint32_t>::max()));
}

/// Receives the events of Boost.JSON's parser, whose names the functions have. The places that matter nest a few levels
/// deep; below them only the depth is counted.
class ReplyReader {
 public:
  using Text = boost::json::string_view;
  using Fault = boost::json::error_code;
  static constexpr std::size_t max_array_size = SIZE_MAX;
  static constexpr std::size_t max_object_size = SIZE_MAX;
  static constexpr std::size_t max_string_size = SIZE_MAX;
  static constexpr std::size_t max_key_size = SIZE_MAX;

  explicit ReplyReader(ChatReply& reply) : reply_(reply) {}

  bool on_document_begin(Fault& /*fault*/) { return true; }
  bool on_document_end(Fault& /*fault*/) { return true; }
  bool on_null(Fault& /*fault*/) { return done(); }
  bool on_bool(bool /*value*/, Fault& /*fault*/) { return done(); }
  bool on_int64(std::int64_t value, Text text, Fault& /*fault*/) { return number(static_cast<double>(value), text); }
  bool on_uint64(std::uint64_t value, Text text, Fault& /*fault*/) { return number(static_cast<double>(value), text); }
  bool on_double(double value, Text text, Fault& /*fault*/) { return number(value, text); }
  bool on_number_part(Text /*part*/, Fault& /*fault*/) { return true; }
  bool on_comment_part(Text /*part*/, Fault& /*fault*/) { return true; }
  bool on_comment(Text /*text*/, Fault& /*fault*/) { return true; }

  // A text with escapes comes in parts.
  bool on_string_part(Text part, std::size_t /*size*/, Fault& /*fault*/) {
    parts_ += part;
    return true;
  }
  bool on_string(Text rest, std::size_t /*size*/, Fault& /*fault*/) {
    if (parts_.empty()) return text(rest);
    parts_ += rest;
    text(parts_);
    parts_.clear();
    return true;
  }
  bool on_key_part(Text part, std::size_t /*size*/, Fault& /*fault*/) {
    parts_ += part;
    return true;
  }
  bool on_key(Text rest, std::size_t /*size*/, Fault& /*fault*/) {
    if (parts_.empty()) return key(rest);
    parts_ += rest;
    key(parts_);
    parts_.clear();
    return true;
  }

  bool on_object_begin(Fault& /*fault*/) { return enter(object_place()); }
  bool on_array_begin(Fault& /*fault*/) { return enter(array_place()); }
  bool on_object_end(std::size_t /*size*/, Fault& /*fault*/) { return leave(); }
  bool on_array_end(std::size_t /*size*/, Fault& /*fault*/) { return leave(); }

 private:
  static constexpr std::size_t depth_max = 8;

  [[nodiscard]] Place place() const {
    if (passed_over_ > 0) return Place::Other;
    return depth_ == 0 ? Place::Outside : places_[depth_ - 1];
  }

  [[nodiscard]] Place object_place() {
    switch (place()) {
      case Place::Outside:
        return Place::Top;
      case Place::Top:
        if (field_ == Field::Usage) {
          reply_.usage.emplace();
          return Place::Usage;
        }
        if (field_ == Field::Error) {
          error();
          return Place::Error;
        }
        return Place::Other;
      case Place::Choices:
        return ++choices_here_ == 1 ? (++reply_.choices, Place::Choice) : Place::Other;
      case Place::Choice:
        return field_ == Field::Message ? Place::Message : Place::Other;
      case Place::Message:
        if (field_ == Field::ToolCalls) ++reply_.tool_calls;
        return Place::Other;
      case Place::Parts:
        return Place::Part;
      case Place::ToolCalls:
        ++reply_.tool_calls;
        return Place::Other;
      case Place::Usage:
        return field_ == Field::PromptDetails ? Place::PromptDetails : Place::Other;
      case Place::Part:
      case Place::PromptDetails:
      case Place::Error:
      case Place::Other:
        return Place::Other;
    }
    return Place::Other;
  }

  [[nodiscard]] Place array_place() const {
    const Place here = place();
    if (here == Place::Top && field_ == Field::Choices) return Place::Choices;
    if (here == Place::Message && field_ == Field::Content) return Place::Parts;
    if (here == Place::Message && field_ == Field::ToolCalls) return Place::ToolCalls;
    return Place::Other;
  }

  bool enter(Place place) {
    if (place == Place::Other || depth_ == depth_max) {
      ++passed_over_;
    } else {
      places_[depth_++] = place;
    }
    return done();
  }

  bool leave() {
    if (passed_over_ > 0) {
      --passed_over_;
    } else {
      --depth_;
    }
    return done();
  }

  bool key(std::string_view key) {
    field_ = Field::None;
    const Place place = this->place();
    if (place == Place::Other) return true;
    for (const NamedField& named : named_fields) {
      if (named.place == place && named.key == key) {
        field_ = named.field;
        break;
      }
    }
    return true;
  }

  bool text(std::string_view value) {
    switch (field_) {
      case Field::Model:
        reply_.model = value;
        break;
      case Field::FinishReason:
        reply_.finish_reason = value;
        break;
      case Field::Content:
      case Field::Text:
        reply_.content += value;
        break;
      case Field::Refusal:
        reply_.refusal += value;
        break;
      case Field::Error:
      case Field::ErrorText:
      case Field::ErrorMessage:
        error().message = value;
        break;
      case Field::ErrorType:
        error().type = value;
        break;
      case Field::ErrorCode:
        error().code = value;
        break;
      case Field::ErrorParam:
        error().param = value;
        break;
      case Field::None:
      case Field::Choices:
      case Field::Usage:
      case Field::Message:
      case Field::ToolCalls:
      case Field::PromptTokens:
      case Field::CompletionTokens:
      case Field::PromptDetails:
      case Field::CachedTokens:
        break;
    }
    return done();
  }

  bool number(double value, std::string_view text) {
    switch (field_) {
      case Field::PromptTokens:
        reply_.usage->prompt = as_count(value);
        break;
      case Field::CompletionTokens:
        reply_.usage->generated = as_count(value);
        break;
      case Field::CachedTokens:
        reply_.usage->cached = as_count(value);
        break;
      case Field::ErrorCode:
        error().code = text;
        break;
      case Field::None:
      case Field::Model:
      case Field::Choices:
      case Field::Usage:
      case Field::Error:
      case Field::ErrorText:
      case Field::Message:
      case Field::FinishReason:
      case Field::Content:
      case Field::Refusal:
      case Field::ToolCalls:
      case Field::Text:
      case Field::PromptDetails:
      case Field::ErrorMessage:
      case Field::ErrorType:
      case Field::ErrorParam:
        break;
    }
    return done();
  }

  bool done() {
    field_ = Field::None;
    return true;
  }

  ServerError& error() {
    if (!reply_.error) reply_.error.emplace();
    return *reply_.error;
  }

  ChatReply& reply_;
  std::string parts_;
  std::array<Place, depth_max> places_{};
  std::size_t depth_ = 0;
  std::size_t passed_over_ = 0;
  std::uint32_t choices_here_ = 0;
  Field field_ = Field::None;
};

}  // namespace

ReplySyntax read_chat_json(std::string_view json, ChatReply& reply) {
  boost::json::parse_options options;
  options.max_depth = reply_depth_max;
  boost::json::basic_parser<ReplyReader> parser(options, reply);
  boost::json::error_code fault;
  const std::size_t read = parser.write_some(false, json.data(), json.size(), fault);
  return !fault && read == json.size() ? ReplySyntax::Json : ReplySyntax::NotJson;
}

}  // namespace tenon::inference
