// Pitot's writers compared with DuckDB's, on the same rows: CPU time and bytes, as table rows.
//     node bench/export_duckdb.mjs BUILD_DIRECTORY
// DuckDB copies a table in memory with its default settings (zstd for Parquet), in one thread. The
// two take turns and the least CPU time of each counts. Needs the packages of tests/interop.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createRequire } from 'node:module';

const interop = new URL('../tests/interop/package.json', import.meta.url);
const { DuckDBInstance } = createRequire(interop)('@duckdb/node-api');
const ROUNDS = 5;
const bench = path.join(process.argv[2] ?? 'build', 'bench', 'export_bench');
const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'pitot-bench-'));
const data = path.join(directory, 'data.csv');

const formats = [
  { name: 'parquet', options: 'FORMAT parquet, COMPRESSION zstd', speed: '>= 2.5', size: '<= 0.7' },
  { name: 'csv', options: 'FORMAT csv, HEADER', speed: '>= 4' },
];

function runPitot(format, ...args) {
  const file = path.join(directory, `pitot.${format.name}`);
  return JSON.parse(execFileSync(bench, [format.name, file, ...args]));
}

async function runDuckDB(connection, format, rows) {
  const file = path.join(directory, `duckdb.${format.name}`);
  const before = process.cpuUsage();
  await connection.run(`COPY t TO '${file}' (${format.options})`);
  const { user, system } = process.cpuUsage(before);
  return { rows, cpu_s: (user + system) / 1e6, bytes: fs.statSync(file).size };
}

function least(a, b) {
  return !a || b.cpu_s < a.cpu_s ? b : a;
}

function print(format, ours, theirs) {
  const speed = ({ rows, cpu_s }) => `${Math.round(rows / cpu_s / 1000)} k rows/s`;
  const size = ({ rows, bytes }) => `${(bytes / rows).toFixed(1)} B/row`;
  console.log(`| export ${format.name}, 100 columns x 100,000 rows vs. DuckDB | ${speed(ours)} | ` +
    `${speed(theirs)} | ${(theirs.cpu_s / ours.cpu_s).toFixed(2)} | ${format.speed} |`);
  if (format.size)
    console.log(`| the same, bytes | ${size(ours)} | ${size(theirs)} | ` +
      `${(ours.bytes / theirs.bytes).toFixed(3)} | ${format.size} |`);
}

try {
  const { rows } = runPitot(formats[0], data);
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  await connection.run('SET threads = 1');
  await connection.run(`CREATE TABLE t AS SELECT make_timestamp(timestamp) AS timestamp,
    * EXCLUDE (timestamp) FROM read_csv('${data}')`);
  for (const format of formats) {
    let ours, theirs;
    for (let i = 0; i < ROUNDS; i++) {
      theirs = least(theirs, await runDuckDB(connection, format, rows));
      ours = least(ours, runPitot(format));
    }
    print(format, ours, theirs);
  }
} finally {
  fs.rmSync(directory, { recursive: true });
}
