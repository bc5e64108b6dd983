#include "cli/ray_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/parse_number.h"

namespace tenon::cli {
namespace {

// What is given reaches the Python package unchanged; here it is only checked.

CLI::Option* add_value(CLI::App& app, const std::string& name, const std::string& form, const std::string& help) {
  return app
      .add_option_function<std::string>(
          name, [](const std::string&) {}, help)
      ->type_name(form);
}

CLI::Option* add_count(CLI::App& app, const std::string& name, std::uint32_t least, std::uint32_t most,
                       const std::string& help) {
  return add_value(app, name, "N", help)->check([least, most](const std::string& text) -> std::string {
    const auto number = parse_number<std::uint32_t>(text);
    if (number && *number >= least && *number <= most) return {};
    return fmt::format("expected a whole number from {} to {}, got `{}`", least, most, text);
  });
}

constexpr std::uint32_t nodes_max = 1'000;
constexpr std::uint32_t hosts_max = 10'000;
constexpr std::uint32_t port_max = 65'535;

void add_deployment(CLI::App& app) {
  add_value(app, "--name", "NAME", "Name of the deployment in the cluster")->default_str("tenon");
}

void add_cluster(CLI::App& app) {
  add_value(app, "--address", "ADDRESS",
            "Address of the cluster [default: the variable RAY_ADDRESS, or the cluster of this machine]");
}

void add_program(CLI::App& app) {
  app.add_option_function<std::vector<std::string>>(
         "FILE", [](const std::vector<std::string>&) {}, "Programs to serve")
      ->required();
  add_value(app, "--model", "SPEC", "Model, as for `tenon run` [default: that of the manifest]");
  add_value(app, "--externs", "MODULE",
            "Python module with the functions that perform externs, marked with @tenon.extern; or MODULE:FUNCTION");
  add_deployment(app);
  add_count(app, "--hosts-per-node", 1, hosts_max, "Hosts on each node [default: one for each core]");
  add_value(app, "--working-dir", "DIR", "Folder that is sent to every node; FILE is relative to it");
}

void add_server(CLI::App& app) {
  add_value(app, "--host", "ADDRESS", "IP address to listen on")->default_str("127.0.0.1");
  add_count(app, "--port", 0, port_max, "Port to listen on (0: any free port)")->default_str("8080");
  add_value(app, "--token-env", "VARIABLE",
            "Environment variable with the token that clients must send; required unless --host is this machine");
}

constexpr std::string_view engine_option = "--engine";
constexpr std::string_view ray_engine = "ray";

}  // namespace

void add_ray_options(CLI::App& ray) {
  ray.require_subcommand(1);
  const auto add = [&](const std::string& name, const std::string& help, const std::string& examples) {
    return ray.add_subcommand(name, help)->group("Commands")->footer("Examples:\n" + examples);
  };
  CLI::App* const serve =
      add("serve", "Deploy programs to a cluster, and serve them over HTTP here",
          "  tenon ray serve desk.tn --store postgres://tenon@db.example.org/runs --externs shop.tools\n"
          "Ctrl-C ends this server. The hosts in the cluster remain until `tenon ray stop`.\n");
  add_program(*serve);
  add_value(*serve, "--store", "URL", "The postgres:// URL of the database with the runs")->required();
  add_cluster(*serve);
  add_server(*serve);

  CLI::App* const up = add("up", "Start a cluster on this machine to try it out, and serve programs on it over HTTP",
                           "  tenon ray up desk.tn --nodes 2\n"
                           "Everything runs in a temporary folder, and ends with Ctrl-C.\n");
  add_program(*up);
  add_count(*up, "--nodes", 1, nodes_max, "Nodes of the cluster")->default_str("2");
  add_value(*up, "--store", "URL",
            "The postgres:// URL of the database with the runs [default: a new one, with PostgreSQL's programs of this "
            "machine]");
  add_server(*up);

  CLI::App* const status =
      add("status", "List the hosts of a deployment, and count its runs", "  tenon ray status --name desk\n");
  add_cluster(*status);
  add_deployment(*status);

  CLI::App* const stop =
      add("stop", "End the hosts of a deployment; its runs remain in the store", "  tenon ray stop --name desk\n");
  add_cluster(*stop);
  add_deployment(*stop);
}

std::optional<std::vector<const char*>> find_ray_serving(std::span<const char* const> arguments) {
  if (arguments.empty() || std::string_view(arguments.front()) != "serve") return std::nullopt;
  std::vector<const char*> serving = {"ray", "serve"};
  bool is_ray = false;
  for (std::size_t at = 1; at < arguments.size(); ++at) {
    const std::string_view argument = arguments[at];
    const bool is_split = argument == engine_option && at + 1 < arguments.size() && arguments[at + 1] == ray_engine;
    if (is_split || argument == std::string(engine_option) + "=" + std::string(ray_engine)) {
      is_ray = true;
      at += is_split ? 1 : 0;
    } else {
      serving.push_back(arguments[at]);
    }
  }
  return is_ray ? std::optional(std::move(serving)) : std::nullopt;
}

}  // namespace tenon::cli
