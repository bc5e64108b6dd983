#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tenon::test {

/// A disk for SQLite's files that fails where a test wants it to, and that forgets at a power cut whatever was not
/// synced. The files lie in the real file system. One thread at a time.
class FaultyDisk {
 public:
  FaultyDisk();
  /// No connection uses it any more.
  ~FaultyDisk();
  FaultyDisk(const FaultyDisk&) = delete;
  FaultyDisk& operator=(const FaultyDisk&) = delete;
  /// SQLite's name for it.
  [[nodiscard]] const std::string& name() const { return name_; }

  enum class Fault : std::uint8_t { InputOutput, NoSpace };
  /// What a sync that failed should have made durable stays readable and is lost at a power cut, whatever is synced
  /// later. Writes, syncs and truncations count. From now on number `operation`, from 0, fails, and `more` ones after
  /// it. For `NoSpace` only writes count: the others need no space.
  void fail_at(std::uint64_t operation, Fault fault, std::uint64_t more = 0);
  void heal() { fault_.reset(); }
  /// Since `fail_at`, or since the disk was made.
  [[nodiscard]] std::uint64_t operations() const { return operations_; }
  /// Whether the fault has been met.
  [[nodiscard]] bool has_failed() const { return has_failed_; }

  /// From now on nothing works. With a seed, some of the sectors (of 512 bytes) that were written and not synced reach
  /// the disk all the same, in no order.
  void cut_power(std::optional<std::uint64_t> seed = std::nullopt);
  /// After a cut, when all connections are closed: the files are what the disk has kept.
  void restart();

 private:
  struct Methods;
  struct File;
  struct Write {
    std::int64_t offset = 0;
    std::string bytes;
  };
  struct Kept {
    std::string synced;
    std::vector<Write> pending;  ///< since the last sync, in order
    bool exists = false;         ///< was synced once, or was there before
  };
  struct Armed {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    Fault kind = Fault::InputOutput;
  };
  enum class Operation : std::uint8_t { Write, Sync, Truncate };

  /// SQLite's code: 0, or how the operation fails.
  [[nodiscard]] int next_operation(Operation operation);
  void flush(Kept& kept);

  std::string name_;
  std::unique_ptr<Methods> methods_;
  std::map<std::string, Kept> files_;
  std::optional<Armed> fault_;
  std::uint64_t operations_ = 0;
  bool has_failed_ = false;
  bool is_off_ = false;
};

}  // namespace tenon::test
