// Compares the Parquet files of make_files cell by cell with the JSON lines beside them, as
// DuckDB, hyparquet and parquet-wasm (arrow-rs) read them. One line per check; exit code 1
// when one fails.
import { DuckDBInstance } from '@duckdb/node-api';
import { asyncBufferFromFile, parquetMetadataAsync } from 'hyparquet';
import fs from 'node:fs';
import path from 'node:path';
import { readers, firstDifference } from './readers.mjs';

const directory = process.argv[2];
let failures = 0;

function check(passed, sentence, detail = '') {
  console.log(`${passed ? 'ok' : 'not ok'} - ${sentence}${passed ? '' : `: ${detail}`}`);
  if (!passed) failures++;
}

// Microseconds, rounded down; BigInt division rounds towards zero.
function microseconds(ns) {
  const us = ns / 1000n;
  return ns % 1000n < 0n ? us - 1n : us;
}

const fromJson = {
  time: (v) => microseconds(BigInt(v)),
  int: (v) => BigInt(v),
  double: (v) => v,
  string: (v) => v,
};

// { columns: [[name, type], ...], values: [column][row], row_count }
function readExpected(file) {
  const lines = fs.readFileSync(file, 'utf8').split('\n');
  const { columns } = JSON.parse(lines[0]);
  const rows = lines.slice(1, -1).map((line) => JSON.parse(line));
  const values = columns.map(([, type], c) =>
    rows.map((row) => (row[c] === null ? null : fromJson[type](row[c]))));
  return { columns, values, row_count: rows.length };
}

async function checkCells(file, expected) {
  const cells = expected.columns.length * expected.row_count;
  for (const [name, read] of Object.entries(readers)) {
    let difference;
    try {
      difference = firstDifference(expected, await read(file, expected.columns));
    } catch (error) {
      difference = error.message;
    }
    check(!difference, `C024 C031: ${name} reads the ${cells} cells of ${expected.row_count} rows`,
      difference);
  }
}

// Chunk statistics by hyparquet against the values of the whole file.
async function checkStatistics(file, expected) {
  const metadata = await parquetMetadataAsync(await asyncBufferFromFile(file),
    { parsers: { timestampFromMicroseconds: (us) => us } });
  const wrong = [];
  for (const [c, [name]] of expected.columns.entries()) {
    let row = 0;
    for (const group of metadata.row_groups) {
      const count = Number(group.num_rows);
      const values = expected.values[c].slice(row, row += count);
      const { statistics } = group.columns[c].meta_data;
      if (!isRange(values, statistics))
        wrong.push(`${name} before row ${row}`);
    }
  }
  check(wrong.length === 0, `minima, maxima and null counts of ${expected.row_count} rows are right`,
    wrong.join(', '));
}

function isRange(values, statistics) {
  const present = values.filter((v) => v !== null);
  if (Number(statistics.null_count) !== values.length - present.length)
    return false;
  if (statistics.min_value === undefined)
    return present.length === 0 || typeof present[0] === 'string';
  if (typeof present[0] === 'string') // by bytes, which is the order of UTF-8
    present.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const min = present.reduce((a, b) => (typeof a === 'string' || a <= b ? a : b));
  const max = typeof min === 'string' ? present.at(-1) : present.reduce((a, b) => (a >= b ? a : b));
  const outward = (v, zero) => (v === 0 ? zero : v);
  return Object.is(statistics.min_value, outward(min, -0)) &&
    Object.is(statistics.max_value, outward(max, 0));
}

async function query(sql) {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  return (await connection.runAndReadAll(sql)).getRowsJson();
}

async function checkMetadata(file) {
  const pairs = Object.fromEntries(await query(
    `SELECT decode(key), decode(value) FROM parquet_kv_metadata('${file}')`));
  check(pairs['pitot.unit.iCounter'] === 'bytes' && pairs['pitot.unit.dDecimal'] === '%' &&
    !('pitot.unit.kLabel' in pairs), 'units travel as metadata', JSON.stringify(pairs));
  check(pairs['pitot.help.iCounter'] === 'grows by varied steps', 'help travels as metadata');
  check(/^\d+\.\d+\.\d+$/.test(pairs['pitot.version']), 'the version travels as metadata');
  const [[creator]] = await query(`SELECT created_by FROM parquet_file_metadata('${file}')`);
  check(/^pitot version \d+\.\d+\.\d+$/.test(creator), 'created_by is what readers can parse',
    creator);
  const types = Object.fromEntries((await query(`DESCRIBE SELECT * FROM '${file}'`))
    .map(([name, type]) => [name, type]));
  check(types.timestamp === 'TIMESTAMP WITH TIME ZONE' && types.iCounterT === types.timestamp &&
    types.monotonic_ns === 'BIGINT' && types.dAny === 'DOUBLE' && types.kLabel === 'VARCHAR',
  'columns have their types', JSON.stringify(types));
}

async function checkSkipping(file) {
  const [[count]] = await query(
    `SELECT count(*) FROM '${file}' WHERE "iExtremes" = -9223372036854775808 AND "dZero" = 0`);
  check(Number(count) > 0, 'rows at the minimum are not skipped because of statistics');
}

async function checkSmallNulls(file) {
  const [[bytes]] = await query(`SELECT max(total_compressed_size) FROM parquet_metadata('${file}')
    WHERE path_in_schema IN ('kNone', 'iNone', 'dNone')`);
  check(Number(bytes) < 60, 'a column chunk without values is tiny', `${bytes} bytes`);
}

for (const name of fs.readdirSync(directory).filter((n) => n.endsWith('.parquet'))) {
  const file = path.join(directory, name);
  const expected = readExpected(file.replace(/parquet$/, 'jsonl'));
  await checkCells(file, expected);
  await checkStatistics(file, expected);
  if (expected.row_count > 0)
    await checkSmallNulls(file);
  if (expected.row_count === 60) {
    await checkMetadata(file);
    await checkSkipping(file);
  }
}
process.exit(failures ? 1 : 0);
