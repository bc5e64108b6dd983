#include "cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <sstream>

#include "base/duration.h"
#include "base/ensure.h"
#include "cli/trace_options.h"
#include "diagnostics/nearest.h"

namespace tenon::cli {
namespace {

constexpr int grace_seconds_max = 24 * 60 * 60;
constexpr double retry_factor_max = 1'000;

void add_model_options(CLI::App& app, ModelChoice& model) {
  // A variable of the shell that is not set stands for no model.
  const auto is_named = [](const std::string& spec) { return std::string(spec.empty() ? "it names no model" : ""); };
  app.add_option("--model", model.spec, "builtin (default) | gguf:PATH | openai:NAME | script:FILE | recorded:FILE")
      ->check(is_named);
  app.add_option("--judge", model.judge,
                 "judges what contracts say in words, in the forms of --model (default: the model)")
      ->check(is_named);
  app.add_option("--threads", model.threads, "threads of the embedded model (0: one per core)")->capture_default_str();
  app.add_option("--context-tokens", model.context_tokens,
                 "context of the embedded model (0: what it was trained for)");
  app.add_flag("!--fast", model.same_bits, "embedded model: faster prompts, answers may differ in their last bits");
  app.add_flag("--raw-prompts", model.raw_prompts,
               "embedded model: plain text instead of the chat template, for base models");
  app.add_option("--temperature", model.temperature, "0: always the likeliest")->capture_default_str();
  app.add_option("--seed", model.seed, "of the sampling");
  app.add_option("--max-tokens", model.tokens_max, "length of one answer")->capture_default_str();
  app.add_option("--timeout-ms", model.timeout_ms, "of one answer, retries included")->capture_default_str();
  app.add_option("--record", model.record, "write requests and answers to a file that recorded:FILE replays");
}

void add_store_option(CLI::App& app, StoreChoice& store) {
  app.add_option("--store", store.path, "where runs are kept: a file (the same as sqlite:FILE)");
}

void add_needed_store_option(CLI::App& app, StoreChoice& store) {
  add_store_option(app, store);
  app.get_option("--store")->required();
}

void add_trace_and_prompts_options(CLI::App& app, std::string& trace, bool& show_prompts) {
  app.add_option("--trace", trace, "write what happens to a file, a JSON object a line");
  app.add_flag("--show-prompts", show_prompts, "show each prompt and each answer on stderr");
}

void add_durability_option(CLI::App& app, StoreChoice& store) {
  app.add_option("--durability", store.durability,
                 "full: what is acknowledged survives a power cut; process: only the end of the process")
      ->check(CLI::IsMember({"full", "process"}))
      ->capture_default_str();
}

void add_grace_option(CLI::App& app, std::uint32_t& seconds) {
  app.add_option("--grace", seconds,
                 "seconds that calls in progress get to finish when the process is told to stop (SIGINT, SIGTERM)")
      ->check(CLI::Range(0, grace_seconds_max))
      ->capture_default_str();
}

void add_reports_option(CLI::App& app, StoreChoice& store) {
  app.add_option("--reports", store.reports,
                 "the folder for what std::report writes; without it `reports` beside the store, or here");
}

void add_extern_option(CLI::App& app, std::vector<std::string>& externs) {
  app.add_option("--extern", externs, "a shared library with the program's externs")
      ->take_all()
      ->allow_extra_args(false);
}

bool parse_budget(const std::string& text, Budgets& budgets) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return false;
  const std::string name = text.substr(0, equals);
  std::uint64_t amount = 0;
  std::istringstream number(text.substr(equals + 1));
  if (!(number >> amount) || !number.eof()) return false;
  if (name == "calls") {
    budgets.calls = amount;
  } else if (name == "tokens") {
    budgets.tokens = amount;
  } else if (name == "instructions") {
    budgets.instructions = amount;
  } else if (name == "depth") {
    budgets.depth = amount;
  } else if (name == "time") {
    budgets.milliseconds = amount;
  } else {
    return false;
  }
  return true;
}

Result<void, UsageError> read_budgets(const std::vector<std::string>& texts, Budgets& budgets) {
  for (const std::string& text : texts) {
    if (parse_budget(text, budgets)) continue;
    return failure(UsageError{"--budget " + text + ": write calls=N, tokens=N, instructions=N, depth=N or time=MS"});
  }
  return {};
}

/// `--retry`: as `[retry]` of the manifest has it.
bool parse_retry(const std::string& text, effects::RetrySettings& retry) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return false;
  const std::string name = text.substr(0, equals);
  const std::string value = text.substr(equals + 1);
  if (name == "factor") {
    double factor = 0;
    std::istringstream number(value);
    if (!(number >> factor) || !number.eof() || !(factor >= 1 && factor <= retry_factor_max)) return false;
    retry.factor_thousandths = static_cast<std::uint64_t>(std::llround(factor * 1'000));
    return true;
  }
  const auto milliseconds = read_duration_ms(value);
  if (!milliseconds || (*milliseconds == 0 && name != "max_elapsed")) return false;
  if (name == "initial") {
    retry.initial_ms = milliseconds;
  } else if (name == "max_interval") {
    retry.interval_max_ms = milliseconds;
  } else if (name == "max_elapsed") {
    retry.elapsed_max_ms = milliseconds;
  } else {
    return false;
  }
  return true;
}

Result<void, UsageError> read_retries(const std::vector<std::string>& texts, effects::RetrySettings& retry) {
  for (const std::string& text : texts) {
    if (parse_retry(text, retry)) continue;
    return failure(UsageError{"--retry " + text +
                              ": write initial=TIME, factor=N, max_interval=TIME or max_elapsed=TIME, as in "
                              "max_elapsed=2h"});
  }
  return {};
}

void add_retry_option(CLI::App& app, std::vector<std::string>& texts) {
  app.add_option(
         "--retry", texts,
         "initial=TIME, factor=N, max_interval=TIME or max_elapsed=TIME: how a recorded run waits for a model or "
         "a tool that cannot be reached (1s, 2, 1m, 1d)")
      ->take_all()
      ->allow_extra_args(false);
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

/// Of `option`, whose `form` begins with NAME=; a name is given once in all of `run`.
Result<void, UsageError> read_pairs(std::string_view option, std::string_view form,
                                    const std::vector<std::string>& texts, const RunCommand& run, Pairs& pairs) {
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      // What stands there may be a value that is secret.
      return failure(UsageError{fmt::format("{} {}: write {}", option, text.substr(0, equals), form)});
    }
    std::string name = text.substr(0, equals);
    const auto same = [&](const auto& other) { return other.first == name; };
    if (std::any_of(run.arguments.begin(), run.arguments.end(), same) ||
        std::any_of(run.variables.begin(), run.variables.end(), same)) {
      return failure(UsageError{fmt::format("{} {} is given twice", option, name)});
    }
    pairs.emplace_back(std::move(name), text.substr(equals + 1));
  }
  return {};
}

/// Reads what the options of a command together say, once each is read.
using Finish = std::function<Result<Command, UsageError>()>;

template <class Options>
Finish as_given(std::shared_ptr<Options> given) {
  return [given = std::move(given)]() -> Result<Command, UsageError> { return std::move(*given); };
}

Finish add_run(CLI::App& app) {
  struct Given {
    RunCommand command;
    std::vector<std::string> arguments, variables, budgets, retries;
  };
  const auto given = std::make_shared<Given>();
  RunCommand& run = given->command;
  app.add_option("FILE", run.file)->required();
  app.add_option("--fn", run.function, "the function to call")->capture_default_str();
  app.add_option("--arg", given->arguments, "NAME=VALUE: text as it is, everything else as JSON")
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--arg-env", given->variables, "NAME=VARIABLE: the value is in the environment, as a secret is")
      ->take_all()
      ->allow_extra_args(false);
  add_extern_option(app, run.externs);
  app.add_option("--prompts", run.prompts, "default | slides | a folder with prompt templates");
  add_trace_and_prompts_options(app, run.trace, run.show_prompts);
  app.add_option("--repair", run.repairs, "how often an answer that cannot be used is sent back")
      ->capture_default_str();
  app.add_option("--budget", given->budgets, "calls=N, tokens=N, instructions=N, depth=N or time=MS, of the whole run")
      ->take_all()
      ->allow_extra_args(false);
  add_model_options(app, run.model);
  add_store_option(app, run.store);
  add_durability_option(app, run.store);
  add_reports_option(app, run.store);
  add_grace_option(app, run.grace_seconds);
  add_retry_option(app, given->retries);
  return [given, &run]() -> Result<Command, UsageError> {
    if (auto read = read_budgets(given->budgets, run.budgets); !read) return failure(std::move(read.error()));
    if (auto read = read_retries(given->retries, run.retry); !read) return failure(std::move(read.error()));
    if (auto read = read_pairs("--arg", "NAME=VALUE", given->arguments, run, run.arguments); !read) {
      return failure(std::move(read.error()));
    }
    if (auto read = read_pairs("--arg-env", "NAME=VARIABLE", given->variables, run, run.variables); !read) {
      return failure(std::move(read.error()));
    }
    return std::move(run);
  };
}

Finish add_chat(CLI::App& app) {
  struct Given {
    ChatCommand command;
    std::vector<std::string> budgets, retries;
  };
  const auto given = std::make_shared<Given>();
  ChatCommand& chat = given->command;
  app.add_option("FILE", chat.file, "the program; with --run one that takes over the conversation");
  app.add_option("--agent", chat.agent, "needed when the program has several");
  app.add_option("--run", chat.run, "go on with this conversation of the store");
  add_store_option(app, chat.store);
  add_durability_option(app, chat.store);
  add_reports_option(app, chat.store);
  add_grace_option(app, chat.grace_seconds);
  add_retry_option(app, given->retries);
  add_extern_option(app, chat.externs);
  app.add_option("--prompts", chat.prompts, "default | slides | a folder with prompt templates");
  app.add_option("--repair", chat.repairs, "how often an answer that cannot be used is sent back")
      ->capture_default_str();
  app.add_option("--budget", given->budgets, "calls=N, tokens=N, instructions=N, depth=N or time=MS, of each turn")
      ->take_all()
      ->allow_extra_args(false);
  add_trace_and_prompts_options(app, chat.trace, chat.show_prompts);
  add_model_options(app, chat.model);
  return [given, &chat]() -> Result<Command, UsageError> {
    if (auto read = read_budgets(given->budgets, chat.budgets); !read) return failure(std::move(read.error()));
    if (auto read = read_retries(given->retries, chat.retry); !read) return failure(std::move(read.error()));
    if (!chat.run.empty() && chat.store.path.empty()) {
      return failure(UsageError{"--run names a conversation of a store; give the store with --store"});
    }
    if (chat.run.empty() && chat.file.empty()) return failure(UsageError{"FILE is required, or --run with --store"});
    if (!chat.run.empty() && !chat.agent.empty()) {
      return failure(UsageError{"--agent is of a new conversation, and --run goes on with one"});
    }
    if (!chat.run.empty() && chat.file.empty() && !chat.prompts.empty()) {
      return failure(UsageError{"--prompts is of a program that takes over; give its FILE too"});
    }
    return std::move(chat);
  };
}

Finish add_serve(CLI::App& app) {
  struct Given {
    ServeCommand command;
    std::vector<std::string> budgets, limits, retries;
  };
  const auto given = std::make_shared<Given>();
  ServeCommand& serve = given->command;
  app.add_option("FILE", serve.files)->required();
  app.add_option("--host", serve.host, "the IP address to listen on")->capture_default_str();
  app.add_option("--port", serve.port, "0: any that is free")->capture_default_str();
  app.add_option("--token-env", serve.token_variable,
                 "the variable with the token that clients must send; needed for any --host but this machine's");
  app.add_flag("--take-over", serve.takes_over,
               "conversations go on with these files from their next turn on, not with the program they have");
  app.add_flag("--edit", serve.edits, "clients may read the programs' texts and graphs, and edit them");
  app.add_option("--limit", given->limits, "NAME=N: one of the server's limits, see docs/guides/server.md")
      ->take_all()
      ->allow_extra_args(false);
  add_needed_store_option(app, serve.settings.store);
  add_durability_option(app, serve.settings.store);
  add_reports_option(app, serve.settings.store);
  add_grace_option(app, serve.settings.grace_seconds);
  add_retry_option(app, given->retries);
  add_extern_option(app, serve.settings.externs);
  app.add_option("--prompts", serve.settings.prompts, "default | slides | a folder with prompt templates");
  app.add_option("--repair", serve.settings.repairs, "how often an answer that cannot be used is sent back")
      ->capture_default_str();
  app.add_option("--budget", given->budgets, "calls=N, tokens=N, instructions=N, depth=N or time=MS, of each run")
      ->take_all()
      ->allow_extra_args(false);
  add_model_options(app, serve.settings.model);
  return [given, &serve]() -> Result<Command, UsageError> {
    if (auto read = read_budgets(given->budgets, serve.settings.budgets); !read)
      return failure(std::move(read.error()));
    if (auto read = read_retries(given->retries, serve.settings.retry); !read) return failure(std::move(read.error()));
    for (const std::string& limit : given->limits) {
      const std::size_t equals = limit.find('=');
      std::uint64_t amount = 0;
      std::istringstream number(equals == std::string::npos ? "" : limit.substr(equals + 1));
      if (!(number >> amount) || !number.eof() || limit[equals + 1] == '-') {
        return failure(UsageError{"--limit " + limit + ": write NAME=N"});
      }
      serve.limits.emplace_back(limit.substr(0, equals), amount);
    }
    return std::move(serve);
  };
}

Finish add_resume(CLI::App& app) {
  const auto given = std::make_shared<ResumeCommand>();
  ResumeCommand& resume = *given;
  app.add_option("RUN", resume.run)->required();
  add_needed_store_option(app, resume.store);
  add_durability_option(app, resume.store);
  add_reports_option(app, resume.store);
  add_grace_option(app, resume.grace_seconds);
  app.add_option("--wait", resume.wait, "the question that is answered; needed when there are several");
  app.add_option("--input", resume.input, "the answer: text as it is, everything else as JSON");
  app.add_option("--program", resume.program,
                 "a file whose program takes over the conversation, from its next turn on");
  app.add_option("--prompts", resume.prompts, "with --program: default | slides | a folder with prompt templates");
  add_extern_option(app, resume.externs);
  add_trace_and_prompts_options(app, resume.trace, resume.show_prompts);
  add_model_options(app, resume.model);
  return [given, &resume]() -> Result<Command, UsageError> {
    if (resume.program.empty() ? !resume.prompts.empty() : resume.input || !resume.wait.empty()) {
      return failure(UsageError{resume.program.empty()
                                    ? "--prompts is of a program that takes over; name it with --program"
                                    : "--program lets a program take over between two turns, and "
                                      "--input answers within one"});
    }
    return std::move(resume);
  };
}

Finish add_cancel(CLI::App& app) {
  const auto given = std::make_shared<CancelCommand>();
  CancelCommand& cancel = *given;
  app.add_option("RUN", cancel.run)->required();
  add_needed_store_option(app, cancel.store);
  app.add_option("--reason", cancel.reason, "for the record");
  return as_given(given);
}

Finish add_runs(CLI::App& app) {
  const auto given = std::make_shared<RunsCommand>();
  RunsCommand& runs = *given;
  add_needed_store_option(app, runs.store);
  app.add_flag("--waiting", runs.waiting, "only those that wait for a person or for time to pass");
  app.add_flag("--json", runs.json, "an array, on stdout");
  return as_given(given);
}

Finish add_store(CLI::App& app) {
  const auto given = std::make_shared<StoreCommand>();
  StoreCommand& store = *given;
  app.require_subcommand(1);
  const auto add = [&](const std::string& name, StoreCommand::Verb verb, const std::string& help) {
    CLI::App* const added = app.add_subcommand(name, help);
    added->callback([&store, verb] { store.verb = verb; });
    add_needed_store_option(*added, store.store);
    return added;
  };
  using Verb = StoreCommand::Verb;
  add("backup", Verb::Backup, "copy the whole store to a new file, also while it is in use")
      ->add_option("FILE", store.file)
      ->required();
  add("check", Verb::Check, "compare every record and content with its checksum");
  add("compact", Verb::Compact, "drop snapshots and free room; no record is touched");
  CLI::App* const exporting = add("export", Verb::Export, "write one run with all its contents to a file");
  exporting->add_option("RUN", store.run)->required();
  exporting->add_option("--output", store.file, "- is standard output")->required();
  add("import", Verb::Import, "take in what `export` has written")->add_option("FILE", store.file)->required();
  add("repair", Verb::Repair, "open a store whose log is damaged, without what the log lost; keep a copy of the log");
  add("forget", Verb::Forget, "remove a run's contents for good")->add_option("RUN", store.run)->required();
  return as_given(given);
}

Finish add_trace(CLI::App& app) {
  const auto given = std::make_shared<TraceCommand>();
  TraceCommand& trace = *given;
  add_trace_options(app, trace);
  return as_given(given);
}

Finish add_replay(CLI::App& app) {
  const auto given = std::make_shared<ReplayCommand>();
  ReplayCommand& replay = *given;
  app.add_option("RUN", replay.run)->required();
  add_needed_store_option(app, replay.store);
  app.add_option("--program", replay.program, "a changed program, which must ask for the same");
  return as_given(given);
}

Finish add_fork(CLI::App& app) {
  const auto given = std::make_shared<ForkCommand>();
  ForkCommand& fork = *given;
  app.add_option("RUN", fork.run)->required();
  app.add_option("--at", fork.at, "the number of the last record from which something is taken")
      ->required()
      ->check(CLI::NonNegativeNumber);
  app.add_option("--program", fork.program, "a changed program");
  add_needed_store_option(app, fork.store);
  add_durability_option(app, fork.store);
  add_reports_option(app, fork.store);
  add_extern_option(app, fork.externs);
  add_trace_and_prompts_options(app, fork.trace, fork.show_prompts);
  add_model_options(app, fork.model);
  return as_given(given);
}

Finish add_check(CLI::App& app) {
  const auto given = std::make_shared<CheckCommand>();
  CheckCommand& check = *given;
  app.add_option("FILE", check.files)->required();
  app.add_flag("--strict", check.strict, "a type that is declared nowhere is an error");
  app.add_flag("--json", check.json, "one JSON object a line, on stdout");
  app.add_option("--extern", check.externs, "load this library and hold the programs' externs against it")
      ->take_all()
      ->allow_extra_args(false);
  return as_given(given);
}

Finish add_format(CLI::App& app) {
  const auto given = std::make_shared<FormatCommand>();
  FormatCommand& format = *given;
  app.add_option("FILE", format.files, "- is standard input to standard output")->required();
  app.add_flag("--check", format.check, "change nothing; exit 1 when something would change");
  return as_given(given);
}

Finish add_test(CLI::App& app) {
  const auto given = std::make_shared<TestCommand>();
  TestCommand& test = *given;
  app.add_option("FILE", test.file)->required();
  app.add_option("--filter", test.filter, "only tests whose names contain this");
  app.add_flag("--verify", test.verify, "write the whole state down and read it back at every instruction");
  app.add_flag("--crash", test.crash, "record all that happens, and drop the program's state after every record")
      ->excludes("--verify");
  return as_given(given);
}

Finish add_show(CLI::App& app) {
  const auto given = std::make_shared<ShowCommand>();
  ShowCommand& show = *given;
  app.add_option("FILE", show.file)->required();
  app.add_option("--as", show.as, "tokens | tree | graph | lowered | types | bytecode | prompts")
      ->required()
      ->check(CLI::IsMember({"tokens", "tree", "graph", "lowered", "types", "bytecode", "prompts"}));
  app.add_option("--format", show.form, "of a graph: json | dot | svg")
      ->check(CLI::IsMember({"json", "dot", "svg"}))
      ->capture_default_str();
  app.add_option("--prompts", show.prompts, "default | slides | a folder with prompt templates")->capture_default_str();
  return as_given(given);
}

Finish add_plan(CLI::App& app) {
  const auto given = std::make_shared<PlanCommand>();
  PlanCommand& plan = *given;
  app.add_option("FILE", plan.file)->required();
  app.add_option("--format", plan.format, "text | dot | json")
      ->check(CLI::IsMember({"text", "dot", "json"}))
      ->capture_default_str();
  app.add_flag("--show-prompts", plan.show_prompts, "show each prompt and each answer on stderr");
  add_model_options(app, plan.model);
  app.get_option("--model")->description(
      "judges what words alone decide, and keeps it in FILE.plan: builtin | gguf:PATH | openai:NAME | script:FILE | "
      "recorded:FILE");
  return as_given(given);
}

Finish add_edit(CLI::App& app) {
  const auto given = std::make_shared<EditCommand>();
  EditCommand& edit = *given;
  app.add_option("FILE", edit.file)->required();
  app.add_option("--ops", edit.edits, "a file with a JSON array of edits; - is standard input")->required();
  app.add_option("--inverse", edit.inverse, "write the edits that undo these to a file");
  app.add_flag("--dry-run", edit.dry_run, "print the new text and leave the file as it is");
  return as_given(given);
}

Finish add_explain(CLI::App& app) {
  const auto given = std::make_shared<ExplainCommand>();
  ExplainCommand& explain = *given;
  app.add_option("CODE", explain.code, "such as E2101")->required();
  return as_given(given);
}

struct Subcommand {
  std::string_view name;
  const char* help;
  Finish (*add)(CLI::App& app);  ///< its options
};

constexpr std::array subcommands = {
    Subcommand{"run", "run a program", add_run},
    Subcommand{"chat", "talk with an agent", add_chat},
    Subcommand{"serve", "serve programs over HTTP", add_serve},
    Subcommand{"resume", "go on with a run that waits or was cut off", add_resume},
    Subcommand{"cancel", "end a run", add_cancel},
    Subcommand{"runs", "list the runs of a store", add_runs},
    Subcommand{"store", "look after a store", add_store},
    Subcommand{"trace", "what a recorded run did, as data", add_trace},
    Subcommand{"replay", "go through a run again without performing anything", add_replay},
    Subcommand{"fork", "begin a new run with what another one has learnt", add_fork},
    Subcommand{"check", "check programs without running them", add_check},
    Subcommand{"fmt", "format programs in place", add_format},
    Subcommand{"test", "run a program's test blocks", add_test},
    Subcommand{"show", "show what becomes of a program", add_show},
    Subcommand{"plan", "show which actions of a `pursue` can follow which", add_plan},
    Subcommand{"edit", "change the graph of a program's blocks", add_edit},
    Subcommand{"explain", "explain a diagnostic's code", add_explain},
};

UsageError no_such(std::string_view command) {
  std::array<std::string_view, subcommands.size()> names;
  std::transform(subcommands.begin(), subcommands.end(), names.begin(),
                 [](const Subcommand& subcommand) { return subcommand.name; });
  const auto nearest = diagnostics::find_nearest(command, names);
  return {fmt::format("there is no command `{}`{}", command,
                      nearest ? fmt::format("; did you mean `{}`?", *nearest) : std::string())};
}

}  // namespace

Result<Command, UsageError> parse_command_line(int argc, const char* const* argv) {
  CLI::App app{"Tenon: programs whose holes a model fills", "tenon"};
  app.set_version_flag("--version", "tenon " TENON_VERSION);
  app.require_subcommand(1);
  // To set up the options of the others would take longer than many a command does.
  const char* const* const first =
      std::find_if(argv + std::min(argc, 1), argv + argc, [](std::string_view word) { return !word.starts_with('-'); });
  const std::string_view chosen = first != argv + argc ? *first : "";
  Finish finish;
  for (const Subcommand& subcommand : subcommands) {
    CLI::App* const added = app.add_subcommand(std::string(subcommand.name), subcommand.help);
    if (subcommand.name == chosen) finish = subcommand.add(*added);
  }
  if (!chosen.empty() && !finish) return failure(no_such(chosen));

  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    for (const CLI::App* asked : app.get_subcommands()) return PrintCommand{asked->help()};
    return PrintCommand{app.help()};
  } catch (const CLI::CallForVersion&) {
    return PrintCommand{"tenon " TENON_VERSION "\n"};
  } catch (const CLI::ParseError& error) {
    return failure(UsageError{error.what()});
  }
  ENSURE(finish);  // the parser asks for a command
  return finish();
}

}  // namespace tenon::cli
