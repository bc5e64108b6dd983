#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "engine/fork.h"
#include "engine/settings.h"
#include "engine/store_access.h"

namespace tenon::cli {

using engine::ModelChoice;
using engine::StoreChoice;

/// `--wait-for-store`: whether a command waits for a store that another process uses, and how long.
struct StoreWaitChoice {
  bool is_wanted = false;
  std::optional<std::uint64_t> milliseconds_max = {};  ///< none: any time
};

/// Seconds that effects in progress get when the process is asked to stop.
inline constexpr std::uint32_t default_grace_seconds = 10;

struct RunCommand : engine::Settings {
  std::string file;
  std::string function = "main";
  std::vector<std::pair<std::string, std::string>> arguments;  ///< name, value as given
  std::vector<std::pair<std::string, std::string>> variables;  ///< name, environment variable with the value
  std::string trace;
  bool show_prompts = false;
  StoreChoice store;
  bool waits_for_timers = false;  ///< instead of leaving a recorded run to `tenon resume`
  std::uint32_t grace_seconds = default_grace_seconds;
};
/// The budgets are those of each turn.
struct ChatCommand : engine::Settings {
  std::string file;
  std::string agent;  ///< empty: the program's only one
  std::string run;    ///< the conversation of the store to continue; empty: a new one
  StoreChoice store;
  std::string trace;
  bool show_prompts = false;
  std::uint32_t grace_seconds = default_grace_seconds;
};
struct ResumeCommand {
  std::string run;
  StoreChoice store;
  std::string wait;               ///< the question to answer; empty: the only one
  bool waits_for_timers = false;  ///< as RunCommand::waits_for_timers
  std::optional<std::string> input;
  std::string program;  ///< the program to upgrade a conversation to; empty: none
  std::string prompts;  ///< of that program; empty: the conversation's
  /// A run whose budget is spent continues with these. Absent ones are the run's.
  bytecode::Bounds budgets = {};
  ModelChoice model;
  std::vector<std::string> externs;
  std::string trace;
  bool show_prompts = false;
  std::uint32_t grace_seconds = default_grace_seconds;
  StoreWaitChoice store_wait = {};
};
struct CancelCommand {
  std::string run;
  StoreChoice store;
  std::string reason;
};
struct RunsCommand {
  StoreChoice store;
  bool waiting = false;
  bool json = false;
};
/// `tenon store check|compact|export|import|forget`.
struct StoreCommand {
  enum class Verb : std::uint8_t { Backup, Check, Compact, Copy, Export, Import, Forget, Owners, Repair };
  Verb verb = Verb::Check;
  StoreChoice store;
  StoreChoice target;  ///< Copy
  std::string run;     ///< Export, Forget
  std::string file;    ///< Backup, Export (`-`: stdout), Import
  bool json = false;   ///< Owners
};
struct ServeCommand {
  std::vector<std::string> files;
  RunCommand settings;  ///< of the runs of all files: model, externs, prompts, repairs, budgets, store
  std::string host = "127.0.0.1";
  std::uint16_t port = 8080;
  std::string token_variable;                                 ///< of the environment; empty: clients send no token
  std::vector<std::pair<std::string, std::uint64_t>> limits;  ///< name, maximum
  std::string pool;                     ///< of the servers that continue the runs which are started here
  std::string agent;                    ///< a placed agent, for which this server is; empty: none
  bool is_gateway = false;              ///< leaves requests to the other servers of the store
  std::string engine = "local";         ///< `ray`: runs continue in the hosts of a cluster
  bool upgrades_conversations = false;  ///< to the served programs, at their next turn
  bool edits = false;                   ///< clients may read and edit the programs' files
  bool is_studio = false;               ///< serves the studio's page, with a token of its own
  bool opens_browser = false;           ///< with the studio's page
  StoreWaitChoice store_wait = {};
};
/// `tenon trace artifacts|hash|show|flow|diff|reconstruct`.
struct TraceCommand {
  enum class Verb : std::uint8_t { Artifacts, Hash, Show, Flow, Diff, Reconstruct };
  Verb verb = Verb::Artifacts;
  StoreChoice store;
  std::string run;
  std::string other;  ///< Diff: the second run
  std::string form = "json";
  std::uint32_t form_version = 4;  ///< Artifacts, Hash: 1 or 3 to compare with an older hash
  bool hash = false;               ///< Reconstruct: print only the hash
  bool json = false;
  std::string file;                   ///< Reconstruct: the artifacts; `-` is stdin
  std::vector<std::string> programs;  ///< Reconstruct: in the order of the upgrades
  std::string prompts = "default";
};
struct ReplayCommand {
  std::string run;
  StoreChoice store;
  std::string program;  ///< empty: the run's
};
struct ForkCommand {
  std::string run;
  StoreChoice store = {};
  std::optional<std::uint64_t> at = {};  ///< absent: its last record
  std::string program = {};              ///< empty: the run's
  bytecode::Bounds budgets = {};         ///< absent ones are the run's
  ModelChoice model = {};
  std::vector<std::string> externs = {};
  std::string trace = {};
  bool show_prompts = false;
  engine::ForkableRuns forkable = engine::ForkableRuns::All;  ///< not an option
};
struct CheckCommand {
  std::vector<std::string> files;
  std::vector<std::string> externs;  ///< libraries to compare the programs' externs with
  bool strict = false;
  bool json = false;
};
struct FormatCommand {
  std::vector<std::string> files;
  bool check = false;
};
struct TestCommand {
  std::vector<std::string> files;
  std::string filter;
  bool verify = false;
  bool crash = false;
};
struct ShowCommand {
  std::string file;
  std::string as;
  std::string form = "json";  ///< of a graph
  std::string prompts = "default";
};
struct PlanCommand {
  std::string file;
  ModelChoice model;  ///< an empty spec: no model judges
  std::string format = "text";
  bool show_prompts = false;
};
struct EditCommand {
  std::string file;
  std::string edits;    ///< a file; `-` is stdin
  std::string inverse;  ///< a file that gets the edits that undo these; empty: none
  bool dry_run = false;
};
struct ExplainCommand {
  std::string code;
};
struct ExplainFlowCommand {
  std::string file;
  std::string sink;  ///< `send_mail` or `send_mail.to`; empty: all
  bool json = false;
};
struct StubsCommand {
  std::vector<std::string> files;
  std::string output;
};
/// `ray …` and `serve --engine ray`, which the Python package performs.
struct RayCommand {
  std::vector<std::string> arguments;  ///< after `ray`
};
/// `--help`, `help` and `--version`: text for stdout.
struct PrintCommand {
  std::string text;
};
using Command =
    std::variant<RunCommand, ChatCommand, ServeCommand, ResumeCommand, CancelCommand, RunsCommand, StoreCommand,
                 TraceCommand, ReplayCommand, ForkCommand, CheckCommand, FormatCommand, TestCommand, ShowCommand,
                 PlanCommand, EditCommand, ExplainCommand, ExplainFlowCommand, StubsCommand, RayCommand, PrintCommand>;

/// What is wrong with a command line.
struct UsageError {
  std::string message;
  std::string command = {};  ///< the command whose help applies; empty: that of `tenon`
  std::string help = {};     ///< printed instead of the message, if it is not empty
};

/// Reads the arguments of the process, `argv[0]` being its name. Does not read files or the environment.
[[nodiscard]] Result<Command, UsageError> parse_command_line(int argc, const char* const* argv);

}  // namespace tenon::cli
