// Pitot's Parquet writer beside DuckDB's, on the same rows: CPU time and bytes.
//     node bench/parquet_duckdb.mjs BUILD_DIRECTORY
// DuckDB copies a table in memory with its default settings and zstd, in one thread. The two
// take turns and the least CPU time of each counts. Needs `npm ci` in tests/interop.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createRequire } from 'node:module';

const interop = new URL('../tests/interop/package.json', import.meta.url);
const { DuckDBInstance } = createRequire(interop)('@duckdb/node-api');
const ROUNDS = 5;
const bench = path.join(process.argv[2] ?? 'build', 'bench', 'parquet_bench');
const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'pitot-bench-'));
const csv = path.join(directory, 'data.csv');

function runPitot(...args) {
  return JSON.parse(execFileSync(bench, [path.join(directory, 'pitot.parquet'), ...args]));
}

async function runDuckDB(connection, rows) {
  const file = path.join(directory, 'duckdb.parquet');
  const before = process.cpuUsage();
  await connection.run(`COPY t TO '${file}' (FORMAT parquet, COMPRESSION zstd)`);
  const { user, system } = process.cpuUsage(before);
  return { rows, cpu_s: (user + system) / 1e6, bytes: fs.statSync(file).size };
}

function least(a, b) {
  return !a || b.cpu_s < a.cpu_s ? b : a;
}

function print(name, { rows, cpu_s, bytes }) {
  console.log(name.padEnd(8), cpu_s.toFixed(3).padStart(9), String(Math.round(rows / cpu_s)).padStart(13),
    (bytes / rows).toFixed(1).padStart(11));
}

try {
  let pitot = runPitot(csv), duckdb;
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  await connection.run('SET threads = 1');
  await connection.run(`CREATE TABLE t AS SELECT make_timestamp(timestamp) AS timestamp,
    * EXCLUDE (timestamp) FROM read_csv('${csv}')`);
  for (let i = 0; i < ROUNDS; i++) {
    duckdb = least(duckdb, await runDuckDB(connection, pitot.rows));
    pitot = least(pitot, runPitot());
  }
  console.log('writer       CPU s  rows / CPU s   bytes/row');
  print('Pitot', pitot);
  print('DuckDB', duckdb);
  console.log(`Pitot writes ${(duckdb.cpu_s / pitot.cpu_s).toFixed(2)} x the rows per CPU second (at` +
    ` least 2.5) in ${(pitot.bytes / duckdb.bytes).toFixed(3)} x the bytes (at most 0.7)`);
} finally {
  fs.rmSync(directory, { recursive: true });
}
