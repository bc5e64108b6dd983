#include "cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>
#include <tuple>

#include "cli/trace_options.h"

namespace tenon::cli {
namespace {

void add_model_options(CLI::App& app, ModelChoice& model) {
  app.add_option("--model", model.spec, "builtin (default) | gguf:PATH | openai:NAME | script:FILE | recorded:FILE");
  app.add_option("--judge", model.judge,
                 "judges what contracts say in words, in the forms of --model (default: the model)");
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
  app.add_option("--store", store.path, "the file in which runs are kept");
}

void add_durability_option(CLI::App& app, StoreChoice& store) {
  app.add_option("--durability", store.durability,
                 "full: what is acknowledged survives a power cut; process: only the end of the process")
      ->check(CLI::IsMember({"full", "process"}))
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

}  // namespace

Result<Command, UsageError> parse_command_line(int argc, const char* const* argv) {
  CLI::App app{"Tenon: programs whose holes a model fills", "tenon"};
  app.set_version_flag("--version", "tenon " TENON_VERSION);
  app.require_subcommand(1);

  RunCommand run;
  std::vector<std::string> arguments, argument_variables, budgets;
  CLI::App* run_app = app.add_subcommand("run", "run a program");
  run_app->add_option("FILE", run.file)->required();
  run_app->add_option("--fn", run.function, "the function to call")->capture_default_str();
  run_app->add_option("--arg", arguments, "NAME=VALUE: text as it is, everything else as JSON")
      ->take_all()
      ->allow_extra_args(false);
  run_app->add_option("--arg-env", argument_variables, "NAME=VARIABLE: the value is in the environment, as a secret is")
      ->take_all()
      ->allow_extra_args(false);
  add_extern_option(*run_app, run.externs);
  run_app->add_option("--prompts", run.prompts, "default | slides | a folder with wordings");
  run_app->add_option("--trace", run.trace, "write what happens to a file, a JSON object a line");
  run_app->add_flag("--show-prompts", run.show_prompts, "show each prompt and each answer on stderr");
  run_app->add_option("--repair", run.repairs, "how often an answer that cannot be used is sent back")
      ->capture_default_str();
  run_app->add_option("--budget", budgets, "calls=N, tokens=N, instructions=N, depth=N or time=MS, of the whole run")
      ->take_all()
      ->allow_extra_args(false);
  add_model_options(*run_app, run.model);
  add_store_option(*run_app, run.store);
  add_durability_option(*run_app, run.store);
  add_reports_option(*run_app, run.store);

  ChatCommand chat;
  CLI::App* chat_app = app.add_subcommand("chat", "talk with an agent");
  chat_app->add_option("FILE", chat.file, "the program; with --run one that takes over the conversation");
  chat_app->add_option("--agent", chat.agent, "needed when the program has several");
  chat_app->add_option("--run", chat.run, "go on with this conversation of the store");
  add_store_option(*chat_app, chat.store);
  add_durability_option(*chat_app, chat.store);
  add_reports_option(*chat_app, chat.store);
  add_extern_option(*chat_app, chat.externs);
  chat_app->add_option("--prompts", chat.prompts, "default | slides | a folder with wordings");
  chat_app->add_option("--repair", chat.repairs, "how often an answer that cannot be used is sent back")
      ->capture_default_str();
  chat_app->add_option("--budget", budgets, "calls=N, tokens=N, instructions=N, depth=N or time=MS, of each turn")
      ->take_all()
      ->allow_extra_args(false);
  chat_app->add_option("--trace", chat.trace, "write what happens to a file, a JSON object a line");
  chat_app->add_flag("--show-prompts", chat.show_prompts, "show each prompt and each answer on stderr");
  add_model_options(*chat_app, chat.model);

  ServeCommand serve;
  std::vector<std::string> limits;
  CLI::App* serve_app = app.add_subcommand("serve", "serve programs over HTTP");
  serve_app->add_option("FILE", serve.files)->required();
  serve_app->add_option("--host", serve.host, "the IP address to listen on")->capture_default_str();
  serve_app->add_option("--port", serve.port, "0: any that is free")->capture_default_str();
  serve_app->add_option("--token-env", serve.token_variable,
                        "the variable with the token that clients must send; needed for any --host but this machine's");
  serve_app->add_flag("--take-over", serve.takes_over,
                      "conversations go on with these files from their next turn on, not with the program they have");
  serve_app->add_flag("--edit", serve.edits, "clients may read the programs' texts and graphs, and edit them");
  serve_app->add_option("--limit", limits, "NAME=N: one of the server's limits, see docs/guides/server.md")
      ->take_all()
      ->allow_extra_args(false);
  add_store_option(*serve_app, serve.settings.store);
  serve_app->get_option("--store")->required();
  add_durability_option(*serve_app, serve.settings.store);
  add_reports_option(*serve_app, serve.settings.store);
  add_extern_option(*serve_app, serve.settings.externs);
  serve_app->add_option("--prompts", serve.settings.prompts, "default | slides | a folder with wordings");
  serve_app->add_option("--repair", serve.settings.repairs, "how often an answer that cannot be used is sent back")
      ->capture_default_str();
  serve_app->add_option("--budget", budgets, "calls=N, tokens=N, instructions=N, depth=N or time=MS, of each run")
      ->take_all()
      ->allow_extra_args(false);
  add_model_options(*serve_app, serve.settings.model);

  ResumeCommand resume;
  CLI::App* resume_app = app.add_subcommand("resume", "go on with a run that waits or was cut off");
  resume_app->add_option("RUN", resume.run)->required();
  add_store_option(*resume_app, resume.store);
  resume_app->get_option("--store")->required();
  add_durability_option(*resume_app, resume.store);
  add_reports_option(*resume_app, resume.store);
  resume_app->add_option("--wait", resume.wait, "the question that is answered; needed when there are several");
  resume_app->add_option("--input", resume.input, "the answer: text as it is, everything else as JSON");
  resume_app->add_option("--program", resume.program,
                         "a file whose program takes over the conversation, from its next turn on");
  resume_app->add_option("--prompts", resume.prompts, "with --program: default | slides | a folder with wordings");
  add_extern_option(*resume_app, resume.externs);
  resume_app->add_option("--trace", resume.trace, "write what happens to a file, a JSON object a line");
  resume_app->add_flag("--show-prompts", resume.show_prompts, "show each prompt and each answer on stderr");
  add_model_options(*resume_app, resume.model);

  CancelCommand cancel;
  CLI::App* cancel_app = app.add_subcommand("cancel", "end a run");
  cancel_app->add_option("RUN", cancel.run)->required();
  add_store_option(*cancel_app, cancel.store);
  cancel_app->get_option("--store")->required();
  cancel_app->add_option("--reason", cancel.reason, "for the record");

  RunsCommand runs;
  CLI::App* runs_app = app.add_subcommand("runs", "list the runs of a store");
  add_store_option(*runs_app, runs.store);
  runs_app->get_option("--store")->required();
  runs_app->add_flag("--waiting", runs.waiting, "only those that wait for a person or for time to pass");
  runs_app->add_flag("--json", runs.json, "an array, on stdout");

  StoreCommand store;
  CLI::App* store_app = app.add_subcommand("store", "look after a store");
  store_app->require_subcommand(1);
  const auto add_verb = [&](const std::string& name, const std::string& help) {
    CLI::App* verb = store_app->add_subcommand(name, help);
    add_store_option(*verb, store.store);
    verb->get_option("--store")->required();
    return verb;
  };
  CLI::App* store_check = add_verb("check", "compare every record and content with its checksum");
  CLI::App* store_compact = add_verb("compact", "drop snapshots and free room; no record is touched");
  CLI::App* store_export = add_verb("export", "write one run with all its contents to a file");
  store_export->add_option("RUN", store.run)->required();
  store_export->add_option("--output", store.file, "- is standard output")->required();
  CLI::App* store_import = add_verb("import", "take in what `export` has written");
  store_import->add_option("FILE", store.file)->required();
  CLI::App* store_forget = add_verb("forget", "remove a run's contents for good");
  store_forget->add_option("RUN", store.run)->required();

  TraceCommand trace;
  CLI::App* trace_app = add_trace_options(app, trace);

  ReplayCommand replay;
  CLI::App* replay_app = app.add_subcommand("replay", "go through a run again without performing anything");
  replay_app->add_option("RUN", replay.run)->required();
  add_store_option(*replay_app, replay.store);
  replay_app->get_option("--store")->required();
  replay_app->add_option("--program", replay.program, "a changed program, which must ask for the same");

  ForkCommand fork;
  CLI::App* fork_app = app.add_subcommand("fork", "begin a new run with what another one has learnt");
  fork_app->add_option("RUN", fork.run)->required();
  fork_app->add_option("--at", fork.at, "the number of the last record from which something is taken")
      ->required()
      ->check(CLI::NonNegativeNumber);
  fork_app->add_option("--program", fork.program, "a changed program");
  add_store_option(*fork_app, fork.store);
  fork_app->get_option("--store")->required();
  add_durability_option(*fork_app, fork.store);
  add_reports_option(*fork_app, fork.store);
  add_extern_option(*fork_app, fork.externs);
  fork_app->add_option("--trace", fork.trace, "write what happens to a file, a JSON object a line");
  fork_app->add_flag("--show-prompts", fork.show_prompts, "show each prompt and each answer on stderr");
  add_model_options(*fork_app, fork.model);

  CheckCommand check;
  CLI::App* check_app = app.add_subcommand("check", "check programs without running them");
  check_app->add_option("FILE", check.files)->required();
  check_app->add_flag("--strict", check.strict, "a type that is declared nowhere is an error");
  check_app->add_flag("--json", check.json, "one JSON object a line, on stdout");
  check_app->add_option("--extern", check.externs, "load this library and hold the programs' externs against it")
      ->take_all()
      ->allow_extra_args(false);

  FormatCommand format;
  CLI::App* format_app = app.add_subcommand("fmt", "format programs in place");
  format_app->add_option("FILE", format.files, "- is standard input to standard output")->required();
  format_app->add_flag("--check", format.check, "change nothing; exit 1 when something would change");

  TestCommand test;
  CLI::App* test_app = app.add_subcommand("test", "run a program's test blocks");
  test_app->add_option("FILE", test.file)->required();
  test_app->add_option("--filter", test.filter, "only tests whose names contain this");
  test_app->add_flag("--verify", test.verify, "write the whole state down and read it back at every instruction");

  test_app->add_flag("--crash", test.crash, "record all that happens, and drop the program's state after every record")
      ->excludes("--verify");

  ShowCommand show;
  CLI::App* show_app = app.add_subcommand("show", "show what becomes of a program");
  show_app->add_option("FILE", show.file)->required();
  show_app->add_option("--as", show.as, "tokens | tree | graph | lowered | types | bytecode | prompts")
      ->required()
      ->check(CLI::IsMember({"tokens", "tree", "graph", "lowered", "types", "bytecode", "prompts"}));
  show_app->add_option("--format", show.form, "of a graph: json | dot | svg")
      ->check(CLI::IsMember({"json", "dot", "svg"}))
      ->capture_default_str();
  show_app->add_option("--prompts", show.prompts, "default | slides | a folder with wordings")->capture_default_str();

  PlanCommand plan;
  CLI::App* plan_app = app.add_subcommand("plan", "show which actions of a `pursue` can follow which");
  plan_app->add_option("FILE", plan.file)->required();
  plan_app->add_option("--format", plan.format, "text | dot | json")
      ->check(CLI::IsMember({"text", "dot", "json"}))
      ->capture_default_str();
  plan_app->add_flag("--show-prompts", plan.show_prompts, "show each prompt and each answer on stderr");
  add_model_options(*plan_app, plan.model);
  plan_app->get_option("--model")->description(
      "judges what words alone decide, and keeps it in FILE.plan: builtin | gguf:PATH | openai:NAME | script:FILE | "
      "recorded:FILE");

  EditCommand edit;
  CLI::App* edit_app = app.add_subcommand("edit", "change the graph of a program's blocks");
  edit_app->add_option("FILE", edit.file)->required();
  edit_app->add_option("--ops", edit.edits, "a file with a JSON array of edits; - is standard input")->required();
  edit_app->add_option("--inverse", edit.inverse, "write the edits that undo these to a file");
  edit_app->add_flag("--dry-run", edit.dry_run, "print the new text and leave the file as it is");

  ExplainCommand explain;
  CLI::App* explain_app = app.add_subcommand("explain", "explain a diagnostic's code");
  explain_app->add_option("CODE", explain.code, "such as E2101")->required();

  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    for (const CLI::App* chosen : app.get_subcommands()) return PrintCommand{chosen->help()};
    return PrintCommand{app.help()};
  } catch (const CLI::CallForVersion&) {
    return PrintCommand{"tenon " TENON_VERSION "\n"};
  } catch (const CLI::ParseError& error) {
    return failure(UsageError{error.what()});
  }

  for (const std::string& budget : budgets) {
    if (!parse_budget(budget, *serve_app ? serve.settings.budgets : *chat_app ? chat.budgets : run.budgets)) {
      return failure(
          UsageError{"--budget " + budget + ": write calls=N, tokens=N, instructions=N, depth=N or time=MS"});
    }
  }
  if (*serve_app) {
    for (const std::string& limit : limits) {
      const std::size_t equals = limit.find('=');
      std::uint64_t amount = 0;
      std::istringstream number(equals == std::string::npos ? "" : limit.substr(equals + 1));
      if (!(number >> amount) || !number.eof() || limit[equals + 1] == '-') {
        return failure(UsageError{"--limit " + limit + ": write NAME=N"});
      }
      serve.limits.emplace_back(limit.substr(0, equals), amount);
    }
    return serve;
  }
  if (*run_app) {
    for (const auto& [given, option, pairs] : {std::tuple(&arguments, "--arg", &run.arguments),
                                               std::tuple(&argument_variables, "--arg-env", &run.variables)}) {
      for (const std::string& argument : *given) {
        const std::size_t equals = argument.find('=');
        if (equals == std::string::npos || equals == 0) {
          const std::string_view form = pairs == &run.arguments ? "NAME=VALUE" : "NAME=VARIABLE";
          // What stands there may be a value that is secret.
          return failure(UsageError{fmt::format("{} {}: write {}", option, argument.substr(0, equals), form)});
        }
        std::string name = argument.substr(0, equals);
        const auto same = [&](const auto& other) { return other.first == name; };
        if (std::any_of(run.arguments.begin(), run.arguments.end(), same) ||
            std::any_of(run.variables.begin(), run.variables.end(), same)) {
          return failure(UsageError{fmt::format("{} {} is given twice", option, name)});
        }
        pairs->emplace_back(std::move(name), argument.substr(equals + 1));
      }
    }
    return run;
  }
  if (*chat_app) {
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
    return chat;
  }
  if (*resume_app) {
    if (resume.program.empty() ? !resume.prompts.empty() : resume.input || !resume.wait.empty()) {
      return failure(UsageError{resume.program.empty()
                                    ? "--prompts is of a program that takes over; name it with --program"
                                    : "--program lets a program take over between two turns, and "
                                      "--input answers within one"});
    }
    return resume;
  }
  if (*cancel_app) return cancel;
  if (*runs_app) return runs;
  if (*store_app) {
    store.verb = *store_check     ? StoreCommand::Verb::Check
                 : *store_compact ? StoreCommand::Verb::Compact
                 : *store_export  ? StoreCommand::Verb::Export
                 : *store_import  ? StoreCommand::Verb::Import
                                  : StoreCommand::Verb::Forget;
    static_cast<void>(store_forget);
    return store;
  }
  if (*trace_app) return trace;
  if (*replay_app) return replay;
  if (*fork_app) return fork;
  if (*check_app) return check;
  if (*format_app) return format;
  if (*test_app) return test;
  if (*show_app) return show;
  if (*plan_app) return plan;
  if (*edit_app) return edit;
  return explain;
}

}  // namespace tenon::cli
