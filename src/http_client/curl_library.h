#pragma once

#include <curl/curl.h>

#include <string>

#include "base/result.h"

namespace tenon::http_client {

/// The functions of libcurl that are used here, named without `curl_`. The library is loaded when the first client is
/// opened: with its dependencies it takes longer to load than the rest of the process takes to start.
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

/// Loads and initializes libcurl, once for the process. Fails with a sentence. From any thread.
[[nodiscard]] Result<const CurlLibrary*, std::string> load_curl();
/// After `load_curl` has succeeded.
[[nodiscard]] const CurlLibrary& curl();

}  // namespace tenon::http_client
