// Three independent readers of Parquet. Each gives the values column by column: BigInt for integers,
// microseconds as BigInt for times, numbers, strings, null.
import { DuckDBInstance } from '@duckdb/node-api';
import { tableFromIPC } from 'apache-arrow';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import fs from 'node:fs';
import { createRequire } from 'node:module';

const { readParquet } = createRequire(import.meta.url)('parquet-wasm');

async function readWithDuckDB(file, columns) {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const cells = columns.map(([name, type]) => (type === 'time' ? `epoch_us("${name}")` : `"${name}"`));
  const reader = await connection.runAndReadAll(
    `SELECT ${cells.join(', ')} FROM read_parquet('${file}')`);
  return reader.getColumns();
}

async function readWithHyparquet(file, columns) {
  const rows = await parquetReadObjects({
    file: await asyncBufferFromFile(file),
    compressors,
    parsers: { timestampFromMicroseconds: (us) => us },
  });
  return columns.map(([name]) => rows.map((row) => row[name] ?? null));
}

// Arrow would turn times into milliseconds: take the 64-bit words themselves.
function timesOf(vector) {
  return vector.data.flatMap((data) =>
    Array.from({ length: data.length }, (_, i) => (data.getValid(i) ? data.values[i] : null)));
}

async function readWithParquetWasm(file, columns) {
  const table = tableFromIPC(readParquet(fs.readFileSync(file)).intoIPCStream());
  return columns.map(([name, type]) => {
    const vector = table.getChild(name);
    return type === 'time' ? timesOf(vector) : Array.from(vector);
  });
}

export const readers = {
  DuckDB: readWithDuckDB,
  hyparquet: readWithHyparquet,
  'parquet-wasm': readWithParquetWasm,
};

// What is wrong, or the empty string.
export function firstDifference(expected, actual) {
  if (expected.row_count > 0 && actual.some((values) => values.length !== expected.row_count))
    return `rows: ${actual.map((values) => values.length)} instead of ${expected.row_count}`;
  for (let c = 0; c < expected.columns.length; c++)
    for (let r = 0; r < expected.row_count; r++)
      if (!Object.is(expected.values[c][r], actual[c][r]))
        return `${expected.columns[c][0]} row ${r}: ${String(actual[c][r]).slice(0, 80)}` +
          ` instead of ${String(expected.values[c][r]).slice(0, 80)}`;
  return '';
}

