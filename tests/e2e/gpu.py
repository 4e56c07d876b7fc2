#!/usr/bin/python3
"""pitot gpu: another profiler around the command, and what it found as tables of the run. The
profilers are scripts that leave files of known content; torch is in tests/system."""
import json
import pathlib
import sys
import textwrap

import nsys_file
from harness import ENVIRONMENT, Skip, contains, equal, main, run, table

MS = nsys_file.MS
HERE = pathlib.Path(__file__).resolve().parent


def script(directory, name, text):
    folder = directory / 'bin'
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f'#!{sys.executable}\n' + textwrap.dedent(text))
    path.chmod(0o755)
    return folder


def with_tools(directory):
    return {'env': ENVIRONMENT | {'PATH': f'{directory}/bin:{ENVIRONMENT["PATH"]}'}}


FAKE_NSYS = f'''
    import subprocess, sys, time
    sys.path.insert(0, {str(HERE)!r})
    import nsys_file
    arguments = sys.argv[1:]
    assert arguments[0] == 'profile', arguments
    options = []
    for argument in arguments[1:]:
        if not argument.startswith('--'):
            break
        options.append(argument)
    output = [o for o in options if o.startswith('--output=')][0].partition('=')[2]
    start = time.time_ns()
    code = subprocess.call(arguments[1 + len(options):])
    nsys_file.make(output + '.sqlite', start)
    open(output + '.nsys-rep', 'w').write(' '.join(options))
    sys.exit(code)
'''


def record_nsys(directory, *command):
    script(directory, 'nsys', FAKE_NSYS)
    return run('gpu', '--tool', 'nsys', '-f', 'csv,trace', '-t', 20, '-o', directory / 'out', '--',
               *command, **with_tools(directory))


def sleeper(seconds, code=0):
    return [sys.executable, '-c', f'import time, sys; time.sleep({seconds}); sys.exit({code})']


def durations(rows, column):
    return [int(row[column]) for row in rows]


def check_kernels(directory):
    kernels = table(directory / 'out', 'gpu_kernels')
    equal(sorted(durations(kernels, 'gkDuration')), [MS, MS, MS, MS, 1_500_000])
    first = min(kernels, key=lambda row: int(row['gkStart']))
    equal({k: first[k] for k in ('gkDevice', 'gkStream', 'gkName', 'gkPid', 'gkGrid', 'gkBlock',
                                 'gkRegisters', 'gkSharedMemory', 'gkCorrelation')},
          {'gkDevice': '0', 'gkStream': '7', 'gkName': 'gemm<float>(float*)', 'gkPid': '4242',
           'gkGrid': '256x2x1', 'gkBlock': '128x1x1', 'gkRegisters': '40',
           'gkSharedMemory': '1536', 'gkCorrelation': '1'})


def check_gaps(directory):
    gaps = table(directory / 'out', 'gpu_gaps')
    equal([(row['ggDevice'], row['ggDuration'], row['ggCopying'], row['ggBefore'], row['ggAfter'])
           for row in gaps],
          [('0', str(MS), '0', 'gemm<float>(float*)', 'gemm<float>(float*)'),
           ('0', str(6 * MS), str(3_100_000), 'relu(float*)', 'relu(float*)')])


def tables_of_a_run(directory):
    """C246: pitot gpu runs nsys, and kernels, copies, calls, ranges and gaps are tables of the
    run"""
    code, _, err = record_nsys(directory, *sleeper(0.3, 3))
    equal(code, 3, err)
    check_kernels(directory)
    check_gaps(directory)
    copies = table(directory / 'out', 'gpu_copies')
    equal([(row['gmDirection'], row['gmBytes'], row['gmDuration']) for row in copies],
          [('host to device', '3000000', str(3 * MS)), ('memset', '4096', '100000'),
           ('device to host', '1000', '200000')])
    calls = table(directory / 'out', 'gpu_calls')
    equal([(row['gcName'], row['gcThread'], row['gcStream'], row['gcCorrelation'])
           for row in calls],
          [('cudaLaunchKernel_v7000', '4243', '', '1'), ('cudaMemcpyAsync_v3020', '4243', '', '20'),
           ('wait for stream', '', '7', '40')])
    ranges = table(directory / 'out', 'gpu_ranges')
    equal([(row['grName'], row['grDuration']) for row in ranges],
          [('step 1', '3500000'), ('forward', str(13 * MS))])


def one_clock(directory):
    """C246: the timeline has the clock of the run: rows lie in the sample in which they ended"""
    code, _, err = record_nsys(directory, *sleeper(0.3))
    equal(code, 0, err)
    samples = [int(row['monotonic_ns']) for row in table(directory / 'out')]
    kernels = table(directory / 'out', 'gpu_kernels')
    for row in kernels:
        end = int(row['gkStart']) + int(row['gkDuration'])
        assert samples[0] < end <= int(row['monotonic_ns']) <= samples[-1], row
        assert int(row['monotonic_ns']) in samples, row
        assert all(t < end or t >= int(row['monotonic_ns']) for t in samples), row


def flags_and_files(directory):
    """C246: nsys is asked for CUDA, NVTX, the OS runtime and SQLite, and its files stay in the
    run"""
    code, _, err = record_nsys(directory, *sleeper(0.2))
    equal(code, 0, err)
    report = list((directory / 'out').glob('*.nsys.nsys-rep'))
    equal(len(report), 1)
    for flag in ('--trace=cuda,nvtx,osrt', '--export=sqlite', '--sample=none'):
        contains(report[0].read_text(), flag)
    equal(len(list((directory / 'out').glob('*.nsys.sqlite'))), 1)
    contains(err, f'Files of nsys: {directory}/out/{report[0].name[:36]}.nsys*')


def summary(directory):
    """C246: the end of a run says how busy the GPU was, and lists kernels, copies and gaps"""
    code, _, err = record_nsys(directory, *sleeper(0.2))
    equal(code, 0, err)
    words = ' '.join(err.split())
    contains(words, 'GPU 0: kernels ran 36.4 % of the 0.011 s from the first to the last '
                    '(4 kernels)')
    contains(words, 'GPU 1: kernels ran 100.0 % of the 0.001 s')
    contains(words, '3.50 ms 63.6 % 3 1.17 ms relu(float*)')
    contains(words, '2.00 ms 36.4 % 2 1.00 ms gemm<float>(float*)')
    contains(words, '3.00 ms 3.00 1.00 1 host to device')
    contains(words, '6.00 ms')
    contains(words, '51.7 % relu(float*)')
    contains(words, '1 events omitted')


def trace(directory):
    """C246: in the Chrome trace each GPU is a process and each stream a line"""
    code, _, err = record_nsys(directory, *sleeper(0.2))
    equal(code, 0, err)
    path = next((directory / 'out').glob('*.trace.json'))
    events = json.loads(path.read_text())['traceEvents']
    names = {e['args']['name']: e['pid'] for e in events if e['name'] == 'process_name'}
    equal(sorted(names), ['GPU 0', 'GPU 1'])
    spans = [e for e in events if e['ph'] == 'X']
    equal(sorted(e['name'] for e in spans if e['pid'] == names['GPU 0'] and e['tid'] == 7),
          ['device to host', 'gemm<float>(float*)', 'gemm<float>(float*)', 'host to device',
           'memset'])
    equal(sorted((e['name'], e['tid']) for e in spans if e['pid'] == nsys_file.PID),
          [('cudaLaunchKernel_v7000', 4243), ('cudaMemcpyAsync_v3020', 4243), ('forward', 4243),
           ('step 1', 4243), ('wait for stream', 0)])
    lines = {e['args']['name'] for e in events if e['name'] == 'thread_name'}
    assert {'stream 7', 'stream 13'} <= lines, lines


def recorded(directory):
    code, _, err = run('record', '-f', 'csv', '-t', 20, '-o', directory / 'out', '--', 'true')
    equal(code, 0, err)
    return directory / 'out'


def exported(out):
    code, _, err = run('export', out, '-f', 'csv')
    equal(code, 0, err)


def imported_later(directory):
    """C246: a file made elsewhere is imported into a run, twice is as once, the rest stays as
    it was"""
    out = recorded(directory)
    before = table(out)
    file = directory / 'other.sqlite'
    nsys_file.make(file, 1_600_000_000 * 1_000_000_000)
    for _ in range(2):
        code, _, err = run('gpu', 'import', file, out)
        equal(code, 0, err)
        contains(err, 'was recorded during another run')
    exported(out)
    equal(table(out), before)
    check_kernels(directory)
    check_gaps(directory)


def other_versions(directory):
    """C246: tables and columns that a version of nsys does not have are absent, not wrong"""
    out = recorded(directory)
    file = directory / 'old.sqlite'
    nsys_file.make(file, 0, leave_out=('NVTX_EVENTS', 'CUPTI_ACTIVITY_KIND_MEMSET',
                                       'TARGET_INFO_SESSION_START_TIME',
                                       'CUPTI_ACTIVITY_KIND_RUNTIME'),
                   columns_left_out=('gridZ', 'registersPerThread', 'demangledName', 'globalPid'))
    code, _, err = run('gpu', 'import', file, out)
    equal(code, 0, err)
    contains(err, 'has no usable start time')
    exported(out)
    kernels = table(out, 'gpu_kernels')
    equal({row['gkName'] for row in kernels}, {'gemm', 'relu'})
    equal({(row['gkGrid'], row['gkRegisters'], row['gkPid']) for row in kernels}, {('', '', '')})
    assert not list(out.glob('*.gpu_ranges.csv'))


def foreign_files(directory):
    """C246: a file that is damaged or not from a GPU profiler is refused with its name, and the
    run stays"""
    import sqlite3
    out = recorded(directory)
    journal = next(out.glob('*.pitot'))
    before = journal.read_bytes()
    other = directory / 'other.sqlite'
    with sqlite3.connect(other) as file:
        file.execute('CREATE TABLE songs (title TEXT)')
    good = directory / 'good.sqlite'
    nsys_file.make(good, 0)
    cut = directory / 'cut.sqlite'
    cut.write_bytes(good.read_bytes()[:5000])
    damaged = directory / 'damaged.sqlite'
    content = bytearray(good.read_bytes())
    content[4096:] = bytes((b * 7 + i) % 256 for i, b in enumerate(content[4096:]))
    damaged.write_bytes(content)
    text = directory / 'notes.txt'
    text.write_text('no table\n')
    empty = directory / 'empty'
    empty.write_text('')
    for path, words in ((other, 'is not a SQLite export of Nsight Systems'), (cut, 'cannot read'),
                        (damaged, 'cannot read'), (text, 'is damaged, or not one of'),
                        (empty, 'is damaged, or not one of'),
                        (directory / 'nothing', 'cannot read'),
                        (directory, 'cannot read')):
        code, _, err = run('gpu', 'import', path, out)
        equal(code, 125, err)
        contains(err, words)
        contains(err, str(path))
        equal(journal.read_bytes(), before)
        equal(len(list(out.glob('*.new'))), 0)


def tool_without_files(directory):
    """C246: a tool that left nothing is an error, also when the command succeeded; the run is
    kept"""
    script(directory, 'nsys', 'import sys\n')
    code, _, err = run('gpu', '--tool', 'nsys', '-f', 'csv', '-t', 20, '-o', directory / 'out',
                       '--', 'true', **with_tools(directory))
    equal(code, 125, err)
    contains(err, 'nsys wrote no ')
    assert table(directory / 'out')


def full_kernel_profile(directory):
    """C247: --tool ncu runs ncu --set full on the command, and keeps its report in the run"""
    script(directory, 'ncu', '''
        import subprocess, sys
        arguments = sys.argv[1:]
        at = arguments.index('--export')
        with open(arguments[at + 1] + '.ncu-rep', 'w') as file:
            file.write(' '.join(arguments[:at]))
        sys.exit(subprocess.call(arguments[at + 2:]))
    ''')
    code, out, err = run('gpu', '--tool', 'ncu', '-f', 'csv', '-t', 20, '-o', directory / 'out',
                         '--', 'sh', '-c', 'echo inside; exit 4', **with_tools(directory))
    equal((code, out), (4, 'inside\n'), err)
    reports = list((directory / 'out').glob('*.ncu.ncu-rep'))
    equal(len(reports), 1)
    equal(reports[0].read_text(), '--set full --target-processes all --force-overwrite')
    contains(err, 'Files of ncu: ')


ROCM_FILES = {
    'kernel_trace': ['"Kind","Agent_Id","Queue_Id","Stream_Id","Thread_Id","Dispatch_Id",'
                     '"Kernel_Id","Kernel_Name","Correlation_Id","Start_Timestamp",'
                     '"End_Timestamp","LDS_Block_Size","VGPR_Count","Workgroup_Size_X",'
                     '"Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y",'
                     '"Grid_Size_Z"',
                     '"KERNEL_DISPATCH","Agent 4",1,2,77,1,9,"add(float*, ""x"")",5,{0},{1},64,16,'
                     '256,1,1,1024,1,1'],
    'memory_copy_trace': ['"Kind","Direction","Stream_Id","Source_Agent_Id",'
                          '"Destination_Agent_Id","Correlation_Id","Start_Timestamp",'
                          '"End_Timestamp"',
                          '"MEMORY_COPY","MEMORY_COPY_HOST_TO_DEVICE",2,"Agent 0","Agent 4",6,{0},'
                          '{1}'],
    'hip_api_trace': ['"Domain","Function","Process_Id","Thread_Id","Correlation_Id",'
                      '"Start_Timestamp","End_Timestamp"',
                      '"HIP_RUNTIME_API_EXT","hipLaunchKernel",76,77,5,{0},{1}'],
}


def rocm(directory):
    """C246: --tool rocprofv3 runs it with a file for each process, whose CSV traces are imported"""
    script(directory, 'rocprofv3', f'''
        import os, subprocess, sys, time
        arguments = sys.argv[1:]
        dashes = arguments.index('--')
        folder = arguments[arguments.index('--output-directory') + 1]
        name = arguments[arguments.index('--output-file') + 1].replace('%pid%', '76')
        start = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        code = subprocess.call(arguments[dashes + 1:])
        for kind, lines in {ROCM_FILES!r}.items():
            with open(os.path.join(folder, f'{{name}}_{{kind}}.csv'), 'w') as file:
                for line in lines:
                    file.write(line.format(start, start + 1000) + '\\n')
        sys.exit(code)
    ''')
    code, _, err = run('gpu', '--tool', 'rocprofv3', '-f', 'csv', '-t', 20, '-o', directory / 'out',
                       '--', *sleeper(0.2), **with_tools(directory))
    equal(code, 0, err)
    assert 'another run' not in err, err
    kernel, = table(directory / 'out', 'gpu_kernels')
    equal((kernel['gkDevice'], kernel['gkStream'], kernel['gkName'], kernel['gkDuration'],
           kernel['gkGrid'], kernel['gkBlock'], kernel['gkSharedMemory'], kernel['gkRegisters']),
          ('4', '2', 'add(float*, "x")', '1000', '1024x1x1', '256x1x1', '64', '16'))
    copy, = table(directory / 'out', 'gpu_copies')
    equal((copy['gmDevice'], copy['gmDirection'], copy['gmBytes']), ('4', 'host to device', ''))
    call, = table(directory / 'out', 'gpu_calls')
    equal((call['gcPid'], call['gcThread'], call['gcName']), ('76', '77', 'hipLaunchKernel'))


def no_tool(directory):
    """C246: without any profiler of GPUs it says which to install, with exit code 125, and runs
    nothing"""
    code, out, err = run('gpu', '-o', directory / 'out', '--', 'echo', 'ran',
                         env=ENVIRONMENT | {'PATH': '/bin:/usr/bin'})
    if code == 0:
        raise Skip('there is one')
    equal((code, out), (125, ''), err)
    assert 'nsys' in err or 'rocprofv3' in err, err
    code, out, err = run('gpu', '--tool', 'ncu', '-o', directory / 'out', '--', 'true',
                         env=ENVIRONMENT | {'PATH': '/bin:/usr/bin'})
    equal(code, 125, err)
    contains(err, 'ncu is not installed: install Nsight Compute')
    assert not (directory / 'out').exists()


def bad_commands(directory):
    """C246: a command that cannot be run is reported before the tool starts, with the usual exit
    codes"""
    script(directory, 'nsys', 'raise SystemExit("must not run")')
    plain = directory / 'plain'
    plain.write_text('')
    for command, expected in (('/nonexistent', 127), (plain, 126)):
        code, _, err = run('gpu', '-o', directory / 'out', '--', command, **with_tools(directory))
        equal(code, expected, err)
        contains(err, f'cannot run {command}: ')
    code, _, err = run('gpu', '-o', directory / 'out', '--')
    equal(code, 125, err)
    code, _, err = run('gpu', '--tool', 'perf', '-o', directory / 'out', '--', 'true')
    equal(code, 125, err)
    contains(err, "'perf' is not a GPU profiler")


def without_torch(directory):
    """C246: a Python program that never imports torch runs as always, and the missing trace is
    reported"""
    code, out, err = run('gpu', '--tool', 'torch', '-f', 'csv', '-t', 20, '-o', directory / 'out',
                         '--', sys.executable, '-c', 'print("ran")')
    equal((code, out), (125, 'ran\n'), err)
    contains(err, 'the command never imported torch')


if __name__ == '__main__':
    main(tables_of_a_run, one_clock, flags_and_files, summary, trace, imported_later,
         other_versions, foreign_files, tool_without_files, full_kernel_profile, rocm, no_tool,
         bad_commands, without_torch)
