"""A build for newer processors than the one that it runs on (here one that qemu plays) ends with a word, not by an illegal instruction."""
import os
import shutil
import subprocess
import sys
import unittest

FEDPP = os.environ["FEDPP_EXECUTABLE"]
QEMU = shutil.which("qemu-x86_64")


@unittest.skipUnless(QEMU, "no qemu-x86_64 plays another processor here: install qemu-user")
class Processor(unittest.TestCase):
    def on(self, processor):
        return subprocess.run([QEMU, "-cpu", processor, FEDPP, "--version"], capture_output=True, text=True, timeout=300)

    def test_a_processor_of_2008_lacks_what_this_build_needs(self):
        result = self.on("Nehalem")
        if result.returncode == 0:
            self.skipTest("this build runs on every x86-64 processor")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("fedpp: error: built for a processor with ", result.stderr)
        self.assertIn("-DFEDPP_ARCH=", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
