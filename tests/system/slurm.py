#!/usr/bin/python3
"""The jobs of packaging/slurm in a real Slurm on the loopback interface: munge, controller, daemon.

    tests/system/slurm.py PITOT

Prints TAP. Skipped without root or where Slurm is not installed. A node of four CPUs is made
believe, so that four ranks run at once."""
import csv
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile

from servers import free_port, wait_for

PITOT = os.path.abspath(sys.argv[1])
SLURM = pathlib.Path(__file__).resolve().parents[2] / 'packaging' / 'slurm'
WORK = 'import time\nend = time.time() + 2\nwhile time.time() < end: sum(range(1000))'


def configure(directory):
    host = socket.gethostname()
    for name in ('munge', 'state', 'spool', 'bin', 'nodes'):
        (directory / name).mkdir()
    os.symlink(PITOT, directory / 'bin' / 'pitot')
    key = directory / 'munge' / 'key'
    key.touch(0o600)
    key.write_bytes(os.urandom(128))
    for name in ('prolog', 'epilog'): # Slurm gives them no PATH of ours
        script = directory / f'{name}.sh'
        script.write_text(f'#!/bin/sh\nexport PATH={directory}/bin:$PATH '
                          f'PITOT_NODE_RUNS={directory}/nodes PITOT_INTERVAL=200ms\n'
                          f'. {SLURM}/{name}.sh\n')
        script.chmod(0o755)
    (directory / 'slurm.conf').write_text(f'''
ClusterName=pitot
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={free_port()}
SlurmdPort={free_port()}
AuthType=auth/munge
AuthInfo=socket={directory}/munge/socket
CredType=cred/munge
SlurmUser=root
StateSaveLocation={directory}/state
SlurmdSpoolDir={directory}/spool
SlurmctldPidFile={directory}/slurmctld.pid
SlurmdPidFile={directory}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
MpiDefault=none
PrologFlags=Alloc
Prolog={directory}/prolog.sh
Epilog={directory}/epilog.sh
NodeName={host} NodeAddr=127.0.0.1 CPUs=4 RealMemory=1000 State=UNKNOWN
PartitionName=test Nodes={host} Default=YES State=UP
''')
    return os.environ | {'SLURM_CONF': str(directory / 'slurm.conf'),
                         'PATH': f'{directory}/bin:' + os.environ['PATH']}


class Cluster:
    def __init__(self, directory):
        self.directory, self.running = directory, []
        self.environment = configure(directory)

    def start(self, *words):
        with open(self.directory / (os.path.basename(words[0]) + '.log'), 'w') as log:
            self.running.append(subprocess.Popen(words, stdout=log, stderr=log,
                                                 env=self.environment))

    def ask(self, *words):
        return subprocess.run(words, env=self.environment, cwd=self.directory, check=True,
                              capture_output=True, text=True, timeout=120).stdout

    def __enter__(self):
        munge = self.directory / 'munge'
        self.start('/usr/sbin/munged', '--foreground', '--force', f'--socket={munge}/socket',
                   f'--key-file={munge}/key', f'--pid-file={munge}/pid', f'--log-file={munge}/log',
                   f'--seed-file={munge}/seed')
        wait_for('munge', (munge / 'socket').exists)
        self.start('/usr/sbin/slurmctld', '-D')
        self.start('/usr/sbin/slurmd', '-D')
        wait_for('the node', self.is_idle)
        return self

    def is_idle(self):
        answer = subprocess.run(['sinfo', '-h', '-o', '%t'], env=self.environment,
                                capture_output=True, text=True, check=False, timeout=60)
        return answer.stdout.strip() == 'idle'

    def __exit__(self, *_):
        for process in reversed(self.running):
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def static_files(directory):
    return [json.loads(f.read_text()) for f in sorted(directory.glob('static_*.json'))]


def run_job(cluster):
    """Four ranks, by the example: each has a run of its own, and all are in one report."""
    output = cluster.ask('sbatch', '--wait', '--output', 'job.log', str(SLURM / 'job.sbatch'),
                         sys.executable, '-c', WORK)
    job = output.split()[-1]
    runs = cluster.directory / f'pitot-{job}'
    ranks = sorted(static['rank']['number'] for static in static_files(runs))
    assert ranks == [0, 1, 2, 3], f'{ranks} in {list(runs.iterdir())}'
    assert (runs / 'report.html').stat().st_size > 100000
    return job, runs


def check_merged(cluster, runs):
    """The merged run has rows of each rank, all on one clock."""
    merged = cluster.directory / 'merged'
    text = cluster.ask('pitot', 'merge', str(runs), '-o', str(merged))
    assert text.count('same clock') == 3, text
    cluster.ask('pitot', 'export', str(merged), '-f', 'csv')
    main = [f for f in merged.glob('*.csv') if f.name.count('.') == 1]
    with open(main[0], newline='', encoding='utf-8') as file:
        ranks = {row['rank'] for row in csv.DictReader(file)}
    assert ranks == {'0', '1', '2', '3'}, ranks


def check_node(cluster, job):
    """The prolog's recording of the node lasted as long as the job, and is complete."""
    runs = cluster.directory / 'nodes' / job
    wait_for('the epilog', lambda: not (runs / 'pid').exists())
    nodes = [d for d in runs.iterdir() if d.name.startswith('node-')]
    assert len(nodes) == 1, list(runs.iterdir())
    wait_for('its files', lambda: list(nodes[0].glob('*.parquet')))
    tags = [static['tags'] for static in static_files(nodes[0])]
    assert [tag['job'] for tag in tags] == [job], tags


def main():
    if os.geteuid() != 0 or not all(map(shutil.which, ('munged', 'slurmctld', 'slurmd', 'srun'))):
        print('1..0 # SKIP needs root, munge and Slurm')
        return 0
    directory = pathlib.Path(tempfile.mkdtemp(prefix='pitot-slurm-', dir='/var/tmp'))
    directory.chmod(0o755)
    print('1..3', flush=True)
    try:
        with Cluster(directory) as cluster:
            job, runs = run_job(cluster)
            print('ok 1 - C240: srun records four ranks, each with its label, into one report')
            check_merged(cluster, runs)
            print('ok 2 - C240: the merged run has the rows of all ranks')
            check_node(cluster, job)
            print('ok 3 - C240: prolog and epilog record the node while the job runs')
    except (AssertionError, subprocess.SubprocessError) as reason:
        print(f'not ok - {reason}')
        for log in [*directory.glob('*.log'), *directory.glob('nodes/*/*.log')]:
            for line in log.read_text(errors='replace').splitlines()[-15:]:
                print(f'# {log.name}: {line}')
        if isinstance(reason, subprocess.CalledProcessError):
            print('# ' + (reason.stderr or '').replace('\n', '\n# '))
        return 1
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return 0


sys.exit(main())
