#include "cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>

#include "base/ensure.h"
#include "base/parse_number.h"
#include "cli/command_help.h"
#include "cli/completion.h"
#include "cli/given_value.h"
#include "cli/limit_options.h"
#include "cli/ray_options.h"
#include "cli/shared_options.h"
#include "cli/store_options.h"
#include "cli/studio.h"
#include "cli/trace_options.h"
#include "cli/usage_error.h"
#include "server/limits.h"

namespace tenon::cli {
namespace {

/// Makes the command from its options after all of them have been parsed, and checks their combination.
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
  app.add_option("FILE", run.file, "Program to run")->required();
  app.add_option("--fn", run.function, "Function to call")->type_name("NAME")->default_str("main");
  add_repeatable(app, "--arg", given->arguments, "NAME=VALUE",
                 "Argument: plain text for a text type, JSON for any other; VALUE can be @FILE or @- (stdin), "
                 "see `tenon help values`");
  add_repeatable(app, "--arg-env", given->variables, "NAME=VARIABLE",
                 "Argument from an environment variable, such as a secret");
  add_extern_option(app, run.externs);
  add_prompts_option(app, run.prompts);
  add_budget_option(app, given->budgets, "the whole run");
  add_trace_and_prompts_options(app, run.trace, run.show_prompts);
  add_model_options(app, run.model);
  add_repair_option(app, run.repairs);
  add_store_option(app, run.store,
                   "Record the run in a file or a database (postgres://…), so that it survives its process");
  add_durability_option(app, run.store);
  add_reports_option(app, run.store);
  app.add_flag("--wait", run.waits_for_timers,
               "Sleep in this process until the timers of a recorded run are due, instead of exiting with 3")
      ->group(store_group);
  add_grace_option(app, run.grace_seconds);
  add_retry_option(app, given->retries);
  return [given, &run]() -> Result<Command, UsageError> {
    if (auto read = read_budgets(given->budgets, run.budgets); !read) return failure(std::move(read.error()));
    if (auto read = read_retries(given->retries, run.retry); !read) return failure(std::move(read.error()));
    if (auto read = read_given_pairs("--arg", "NAME=VALUE", given->arguments, run, run.arguments); !read) {
      return failure(std::move(read.error()));
    }
    if (auto read = read_given_pairs("--arg-env", "NAME=VARIABLE", given->variables, run, run.variables); !read) {
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
  app.add_option("FILE", chat.file, "Program with the agent; together with --run, the program to upgrade to");
  app.add_option("--agent", chat.agent, "Agent to chat with, if the program has several")->type_name("NAME");
  app.add_option("--run", chat.run, "Continue this conversation of the store")->type_name("RUN");
  add_extern_option(app, chat.externs);
  add_prompts_option(app, chat.prompts);
  add_budget_option(app, given->budgets, "each turn");
  add_trace_and_prompts_options(app, chat.trace, chat.show_prompts);
  add_model_options(app, chat.model);
  add_repair_option(app, chat.repairs);
  add_store_option(app, chat.store,
                   "Record the conversation in a file or a database (postgres://…), so that it survives its process");
  add_durability_option(app, chat.store);
  add_reports_option(app, chat.store);
  add_grace_option(app, chat.grace_seconds);
  add_retry_option(app, given->retries);
  return [given, &chat]() -> Result<Command, UsageError> {
    if (auto read = read_budgets(given->budgets, chat.budgets); !read) return failure(std::move(read.error()));
    if (auto read = read_retries(given->retries, chat.retry); !read) return failure(std::move(read.error()));
    if (!chat.run.empty() && chat.store.path.empty()) {
      return failure(UsageError{"`--run` requires `--store FILE`"});
    }
    if (chat.run.empty() && chat.file.empty())
      return failure(UsageError{"missing `FILE`, or `--run RUN` and `--store FILE`"});
    if (!chat.run.empty() && !chat.agent.empty()) {
      return failure(UsageError{"`--agent` cannot be combined with `--run`"});
    }
    if (!chat.run.empty() && chat.file.empty() && !chat.prompts.empty()) {
      return failure(UsageError{"`--prompts` with `--run` requires the `FILE` to upgrade to"});
    }
    return std::move(chat);
  };
}

/// `--budget` and `--retry`, as texts.
struct RunLimits {
  std::vector<std::string> budgets, retries;

  [[nodiscard]] Result<void, UsageError> read(RunCommand& settings) const {
    if (auto read = read_budgets(budgets, settings.budgets); !read) return read;
    return read_retries(retries, settings.retry);
  }
};

/// The options of a server's runs. `add_store` adds those that choose the store, at their place in the help.
void add_hosting_options(CLI::App& app, RunCommand& settings, RunLimits& limits,
                         const std::function<void()>& add_store) {
  add_extern_option(app, settings.externs);
  add_prompts_option(app, settings.prompts);
  add_budget_option(app, limits.budgets, "each run");
  add_model_options(app, settings.model);
  add_repair_option(app, settings.repairs);
  add_store();
  add_durability_option(app, settings.store);
  add_reports_option(app, settings.store);
  add_grace_option(app, settings.grace_seconds);
  add_retry_option(app, limits.retries);
}

/// The store of a studio's programs, where none is named: beside the first one.
std::string default_store(const std::string& program) {
  return std::filesystem::path(program).replace_extension(".store").string();
}

Finish add_studio(CLI::App& app) {
  struct Given {
    ServeCommand command;
    RunLimits limits_of_runs;
    bool stays_closed = false;
  };
  const auto given = std::make_shared<Given>();
  ServeCommand& studio = given->command;
  studio.port = studio_port;
  studio.edits = true;
  studio.is_studio = true;
  app.add_option("FILE", studio.files, "Programs to edit and run")->required();
  const char* const server_group = "Server";
  add_number(app, "--port", studio.port, "Port to listen on, on this machine (0: any free port)", std::uint16_t{65'535})
      ->group(server_group)
      ->default_str(std::to_string(studio_port));
  app.add_flag("--no-open", given->stays_closed, "Print the address without opening it in the browser")
      ->group(server_group);
  add_hosting_options(app, studio.settings, given->limits_of_runs, [&] {
    add_store_option(app, studio.settings.store,
                     "File with the recorded runs, or the postgres:// URL of a database; by default a file beside the "
                     "first program, with the ending .store");
  });
  return [given, &studio]() -> Result<Command, UsageError> {
    if (auto read = given->limits_of_runs.read(studio.settings); !read) return failure(std::move(read.error()));
    if (studio.settings.store.path.empty()) studio.settings.store.path = default_store(studio.files.front());
    studio.opens_browser = !given->stays_closed;
    return std::move(studio);
  };
}

Finish add_serve(CLI::App& app) {
  struct Given {
    ServeCommand command;
    RunLimits limits_of_runs;
    std::vector<std::string> limits;
    std::string store_wait;
  };
  const auto given = std::make_shared<Given>();
  ServeCommand& serve = given->command;
  app.add_option("FILE", serve.files, "Programs to serve")->required();
  const char* const server_group = "Server";
  app.add_option("--host", serve.host, "IP address to listen on")
      ->type_name("ADDRESS")
      ->group(server_group)
      ->default_str("127.0.0.1");
  add_number(app, "--port", serve.port, "Port to listen on (0: any free port)", std::uint16_t{65'535})
      ->group(server_group)
      ->default_str("8080");
  app.add_option("--token-env", serve.token_variable,
                 "Environment variable with the token that clients must send; required unless --host is this machine")
      ->type_name("VARIABLE")
      ->group(server_group);
  app.add_flag("--upgrade", serve.upgrades_conversations,
               "Upgrade conversations to these programs at their next turn, instead of keeping the program that "
               "they started with")
      ->group(server_group);
  app.add_option("--pool", serve.pool,
                 "Pool of servers that continues the runs which are started here; for several servers on one store")
      ->type_name("NAME")
      ->group(server_group);
  app.add_option("--agent", serve.agent,
                 "Continue runs of the pool only while this agent is active, which the manifest places on servers of "
                 "its own")
      ->type_name("NAME")
      ->group(server_group);
  app.add_flag("--gateway", serve.is_gateway,
               "Perform nothing: leave what clients ask for to the other servers of the store")
      ->group(server_group);
  app.add_option("--engine", serve.engine,
                 "Where runs continue: in this process, or with `ray` in the hosts of a Ray cluster, whose options are "
                 "those of "
                 "`tenon ray serve`")
      ->check(CLI::IsMember({"local", "ray"}))
      ->type_name("ENGINE")
      ->group(server_group)
      ->default_str("local");
  app.add_flag("--edit", serve.edits, "Let clients read and edit the programs' text and graphs")->group(server_group);
  add_repeatable(app, "--limit", given->limits, "NAME=N", "Limit of the server: " + server::limit_names())
      ->group(server_group);
  add_hosting_options(app, serve.settings, given->limits_of_runs, [&] {
    add_needed_store_option(app, serve.settings.store);
    add_store_wait_option(
        app, given->store_wait,
        "Wait until the process that uses the store has ended, this long at most, and take over then");
  });
  return [given, &serve]() -> Result<Command, UsageError> {
    auto store_wait = read_store_wait(given->store_wait);
    if (!store_wait) return failure(std::move(store_wait.error()));
    serve.store_wait = *store_wait;
    if (auto read = given->limits_of_runs.read(serve.settings); !read) return failure(std::move(read.error()));
    for (const std::string& limit : given->limits) {
      const std::size_t equals = limit.find('=');
      const auto amount =
          equals == std::string::npos ? std::nullopt : parse_number<std::uint64_t>(limit.substr(equals + 1));
      if (!amount) {
        return failure(UsageError{fmt::format("invalid value for `--limit`: expected NAME=N, got `{}`", limit)});
      }
      const std::string name = limit.substr(0, equals);
      if (server::Limits known; server::find_limit(known, name) == nullptr) {
        return failure(UsageError{fmt::format("unknown limit `{}`; the limits are {}", name, server::limit_names())});
      }
      if (*amount == 0) {
        return failure(
            UsageError{fmt::format("invalid value for `--limit {}`: expected a number of at least 1", name)});
      }
      serve.limits.emplace_back(name, *amount);
    }
    return std::move(serve);
  };
}

Finish add_resume(CLI::App& app) {
  struct Given {
    ResumeCommand command;
    std::vector<std::string> budgets;
    std::string store_wait;
  };
  const auto given = std::make_shared<Given>();
  ResumeCommand& resume = given->command;
  app.add_option("RUN", resume.run, "Name of the run, as `tenon runs` lists it")->required();
  app.add_option("--input", resume.input,
                 "Answer to an open question: plain text for a text type, JSON for any other; VALUE can be @FILE or "
                 "@- (stdin), see `tenon help values`")
      ->type_name("VALUE");
  const CLI::Option* const wait =
      app.add_option("--wait", resume.wait,
                     "Question to answer; the first one of a run needs no name. Without a value: sleep in this process "
                     "until the run's timers are due, instead of exiting with 3")
          ->type_name("[WAIT]")
          ->expected(0, 1);
  app.add_option("--program", resume.program, "Upgrade the conversation to this program, from its next turn on")
      ->type_name("FILE")
      ->group(program_group);
  add_prompts_option(app, resume.prompts)
      ->description("With --program: prompt templates: default, slides, marked, or a folder with your own files");
  add_budget_option(app, given->budgets,
                    "a run that has ended because its budget was spent, to continue it with this one");
  add_extern_option(app, resume.externs);
  add_trace_and_prompts_options(app, resume.trace, resume.show_prompts);
  add_model_options(app, resume.model);
  add_needed_store_option(app, resume.store);
  add_store_wait_option(app, given->store_wait,
                        "Wait until the process that uses the store, or that continues the run, has ended, this long "
                        "at most, instead of leaving the run to it");
  add_durability_option(app, resume.store);
  add_reports_option(app, resume.store);
  add_grace_option(app, resume.grace_seconds);
  return [given, &resume, wait]() -> Result<Command, UsageError> {
    auto store_wait = read_store_wait(given->store_wait);
    if (!store_wait) return failure(std::move(store_wait.error()));
    resume.store_wait = *store_wait;
    resume.waits_for_timers = wait->count() > 0 && resume.wait.empty();
    if (auto read = read_budgets(given->budgets, resume.budgets); !read) return failure(std::move(read.error()));
    if (!given->budgets.empty() && (resume.input || !resume.program.empty())) {
      return failure(
          UsageError{fmt::format("`--budget` cannot be combined with `{}`: a run whose budget is spent asks nothing",
                                 resume.input ? "--input" : "--program")});
    }
    if (resume.program.empty() && !resume.prompts.empty()) {
      return failure(UsageError{"`--prompts` requires `--program FILE`"});
    }
    if (!resume.program.empty() && (resume.input || !resume.wait.empty())) {
      return failure(
          UsageError{fmt::format("`--program` cannot be combined with `{}`, because a program is upgraded "
                                 "between two turns",
                                 resume.input ? "--input" : "--wait")});
    }
    return std::move(resume);
  };
}

Finish add_cancel(CLI::App& app) {
  const auto given = std::make_shared<CancelCommand>();
  CancelCommand& cancel = *given;
  app.add_option("RUN", cancel.run, "Name of the run, as `tenon runs` lists it")->required();
  add_needed_store_option(app, cancel.store);
  app.add_option("--reason", cancel.reason, "Reason to record")->type_name("TEXT");
  return as_given(given);
}

Finish add_runs(CLI::App& app) {
  const auto given = std::make_shared<RunsCommand>();
  RunsCommand& runs = *given;
  add_needed_store_option(app, runs.store);
  app.add_flag("--waiting", runs.waiting, "List only the runs that wait for a person or a timer");
  app.add_flag("--json", runs.json, "Print a JSON array");
  return as_given(given);
}

Finish add_store(CLI::App& app) {
  const auto given = std::make_shared<StoreCommand>();
  add_store_options(app, *given);
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
  app.add_option("RUN", replay.run, "Name of the run")->required();
  add_needed_store_option(app, replay.store);
  app.add_option("--program", replay.program, "Changed program; it must make the same requests as the recorded one")
      ->type_name("FILE");
  return as_given(given);
}

Finish add_fork(CLI::App& app) {
  struct Given {
    ForkCommand command;
    std::uint64_t at = 0;
    std::vector<std::string> budgets;
  };
  const auto given = std::make_shared<Given>();
  ForkCommand& fork = given->command;
  app.add_option("RUN", fork.run, "Name of the run to fork")->required();
  const CLI::Option* const at =
      add_number(app, "--at", given->at, "Number of the last record to take from the run (default: its last one)");
  app.add_option("--program", fork.program, "Changed program (default: the run's)")
      ->type_name("FILE")
      ->group(program_group);
  add_budget_option(app, given->budgets, "the new run (default: those of the run)");
  add_needed_store_option(app, fork.store);
  add_durability_option(app, fork.store);
  add_reports_option(app, fork.store);
  add_extern_option(app, fork.externs);
  add_trace_and_prompts_options(app, fork.trace, fork.show_prompts);
  add_model_options(app, fork.model);
  return [given, &fork, at]() -> Result<Command, UsageError> {
    if (at->count() > 0) fork.at = given->at;
    if (auto read = read_budgets(given->budgets, fork.budgets); !read) return failure(std::move(read.error()));
    return std::move(fork);
  };
}

Finish add_check(CLI::App& app) {
  const auto given = std::make_shared<CheckCommand>();
  CheckCommand& check = *given;
  app.add_option("FILE", check.files, "Programs to check, or folders of them")->required();
  app.add_flag("--strict", check.strict, "Report undeclared types, and calls that act and are not proved, as errors");
  app.add_flag("--json", check.json, "Print one JSON object per diagnostic on stdout");
  add_repeatable(app, "--extern", check.externs, "LIB", "Shared library to compare the programs' externs with");
  return as_given(given);
}

Finish add_format(CLI::App& app) {
  const auto given = std::make_shared<FormatCommand>();
  FormatCommand& format = *given;
  app.add_option("FILE", format.files, "Programs to format, folders of them, or - to format stdin to stdout")
      ->required();
  app.add_flag("--check", format.check,
               "Change nothing, list the files that would change, and exit with 1 if there are any");
  return as_given(given);
}

Finish add_test(CLI::App& app) {
  const auto given = std::make_shared<TestCommand>();
  TestCommand& test = *given;
  app.add_option("FILE", test.files, "Programs with tests, or folders of them")->required();
  app.add_option("--filter", test.filter, "Run only the tests whose names contain this text")->type_name("TEXT");
  app.add_flag("--verify", test.verify, "Encode and decode the machine's state at every instruction");
  app.add_flag("--crash", test.crash, "Discard the machine after every record and recover from the records")
      ->excludes("--verify");
  return as_given(given);
}

Finish add_show(CLI::App& app) {
  const auto given = std::make_shared<ShowCommand>();
  ShowCommand& show = *given;
  app.add_option("FILE", show.file, "Program to show")->required();
  app.add_option("--as", show.as, "Compilation step to print")
      ->type_name("tokens|tree|graph|lowered|types|bytecode|prompts")
      ->required()
      ->check(one_of({"tokens", "tree", "graph", "lowered", "types", "bytecode", "prompts"}));
  const CLI::Option* const form = app.add_option("--format", show.form, "Format of a graph")
                                      ->type_name("json|dot|svg")
                                      ->check(one_of({"json", "dot", "svg"}))
                                      ->default_str("json");
  const CLI::Option* const prompts = add_prompts_option(app, show.prompts)->default_str("default")->group("Options");
  return [given, &show, form, prompts]() -> Result<Command, UsageError> {
    if (form->count() > 0 && show.as != "graph") return failure(UsageError{"`--format` requires `--as=graph`"});
    if (prompts->count() > 0 && show.as != "prompts") return failure(UsageError{"`--prompts` requires `--as=prompts`"});
    return std::move(show);
  };
}

Finish add_plan(CLI::App& app) {
  const auto given = std::make_shared<PlanCommand>();
  PlanCommand& plan = *given;
  app.add_option("FILE", plan.file, "Program with a `pursue`")->required();
  app.add_option("--format", plan.format, "Format of the plan")
      ->type_name("text|dot|json")
      ->check(one_of({"text", "dot", "json"}))
      ->default_str("text");
  app.add_flag("--show-prompts", plan.show_prompts, "Print each prompt and each answer on stderr");
  add_model_options(app, plan.model);
  app.get_option("--model")->description(
      "Model that judges requirements written as text, saved in FILE.plan (default: none); see `tenon help models`");
  return as_given(given);
}

Finish add_edit(CLI::App& app) {
  const auto given = std::make_shared<EditCommand>();
  EditCommand& edit = *given;
  app.add_option("FILE", edit.file, "Program to edit")->required();
  app.add_option("--ops", edit.edits, "File with a JSON array of edits, or - for stdin")->type_name("FILE")->required();
  app.add_option("--inverse", edit.inverse, "Write the edits that undo these to a file")->type_name("FILE");
  app.add_flag("--dry-run", edit.dry_run, "Print the new text and leave the file unchanged");
  return as_given(given);
}

Finish add_explain(CLI::App& app) {
  const auto given = std::make_shared<ExplainCommand>();
  ExplainCommand& explain = *given;
  app.add_option("CODE", explain.code, "Code of the diagnostic, such as E2101")->required();
  return as_given(given);
}

Finish add_explain_flow(CLI::App& app) {
  const auto given = std::make_shared<ExplainFlowCommand>();
  ExplainFlowCommand& explain = *given;
  app.add_option("FILE", explain.file, "Program with externs that act")->required();
  app.add_option("--sink", explain.sink, "One of them, or one parameter of it")->type_name("NAME[.PARAMETER]");
  app.add_flag("--json", explain.json, "Print JSON");
  return as_given(given);
}

Finish add_stubs(CLI::App& app) {
  const auto given = std::make_shared<StubsCommand>();
  StubsCommand& stubs = *given;
  app.add_option("FILE", stubs.files, "Programs whose stubs are written")->required();
  app.add_option("--output", stubs.output, "Write the stub to a file, or - for stdout (default: FILE.pyi)")
      ->type_name("FILE");
  return as_given(given);
}

Finish add_ray(CLI::App& app) {
  add_ray_options(app);
  return as_given(std::make_shared<RayCommand>());
}

struct Subcommand {
  std::string_view name;
  const char* help;
  const char* group;
  const char* examples;
  Finish (*add)(CLI::App& app);  ///< adds its options
};

constexpr const char* run_group = "Run programs";
constexpr const char* write_group = "Write programs";
constexpr const char* manage_group = "Manage recorded runs";
constexpr const char* inspect_group = "Inspect recorded runs";

constexpr std::array subcommands = {
    Subcommand{"run", "Run a function of a program", run_group,
               "Examples:\n"
               "  tenon run hello.tn --arg name=World\n"
               "  tenon run review.tn --arg patch=@fix.diff --model openai:gpt-4o-mini\n"
               "  tenon run order.tn --store runs.store --budget calls=20\n",
               add_run},
    Subcommand{"chat", "Chat with an agent", run_group,
               "Examples:\n"
               "  tenon chat assistant.tn --store runs.store\n"
               "  tenon chat --run RUN --store runs.store\n",
               add_chat},
    Subcommand{"serve", "Serve programs over HTTP", run_group,
               "Examples:\n"
               "  tenon serve desk.tn --store runs.store\n"
               "  tenon serve desk.tn --store runs.store --host 0.0.0.0 --token-env TOKEN\n",
               add_serve},
    Subcommand{"studio", "Edit, run and watch programs in the browser", run_group,
               "Examples:\n"
               "  tenon studio desk.tn\n"
               "  tenon studio desk.tn mails.tn --store runs.store --model openai:gpt-4o-mini\n",
               add_studio},
    Subcommand{"ray", "Run programs on a Ray cluster", run_group,
               "Examples:\n"
               "  tenon ray up desk.tn --nodes 2\n"
               "  tenon ray serve desk.tn --store postgres://tenon@db.example.org/runs\n"
               "The Python package `tenon[ray]` performs these commands.\n",
               add_ray},
    Subcommand{"test", "Run the test blocks of programs", run_group,
               "Examples:\n"
               "  tenon test order.tn\n"
               "  tenon test .\n"
               "  tenon test order.tn --filter refund --crash\n",
               add_test},
    Subcommand{"check", "Check programs without running them", write_group,
               "Examples:\n"
               "  tenon check order.tn\n"
               "  tenon check *.tn --strict --json\n",
               add_check},
    Subcommand{"fmt", "Format programs in place", write_group,
               "Examples:\n"
               "  tenon fmt order.tn\n"
               "  tenon fmt --check .\n",
               add_format},
    Subcommand{"show", "Print one compilation step of a program", write_group,
               "Examples:\n"
               "  tenon show order.tn --as=prompts\n"
               "  tenon show desk.tn --as=graph --format=svg > desk.svg\n",
               add_show},
    Subcommand{"plan", "Print the action graph of a `pursue`", write_group,
               "Examples:\n"
               "  tenon plan travel.tn\n"
               "  tenon plan travel.tn --format dot | dot -Tsvg > travel.svg\n",
               add_plan},
    Subcommand{"edit", "Edit the graph of a program's blocks", write_group,
               "Examples:\n"
               "  tenon edit desk.tn --ops edits.json --inverse undo.json\n",
               add_edit},
    Subcommand{"explain", "Explain a diagnostic", write_group,
               "Examples:\n"
               "  tenon explain E2101\n",
               add_explain},
    Subcommand{"explain-flow", "Explain what decides the calls that act", write_group,
               "Examples:\n"
               "  tenon explain-flow desk.tn --sink send_mail.to\n",
               add_explain_flow},
    Subcommand{"stubs", "Write types of programs for Python", write_group,
               "Examples:\n"
               "  tenon stubs desk.tn\n",
               add_stubs},
    Subcommand{"runs", "List the runs of a store", manage_group,
               "Examples:\n"
               "  tenon runs --store runs.store --waiting\n",
               add_runs},
    Subcommand{"resume", "Resume a waiting or interrupted run", manage_group,
               "Examples:\n"
               "  tenon resume RUN --store runs.store --input true\n"
               "  tenon resume RUN --store runs.store --input @letter.txt\n",
               add_resume},
    Subcommand{"cancel", "Cancel a run", manage_group,
               "Examples:\n"
               "  tenon cancel RUN --store runs.store --reason \"out of stock\"\n",
               add_cancel},
    Subcommand{"store", "Check, copy, back up, compact, repair, export, import or forget; list owners", manage_group,
               "Examples:\n"
               "  tenon store check --store runs.store\n"
               "  tenon store export RUN --output run.bin --store runs.store\n",
               add_store},
    Subcommand{"trace", "Export, verify and compare recorded runs", inspect_group,
               "Examples:\n"
               "  tenon trace show RUN --store runs.store\n"
               "  tenon trace diff RUN1 RUN2 --store runs.store\n",
               add_trace},
    Subcommand{"replay", "Re-execute a run from its journal, without calling models or tools", inspect_group,
               "Examples:\n"
               "  tenon replay RUN --store runs.store --program changed.tn\n",
               add_replay},
    Subcommand{"fork", "Start a new run from a recorded point of another", inspect_group,
               "Examples:\n"
               "  tenon fork RUN --at 12 --store runs.store\n",
               add_fork},
};
constexpr std::string_view help_command = "help";
constexpr std::string_view completion_command = "completion";

std::vector<std::string_view> command_names() {
  std::vector<std::string_view> names = {help_command, completion_command};
  for (const Subcommand& subcommand : subcommands) names.push_back(subcommand.name);
  return names;
}

UsageError unknown_command(std::string_view command) {
  return {fmt::format("unknown command `{}`{}", command, suggest(command, command_names()))};
}

/// Adds the commands to the app, and the options of the one that is `chosen`. Returns how it is finished; nothing if
/// there is no such command.
Finish add_commands(CLI::App& app, std::string_view chosen) {
  app.set_help_flag("-h,--help", "Print help");
  app.set_version_flag("--version", "tenon " TENON_VERSION, "Print the version");
  app.formatter(std::make_shared<HelpFormatter>());
  app.footer(
      std::string("`tenon help COMMAND` prints the options of a command.\n"
                  "`tenon help exit-codes`, `tenon help models` and `tenon help values` describe what commands share.\n"
                  "`source <(tenon completion bash)` enables completion in bash.\n"));
  app.require_subcommand(1);
  // Adding the options of all commands would take longer than many commands do.
  Finish finish;
  for (const Subcommand& subcommand : subcommands) {
    CLI::App* const added = app.add_subcommand(std::string(subcommand.name), subcommand.help);
    added->group(subcommand.group)->footer(std::string(subcommand.examples));
    if (subcommand.name == chosen) finish = subcommand.add(*added);
  }
  return finish;
}

/// `tenon completion bash`.
Result<Command, UsageError> parse_completion(std::span<const char* const> words) {
  const std::string_view shell = words.empty() ? "" : words.front();
  if (shell == "--help" || shell == "-h") {
    return PrintCommand{"Print a script that enables completion\n\nUsage: tenon completion bash\n"};
  }
  if (words.size() != 1 || shell != "bash") {
    return failure(UsageError{"expected `tenon completion bash`"});
  }
  CLI::App app("", "tenon");
  static_cast<void>(add_commands(app, ""));
  std::vector<Finish> finishes;  // they own the commands that the options refer to
  for (const Subcommand& subcommand : subcommands) {
    finishes.push_back(subcommand.add(*app.get_subcommand(std::string(subcommand.name))));
  }
  return PrintCommand{write_bash_completion(app)};
}

/// `tenon help`, `tenon help TOPIC`, `tenon help COMMAND…`.
Result<Command, UsageError> parse_help(std::span<const char* const> words) {
  const std::string_view first = words.empty() ? "" : words.front();
  if (first == help_command || first == "--help" || first == "-h") words = {};
  if (!words.empty()) {
    if (auto text = find_help_topic(words.front())) return PrintCommand{std::move(*text)};
    std::vector<std::string_view> names = command_names();
    if (std::find(names.begin(), names.end(), words.front()) == names.end()) {
      for (const std::string_view topic : help_topics()) names.push_back(topic);
      return failure(
          UsageError{fmt::format("there is no help for `{}`{}", words.front(), suggest(words.front(), names))});
    }
  }
  std::vector<const char*> arguments = {"tenon"};
  arguments.insert(arguments.end(), words.begin(), words.end());
  arguments.push_back("--help");
  return parse_command_line(static_cast<int>(arguments.size()), arguments.data());
}

/// What is wrong with an option before the command; nothing if it is one of `tenon` itself.
std::optional<UsageError> check_first(std::string_view argument) {
  if (!argument.starts_with('-') || argument == "-h" || argument == "--help" || argument == "--version") {
    return std::nullopt;
  }
  const std::string hint = suggest(argument, {"--help", "--version"});
  return UsageError{
      fmt::format("unknown option `{}`{}", argument, hint.empty() ? "; options follow the command" : hint)};
}

}  // namespace

Result<Command, UsageError> parse_command_line(int argc, const char* const* argv) {
  const std::span<const char* const> arguments(argv + std::min(argc, 1), argv + argc);
  if (!arguments.empty() && arguments.front() == help_command) return parse_help(arguments.subspan(1));
  if (!arguments.empty() && arguments.front() == completion_command) return parse_completion(arguments.subspan(1));
  if (!arguments.empty()) {
    if (auto error = check_first(arguments.front())) return failure(std::move(*error));
  }
  if (auto serving = find_ray_serving(arguments)) {
    serving->insert(serving->begin(), argv[0]);
    return parse_command_line(static_cast<int>(serving->size()), serving->data());
  }
  CLI::App app{"Tenon: a typed language and durable runtime for LLM agents", "tenon"};
  const std::string_view chosen = arguments.empty() || arguments.front()[0] == '-' ? "" : arguments.front();
  const Finish finish = add_commands(app, chosen);
  if (arguments.empty()) return failure(UsageError{"missing command", "", app.help()});
  if (!chosen.empty() && !finish) return failure(unknown_command(chosen));

  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return PrintCommand{app.help()};
  } catch (const CLI::CallForVersion&) {
    return PrintCommand{"tenon " TENON_VERSION "\n"};
  } catch (const CLI::ParseError& error) {
    return failure(describe_parse_error(app, error));
  }
  ENSURE(finish);  // the parser requires a command
  auto command = finish();
  if (!command) command.error().command = chosen;
  if (auto* const ray = command ? std::get_if<RayCommand>(&*command) : nullptr)
    ray->arguments.assign(arguments.begin() + 1, arguments.end());
  return command;
}

}  // namespace tenon::cli
