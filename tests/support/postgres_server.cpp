#include "tests/support/postgres_server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

namespace tenon::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr seconds start_time_max{60};
constexpr seconds stop_time_max{30};
constexpr const char* user = "tenon";
/// A user, and a group, that owns nothing on any system.
constexpr uid_t unprivileged_user = 65'534;

/// The newest of Debian's versions.
std::string find_programs() {
  const std::filesystem::path root = "/usr/lib/postgresql";
  std::vector<std::filesystem::path> found;
  std::error_code ignored;
  for (const auto& version : std::filesystem::directory_iterator(root, ignored))
    if (std::filesystem::exists(version.path() / "bin/initdb")) found.push_back(version.path() / "bin");
  if (found.empty())
    throw std::runtime_error("PostgreSQL's server is not installed; on Debian: apt install postgresql-15");
  return std::ranges::max_element(found)->string();
}

pid_t start_process(const std::vector<std::string>& command, const std::string& log) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  const pid_t process = ::fork();
  if (process != 0) return process;
  const int output = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  const int input = ::open("/dev/null", O_RDONLY);
  ::dup2(input, 0);
  ::dup2(output, 1);
  ::dup2(output, 2);
  ::setsid();  // an interruption of the tests does not reach it
  ::execvp(arguments.front(), arguments.data());
  ::_exit(127);
}

/// Whether it has ended by then, and how.
bool wait_for_end(pid_t process, seconds time, int& status) {
  const auto deadline = steady_clock::now() + time;
  while (::waitpid(process, &status, WNOHANG) == 0) {
    if (steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(milliseconds(2));
  }
  return true;
}

std::string end_of_file(const std::string& path) {
  std::ifstream stream(path);
  std::string text(std::istreambuf_iterator<char>(stream), {});
  return text.substr(text.size() - std::min<std::size_t>(text.size(), 2'000));
}

}  // namespace

PostgresServer::PostgresServer(Options options) : options_(std::move(options)) {
  data_ = options_.data_folder.empty() ? folder_.file("data") : options_.data_folder + "/data";
  if (::geteuid() == 0) {
    // The server refuses to run as root.
    const auto give = [](const std::string& folder) {
      if (::chown(folder.c_str(), unprivileged_user, unprivileged_user) != 0)
        throw std::runtime_error(folder + " cannot be given to the user of the database server");
    };
    give(folder_.file(""));
    if (!options_.data_folder.empty()) give(options_.data_folder);
  }
  const std::string log = folder_.file("initdb.log");
  const pid_t made = start_process(as_server_user({find_programs() + "/initdb", "-D", data_, "-U", user, "-A", "trust",
                                                   "--no-locale", "-E", "UTF8", "--no-sync"}),
                                   log);
  int status = 0;
  if (!wait_for_end(made, start_time_max, status) || status != 0)
    throw std::runtime_error("initdb failed: " + end_of_file(log));
  // https://www.postgresql.org/docs/15/auth-pg-hba-conf.html; the first line that matches counts
  std::ofstream(data_ + "/pg_hba.conf") << fmt::format("local all {} scram-sha-256\nlocal all all trust\n",
                                                       options_.role_with_password);
  start();
}

PostgresServer::~PostgresServer() {
  stop(Stop::Immediate);
}

PostgresServer& PostgresServer::shared() {
  static PostgresServer server;
  return server;
}

std::vector<std::string> PostgresServer::as_server_user(std::vector<std::string> command) const {
  std::vector<std::string> whole = {"setpriv", "--pdeathsig", "QUIT"};  // it ends when this process does
  const std::string user_id = std::to_string(unprivileged_user);
  if (::geteuid() == 0) whole.insert(whole.end(), {"--reuid=" + user_id, "--regid=" + user_id, "--clear-groups"});
  whole.insert(whole.end(), std::make_move_iterator(command.begin()), std::make_move_iterator(command.end()));
  return whole;
}

void PostgresServer::start() {
  std::vector<std::string> command = {find_programs() + "/postgres",
                                      "-D",
                                      data_,
                                      "-c",
                                      "listen_addresses=",
                                      "-c",
                                      "unix_socket_directories=" + folder_.file(""),
                                      "-c",
                                      "fsync=off",
                                      "-c",
                                      "max_connections=200",
                                      "-c",
                                      "shared_buffers=32MB"};
  for (const std::string& setting : options_.settings) command.insert(command.end(), {"-c", setting});
  if (!options_.environment.empty()) {
    command.insert(command.begin(), options_.environment.begin(), options_.environment.end());
    command.insert(command.begin(), "env");
  }
  process_ = start_process(as_server_user(std::move(command)), folder_.file("server.log"));
  wait_until_ready();
}

/// Until it accepts a connection, and not only that it starts.
void PostgresServer::wait_until_ready() {
  const std::string programs = find_programs();
  const auto deadline = steady_clock::now() + start_time_max;
  while (true) {
    int status = 0;
    if (::waitpid(process_, &status, WNOHANG) != 0) {
      process_ = 0;
      throw std::runtime_error("the database server does not start: " + end_of_file(folder_.file("server.log")));
    }
    const pid_t probe = start_process({programs + "/pg_isready", "-q", "-h", folder_.file("")}, "/dev/null");
    if (wait_for_end(probe, stop_time_max, status) && status == 0) return;
    if (steady_clock::now() >= deadline) throw std::runtime_error("the database server does not become ready");
    std::this_thread::sleep_for(milliseconds(10));
  }
}

void PostgresServer::stop(Stop how) {
  if (process_ == 0) return;
  ::kill(process_, how == Stop::Fast ? SIGINT : SIGQUIT);
  int status = 0;
  if (!wait_for_end(process_, stop_time_max, status)) {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, &status, 0);
  }
  process_ = 0;
}

std::string PostgresServer::url(const std::string& schema, const std::string& options) const {
  return fmt::format("postgres://{}@/postgres?host={}&tenon.schema={}{}{}", user, folder_.file(""), schema,
                     options.empty() ? "" : "&", options);
}

std::string PostgresServer::new_url() {
  return url(fmt::format("store_{}", ++schemas_));
}

}  // namespace tenon::test
