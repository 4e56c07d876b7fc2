"""Counters, gauges and histograms."""
import math

import pitot
from support import TestCase, record, recording


class MetricTest(TestCase):
    def test_recorded(self):
        """values arrive in the run, with labels and units, also of objects made before the start"""
        seen = record('''
            import pitot
            pitot.stop()
            early = pitot.counter("early_total", "Made while off")
            early.inc(100)
            pitot.start()
            early.inc()
            early.inc(4)
            pitot.gauge("depth", labels={"queue": 'a"b\\\\c', "n": 3}, unit="By").set(2.5)
            sizes = pitot.histogram("sizes", "Sizes", model="a")
            for i in range(1, 1001): sizes.observe(i)
        ''')
        self.assertEqual(float(seen.metrics['early_total', '']['aValue']), 5)
        depth = seen.metrics['depth', r'n="3",queue="a\"b\\c"']
        self.assertEqual((float(depth['aValue']), depth['aUnit']), (2.5, 'By'))
        sizes = seen.metrics['sizes', 'model="a"']
        self.assertEqual((int(sizes['aCount']), float(sizes['aSum'])), (1000, 500500))
        self.assertAlmostEqual(float(sizes['aP90']) / 900, 1, delta=0.011)

    def test_values(self):
        """what was recorded can be asked for"""
        with recording():
            counter = pitot.counter('metric_test_total', stage='x')
            counter.inc()
            counter.inc(2**40)
            counter.inc(True)
            self.assertEqual(counter.value, 2**40 + 2)
            self.assertEqual(pitot.counter('metric_test_total', labels={'stage': 'x'}).value,
                             counter.value)
            self.assertEqual(pitot.counter('metric_test_total', stage='y').value, 0)
            gauge = pitot.gauge('metric_test_gauge')
            gauge.set(4)
            gauge.inc()
            gauge.dec(2.5)
            self.assertEqual(gauge.value, 2.5)
            histogram = pitot.histogram('metric_test_histogram')
            self.assertTrue(math.isnan(histogram.quantile(0.5)))
            for value in range(1, 101):
                histogram.observe(value)
            self.assertAlmostEqual(histogram.quantile(0.5) / 50, 1, delta=0.03)
            self.assertEqual((counter.name, counter.labels), ('metric_test_total', 'stage="x"'))
            self.assertEqual(repr(counter), '<pitot metric metric_test_total{stage="x"}>')

    def test_bad_values(self):
        """values that make no sense are ignored, and raise nothing"""
        class Angry:
            def __index__(self):
                raise ValueError
            __float__ = __index__
        with recording():
            counter = pitot.counter('bad_values_total')
            gauge = pitot.gauge('bad_values_now')
            histogram = pitot.histogram('bad_values_seconds')
            for bad in (None, 'x', -1, object(), float('nan'), Angry(), [], 1j):
                counter.inc(bad)
                histogram.observe(bad if bad != -1 else None)
            for bad in (None, 'x', object(), Angry(), [], 1j):
                gauge.set(bad)
                gauge.inc(bad)
                gauge.dec(bad)
            self.assertEqual(counter.value, 0)
            self.assertEqual(gauge.value, 0)
            self.assertTrue(math.isnan(histogram.quantile(0.5)))

    def test_creation(self):
        """bad names, labels and kinds are reported when a metric is made"""
        for bad in (lambda: pitot.counter('a', labels={'x': []}), lambda: pitot.counter(5),
                    lambda: pitot.counter('a', labels={1: 'x'}), lambda: pitot.counter(),
                    lambda: pitot.counter('a', x=None), lambda: pitot.counter('a', help=3)):
            self.assertRaises(TypeError, bad)
        pitot.counter('creation_test')
        for bad in (lambda: pitot.counter('a b'), lambda: pitot.counter('a', **{'x-y': 1}),
                    lambda: pitot.counter(''), lambda: pitot.counter('x' * 500),
                    lambda: pitot.gauge('creation_test')):
            self.assertRaises(ValueError, bad)

    def test_room(self):
        """metrics that do not fit count nothing, and are counted as dropped"""
        out = record('''
            import pitot
            for i in range(3000): pitot.counter("many", n=i).inc()
            print(pitot.dropped() > 0)
        ''').out
        self.assertEqual(out, 'True\n')

    def test_numbers_of_others(self):
        """numbers of other libraries are numbers"""
        class Whole:
            def __index__(self):
                return 7

        class Real:
            def __float__(self):
                return 1.5
        with recording():
            counter = pitot.counter('foreign_total')
            counter.inc(Whole())
            counter.inc(Real())
            self.assertEqual(counter.value, 8)
            gauge = pitot.gauge('foreign_now')
            gauge.set(Real())
            self.assertEqual(gauge.value, 1.5)
