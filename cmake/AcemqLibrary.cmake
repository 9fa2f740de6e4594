# acemq_library(NAME SOURCES … [LINK …] [PRIVATE_LINK …]): one component, acemq::NAME. Static unless BUILD_SHARED_LIBS.
# The components that exist are in the global property ACEMQ_BUILT, for AcemqInstall.
include(GNUInstallDirs)

function(acemq_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK;PRIVATE_LINK")
  add_library(acemq_${name} ${arg_SOURCES})
  add_library(acemq::${name} ALIAS acemq_${name})
  target_compile_features(acemq_${name} PUBLIC cxx_std_20)
  target_include_directories(acemq_${name}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(acemq_${name} PUBLIC ${arg_LINK} PRIVATE ${arg_PRIVATE_LINK})
  set_target_properties(acemq_${name} PROPERTIES
    EXPORT_NAME ${name}
    POSITION_INDEPENDENT_CODE ON
    CXX_EXTENSIONS OFF
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  if(BUILD_SHARED_LIBS)
    # Only acemq's own names leave a shared library: a second copy of a header-only library in the host cannot clash with ours.
    set(exports ${PROJECT_SOURCE_DIR}/cmake/exports.map)
    target_link_options(acemq_${name} PRIVATE LINKER:--version-script=${exports})
    set_target_properties(acemq_${name} PROPERTIES LINK_DEPENDS ${exports})
  endif()
  set_property(GLOBAL APPEND PROPERTY ACEMQ_BUILT ${name})
endfunction()
