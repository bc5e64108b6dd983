#pragma once

#include "journal/postgres/session.h"

namespace tenon::journal::postgres {

/// A transaction of several calls; rolled back when it ends without a commit. While it exists, the session makes no
/// other transaction.
class Transaction {
 public:
  enum class Kind : std::uint8_t {
    Write,
    OneState,  ///< only reads; everything is seen as it was at its beginning
  };
  explicit Transaction(Session& session) : session_(session) {}
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  [[nodiscard]] Result<void, SessionError> begin(Kind kind);
  /// With `Lost` it is not known whether it was committed.
  [[nodiscard]] Result<void, SessionError> commit();

 private:
  Session& session_;
  bool is_open_ = false;
};

}  // namespace tenon::journal::postgres
