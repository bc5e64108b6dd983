#include "cli/studio.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/private_file.h"
#include "base/sealing.h"
#include "journal/open_store.h"

namespace tenon::cli {
namespace {

bool is_token(const std::string& text) {
  constexpr std::size_t token_length = 64;
  return text.size() == token_length && std::ranges::all_of(text, [](char byte) {
           return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'f');
         });
}

}  // namespace

Result<std::string, std::string> studio_token(const std::string& store) {
  const auto path = journal::file_of_store(store);
  if (!path) return SealingKey::random().reveal_hex();
  const std::string file = *path + ".studio";
  auto text = read_private_file(file);
  if (!text && text.error().is_missing) {
    if (const auto made = create_private_file(file, SealingKey::random().reveal_hex() + "\n", *path); !made) {
      return failure(fmt::format("cannot write the studio's token to `{}`: {}", file, made.error().message));
    }
    text = read_private_file(file);
  }
  if (!text) return failure(fmt::format("cannot read the studio's token in `{}`: {}", file, text.error().message));
  while (!text->empty() && text->back() == '\n') text->pop_back();
  if (!is_token(*text)) {
    return failure(fmt::format("`{}` does not contain a token of the studio; delete it, and a new one is made", file));
  }
  return std::move(*text);
}

void open_in_browser(const std::string& address, const std::string& store, const Environment& environment) {
  const engine::System& system = environment.system;
  const auto path = journal::file_of_store(store);
  if (!path || (system.variable("DISPLAY").empty() && system.variable("WAYLAND_DISPLAY").empty())) return;
  const std::string page = std::filesystem::absolute(*path + ".studio.html").string();
  std::error_code ignored;
  std::filesystem::remove(page, ignored);
  const std::string text = fmt::format(
      "<!DOCTYPE html>\n<title>Tenon Studio</title>\n<meta http-equiv=\"refresh\" content=\"0; url={0}\">\n"
      "<a href=\"{0}\">Tenon Studio</a>\n",
      address);
  if (!create_private_file(page, text, *path)) return;  // the address was printed
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    ::posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0);
  }
  std::string program = "xdg-open";
  std::string argument = page;
  char* const arguments[] = {program.data(), argument.data(), nullptr};
  pid_t child = 0;
  static_cast<void>(::posix_spawnp(&child, program.c_str(), &actions, nullptr, arguments, ::environ));
  ::posix_spawn_file_actions_destroy(&actions);
}

}  // namespace tenon::cli
