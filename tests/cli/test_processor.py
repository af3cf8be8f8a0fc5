"""A build for newer processors than the one that it runs on (here one that qemu plays) ends with a word, not by an illegal instruction."""
import os
import platform
import shutil
import subprocess
import sys
import unittest

FEDPP = os.environ["FEDPP_EXECUTABLE"]
MACHINE = platform.machine()
QEMU = shutil.which("qemu-" + MACHINE)
OLD = {"x86_64": "Nehalem", "aarch64": "cortex-a57"}[MACHINE]  # of 2008 and 2012


@unittest.skipUnless(QEMU, f"no qemu-{MACHINE} plays another processor here: install qemu-user")
class Processor(unittest.TestCase):
    def test_an_old_processor_lacks_what_this_build_needs(self):
        result = subprocess.run([QEMU, "-cpu", OLD, FEDPP, "--version"], capture_output=True, text=True, timeout=300)
        if result.returncode == 0:
            self.skipTest(f"this build runs on every {MACHINE} processor")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("fedpp: error: built for a processor with ", result.stderr)
        self.assertIn("-DFEDPP_ARCH=", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
