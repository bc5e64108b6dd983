#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "json/message_version.h"

namespace tenon::inference::answers {

/// What is wrong with an answer or a value. messages.cpp has the texts and their arguments.
enum class Message : std::uint8_t {
  // About a part of a value, after its path.
  WrongType,
  WrongSecret,
  WrongSecretPart,
  NotRepresentable,
  NotExact,
  OutOfRange,
  NoMatch,
  WrongText,
  WrongLength,
  WrongCount,
  Missing,
  UnknownKey,
  CaseWithoutValue,
  CaseWithValue,
  ObjectExpected,
  // About a whole text.
  InvalidUtf8,
  InvalidJson,
  InvalidJsonAnswer,
  // About a whole answer.
  MissingKey,
  OtherKeys,
  UnknownCallKey,
  WrongForm,
  WrongFunction,
  WrongChoice,
  ChoiceOfOtherFunction,
  ChoiceNeeded,
  UnknownFunction,
};

[[nodiscard]] std::string_view text_of(Message message, MessageVersion version);

template <class... Arguments>
[[nodiscard]] std::string make_message(MessageVersion version, Message message, const Arguments&... arguments) {
  return fmt::format(fmt::runtime(text_of(message, version)), arguments...);
}

}  // namespace tenon::inference::answers
