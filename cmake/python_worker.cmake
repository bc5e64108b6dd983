# Embeds the program of Python's worker processes in the library `tools`: worker_source().
set(worker_files _typing.py _errors.py _values.py _types.py _json.py _checks.py _background.py _marks.py _worker.py)
list(TRANSFORM worker_files PREPEND ${CMAKE_SOURCE_DIR}/python/tenon/)
set(worker_source ${CMAKE_BINARY_DIR}/generated/python_worker_source.cpp)
add_custom_command(OUTPUT ${worker_source}
  COMMAND ${CMAKE_COMMAND} -D OUTPUT=${worker_source} -D "FILES=${worker_files}" -P ${CMAKE_SOURCE_DIR}/cmake/embed_python_worker.cmake
  DEPENDS ${worker_files} ${CMAKE_SOURCE_DIR}/cmake/embed_python_worker.cmake
  VERBATIM)
target_sources(tenon_tools PRIVATE ${worker_source})
