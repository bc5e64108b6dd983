#include "journal/sqlite/log_damage.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <string_view>
#include <system_error>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/clock.h"
#include "base/descriptor.h"
#include "journal/sqlite/page_runs.h"

namespace tenon::journal::sqlite {
namespace {

constexpr std::size_t header_bytes = 32;
constexpr std::size_t frame_header_bytes = 24;
/// The magic number; its lowest bit says in which byte order the checksums read the log.
constexpr std::uint32_t magic_little_endian = 0x377f0682;
constexpr std::uint32_t magic_big_endian = 0x377f0683;
constexpr std::uint32_t version = 3'007'000;
/// The page size of every store: SQLite's default.
constexpr std::uint32_t store_page_bytes = 4'096;

/// Between two looks at a log that others may write to; longer than the resolution of a file's times.
constexpr std::chrono::milliseconds look_pause{50};
constexpr int looks_max = 20;

std::string log_path(const std::string& store_path) {
  return store_path + "-wal";
}

/// All bytes of the log; empty if it does not exist.
Result<std::string, StoreError> read_log(const std::string& path) {
  const auto error = [&](int code) {
    return failure(StoreError{StoreError::Kind::Denied, fmt::format("{}: cannot read the write-ahead log: {}", path,
                                                                    std::generic_category().message(code))});
  };
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return errno == ENOENT ? Result<std::string, StoreError>(std::string()) : error(errno);
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) return error(errno);
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t size = 0;
  while (size < bytes.size()) {
    const ssize_t count = ::read(file.number(), bytes.data() + size, bytes.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return error(errno);
    if (count == 0) break;
    size += static_cast<std::size_t>(count);
  }
  bytes.resize(size);
  return bytes;
}

/// What changes with every write to the log, within the resolution of its times; all zeros if there is none.
using LogState = std::tuple<dev_t, ino_t, off_t, time_t, long>;
LogState state_of_log(const std::string& store_path) {
  struct stat status {};
  if (::stat(log_path(store_path).c_str(), &status) != 0) return {};
  return {status.st_dev, status.st_ino, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

static_assert(std::endian::native == std::endian::little);

std::uint32_t little_endian(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::uint32_t big_endian(std::string_view bytes, std::size_t at) {
  return __builtin_bswap32(little_endian(bytes, at));
}

/// SQLite's running checksum of the log: each one continues the one before it.
struct Checksum {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  friend bool operator==(const Checksum&, const Checksum&) = default;

  [[nodiscard]] Checksum over(std::string_view bytes, bool is_big_endian) const {
    Checksum sum = *this;
    for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
      sum.first += word(bytes, at, is_big_endian) + sum.second;
      sum.second += word(bytes, at + 4, is_big_endian) + sum.first;
    }
    return sum;
  }
  /// The inverse: the checksum before `bytes`, a multiple of 8 of them, where this is the one after them.
  [[nodiscard]] Checksum before(std::string_view bytes, bool is_big_endian) const {
    Checksum sum = *this;
    for (std::size_t at = bytes.size(); at >= 8; at -= 8) {
      sum.second -= word(bytes, at - 4, is_big_endian) + sum.first;
      sum.first -= word(bytes, at - 8, is_big_endian) + sum.second;
    }
    return sum;
  }

 private:
  static std::uint32_t word(std::string_view bytes, std::size_t at, bool is_big_endian) {
    return is_big_endian ? big_endian(bytes, at) : little_endian(bytes, at);
  }
};

class Log {
 public:
  explicit Log(std::string_view bytes) : bytes_(bytes) {
    const std::uint32_t magic = big_endian(bytes, 0);
    is_big_endian_ = magic == magic_big_endian;
    const std::uint32_t page_bytes = big_endian(bytes, 8);
    const bool is_header_intact =
        (magic == magic_little_endian || is_big_endian_) && big_endian(bytes, 4) == version &&
        page_bytes == store_page_bytes &&
        Checksum{}.over(bytes.substr(0, 24), is_big_endian_) == Checksum{big_endian(bytes, 24), big_endian(bytes, 28)};
    frames_ = static_cast<std::uint32_t>((bytes.size() - header_bytes) / (frame_header_bytes + store_page_bytes));
    has_header_ = is_header_intact;
    if (is_header_intact) salts_ = bytes.substr(16, 8);
  }

  [[nodiscard]] bool has_header() const { return has_header_; }
  [[nodiscard]] std::uint32_t frames() const { return frames_; }
  /// Where frame `number` begins; they are counted from 1.
  [[nodiscard]] static std::size_t offset_of(std::uint32_t number) {
    return header_bytes + std::size_t{number - 1} * (frame_header_bytes + store_page_bytes);
  }
  [[nodiscard]] std::uint32_t page_of(std::uint32_t number) const { return big_endian(bytes_, offset_of(number)); }
  /// Whether a transaction ends with the frame: its header has the size of the database then.
  [[nodiscard]] bool is_commit(std::uint32_t number) const { return big_endian(bytes_, offset_of(number) + 4) != 0; }
  /// The same of a frame that does not match its checksum, as far as what is left of it says so.
  [[nodiscard]] bool was_commit(std::uint32_t number) const {
    if (is_commit(number)) return is_current(number) || has_right_checksum(number);
    // If only the size is damaged, the checksum says that it was another one than zero.
    const Checksum after_header = checksum_before(number).over(header_of(number), is_big_endian_);
    const Checksum wanted = stored_checksum(number).before(page_bytes(number), is_big_endian_);
    return wanted.first == after_header.first && wanted.second != after_header.second;
  }
  [[nodiscard]] std::string_view page_bytes(std::uint32_t number) const {
    return bytes_.substr(offset_of(number) + frame_header_bytes, store_page_bytes);
  }
  [[nodiscard]] std::string_view salts_of(std::uint32_t number) const {
    return bytes_.substr(offset_of(number) + 8, 8);
  }
  /// Whether the frame belongs to the log as it was last started, and not to an older one in the same file.
  [[nodiscard]] bool is_current(std::uint32_t number) const {
    return salts_of(number) == (has_header_ ? salts_ : salts_of(1));
  }
  /// Whether the frame matches its checksum, which continues the one that the frame before it has, whatever that
  /// frame contains.
  [[nodiscard]] bool is_intact(std::uint32_t number) const {
    if (number == 1 && !has_header_) return false;
    return is_current(number) && has_right_checksum(number);
  }
  /// The same without the salts, which no checksum covers.
  [[nodiscard]] bool has_right_checksum(std::uint32_t number) const {
    return checksum_after(number, checksum_before(number)) == stored_checksum(number);
  }
  /// The same, where the checksum of the frame before it may be what was damaged, and not its content.
  [[nodiscard]] bool is_intact_after_damage(std::uint32_t number) const {
    if (is_intact(number)) return true;
    if (number < 2 || (number == 2 && !has_header_)) return false;
    const Checksum before = checksum_after(number - 1, checksum_before(number - 1));
    return is_current(number) && checksum_after(number, before) == stored_checksum(number);
  }

  /// With a damaged header the byte order is not known.
  void set_byte_order(bool is_big_endian) { is_big_endian_ = is_big_endian; }

 private:
  [[nodiscard]] Checksum checksum_at(std::size_t at) const {
    return {big_endian(bytes_, at), big_endian(bytes_, at + 4)};
  }
  [[nodiscard]] Checksum stored_checksum(std::uint32_t number) const { return checksum_at(offset_of(number) + 16); }
  [[nodiscard]] Checksum checksum_before(std::uint32_t number) const {
    return number == 1 ? checksum_at(24) : stored_checksum(number - 1);
  }
  [[nodiscard]] Checksum checksum_after(std::uint32_t number, Checksum before) const {
    return before.over(header_of(number), is_big_endian_).over(page_bytes(number), is_big_endian_);
  }
  /// What the checksum covers of a frame's header: the number of its page and the size of the database.
  [[nodiscard]] std::string_view header_of(std::uint32_t number) const { return bytes_.substr(offset_of(number), 8); }

  std::string_view bytes_;
  std::string_view salts_;
  std::uint32_t frames_ = 0;
  bool has_header_ = false;
  bool is_big_endian_ = false;
};

/// The commits after frame `after` that would be read if it were intact.
struct HiddenCommits {
  std::uint32_t count = 0;
  std::set<std::string> runs;
};
HiddenCommits commits_after(const Log& log, std::uint32_t after) {
  HiddenCommits commits;
  std::set<std::string> runs;  // of the commit that is being read
  for (std::uint32_t number = after + 1; number <= log.frames(); ++number) {
    const bool is_intact = number == after + 1 ? log.is_intact_after_damage(number) : log.is_intact(number);
    if (!is_intact) continue;
    for (std::string& run : run_names_on(log.page_bytes(number))) runs.insert(std::move(run));
    if (!log.is_commit(number)) continue;
    ++commits.count;
    commits.runs.merge(runs);
  }
  return commits;
}

/// A log is started anew only after all of it was copied into the database. A header that a power cut left half
/// written therefore loses nothing: each page of the old frames is in the database.
bool is_in_database(const Log& log, const std::string& store_path) {
  std::ifstream database(store_path, std::ios::binary);
  std::unordered_map<std::uint32_t, std::uint32_t> newest;  // of each page the last intact frame
  for (std::uint32_t number = 2; number <= log.frames(); ++number)
    if (log.is_intact(number)) newest[log.page_of(number)] = number;
  std::string page(store_page_bytes, '\0');
  for (const auto& [number, frame] : newest) {
    database.clear();
    database.seekg(static_cast<std::streamoff>(std::uint64_t{number - 1} * store_page_bytes));
    if (number == 0 || !database.read(page.data(), store_page_bytes) || page != log.page_bytes(frame)) return false;
  }
  return true;
}

std::optional<LogDamage> damage_of_header(Log& log, const std::string& store_path) {
  for (const bool is_big_endian : {false, true}) {
    log.set_byte_order(is_big_endian);
    const HiddenCommits commits = commits_after(log, 1);
    if (commits.count > 0 && !is_in_database(log, store_path))
      return LogDamage{0, log.frames(), commits.count, 0, true, {commits.runs.begin(), commits.runs.end()}};
  }
  return std::nullopt;
}

}  // namespace

Result<std::optional<LogDamage>, StoreError> find_log_damage(const std::string& store_path) {
  const auto bytes = read_log(log_path(store_path));
  if (!bytes) return failure(bytes.error());
  if (bytes->size() < header_bytes) return std::optional<LogDamage>{};
  Log log(*bytes);
  if (log.frames() == 0) return std::optional<LogDamage>{};
  if (!log.has_header()) return damage_of_header(log, store_path);
  std::uint32_t last_commit = 0;
  std::uint32_t broken = 1;
  for (; broken <= log.frames() && log.is_intact(broken); ++broken)
    if (log.is_commit(broken)) last_commit = broken;
  if (broken > log.frames()) return std::optional<LogDamage>{};
  // Frames of a transaction that was rolled back may follow the last commit, and frames of an older log; none of them
  // says that it ends a commit of this log.
  HiddenCommits commits = commits_after(log, broken);
  if (log.was_commit(broken)) ++commits.count;
  if (commits.count == 0) return std::optional<LogDamage>{};
  for (std::uint32_t number = last_commit + 1; number < broken; ++number)
    for (std::string& run : run_names_on(log.page_bytes(number))) commits.runs.insert(std::move(run));
  return LogDamage{broken,
                   log.frames(),
                   commits.count,
                   Log::offset_of(last_commit + 1),
                   commits.count > 1,
                   {commits.runs.begin(), commits.runs.end()}};
}

Result<std::optional<LogDamage>, StoreError> find_lasting_log_damage(const std::string& store_path) {
  for (int looks = 0; looks < looks_max; ++looks) {
    const LogState before = state_of_log(store_path);
    auto damage = find_log_damage(store_path);
    if (!damage || !*damage) return damage;
    // A log that was written while it was read looks damaged.
    RealClock().wait(look_pause);
    damage = find_log_damage(store_path);
    if (!damage || !*damage || state_of_log(store_path) == before) return damage;
  }
  return std::optional<LogDamage>{};
}

std::string describe(const LogDamage& damage, const std::string& store_path) {
  const std::string path = log_path(store_path);
  const std::string where =
      damage.frame == 0 ? "the header" : fmt::format("frame {} of {}", damage.frame, damage.frames);
  if (!damage.is_certain)
    return fmt::format(
        "{}: {} is damaged, in the last commit of the log. If a crash cut it off while it was written, nothing that "
        "was "
        "acknowledged is lost; otherwise the last commit is",
        path, where);
  return fmt::format("{}: {} is damaged, and {} acknowledged {} after it cannot be read", path, where,
                     damage.commits_after, damage.commits_after == 1 ? "commit" : "commits");
}

Result<std::string, StoreError> cut_log(const LogDamage& damage, const std::string& store_path) {
  const std::string path = log_path(store_path);
  std::string copy = path + ".damaged";
  std::error_code problem;
  for (int more = 2; std::filesystem::exists(copy, problem); ++more) copy = fmt::format("{}.damaged.{}", path, more);
  const auto error = [&](const std::string& file, const std::error_code& code) {
    const auto kind = code == std::errc::no_space_on_device ? StoreError::Kind::Full : StoreError::Kind::Denied;
    return failure(StoreError{kind, fmt::format("{}: {}", file, code.message())});
  };
  if (!std::filesystem::copy_file(path, copy, problem)) return error(copy, problem);
  const Descriptor file(::open(copy.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open() || ::fsync(file.number()) != 0) return error(copy, {errno, std::generic_category()});
  std::filesystem::resize_file(path, damage.frame == 0 ? 0 : damage.intact_bytes, problem);
  if (problem) return error(path, problem);
  return copy;
}

}  // namespace tenon::journal::sqlite
