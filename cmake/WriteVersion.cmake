# Writes OUT only where its content changes, so that an unchanged revision rebuilds nothing.
cmake_minimum_required(VERSION 3.22)  # a script of its own: no policy comes from the project
execute_process(COMMAND git -C "${SOURCE}" rev-parse --short=12 HEAD OUTPUT_VARIABLE revision
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  set(revision "unknown")
  set(dirty "false")
else()
  execute_process(COMMAND git -C "${SOURCE}" status --porcelain --untracked-files=no OUTPUT_VARIABLE changes ERROR_QUIET)
  if(changes STREQUAL "")
    set(dirty "false")
  else()
    set(dirty "true")
  endif()
endif()
file(CONFIGURE OUTPUT "${OUT}" @ONLY CONTENT "#include \"config/version.hpp\"
namespace fedpp {
const char* version() { return \"@VERSION@\"; }
const char* git_revision() { return \"@revision@\"; }
bool git_dirty() { return @dirty@; }
}  // namespace fedpp
")
