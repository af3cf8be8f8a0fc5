"""Pages that must agree with the program and with each other."""
import os
import pathlib
import re
import unittest

from commands import Case

SOURCE = pathlib.Path(os.environ["FEDPP_SOURCE"])


class Documentation(Case):
    def test_configuration_reference_is_what_the_program_prints(self):
        text = (SOURCE / "docs" / "configuration.md").read_text()
        self.assertIn("```toml\n" + self.succeeds("config") + "```\n", text,
                      "docs/configuration.md is stale: run scripts/update-configuration-reference.sh")

    def test_theory_has_the_sections_that_are_cited(self):
        sections = set(re.findall(r"^#+ (\d\.\d)", (SOURCE / "docs" / "theory.md").read_text(), re.MULTILINE))
        cited = {}
        for folder in ["bench", "docs", "examples", "gpu", "io", "mpi", "python", "scripts", "src", "tests", "validation"]:
            for path in (SOURCE / folder).rglob("*"):
                if path.suffix in (".hpp", ".cpp", ".py", ".md", ".sh"):
                    # "spec 1.2, 1.7", "spec 1.2 to 1.6", "spec 2.4, item 5; 2.1"
                    for list_of in re.findall(r"spec (?:\d\.\d|item \d|, |; | and | to )+", path.read_text(errors="replace")):
                        cited.update((number, path) for number in re.findall(r"\d\.\d", list_of))
        self.assertGreater(len(cited), 10)
        self.assertEqual({number: str(path) for number, path in cited.items() if number not in sections}, {})


if __name__ == "__main__":
    unittest.main(verbosity=2)
