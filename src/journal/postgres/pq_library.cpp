#include "journal/postgres/pq_library.h"

#include <dlfcn.h>

#include "base/ensure.h"

namespace tenon::journal::postgres {
namespace {

/// The library's name that its functions' binary interface has, not the one of a package.
constexpr const char* pq_file = "libpq.so.5";

Result<PqLibrary, std::string> open_library() {
  void* const handle = ::dlopen(pq_file, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return failure("a store in PostgreSQL needs the library libpq, which cannot be loaded (" +
                   std::string(::dlerror()) + "); install it, on Debian and Ubuntu with: apt install libpq5");
  }
  PqLibrary library{};
  const char* missing = nullptr;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(handle, name));
    if (function == nullptr) missing = name;
  };
  find(library.backend_pid, "PQbackendPID");
  find(library.clear, "PQclear");
  find(library.connect_poll, "PQconnectPoll");
  find(library.connect_start_params, "PQconnectStartParams");
  find(library.connection_needs_password, "PQconnectionNeedsPassword");
  find(library.conninfo_free, "PQconninfoFree");
  find(library.conninfo_parse, "PQconninfoParse");
  find(library.consume_input, "PQconsumeInput");
  find(library.enter_pipeline_mode, "PQenterPipelineMode");
  find(library.error_message, "PQerrorMessage");
  find(library.exit_pipeline_mode, "PQexitPipelineMode");
  find(library.finish, "PQfinish");
  find(library.flush, "PQflush");
  find(library.freemem, "PQfreemem");
  find(library.getisnull, "PQgetisnull");
  find(library.getlength, "PQgetlength");
  find(library.get_result, "PQgetResult");
  find(library.getvalue, "PQgetvalue");
  find(library.is_busy, "PQisBusy");
  find(library.notifies, "PQnotifies");
  find(library.ntuples, "PQntuples");
  find(library.parameter_status, "PQparameterStatus");
  find(library.pipeline_sync, "PQpipelineSync");
  find(library.result_error_field, "PQresultErrorField");
  find(library.result_status, "PQresultStatus");
  find(library.send_prepare, "PQsendPrepare");
  find(library.send_query, "PQsendQuery");
  find(library.send_query_prepared, "PQsendQueryPrepared");
  find(library.server_version, "PQserverVersion");
  find(library.set_error_verbosity, "PQsetErrorVerbosity");
  find(library.set_notice_receiver, "PQsetNoticeReceiver");
  find(library.setnonblocking, "PQsetnonblocking");
  find(library.socket, "PQsocket");
  find(library.status, "PQstatus");
  if (missing != nullptr) {
    return failure(std::string("the library ") + pq_file + " is too old: it has no " + missing +
                   "; install libpq 14 or newer");
  }
  return library;
}

}  // namespace

Result<const PqLibrary*, std::string> load_pq() {
  static const Result<PqLibrary, std::string> library = open_library();
  if (!library) return failure(library.error());
  return &*library;
}

const PqLibrary& pq() {
  const auto library = load_pq();
  ENSURE(library.has_value());
  return **library;
}

}  // namespace tenon::journal::postgres
