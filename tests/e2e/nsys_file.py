"""Makes the SQLite export of Nsight Systems for a timeline of known times, as its documentation
describes the tables. The amounts are those that gpu.py looks for."""
import sqlite3

MS = 1_000_000
PID, THREAD = 4242, 4243
GLOBAL_PID = 1 << 56 | PID << 24
GLOBAL_THREAD = GLOBAL_PID | THREAD

STRINGS = ['gemm<float>(float*)', 'gemm', 'relu(float*)', 'relu', 'cudaLaunchKernel_v7000',
           'cudaMemcpyAsync_v3020', 'forward']

# name, start, end, device, stream, correlation
KERNELS = [(0, 0, 1, 0, 7, 1), (0, 2, 3, 0, 7, 2), (2, 2.5, 4, 0, 13, 3), (2, 10, 11, 0, 13, 4),
           (2, 5, 6, 1, 7, 5)]
# kind, start, end, bytes, stream
COPIES = [(1, 5, 8, 3_000_000, 7), (2, 10.2, 10.4, 1000, 7)]

TABLES = {
    'StringIds': 'id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL',
    'TARGET_INFO_SESSION_START_TIME': 'utcEpochNs INTEGER, utcTime TEXT, localTime TEXT',
    'CUPTI_ACTIVITY_KIND_KERNEL':
        'start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, '
        'contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, '
        'globalPid INTEGER, demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, '
        'gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, '
        'blockZ INTEGER, staticSharedMemory INTEGER, dynamicSharedMemory INTEGER, '
        'registersPerThread INTEGER',
    'CUPTI_ACTIVITY_KIND_MEMCPY':
        'start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, '
        'contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, '
        'globalPid INTEGER, bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL',
    'CUPTI_ACTIVITY_KIND_MEMSET':
        'start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, '
        'contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, '
        'globalPid INTEGER, value INTEGER NOT NULL, bytes INTEGER NOT NULL',
    'CUPTI_ACTIVITY_KIND_RUNTIME':
        'start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, '
        'globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER',
    'CUPTI_ACTIVITY_KIND_SYNCHRONIZATION':
        'start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, '
        'contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, '
        'globalPid INTEGER, syncType INTEGER NOT NULL',
    'NVTX_EVENTS':
        'start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, '
        'category INTEGER, text TEXT, globalTid INTEGER, textId INTEGER, domainId INTEGER',
}


def ns(ms):
    return round(ms * MS)


def rows(first, wall_ns):
    """By table; `first` is when the first kernel began, in ms of the session."""
    def at(start, end):
        return ns(first + start), ns(first + end)
    return {
        'StringIds': list(enumerate(STRINGS)),
        'TARGET_INFO_SESSION_START_TIME': [(wall_ns, 'utc', 'local')],
        'CUPTI_ACTIVITY_KIND_KERNEL': [
            (*at(start, end), device, 1, stream, correlation, GLOBAL_PID, name, name + 1,
             256, 2, 1, 128, 1, 1, 1024, 512, 40)
            for name, start, end, device, stream, correlation in KERNELS],
        'CUPTI_ACTIVITY_KIND_MEMCPY': [
            (*at(start, end), 0, 1, stream, 20, GLOBAL_PID, size, kind)
            for kind, start, end, size, stream in COPIES],
        'CUPTI_ACTIVITY_KIND_MEMSET': [(*at(8.5, 8.6), 0, 1, 7, 30, GLOBAL_PID, 0, 4096)],
        'CUPTI_ACTIVITY_KIND_RUNTIME': [
            (*at(-0.1, -0.05), 0, GLOBAL_THREAD, 1, 4, 0),
            (*at(4.5, 8), 0, GLOBAL_THREAD, 20, 5, 0)],
        'CUPTI_ACTIVITY_KIND_SYNCHRONIZATION': [(*at(11, 12), 0, 1, 7, 40, GLOBAL_PID, 3)],
        'NVTX_EVENTS': [
            (*at(-1, 12), 59, 0, 0, None, GLOBAL_THREAD, 6, 0),        # text by id
            (*at(-0.5, 3), 60, 0, 0, 'step 1', GLOBAL_THREAD, None, 0),  # text in the row
            (ns(first), None, 59, 0, 0, 'never ended', GLOBAL_THREAD, None, 0),
            (ns(first), ns(first), 34, 0, 0, 'a mark', GLOBAL_THREAD, None, 0)],
    }


def make(path, wall_ns, first=50, leave_out=(), columns_left_out=()):
    """Tables and columns that a version of nsys does not have may be left out."""
    content = rows(first, wall_ns)
    with sqlite3.connect(path) as file:
        for table, columns in TABLES.items():
            if table in leave_out:
                continue
            file.execute(f'CREATE TABLE {table} ({columns})')
            marks = ','.join('?' * len(content[table][0]))
            file.executemany(f'INSERT INTO {table} VALUES ({marks})', content[table])
            for column in columns_left_out:
                if f'{column} ' in columns:
                    file.execute(f'ALTER TABLE {table} DROP COLUMN {column}')
    file.close()
