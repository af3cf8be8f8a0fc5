"""A command of the program from outside: what it prints, its exit code (0, 1, 2)."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import program
from program import FEDPP

# With these, starting MPI fails and starting Kokkos complains: commands for login nodes must do neither.
NO_START = {"OMPI_MCA_pml": "no_such_pml", "KOKKOS_PROFILE_LIBRARY": "no_such_tool", "KOKKOS_TOOLS_LIBS": "no_such_tool"}

EVENTS = "sequence,time,type\n" + "".join(f"{s},{t}.5,{t % 2}\n" for s in range(3) for t in range(12))


class Case(program.Case):
    def succeeds(self, *arguments, env=None):
        result = self.start([FEDPP, *arguments], env)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("no_such_tool", result.stdout + result.stderr)
        return result.stdout

    def refuses(self, *arguments, env=None, code=2):
        """Exit code 2 and a text for the user, which is returned."""
        result = self.start([FEDPP, *arguments], env)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        self.assertIn("fedpp: error: ", result.stderr)
        return result.stderr
