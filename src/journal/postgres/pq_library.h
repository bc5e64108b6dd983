#pragma once

#include <libpq-fe.h>

#include <string>

#include "base/result.h"

namespace tenon::journal::postgres {

/// The functions of libpq that are used here, named without `PQ`. The library is loaded when the first store in a
/// database is opened, so that `tenon` runs without it.
struct PqLibrary {
  decltype(&::PQbackendPID) backend_pid;
  decltype(&::PQclear) clear;
  decltype(&::PQconnectPoll) connect_poll;
  decltype(&::PQconnectStartParams) connect_start_params;
  decltype(&::PQconnectionNeedsPassword) connection_needs_password;
  decltype(&::PQconninfoFree) conninfo_free;
  decltype(&::PQconninfoParse) conninfo_parse;
  decltype(&::PQconsumeInput) consume_input;
  decltype(&::PQenterPipelineMode) enter_pipeline_mode;
  decltype(&::PQerrorMessage) error_message;
  decltype(&::PQexitPipelineMode) exit_pipeline_mode;
  decltype(&::PQfinish) finish;
  decltype(&::PQflush) flush;
  decltype(&::PQfreemem) freemem;
  decltype(&::PQgetisnull) getisnull;
  decltype(&::PQgetlength) getlength;
  decltype(&::PQgetResult) get_result;
  decltype(&::PQgetvalue) getvalue;
  decltype(&::PQisBusy) is_busy;
  decltype(&::PQnotifies) notifies;
  decltype(&::PQntuples) ntuples;
  decltype(&::PQparameterStatus) parameter_status;
  decltype(&::PQpipelineSync) pipeline_sync;
  decltype(&::PQresultErrorField) result_error_field;
  decltype(&::PQresultStatus) result_status;
  decltype(&::PQsendPrepare) send_prepare;
  decltype(&::PQsendQuery) send_query;
  decltype(&::PQsendQueryPrepared) send_query_prepared;
  decltype(&::PQserverVersion) server_version;
  decltype(&::PQsetErrorVerbosity) set_error_verbosity;
  decltype(&::PQsetNoticeReceiver) set_notice_receiver;
  decltype(&::PQsetnonblocking) setnonblocking;
  decltype(&::PQsocket) socket;
  decltype(&::PQstatus) status;
};

/// Loads libpq, once for the process. Fails with a sentence that says how to install it. From any thread.
[[nodiscard]] Result<const PqLibrary*, std::string> load_pq();
/// After `load_pq` has succeeded.
[[nodiscard]] const PqLibrary& pq();

}  // namespace tenon::journal::postgres
