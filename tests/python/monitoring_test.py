"""MonitoringSystem."""
import json
import tempfile
import time

import pitot
from support import TestCase, python, scripted_gpus


class MonitoringTest(TestCase):
    def test_state(self):
        """C135 C136 C137 C138: series of (time, value), made when they are first recorded"""
        before = time.time()
        system = pitot.MonitoringSystem()
        self.assertEqual((dict(system.metrics), system.alerts), ({}, []))
        self.assertTrue(before <= system.start_time <= time.time())
        system.record_metric('latency', 0.5)
        system.record_metric('latency', 0.7, timestamp=123.0)
        system.record_metric('tokens', 3)
        (at, value), second = system.metrics['latency']
        self.assertEqual((value, second), (0.5, (123.0, 0.7)))
        self.assertTrue(before <= at <= time.time())
        self.assertEqual(system.metrics['unheard of'], [])

    def test_bounded(self):
        """C138 C161: the newest 100 values are kept, or as many as asked for"""
        for system, count in ((pitot.MonitoringSystem(), 100), (pitot.MonitoringSystem(3), 3)):
            for i in range(500):
                system.record_metric('x', i)
            self.assertEqual([value for _, value in system.metrics['x']],
                             list(range(500 - count, 500)))
        self.assertRaises(ValueError, pitot.MonitoringSystem, 0)

    def test_summaries(self):
        """C161 C162 C163 C164 C165: current, average, min and max; empty series are left out"""
        system = pitot.MonitoringSystem(capacity=1000)
        for value in (1000.0, *range(1, 101)):
            system.record_metric('x', value)
        system.metrics['y'].append((0.0, 7))
        system.metrics['empty']
        system.record_metric('odd', 'text')
        self.assertEqual(system.generate_report()['metric_summaries'], {
            'x': {'current': 100.0, 'average': 50.5, 'min': 1.0, 'max': 100.0},
            'y': {'current': 7.0, 'average': 7.0, 'min': 7.0, 'max': 7.0}})

    def test_regressions(self):
        """C235: steps of equal length are not a regression; the alerts are those of the rules"""
        self.assertEqual(pitot.regressions(), [])
        self.assertEqual(pitot.MonitoringSystem().check_alerts(), [])

    def test_report(self):
        """C155 C156 C157 C158 C159 C160: a report has its six keys, and JSON takes it"""
        system = pitot.MonitoringSystem()
        report = json.loads(json.dumps(system.generate_report()))
        self.assertEqual(list(report), ['timestamp', 'uptime_seconds', 'gpu_metrics',
                                        'system_metrics', 'alerts', 'metric_summaries'])
        self.assertAlmostEqual(report['timestamp'] - report['uptime_seconds'], system.start_time,
                               places=3)

    def test_system(self):
        """C146 C147 C148 C149: CPU and memory of the machine"""
        metrics = pitot.MonitoringSystem().get_system_metrics()
        self.assertEqual(set(metrics), {'cpu_utilization', 'memory_used_gb', 'memory_total_gb',
                                        'memory_percent'})
        with open('/proc/meminfo', encoding='ascii') as file:
            total = int(file.readline().split()[1])
        self.assertAlmostEqual(metrics['memory_total_gb'], total / 2**20, places=6)
        self.assertTrue(0 <= metrics['cpu_utilization'] <= 100)
        self.assertTrue(0 < metrics['memory_used_gb'] < metrics['memory_total_gb'])

    def test_gpu(self):
        """C139 C140 C141 C142 C143 C144 C153: figures of the first GPU"""
        out = python('''
            import json, pitot
            system = pitot.MonitoringSystem()
            print(json.dumps(system.get_gpu_metrics()), system.check_alerts())
        ''', **scripted_gpus())
        metrics, _, alerts = out.partition('} ')
        metrics = json.loads(metrics + '}')
        self.assertEqual(metrics.pop('gpu_temperature') >= 45, True)
        self.assertEqual(metrics, {'gpu_utilization': 85.0, 'gpu_memory_used': 19968.0,
                                   'gpu_memory_total': 81920.0, 'gpu_power_draw': 512.345})
        self.assertEqual(alerts, '[]\n')

    def test_alerts(self):
        """C150 C151 C152 C153: alerts of a GPU that is idle, busy, full, hot"""
        self.assertEqual(self.alerts('5:40', 50, 40), ['GPU utilization below 10%'])
        self.assertEqual(self.alerts('95:40', 50, 40), ['GPU utilization above 90%'])
        self.assertEqual(self.alerts('50:40', 90, 95),
                         ['GPU memory usage above 80%', 'GPU temperature above 85°C'])
        self.assertEqual(self.alerts('50:40', 79, 85), [])

    @staticmethod
    def alerts(load, percent_used, celsius):
        """Of a GPU with 100 units of memory."""
        with tempfile.NamedTemporaryFile('w', suffix='.script') as script:
            script.write(f'devices 1\nnvmlDeviceGetUtilizationRates * {load}\n'
                         f'nvmlDeviceGetMemoryInfo * {100 << 30}:{100 - percent_used << 30}:'
                         f'{percent_used << 30}\nnvmlDeviceGetTemperature/0 * {celsius}\n')
            script.flush()
            return json.loads(python(
                'import json, pitot; print(json.dumps(pitot.MonitoringSystem().check_alerts()))',
                **{**scripted_gpus(), 'SCRIPTED_NVML': script.name}))

    def test_no_gpu(self):
        """C145 C154: without a GPU its figures are {}, and none of its alerts is on"""
        out = python('''
            import pitot
            system = pitot.MonitoringSystem()
            report = system.generate_report()
            print(system.get_gpu_metrics(), system.check_alerts(), report["alerts"])
        ''', PITOT_NVML='/nonexistent/libnvml.so')
        self.assertEqual(out, '{} [] []\n')

    def test_rules(self):
        """C159: rules of one's own, on recorded series and on the machine"""
        system = pitot.MonitoringSystem()
        system.clear_rules()
        system.add_rule('queue', above=10, text='the queue is long')
        system.add_rule('memory_percent', below=200, text='memory is below 200 %')
        self.assertEqual(system.check_alerts(), ['memory is below 200 %'])
        system.record_metric('queue', 11)
        self.assertEqual(system.check_alerts(), ['the queue is long', 'memory is below 200 %'])
        self.assertEqual(system.alerts, system.check_alerts())
        self.assertRaisesRegex(ValueError, 'above= or below=', system.add_rule, 'x', text='t')
        self.assertRaisesRegex(ValueError, '127 bytes', system.add_rule, 'x', above=1,
                               text='t' * 200)
