# Installs headers, libraries, a CMake package with components, and one pkg-config file per component.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/acemq)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
get_property(components GLOBAL PROPERTY ACEMQ_BUILT)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/acemq DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")

# One export per component, so that asking for outbox never looks for what another component needs.
foreach(component IN LISTS components)
  install(TARGETS acemq_${component} EXPORT acemq-${component})
  install(EXPORT acemq-${component} NAMESPACE acemq:: DESTINATION ${package_dir})
endforeach()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/acemqConfig.cmake.in ${PROJECT_BINARY_DIR}/acemqConfig.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/acemqConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/acemqConfig.cmake ${PROJECT_BINARY_DIR}/acemqConfigVersion.cmake DESTINATION ${package_dir})

# acemq_pkgconfig(COMPONENT DESCRIPTION [REQUIRES …] [NEEDS …] [NEEDS_LIBS …]). What a library needs for itself (NEEDS) is private
# to a shared one; whoever links a static one has to link it too, so there it is written as public.
function(acemq_pkgconfig component description)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "REQUIRES;NEEDS;NEEDS_LIBS")
  if(NOT TARGET acemq_${component})
    return()
  endif()
  set(requires ${arg_REQUIRES})
  set(private_requires "")
  set(libs "")
  set(private_libs "")
  if(BUILD_SHARED_LIBS)
    set(private_requires ${arg_NEEDS})
    list(JOIN arg_NEEDS_LIBS " " private_libs)
  else()
    list(APPEND requires ${arg_NEEDS})
    list(JOIN arg_NEEDS_LIBS " " libs)
  endif()
  list(JOIN requires ", " requires)
  list(JOIN private_requires ", " private_requires)
  file(RELATIVE_PATH prefix_from_pc /${pkgconfig_dir} /)
  string(REGEX REPLACE "/$" "" prefix_from_pc "${prefix_from_pc}")
  configure_file(${PROJECT_SOURCE_DIR}/cmake/acemq.pc.in ${PROJECT_BINARY_DIR}/acemq-${component}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/acemq-${component}.pc DESTINATION ${pkgconfig_dir})
endfunction()

acemq_pkgconfig(outbox "Messages, records and the insert of a transactional outbox")
acemq_pkgconfig(relay "Relay from an outbox table to a broker" REQUIRES acemq-outbox NEEDS_LIBS -pthread)
acemq_pkgconfig(publish "Direct publishing with confirms" REQUIRES acemq-outbox NEEDS_LIBS -pthread)
acemq_pkgconfig(sqlite "Outbox store in a SQLite file" REQUIRES acemq-outbox NEEDS sqlite3)
acemq_pkgconfig(amqp "RabbitMQ transport" REQUIRES acemq-outbox NEEDS_LIBS -pthread)
acemq_pkgconfig(testing "Fakes and conformance suites for an outbox" REQUIRES acemq-outbox)
