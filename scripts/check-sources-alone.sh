#!/usr/bin/env bash
# check-sources-alone.sh - every source (of tests and benchmarks, too) and header finds what it uses of ours through its own includes. A unity
# build, which is what scripts/build.sh and so the tests build, does not ask: there a source sees what those before it included. Headers of
# others are precompiled, so that a source takes about a second (those of the standard library for all sources alike: whether a source names
# <vector> is not asked). A warning fails. Parses, builds nothing. Needs Clang 19.
set -euo pipefail
cd "$(dirname "$0")/.."
clang="clang++-19"
command -v $clang >/dev/null || { echo "check-sources-alone: clang++-19 is missing (Debian: apt-get install clang-19)" >&2; exit 1; }
build=build/alone
cmake --preset cpu -B $build -DFEDPP_BUILD_TESTS=ON -DFEDPP_BUILD_BENCH=ON >/dev/null

# What all sources are given together: definitions and folders.
python3 - $build/compile_commands.json >$build/flags <<'PYTHON'
import json, shlex, sys
words = [word for entry in json.load(open(sys.argv[1])) for word in shlex.split(entry["command"].replace("-isystem ", "-isystem"))]
print(*dict.fromkeys(shlex.quote(word) for word in words if word != "-DFEDPP_HOST_ONLY" and word.startswith(("-D", "-I", "-isystem", "-std", "-fopenmp"))), sep="\n")
PYTHON

# Warnings are errors here, where they do not depend on the processor or on what the optimiser sees; the two that are off are of headers that are
# parsed by themselves, and of the standard library's own code.
options=(-Wall -Wextra -Werror -Wno-pragma-once-outside-header -Wno-deprecated-declarations -O0 "@$build/flags" -DFMT_CONSTEVAL=)

built='import json, os; print(*{os.path.relpath(os.path.realpath(entry["file"])) for entry in json.load(open("'$build'/compile_commands.json"))}, sep="\n")'
sources=$(comm -12 <(git ls-files -- '*.cpp' | sort) <(cd "$(pwd -P)" && python3 -c "$built" | sort))
[ -n "$sources" ] || { echo "check-sources-alone: $build/compile_commands.json names none of the sources" >&2; exit 1; }
headers=$(git ls-files -- {gpu,mpi,io,src}/'*.hpp')
# A header is read alone where no source bears its name: such a source includes it first.
alone=$(for header in $headers; do [ -f "${header%.hpp}.cpp" ] || echo "$header"; done)

# Read once: the standard library for all alike, and of the libraries that take long those headers that a source includes itself or through
# ours. Each choice of these has a folder of its own, and the list says whose it is.
rm -rf $build/others
# shellcheck disable=SC2086
python3 - $build/others $sources $alone >$build/list <<'PYTHON'
import pathlib, re, sys
folder, *files = sys.argv[1:]
SLOW = re.compile("<(fmt|nlohmann|CLI|toml|spdlog|Kokkos|gtest|gmock|benchmark)")

def included(file, which):
    return re.findall("^ *# *include " + which, pathlib.Path(file).read_text(), re.M)

def reached(file):
    seen, left = set(), [pathlib.Path(file)]
    while left:
        path = left.pop()
        if path not in seen:
            seen.add(path)
            left += [found for name in included(path, '"([^"]+)"') for root in (path.parent, ".", "src", "tests") if (found := pathlib.Path(root, name)).is_file()]
    return sorted({header for path in seen for header in included(path, "(<[^>]+>)") if SLOW.match(header)})

standard = sorted({header for file in files for header in included(file, "(<[a-z_0-9]+>)")})
# What many sources would instantiate.
uses = {"<fmt/format.h>": 'inline std::string formatted(const std::string& text) { return fmt::format("{} {} {} {:.1f}", text, 1, 1.0, 1.0); }',
        "<nlohmann/json.hpp>": """template class nlohmann::basic_json<>;
template class nlohmann::basic_json<nlohmann::ordered_map>;
inline bool instantiated(const std::string& text) {
  const auto json = nlohmann::json::parse(text);
  const auto ordered = nlohmann::ordered_json::parse(text);
  return json.dump() == ordered.dump() || json == nlohmann::json(ordered) || ordered != nlohmann::ordered_json(json);
}"""}
made = {}
for file in files:
    slow = tuple(reached(file))
    if slow not in made:
        made[slow] = pathlib.Path(folder, str(len(made)), "headers.hpp")
        made[slow].parent.mkdir(parents=True)
        made[slow].write_text("".join(f"#include {header}\n" for header in (*standard, *slow)) + "\n".join(uses[h] for h in uses if h in slow) + "\n")
    print(f"{made[slow]}.pch {file}")
PYTHON

ls $build/others/*/headers.hpp | xargs -P "${FEDPP_BUILD_JOBS:-$(nproc)}" -I {} $clang "${options[@]}" -x c++-header -fpch-instantiate-templates {} -o {}.pch
xargs -n 2 -P "${FEDPP_BUILD_JOBS:-$(nproc)}" $clang "${options[@]}" -x c++ -fsyntax-only -include-pch <$build/list
echo "check-sources-alone: $(wc -w <<<"$sources") sources and $(wc -w <<<"$alone") headers find what they use"
