"""Programs under one of the libraries of this folder that stand before the system's calls (quota.c, clock.c)."""
import os

LIBRARIES = {name: os.environ[f"FEDPP_{name.upper()}_LIBRARY"] for name in ("quota", "clock")}
# The address sanitizer wants to be the first library; here it need not be.
SANITIZER = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"


def under(library, command, **variables):
    """The command with that library, under mpirun before its ranks alone: mpirun and its files are not what is tested."""
    at = command.index("-n") + 2 if "-n" in command else 0
    given = [f"LD_PRELOAD={LIBRARIES[library]}", f"ASAN_OPTIONS={SANITIZER}", *(f"{name}={value}" for name, value in variables.items())]
    return [*command[:at], "env", *given, *command[at:]]
