#pragma once

#include "syntax/token.h"

namespace tenon::syntax {

/// Whether only an item starts with this token. `agent`, `type`, `impl` and `test` start one too, but are names
/// anywhere else.
[[nodiscard]] constexpr bool is_item_keyword(TokenKind kind) {
  return kind == TokenKind::Fn || kind == TokenKind::Extern || kind == TokenKind::Struct || kind == TokenKind::Enum ||
         kind == TokenKind::Use;
}

}  // namespace tenon::syntax
