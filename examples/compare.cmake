# Runs PROGRAM with ARGUMENTS in FOLDER, emptied before, and compares what it prints with the file EXPECTED. With NEEDS_BROKER
# the argument @ACEMQ_TEST_AMQP_URL@ stands for the environment's.
if(NEEDS_BROKER)
  if(NOT DEFINED ENV{ACEMQ_TEST_AMQP_URL})
    message(NOTICE "skipped: ACEMQ_TEST_AMQP_URL names no broker")
    return()
  endif()
  list(TRANSFORM ARGUMENTS REPLACE "@ACEMQ_TEST_AMQP_URL@" "$ENV{ACEMQ_TEST_AMQP_URL}")
endif()

file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
execute_process(COMMAND ${PROGRAM} ${ARGUMENTS} WORKING_DIRECTORY ${FOLDER} TIMEOUT 50
  RESULT_VARIABLE result OUTPUT_VARIABLE printed ERROR_VARIABLE complaints)
file(READ ${EXPECTED} expected)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "it ended with ${result}: ${complaints}${printed}")
elseif(NOT printed STREQUAL expected)
  message(FATAL_ERROR "it printed\n${printed}\nand should have printed\n${expected}")
endif()
