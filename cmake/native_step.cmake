# native_step(WHAT COMMAND…): runs the command with its output in the log of NATIVE_DIR, whose last line is printed every ten seconds. The
# log is shown when the command fails.
set(NATIVE_PROGRESS_SECONDS 10)

function(native_step what)
  message(STATUS "${what} …")
  set(log ${NATIVE_DIR}/work/step.log)
  execute_process(COMMAND sh ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/native_step.sh ${log} ${NATIVE_PROGRESS_SECONDS} ${ARGN}
    RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    file(READ ${log} text)
    message(FATAL_ERROR "${what} failed (${code}):\n${text}")
  endif()
endfunction()
