#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tenon::test {

/// A simulated disk for SQLite's files that fails where a test requests it, and that loses unsynced data at a power
/// loss. The files are in the real file system. Not thread-safe.
class FaultyDisk {
 public:
  FaultyDisk();
  /// No connection may use the disk anymore.
  ~FaultyDisk();
  FaultyDisk(const FaultyDisk&) = delete;
  FaultyDisk& operator=(const FaultyDisk&) = delete;
  /// The name of the VFS in SQLite.
  [[nodiscard]] const std::string& name() const { return name_; }

  enum class Fault : std::uint8_t { InputOutput, NoSpace };
  /// Makes operation number `operation`, counted from 0 from now on, and the `more` following ones fail. Writes, syncs
  /// and truncations count; for `NoSpace` only writes do, because the others do not need space. Data that a failed sync
  /// should have made durable stays readable and is lost at a power loss, even if a later sync succeeds.
  void fail_at(std::uint64_t operation, Fault fault, std::uint64_t more = 0);
  void heal() { fault_.reset(); }
  /// Operations since `fail_at`, or since the construction.
  [[nodiscard]] std::uint64_t operations() const { return operations_; }
  /// Whether the fault has occurred.
  [[nodiscard]] bool has_failed() const { return has_failed_; }

  /// From now on every operation fails. With a seed, some of the unsynced sectors (of 512 bytes) reach the disk anyway,
  /// in any order.
  void cut_power(std::optional<std::uint64_t> seed = std::nullopt);
  /// After a power loss, when all connections are closed: resets the files to what the disk contains.
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
    bool exists = false;         ///< was synced once, or existed before
  };
  struct Armed {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    Fault kind = Fault::InputOutput;
  };
  enum class Operation : std::uint8_t { Write, Sync, Truncate };

  /// SQLite's result code: 0, or the error of the operation.
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
