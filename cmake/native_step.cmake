# native_step(WHAT COMMAND… [BESIDE COMMAND…]): runs the command with its output in a log of NATIVE_DIR, whose last line is printed every
# ten seconds. The one BESIDE it runs at the same time, with a log of its own. The log of what fails is shown.
set(NATIVE_PROGRESS_SECONDS 10)

function(native_step what)
  cmake_parse_arguments(ARG "" "" "BESIDE" ${ARGN})
  message(STATUS "${what} …")
  set(step sh ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/native_step.sh)
  set(logs ${NATIVE_DIR}/work/step.log)
  set(commands COMMAND ${step} ${logs} ${NATIVE_PROGRESS_SECONDS} ${ARG_UNPARSED_ARGUMENTS})
  if(ARG_BESIDE)
    # CMake runs the commands of a pipeline at once, and shows what the last one prints.
    list(PREPEND logs ${NATIVE_DIR}/work/step_beside.log)
    list(PREPEND commands COMMAND ${step} ${NATIVE_DIR}/work/step_beside.log ${NATIVE_PROGRESS_SECONDS} ${ARG_BESIDE})
  endif()
  execute_process(${commands} RESULTS_VARIABLE codes)
  foreach(code log IN ZIP_LISTS codes logs)
    if(NOT code EQUAL 0)
      file(READ ${log} text)
      message(FATAL_ERROR "${what} failed (${code}):\n${text}")
    endif()
  endforeach()
endfunction()
