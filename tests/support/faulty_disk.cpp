#include "tests/support/faulty_disk.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "base/ensure.h"

namespace tenon::test {

/// Placed in the memory that SQLite provides, followed by the real file.
struct FaultyDisk::File {
  sqlite3_file base;
  FaultyDisk* disk;
  Kept* kept;  ///< null for temporary files, which do not survive a restart
  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

struct FaultyDisk::Methods {
  sqlite3_vfs vfs{};
  sqlite3_io_methods files{};
  sqlite3_vfs* real = nullptr;

  static File& file(sqlite3_file* raw) { return *reinterpret_cast<File*>(raw); }
  static FaultyDisk& disk(sqlite3_vfs* vfs) { return *static_cast<FaultyDisk*>(vfs->pAppData); }
  static sqlite3_vfs* real_of(sqlite3_vfs* vfs) { return disk(vfs).methods_->real; }

  static int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* raw, int flags, int* out_flags) {
    FaultyDisk& disk = Methods::disk(vfs);
    File& file = Methods::file(raw);
    file.base.pMethods = nullptr;
    file.disk = &disk;
    file.kept = nullptr;
    if (disk.is_off_) return SQLITE_CANTOPEN;
    if (name != nullptr && (flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL)) != 0) {
      const bool is_new = !disk.files_.contains(name);
      Kept& kept = disk.files_[name];
      if (is_new && std::filesystem::exists(name)) {
        std::ifstream stream(name, std::ios::binary);
        kept.synced.assign(std::istreambuf_iterator<char>(stream), {});
        kept.exists = true;
      }
      file.kept = &kept;
    }
    const int code = disk.methods_->real->xOpen(disk.methods_->real, name, file.real(), flags, out_flags);
    if (code == SQLITE_OK) file.base.pMethods = &disk.methods_->files;
    return code;
  }

  static int write(sqlite3_file* raw, const void* bytes, int size, sqlite3_int64 offset) {
    File& file = Methods::file(raw);
    if (file.kept != nullptr) {
      if (const int code = file.disk->next_operation(Operation::Write); code != SQLITE_OK) return code;
      file.kept->pending.push_back(
          {offset, std::string(static_cast<const char*>(bytes), static_cast<std::size_t>(size))});
    }
    return file.real()->pMethods->xWrite(file.real(), bytes, size, offset);
  }

  static int truncate(sqlite3_file* raw, sqlite3_int64 size) {
    File& file = Methods::file(raw);
    if (file.kept != nullptr) {
      if (const int code = file.disk->next_operation(Operation::Truncate); code != SQLITE_OK) return code;
      // Like a journaling file system: truncated data does not reappear after the end, and truncations are applied in
      // order.
      file.disk->flush(*file.kept);
      file.kept->synced.resize(static_cast<std::size_t>(size));
    }
    return file.real()->pMethods->xTruncate(file.real(), size);
  }

  /// The bytes are in the kernel anyway. Does not really sync, so that tests do not wait for the disk.
  static int sync(sqlite3_file* raw, int /*flags*/) {
    File& file = Methods::file(raw);
    if (file.kept == nullptr) return SQLITE_OK;
    if (const int code = file.disk->next_operation(Operation::Sync); code != SQLITE_OK) {
      // As in Linux: the pages count as clean now, so a later sync does not write them.
      file.kept->pending.clear();
      return code;
    }
    file.disk->flush(*file.kept);
    file.kept->exists = true;
    return SQLITE_OK;
  }

  static int remove(sqlite3_vfs* vfs, const char* name, int sync_folder) {
    FaultyDisk& disk = Methods::disk(vfs);
    if (disk.is_off_) return SQLITE_IOERR_DELETE;
    disk.files_.erase(name);
    return disk.methods_->real->xDelete(disk.methods_->real, name, sync_folder);
  }

  static int close(sqlite3_file* raw) {
    File& file = Methods::file(raw);
    return file.real()->pMethods->xClose(file.real());
  }

  static const sqlite3_io_methods& of(sqlite3_file* raw) { return *file(raw).real()->pMethods; }

  explicit Methods(FaultyDisk& disk) : real(sqlite3_vfs_find(nullptr)) {
    vfs = *real;
    vfs.pNext = nullptr;
    vfs.szOsFile = static_cast<int>(sizeof(File)) + real->szOsFile;
    vfs.zName = disk.name_.c_str();
    vfs.pAppData = &disk;
    vfs.xOpen = open;
    vfs.xDelete = remove;
    // The real functions use their own VFS.
    vfs.xAccess = [](sqlite3_vfs* self, const char* name, int flags, int* out) {
      return real_of(self)->xAccess(real_of(self), name, flags, out);
    };
    vfs.xFullPathname = [](sqlite3_vfs* self, const char* name, int size, char* out) {
      return real_of(self)->xFullPathname(real_of(self), name, size, out);
    };
    files.iVersion = 2;
    files.xClose = close;
    files.xWrite = write;
    files.xTruncate = truncate;
    files.xSync = sync;
    files.xRead = [](sqlite3_file* raw, void* out, int size, sqlite3_int64 offset) {
      return of(raw).xRead(file(raw).real(), out, size, offset);
    };
    files.xFileSize = [](sqlite3_file* raw, sqlite3_int64* size) { return of(raw).xFileSize(file(raw).real(), size); };
    files.xLock = [](sqlite3_file* raw, int level) { return of(raw).xLock(file(raw).real(), level); };
    files.xUnlock = [](sqlite3_file* raw, int level) { return of(raw).xUnlock(file(raw).real(), level); };
    files.xCheckReservedLock = [](sqlite3_file* raw, int* out) {
      return of(raw).xCheckReservedLock(file(raw).real(), out);
    };
    files.xFileControl = [](sqlite3_file* raw, int what, void* argument) {
      return of(raw).xFileControl(file(raw).real(), what, argument);
    };
    files.xSectorSize = [](sqlite3_file* raw) { return of(raw).xSectorSize(file(raw).real()); };
    files.xDeviceCharacteristics = [](sqlite3_file* raw) { return of(raw).xDeviceCharacteristics(file(raw).real()); };
    files.xShmMap = [](sqlite3_file* raw, int page, int size, int extend, void volatile** out) {
      return of(raw).xShmMap(file(raw).real(), page, size, extend, out);
    };
    files.xShmLock = [](sqlite3_file* raw, int offset, int count, int flags) {
      return of(raw).xShmLock(file(raw).real(), offset, count, flags);
    };
    files.xShmBarrier = [](sqlite3_file* raw) { of(raw).xShmBarrier(file(raw).real()); };
    files.xShmUnmap = [](sqlite3_file* raw, int remove_it) { return of(raw).xShmUnmap(file(raw).real(), remove_it); };
  }
};

namespace {

void write_to(std::string& image, std::int64_t offset, const char* bytes, std::size_t size) {
  const auto begin = static_cast<std::size_t>(offset);
  if (image.size() < begin + size) image.resize(begin + size);
  std::memcpy(image.data() + begin, bytes, size);
}

}  // namespace

FaultyDisk::FaultyDisk() {
  static std::atomic<int> made{0};
  name_ = "faulty_disk_" + std::to_string(made++);
  methods_ = std::make_unique<Methods>(*this);
  ENSURE(sqlite3_vfs_register(&methods_->vfs, 0) == SQLITE_OK);
}

FaultyDisk::~FaultyDisk() {
  sqlite3_vfs_unregister(&methods_->vfs);
}

void FaultyDisk::fail_at(std::uint64_t operation, Fault fault, std::uint64_t more) {
  operations_ = 0;
  has_failed_ = false;
  fault_ = Armed{operation, operation + more, fault};
}

int FaultyDisk::next_operation(Operation operation) {
  if (is_off_) return SQLITE_IOERR;
  if (fault_ && fault_->kind == Fault::NoSpace && operation != Operation::Write) return SQLITE_OK;
  const std::uint64_t number = operations_++;
  if (!fault_ || number < fault_->first || number > fault_->last) return SQLITE_OK;
  has_failed_ = true;
  if (fault_->kind == Fault::NoSpace) return SQLITE_FULL;
  switch (operation) {
    case Operation::Write:
      return SQLITE_IOERR_WRITE;
    case Operation::Sync:
      return SQLITE_IOERR_FSYNC;
    case Operation::Truncate:
      return SQLITE_IOERR_TRUNCATE;
  }
  return SQLITE_IOERR;
}

void FaultyDisk::flush(Kept& kept) {
  for (const Write& write : kept.pending) write_to(kept.synced, write.offset, write.bytes.data(), write.bytes.size());
  kept.pending.clear();
}

void FaultyDisk::cut_power(std::optional<std::uint64_t> seed) {
  is_off_ = true;
  constexpr std::size_t sector = 512;
  std::mt19937_64 random(seed.value_or(0));
  for (auto& [path, kept] : files_) {
    if (seed) {
      for (const Write& write : kept.pending)
        for (std::size_t at = 0; at < write.bytes.size(); at += sector)
          if (random() % 2 == 0)
            write_to(kept.synced, write.offset + static_cast<std::int64_t>(at), write.bytes.data() + at,
                     std::min(sector, write.bytes.size() - at));
      kept.exists = kept.exists || random() % 2 == 0;
    }
    kept.pending.clear();
  }
}

void FaultyDisk::restart() {
  ENSURE(is_off_);
  for (const auto& [path, kept] : files_) {
    std::filesystem::remove(path);
    std::filesystem::remove(path + "-shm");
    if (!kept.exists) continue;
    std::ofstream stream(path, std::ios::binary);
    stream.write(kept.synced.data(), static_cast<std::streamsize>(kept.synced.size()));
    ENSURE(stream.good());
  }
  files_.clear();  // from here on they equal the real files
  is_off_ = false;
  fault_.reset();
}

}  // namespace tenon::test
