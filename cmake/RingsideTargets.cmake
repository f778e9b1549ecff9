# ringside_library(NAME SRCS ... HDRS ... DEPS ...)   a library; header-only when SRCS is empty
# ringside_binary(NAME SRCS ... DEPS ...)             a program, placed in <build>/bin
# ringside_benchmark(NAME SRCS ... DEPS ...)          a Google Benchmark program, placed beside them
# ringside_test(NAME SRCS ... DEPS ... LABEL unit|integration|slow|gpu [LOCK name] [DATA_DEPS target...])
#                                                     tests with the same LOCK never run at once
# Sources and dependencies are listed, never globbed, so that the graph can be read here.

function(ringside_library name)
  cmake_parse_arguments(ARG "" "" "SRCS;HDRS;DEPS" ${ARGN})
  if(ARG_SRCS)
    add_library(${name} STATIC ${ARG_SRCS} ${ARG_HDRS})
    target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
    target_link_libraries(${name} PUBLIC ${ARG_DEPS} PRIVATE $<BUILD_INTERFACE:ringside_flags>)
  else()
    add_library(${name} INTERFACE ${ARG_HDRS})
    target_include_directories(${name} INTERFACE ${PROJECT_SOURCE_DIR})
    target_link_libraries(${name} INTERFACE ${ARG_DEPS})
  endif()
endfunction()

function(ringside_binary name)
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SRCS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} ringside_flags)
endfunction()

function(ringside_benchmark name)
  ringside_binary(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE benchmark::benchmark)
endfunction()

# Tests are compiled without optimization and share one precompiled header: their time is the compiler's, not their own.
# The header belongs to a program of its own, because a program's objects need other code-generation flags than a library's.
function(ringside_test_headers)
  add_executable(ringside_test_headers ${PROJECT_SOURCE_DIR}/tests/testing/no_tests.cc)
  target_precompile_headers(ringside_test_headers PRIVATE <gmock/gmock.h> <gtest/gtest.h> <functional> <map> <memory>
                            <string> <thread> <vector> <absl/status/statusor.h> <absl/strings/str_cat.h>
                            <absl/time/clock.h> <absl/types/span.h>)
  target_compile_options(ringside_test_headers PRIVATE -O0)
  target_link_libraries(ringside_test_headers PRIVATE ringside_common GTest::gmock ringside_flags)
endfunction()

function(ringside_test name)
  cmake_parse_arguments(ARG "" "LABEL;TIMEOUT;LOCK" "SRCS;DEPS;DATA_DEPS" ${ARGN})
  if(NOT ARG_LABEL)
    set(ARG_LABEL unit)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_executable(${name} ${ARG_SRCS})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} GTest::gmock_main ringside_flags)
  target_compile_options(${name} PRIVATE -O0 -Wno-error=invalid-pch)  # an unused header only costs time
  target_precompile_headers(${name} REUSE_FROM ringside_test_headers)
  if(ARG_DATA_DEPS)
    add_dependencies(${name} ${ARG_DATA_DEPS})
  endif()
  set(properties LABELS ${ARG_LABEL} TIMEOUT ${ARG_TIMEOUT})
  if(ARG_LOCK)
    list(APPEND properties RESOURCE_LOCK ${ARG_LOCK})
  endif()
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES ${properties})
endfunction()
