#!/usr/bin/python3
"""The numbers of a report, read from the page as docs/REPORT.md describes it, against the text at
the end of the run, its CSV and `pitot energy`."""
import base64
import json
import math
import pathlib
import re
import struct
import zlib

from harness import ENVIRONMENT, PITOT, Skip, main, run, table

GPUS = 8
STEPS = 60  # of 100 ms
NVML = pathlib.Path(PITOT).parent / 'tests/nvml/libscripted-nvml.so'


class Page:
    """The data of a report."""

    def __init__(self, path):
        text = path.read_text()
        self.data = json.loads(self.element(text, 'report-data'))
        self.bytes = zlib.decompress(base64.b64decode(self.element(text, 'report-numbers')))
        self.figures = {figure['label']: figure for figure in self.data['figures']}

    @staticmethod
    def element(text, name):
        return re.search(f'<script id="{name}"[^>]*>(.*?)</script>', text, re.S)[1]

    def floats(self, at, count):
        part = self.bytes[4 * at:4 * (at + count)]
        planes = [part[i * count:(i + 1) * count] for i in range(4)]
        return [struct.unpack('>f', bytes(four))[0] for four in zip(*planes)]

    def over(self, figure):
        """What each time slot adds: a sum and its weight."""
        count = self.data['axis']['count']
        return self.floats(figure['sums'], count), self.floats(figure['weights'], count)

    def mean(self, figure):
        """The value of a figure over the whole run."""
        if 'latency' in figure:
            return self.quantile(self.data['latencies'][figure['latency']], figure['level'])
        sums, weights = self.over(figure)
        if figure['is_peak']:
            return max(total / weight for total, weight in zip(sums, weights) if weight > 0)
        return sum(sums) / sum(weights)

    def curve(self, figure):
        if 'at' not in figure:
            return [figure['value']]
        values = self.floats(figure['at'], self.data['axis']['count'])
        return [value + figure['base'] for value in values if not math.isnan(value)]

    def quantile(self, buckets, level):
        """As histogram_quantile() of Prometheus."""
        found = sorted((bucket['le'], bucket['above'],
                        sum(self.floats(bucket['counts'], bucket['count']))) for bucket in buckets)
        rank, below = level * sum(count for _, _, count in found), 0
        for upper, lower, count in found:
            if below + count >= rank:
                return lower + (upper - lower) * (rank - below) / count
            below += count
        raise AssertionError('no bucket')


def page_of(directory):
    pages = list(directory.glob('*.html'))
    assert len(pages) == 1, pages
    return Page(pages[0])


def recorded(directory, *options, env=ENVIRONMENT):
    """Records with a report; (the page, the text at the end)."""
    code, _, err = run('-o', directory / 'out', '-f', 'csv', '--report', *options, env=env)
    if 'no report page' in err:
        raise Skip('built without npm')
    assert code == 0, err
    return page_of(directory / 'out'), err


SCALES = {'%': 0.01, 'ms': 1e-3, 'KiB': 2**10, 'MiB': 2**20, 'GiB': 2**30, 'TiB': 2**40}


def printed(text):
    """The number of a text, in base units, and half of its last digit."""
    number, _, unit = text.partition(' ')
    scale = SCALES.get(unit.removesuffix('/s'), 1)
    return float(number) * scale, scale * 0.5 * 10 ** -len(number.partition('.')[2])


def check_same(text, value, what):
    number, half = printed(text)
    assert abs(number - value) <= half * (1 + 1e-6) + 1e-6 * abs(value), f'{what}: {text}, {value}'


def one_number(directory):
    """C315: the report has the numbers that the end of the run prints, to the last digit"""
    page, text = recorded(directory, '-t', 50, '-p', '--', PITOT, 'demo', '--serve', '--self-load',
                          '--seconds', 5)
    lines = re.findall(r'^(\S.{19}) +([\d.]+ ?[^\d\s]*) +([\d.]+ ?[^\d\s]*)(?:  .*)?$', text, re.M)
    assert len(lines) >= 12, text
    assert any('p99' in title for title, _, _ in lines), text
    for title, mean, peak in lines:
        figure = page.figures[title.strip()]
        check_same(mean, page.mean(figure), f'mean of {title}')
        check_same(peak, figure['peak'], f'peak of {title}')


def write_script(path):
    """Power that changes every 100 ms, and counters that go with it. The last answers stay, so the
    run must be shorter than the script."""
    lines = [f'devices {GPUS}', 'step_ms 100', 'nvmlDeviceGetName * NVIDIA_H100',
             'nvmlDeviceGetUtilizationRates * 85:40']
    for gpu in range(GPUS):
        watts = [194 + 40 * math.sin(step / 4 + gpu / 10) for step in range(STEPS)]
        joules = [sum(watts[:step]) / 10 for step in range(STEPS)]
        lines.append(f'nvmlDeviceGetUUID {gpu} GPU-{gpu}')
        lines.append(f'nvmlDeviceGetPciInfo {gpu} 0:0x{gpu + 1:x}:0')
        lines.append(f'nvmlDeviceGetPowerUsage {gpu} ' + ' '.join(str(int(w * 1e3)) for w in watts))
        lines.append(f'nvmlDeviceGetTotalEnergyConsumption {gpu} ' +
                     ' '.join(str(int(j * 1e3)) for j in joules))
    path.write_text('\n'.join(lines) + '\n')


def record_gpus(directory, seconds):
    if not NVML.exists():
        raise Skip('no scripted NVML; configure with -Dtests=enabled')
    script = directory / 'script'
    write_script(script)
    page, _ = recorded(directory, '-t', 20, '--', 'sleep', seconds, env=ENVIRONMENT | {
        'PITOT_NVML': str(NVML), 'SCRIPTED_NVML': str(script)})
    return page


def labels_of_gpus(directory):
    """Rows that share one name are told apart by their keys"""
    page = record_gpus(directory, 1)
    gpus = [one for one in page.data['tables'] if one['name'] == 'gpu']
    labels = sorted(key['label'] for key in gpus[0]['keys'])
    assert labels == [f'GPU {gpu}' for gpu in range(GPUS)], labels


def power_of_gpus(directory):
    """Power over time never leaves the sum of what its GPUs report"""
    page = record_gpus(directory, 4)
    rows = table(directory / 'out', 'gpus')
    watts = [[float(row['gPowerDrawW']) for row in rows
              if row['gGpuIndex'] == str(gpu) and row['gPowerDrawW']] for gpu in range(GPUS)]
    least, most = sum(map(min, watts)), sum(map(max, watts))
    _, text, _ = run('energy', '--json', directory / 'out')
    energy = json.loads(text)
    modelled = [s for s in energy['sources'] if s['counted'] and s['provenance'] == 'modelled'
                and not s['name'].startswith('gpu')]
    # the model of a processor is never below a tenth of its highest power
    highest = sum(10 * source['value'] for source in modelled) / energy['seconds']
    power = page.figures['Power']
    curve = page.curve(power)
    readings = len({row['gPowerDrawWT'] for row in rows if row['gGpuIndex'] == '0'})
    assert len(curve) > 2 * readings, 'samples without a new reading'
    assert max(watts[0]) > 1.3 * min(watts[0]), 'the script was not played'
    assert min(curve) >= least * 0.999, f'{min(curve)} W, the GPUs alone: {least} W'
    assert max(curve) <= (most + highest) * 1.001, f'{max(curve)} W, the GPUs: {most} W'
    total, seconds = map(sum, page.over(power))
    for value, name in (total, 'energy'), (total / seconds, 'power'):
        expected = energy['figures'][name]['value']
        assert abs(value - expected) <= 1e-5 * expected, f'{name}: {value}, {expected}'


main(one_number, labels_of_gpus, power_of_gpus)
