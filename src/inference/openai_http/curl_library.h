#pragma once

#include <curl/curl.h>

#include <string>

#include "base/result.h"

namespace tenon::inference {

/// The functions of libcurl that are used here, by their names without `curl_`. The library is loaded when a model is
/// first asked over HTTP: with all that it needs it takes longer than the rest of the process's start.
struct CurlLibrary {
  decltype(&::curl_easy_cleanup) easy_cleanup;
  decltype(&::curl_easy_getinfo) easy_getinfo;
  decltype(&::curl_easy_header) easy_header;
  decltype(&::curl_easy_init) easy_init;
  decltype(&::curl_easy_setopt) easy_setopt;
  decltype(&::curl_easy_strerror) easy_strerror;
  decltype(&::curl_free) free;
  decltype(&::curl_getdate) getdate;
  decltype(&::curl_global_init) global_init;
  decltype(&::curl_multi_add_handle) multi_add_handle;
  decltype(&::curl_multi_assign) multi_assign;
  decltype(&::curl_multi_cleanup) multi_cleanup;
  decltype(&::curl_multi_info_read) multi_info_read;
  decltype(&::curl_multi_init) multi_init;
  decltype(&::curl_multi_remove_handle) multi_remove_handle;
  decltype(&::curl_multi_setopt) multi_setopt;
  decltype(&::curl_multi_socket_action) multi_socket_action;
  decltype(&::curl_slist_append) slist_append;
  decltype(&::curl_slist_free_all) slist_free_all;
  decltype(&::curl_url) url;
  decltype(&::curl_url_cleanup) url_cleanup;
  decltype(&::curl_url_get) url_get;
  decltype(&::curl_url_set) url_set;
};

/// Loads and starts libcurl, once for the process. Why not, for people, when it cannot be. Any thread.
[[nodiscard]] Result<const CurlLibrary*, std::string> load_curl();
/// After `load_curl` has succeeded.
[[nodiscard]] const CurlLibrary& curl();

}  // namespace tenon::inference
