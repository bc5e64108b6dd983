/* The extern of std::report. It is bound to each program that writes reports, before that starts; so it needs no
 * library itself, and opens the renderer beside it when it is called, which is in a process of its own. */

#define _GNU_SOURCE
#include "tenon/extern.h"

#include <dlfcn.h>

TENON_EXTERN(tenon_write_report) {
  static const char renderer[] = "tenon_report_renderer.so";
  char path[4096];
  Dl_info own;
  const char* slash;
  void* library;
  void (*render)(tenon_call*);
  size_t folder;
  if (dladdr((const void*)&tenon_extern_tenon_write_report, &own) == 0 || own.dli_fname == NULL) {
    tenon_fail(call, "the report's library does not know where it is");
    return;
  }
  slash = strrchr(own.dli_fname, '/');
  folder = slash == NULL ? 0 : (size_t)(slash - own.dli_fname) + 1;
  if (folder + sizeof renderer > sizeof path) {
    tenon_fail(call, "the path of the report's library is too long");
    return;
  }
  memcpy(path, own.dli_fname, folder);
  memcpy(path + folder, renderer, sizeof renderer);
  library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    tenon_fail(call, "the reports' renderer cannot be opened: %s", dlerror());
    return;
  }
  *(void**)&render = dlsym(library, "tenon_report_render");
  if (render == NULL) {
    tenon_fail(call, "%s is no renderer of reports", path);
    return;
  }
  render(call);
}
