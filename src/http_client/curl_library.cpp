#include "http_client/curl_library.h"

#include <dlfcn.h>

#include "base/ensure.h"

namespace tenon::http_client {
namespace {

/// The library's name that its functions' binary interface has, not the one of a package.
constexpr const char* curl_file = "libcurl.so.4";

Result<CurlLibrary, std::string> open_library() {
  // The libraries beneath it have thousands of functions that are never called: those are found when they are.
  void* const handle = ::dlopen(curl_file, RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) return failure("the HTTP library cannot be loaded: " + std::string(::dlerror()));
  CurlLibrary library{};
  const char* missing = nullptr;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(handle, name));
    if (function == nullptr) missing = name;
  };
  find(library.easy_cleanup, "curl_easy_cleanup");
  find(library.easy_getinfo, "curl_easy_getinfo");
  find(library.easy_header, "curl_easy_header");
  find(library.easy_init, "curl_easy_init");
  find(library.easy_setopt, "curl_easy_setopt");
  find(library.easy_strerror, "curl_easy_strerror");
  find(library.free, "curl_free");
  find(library.getdate, "curl_getdate");
  find(library.global_init, "curl_global_init");
  find(library.multi_add_handle, "curl_multi_add_handle");
  find(library.multi_assign, "curl_multi_assign");
  find(library.multi_cleanup, "curl_multi_cleanup");
  find(library.multi_info_read, "curl_multi_info_read");
  find(library.multi_init, "curl_multi_init");
  find(library.multi_remove_handle, "curl_multi_remove_handle");
  find(library.multi_setopt, "curl_multi_setopt");
  find(library.multi_socket_action, "curl_multi_socket_action");
  find(library.slist_append, "curl_slist_append");
  find(library.slist_free_all, "curl_slist_free_all");
  find(library.url, "curl_url");
  find(library.url_cleanup, "curl_url_cleanup");
  find(library.url_get, "curl_url_get");
  find(library.url_set, "curl_url_set");
  if (missing != nullptr) {
    return failure(std::string("the HTTP library ") + curl_file + " is too old: it has no " + missing);
  }
  const CURLcode started = library.global_init(CURL_GLOBAL_DEFAULT);
  if (started != CURLE_OK) {
    return failure("the HTTP library does not start: " + std::string(library.easy_strerror(started)));
  }
  return library;
}

}  // namespace

Result<const CurlLibrary*, std::string> load_curl() {
  static const Result<CurlLibrary, std::string> library = open_library();
  if (!library) return failure(library.error());
  return &*library;
}

const CurlLibrary& curl() {
  static const CurlLibrary& library = []() -> const CurlLibrary& {
    const auto loaded = load_curl();
    ENSURE(loaded.has_value());
    return **loaded;
  }();
  return library;
}

}  // namespace tenon::http_client
