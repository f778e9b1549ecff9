# Flags that every target of this project gets (never exported to consumers).
#
# -ffp-contract=off: kernels compiled for different instruction sets must round alike, or the promise of identical bits is
# void. For the same reason nothing here may turn on fast-math.
add_library(ringside_flags INTERFACE)
target_compile_options(ringside_flags INTERFACE -Wall -Wextra -ffp-contract=off)
if(RINGSIDE_WERROR)
  target_compile_options(ringside_flags INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(ringside_flags INTERFACE -Wthread-safety)
endif()

# For all alike, because a precompiled header is only used by objects that agree on it.
add_compile_options(-pthread)

# Sanitizers must see every object that is linked together, hence the directory scope.
if(RINGSIDE_SANITIZE)
  add_compile_options(-fsanitize=${RINGSIDE_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${RINGSIDE_SANITIZE})
  if(RINGSIDE_SANITIZE MATCHES "thread")
    add_compile_options(-Wno-tsan)  # fences in library headers, which TSan does not follow
  endif()
  if(RINGSIDE_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # The settings let ccache work with the precompiled header of worker/ and across build folders.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE_PROGRAM})
endif()
