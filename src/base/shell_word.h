#pragma once

#include <string>
#include <string_view>

namespace tenon {

/// The text as one word of a shell's command, for commands that a message proposes: quoted only if a shell needs that.
[[nodiscard]] std::string make_shell_word(std::string_view text);

}  // namespace tenon
