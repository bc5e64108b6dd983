#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "effects/record.h"
#include "inference/openai_http/request_fields.h"

namespace tenon::cli {

/// How a model is chosen and run.
struct ModelChoice {
  std::string
      spec;  ///< builtin | gguf:PATH | openai:NAME | script:FILE | recorded:FILE; empty: the manifest's, or builtin
  std::string judge;          ///< the same, for what contracts say in words; empty: the manifest's, or the model itself
  std::uint32_t threads = 0;  ///< 0: as many as the machine has cores
  std::uint32_t context_tokens = 0;
  bool same_bits = true;
  bool raw_prompts = false;
  float temperature = 0.0F;
  std::uint64_t seed = 0;
  std::uint32_t tokens_max = 1024;
  std::uint64_t timeout_ms = 120'000;
  inference::RequestFields request_fields;  ///< of openai:NAME; the manifest says them
  std::string record;                       ///< a file to which requests and answers are written
};

struct Budgets {
  std::optional<std::uint64_t> calls, tokens, instructions, depth, milliseconds;
};

/// Seconds that effects in progress get when the process is told to stop.
inline constexpr std::uint32_t default_grace_seconds = 10;

/// Where journals are kept.
struct StoreChoice {
  std::string path;  ///< empty: nowhere
  std::string durability = "full";
  std::string reports;  ///< the folder for reports; empty: as reports_folder says
};

struct RunCommand {
  std::string file;
  std::string function = "main";
  std::vector<std::pair<std::string, std::string>> arguments;  ///< name, value
  std::vector<std::pair<std::string, std::string>> variables;  ///< name, the environment's variable with the value
  ModelChoice model;
  std::vector<std::string> externs;
  std::string prompts;  ///< default | slides | a folder; empty: the manifest's, or default
  std::string trace;
  bool show_prompts = false;
  std::uint32_t repairs = 2;
  Budgets budgets;
  effects::RetrySettings retry;
  StoreChoice store;
  std::uint32_t grace_seconds = default_grace_seconds;
};
struct ChatCommand {
  std::string file;
  std::string agent;  ///< empty: the program's only one
  std::string run;    ///< a conversation of the store to go on with; empty: a new one
  StoreChoice store;
  std::uint32_t repairs = 2;
  Budgets budgets;  ///< of each turn
  effects::RetrySettings retry;
  ModelChoice model;
  std::vector<std::string> externs;
  std::string prompts;
  std::string trace;
  bool show_prompts = false;
  std::uint32_t grace_seconds = default_grace_seconds;
};
struct ResumeCommand {
  std::string run;
  StoreChoice store;
  std::string wait;
  std::optional<std::string> input;
  std::string program;  ///< a file that takes over a conversation between two turns; empty: none
  std::string prompts;  ///< of that program; empty: those that the conversation has
  ModelChoice model;
  std::vector<std::string> externs;
  std::string trace;
  bool show_prompts = false;
  std::uint32_t grace_seconds = default_grace_seconds;
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
  enum class Verb : std::uint8_t { Backup, Check, Compact, Export, Import, Forget, Repair };
  Verb verb = Verb::Check;
  StoreChoice store;
  std::string run;   ///< Export, Forget
  std::string file;  ///< Backup, Export (`-`: stdout), Import
};
struct ServeCommand {
  std::vector<std::string> files;
  RunCommand settings;  ///< what holds for the runs of all files: model, externs, prompts, repairs, budgets, store
  std::string host = "127.0.0.1";
  std::uint16_t port = 8080;
  std::string token_variable;                                 ///< of the environment; empty: nobody has to say a token
  std::vector<std::pair<std::string, std::uint64_t>> limits;  ///< name, most
  bool takes_over = false;                                    ///< conversations of older programs
  bool edits = false;                                         ///< clients may read and edit the programs' files
};
/// `tenon trace artifacts|hash|show|diff|reconstruct`.
struct TraceCommand {
  enum class Verb : std::uint8_t { Artifacts, Hash, Show, Diff, Reconstruct };
  Verb verb = Verb::Artifacts;
  StoreChoice store;
  std::string run;
  std::string other;  ///< Diff: the second run
  std::string form = "json";
  std::uint32_t form_version = 3;  ///< Artifacts, Hash: of the form; 1 where an older hash is compared
  bool hash = false;               ///< Reconstruct: print the hash alone
  bool json = false;
  std::string file;                   ///< Reconstruct: the artifacts; `-` is stdin
  std::vector<std::string> programs;  ///< Reconstruct: in the order in which they took over
  std::string prompts = "default";
};
struct ReplayCommand {
  std::string run;
  StoreChoice store;
  std::string program;  ///< empty: the run's
};
struct ForkCommand {
  std::string run;
  StoreChoice store;
  std::uint64_t at = 0;
  std::string program;  ///< empty: the run's
  ModelChoice model;
  std::vector<std::string> externs;
  std::string trace;
  bool show_prompts = false;
};
struct CheckCommand {
  std::vector<std::string> files;
  std::vector<std::string> externs;  ///< libraries against which the programs' externs are held
  bool strict = false;
  bool json = false;
};
struct FormatCommand {
  std::vector<std::string> files;
  bool check = false;
};
struct TestCommand {
  std::string file;
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
  ModelChoice model;  ///< an empty spec: nobody is asked
  std::string format = "text";
  bool show_prompts = false;
};
struct EditCommand {
  std::string file;
  std::string edits;    ///< a file; `-` is stdin
  std::string inverse;  ///< where the edits go that undo these; empty: nowhere
  bool dry_run = false;
};
struct ExplainCommand {
  std::string code;
};
/// `--help`, `--version`: printed, and all is well.
struct PrintCommand {
  std::string text;
};
using Command = std::variant<RunCommand, ChatCommand, ServeCommand, ResumeCommand, CancelCommand, RunsCommand,
                             StoreCommand, TraceCommand, ReplayCommand, ForkCommand, CheckCommand, FormatCommand,
                             TestCommand, ShowCommand, PlanCommand, EditCommand, ExplainCommand, PrintCommand>;

/// What is wrong with a command line, for people.
struct UsageError {
  std::string message;
};

[[nodiscard]] Result<Command, UsageError> parse_command_line(int argc, const char* const* argv);

}  // namespace tenon::cli
