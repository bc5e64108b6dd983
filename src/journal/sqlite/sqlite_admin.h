#pragma once

#include "journal/sqlite/connection.h"
#include "journal/store_admin.h"

namespace tenon::journal::sqlite {

class SqliteAdmin final : public StoreAdmin {
 public:
  explicit SqliteAdmin(Connection& connection) : connection_(connection) {}

  [[nodiscard]] Result<CheckReport, StoreError> check() override;
  [[nodiscard]] Result<std::string, StoreError> export_run(const RunName& run) override;
  [[nodiscard]] Result<Imported, StoreError> import_run(std::string_view bytes) override;
  [[nodiscard]] Result<Imported, StoreError> import_forgotten(const RunHead& head) override;
  [[nodiscard]] Result<void, StoreError> forget(const RunName& run, std::int64_t now_ms) override;
  [[nodiscard]] Result<void, StoreError> keep_note(const Note& note, std::int64_t now_ms) override;
  [[nodiscard]] Result<std::vector<Note>, StoreError> list_notes(std::string_view after, std::size_t limit) override;
  [[nodiscard]] Result<void, StoreError> backup(const std::string& path) override;
  [[nodiscard]] Result<void, StoreError> compact() override;

 private:
  /// What importing a run means when there is one of its name.
  [[nodiscard]] Result<Imported, StoreError> compare(const RunHead& present, const RunHead& given) const;
  [[nodiscard]] Result<void, StoreError> forget_rows(const RunName& run, std::int64_t now_ms);

  Connection& connection_;
};

}  // namespace tenon::journal::sqlite
