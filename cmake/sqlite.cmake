# SQLite, pinned by rust/sqlite/Cargo.lock and built once per machine and compiler like the libraries of native.cmake, but
# under a key of its own: neither makes the other be built anew.
set(SQLITE_CRATE libsqlite3-sys-0.39.1)
set(SQLITE_MANIFEST_DIR ${CMAKE_SOURCE_DIR}/rust/sqlite)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
  ${SQLITE_MANIFEST_DIR}/Cargo.lock ${SQLITE_MANIFEST_DIR}/Cargo.toml)

# A connection belongs to one thread at a time; "text" in double quotes is never taken for a string; nothing is counted,
# loaded or shared that the journal does not use.
set(SQLITE_OPTIONS -DSQLITE_THREADSAFE=2 -DSQLITE_DQS=0 -DSQLITE_DEFAULT_MEMSTATUS=0 -DSQLITE_OMIT_DEPRECATED
  -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_OMIT_SHARED_CACHE -DSQLITE_DEFAULT_FILE_PERMISSIONS=0600)

set(sqlite_inputs "${native_compiler};${SQLITE_OPTIONS}")
foreach(input IN ITEMS ${SQLITE_MANIFEST_DIR}/Cargo.toml ${SQLITE_MANIFEST_DIR}/Cargo.lock ${CMAKE_CURRENT_LIST_FILE})
  file(SHA256 ${input} digest)
  string(APPEND sqlite_inputs "${digest}")
endforeach()
string(SHA256 sqlite_key "${sqlite_inputs}")
string(SUBSTRING "${sqlite_key}" 0 16 sqlite_key)
set(SQLITE_DIR ${TENON_DEPENDENCIES_DIR}/sqlite-${sqlite_key})

function(build_sqlite)
  find_rust()
  set(NATIVE_DIR ${SQLITE_DIR})  # where native_step keeps its log
  set(work ${SQLITE_DIR}/work)
  file(REMOVE_RECURSE ${work})
  file(MAKE_DIRECTORY ${work} ${SQLITE_DIR}/lib)
  native_step("Fetching SQLite's sources"
    ${CARGO} vendor --locked --versioned-dirs --manifest-path ${SQLITE_MANIFEST_DIR}/Cargo.toml ${work}/vendor)
  set(source ${work}/vendor/${SQLITE_CRATE})
  native_step("Building SQLite"
    ${NATIVE_CC} -O2 -fPIC -w ${SQLITE_OPTIONS} -c ${source}/sqlite3/sqlite3.c -o ${work}/sqlite3.o)
  file(REMOVE ${SQLITE_DIR}/lib/libtenon_sqlite.a)
  native_step("Packing SQLite" ${CMAKE_AR} rcs ${SQLITE_DIR}/lib/libtenon_sqlite.a ${work}/sqlite3.o)
  file(COPY ${source}/sqlite3/sqlite3.h DESTINATION ${SQLITE_DIR}/include)
  file(COPY ${source}/LICENSE DESTINATION ${SQLITE_DIR}/licenses/libsqlite3-sys)
  file(WRITE ${SQLITE_DIR}/licenses/sqlite/LICENSE
    "SQLite is in the public domain: https://sqlite.org/copyright.html\nThe crate that carries it: see libsqlite3-sys.\n")
  file(REMOVE_RECURSE ${work})
  file(WRITE ${SQLITE_DIR}/complete "${SQLITE_CRATE}\n")
endfunction()

file(MAKE_DIRECTORY ${SQLITE_DIR})
if(NOT EXISTS ${SQLITE_DIR}/complete)
  file(LOCK ${SQLITE_DIR}/lock GUARD FILE)
  if(NOT EXISTS ${SQLITE_DIR}/complete)
    build_sqlite()
  endif()
  file(LOCK ${SQLITE_DIR}/lock RELEASE)
endif()

add_library(sqlite STATIC IMPORTED)
set_target_properties(sqlite PROPERTIES
  IMPORTED_LOCATION ${SQLITE_DIR}/lib/libtenon_sqlite.a
  INTERFACE_INCLUDE_DIRECTORIES ${SQLITE_DIR}/include
  INTERFACE_LINK_LIBRARIES "Threads::Threads;m")
