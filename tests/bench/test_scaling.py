"""What bench/scaling.py makes of its measurements: the line through them, and what an ideal machine would take."""
import importlib.util
import pathlib
import unittest

PATH = pathlib.Path(__file__).parents[2] / "bench" / "scaling.py"
spec = importlib.util.spec_from_file_location("scaling", PATH)
scaling = importlib.util.module_from_spec(spec)
spec.loader.exec_module(scaling)


class Scaling(unittest.TestCase):
    def test_line_is_carried_on(self):
        rows = [{"clients": k, "round": 0.5 + 0.01 * k} for k in (20, 50, 100, 200)]
        rows.append({"clients": 400, "round": 2 * (0.5 + 0.01 * 400)})
        intercept, slope, errors = scaling.carried_on(rows, "round")
        self.assertAlmostEqual(intercept, 0.5)
        self.assertAlmostEqual(slope, 0.01)
        self.assertEqual(list(errors), [400])
        self.assertAlmostEqual(errors[400], -50)

    def test_one_point_is_no_line(self):
        self.assertIsNone(scaling.carried_on([{"clients": 10, "round": 1.0}, {"clients": 100, "round": 5.0}], "round"))

    def test_strong_scaling_ends_at_the_cores(self):
        rows = [{"ranks": r, "clients": 200, "round": 8.0} for r in (1, 2, 4, 50)]
        self.assertEqual(scaling.ideal(rows, cores=4, weak=False), [8.0, 4.0, 2.0, 2.0])

    def test_weak_scaling_is_flat_up_to_the_cores(self):
        rows = [{"ranks": r, "clients": 10 * r, "round": 8.0} for r in (1, 2, 4, 8)]
        self.assertEqual(scaling.ideal(rows, cores=4, weak=True), [8.0, 8.0, 8.0, 16.0])


if __name__ == "__main__":
    unittest.main()
