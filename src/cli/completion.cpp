#include "cli/completion.h"

#include <fmt/format.h>

#include <vector>

#include "cli/command_help.h"

namespace tenon::cli {
namespace {

constexpr std::string_view script_start =
    R"(# Completion of tenon for bash. Use it with: source <(tenon completion bash)
_tenon() {
  local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} words=
  if [ "$COMP_CWORD" -eq 1 ]; then command=; fi
  case $command in
    store|trace|ray) if [ "$COMP_CWORD" -gt 2 ]; then command="$command ${COMP_WORDS[2]}"; fi ;;
  esac
  case $command in
)";

// Without words, `-o default` completes file names.
constexpr std::string_view script_end = R"(  esac
  case $word in
    -*) ;;
    *) case $command in ""|help|completion|store|trace|ray) ;; *) words= ;; esac ;;
  esac
  COMPREPLY=()
  if [ -n "$words" ]; then COMPREPLY=($(compgen -W "$words" -- "$word")); fi
}
complete -o default -F _tenon tenon
)";

/// The subcommands and the long options of a command.
std::string words_of(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::App* subcommand : subcommands_of(app)) words.push_back(subcommand->get_name());
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
  }
  return fmt::format("{}", fmt::join(words, " "));
}

std::string write_case(std::string_view command, std::string_view words) {
  return fmt::format("    \"{}\") words=\"{}\" ;;\n", command, words);
}

}  // namespace

std::string write_bash_completion(const CLI::App& app) {
  std::string script(script_start);
  std::string commands;
  for (const CLI::App* command : subcommands_of(app)) {
    commands += command->get_name() + " ";
    script += write_case(command->get_name(), words_of(*command));
    for (const CLI::App* subcommand : subcommands_of(*command)) {
      script += write_case(command->get_name() + " " + subcommand->get_name(), words_of(*subcommand));
    }
  }
  script += write_case("help", fmt::format("{}{}", commands, fmt::join(help_topics(), " ")));
  script += write_case("completion", "bash");
  script += write_case("", commands + "help completion --help --version");
  return script + std::string(script_end);
}

}  // namespace tenon::cli
