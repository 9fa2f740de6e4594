# Sanitizers and coverage, for everything below the folder that includes this. Off unless asked for.
set(ACEMQ_SANITIZE "" CACHE STRING "Sanitizers, as in -fsanitize=: address,undefined or thread")
option(ACEMQ_COVERAGE "Count lines and branches, for gcovr" OFF)

if(ACEMQ_SANITIZE)
  add_compile_options(-fsanitize=${ACEMQ_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${ACEMQ_SANITIZE})
endif()
if(ACEMQ_COVERAGE)
  add_compile_options(--coverage -fprofile-update=atomic)
  add_link_options(--coverage)
endif()
