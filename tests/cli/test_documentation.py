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
        of_no_page = []  # the sections' numbers under another name, which no page has
        for folder in ["bench", "cmake", "docs", "examples", "gpu", "io", "mpi", "python", "scripts", "src", "tests", "validation"]:
            for path in (SOURCE / folder).rglob("*"):
                if path.suffix in (".hpp", ".cpp", ".cmake", ".py", ".md", ".sh"):
                    text = path.read_text(errors="replace")
                    # "theory 1.2, 1.7", "theory 1.2 to 1.6", "theory 2.4, item 5; 2.1", "[theory.md](theory.md) 2.4"
                    for list_of in re.findall(r"theory(?:\.md\)?)? (?:\d\.\d|item \d|, |; | and | to )+", text):
                        cited.update((number, path) for number in re.findall(r"\d\.\d", list_of))
                    of_no_page += [str(path)] if re.search(r"\bspec (?:sections )?\d\.\d", text) else []
        self.assertGreater(len(cited), 10)
        self.assertEqual(of_no_page, [])
        self.assertEqual({number: str(path) for number, path in cited.items() if number not in sections}, {})


if __name__ == "__main__":
    unittest.main(verbosity=2)
