// Compares every Parquet file of a recorded run cell by cell with the CSV file beside it, as three
// independent readers see it.
//     node check_run.mjs DIRECTORY SCHEMA.json      (SCHEMA: what `pitot schema --json` prints)
import fs from 'node:fs';
import path from 'node:path';
import { readers, firstDifference } from './readers.mjs';

const [directory, schemaFile] = process.argv.slice(2);
const schema = JSON.parse(fs.readFileSync(schemaFile, 'utf8'));
let failures = 0;

// Rows of cells; null for an empty cell without quotes.
function parseCsv(text) {
  const rows = [[]];
  const cell = /("(?:[^"]|"")*"|[^,\n]*)([,\n])/gy;
  for (let match; (match = cell.exec(text));) {
    const raw = match[1];
    rows.at(-1).push(raw === '' ? null
      : raw[0] === '"' ? raw.slice(1, -1).replaceAll('""', '"') : raw);
    if (match[2] === '\n') rows.push([]);
  }
  rows.pop();
  return rows;
}

function typeOf(tables, name) {
  if (name === 'timestamp') return 'time';
  if (name === 'monotonic_ns') return 'int';
  for (const { columns } of tables)
    for (const column of columns) {
      if (column.name === name)
        return { int64: 'int', float64: 'double', string: 'string' }[column.type];
      if (column.timed && `${column.name}T` === name) return 'time';
    }
  throw new Error(`column ${name} is not in the schema`);
}

// docs/COMPATIBILITY.md: a text that a spreadsheet or terminal would obey has ' in front.
const plainText = (text) => (text[0] !== "'" ? text
  : text.slice(1).replace(/\\(?:x([0-9a-f]{2})|\\)/g,
    (_, hex) => (hex ? String.fromCharCode(Number.parseInt(hex, 16)) : '\\')));

const fromText = { time: BigInt, int: BigInt, double: Number, string: plainText };

function expectedOf(file, suffix) {
  const tables = schema.tables.filter((t) => t.file === (suffix || 'main'));
  const [header, ...rows] = parseCsv(fs.readFileSync(file, 'utf8'));
  const columns = header.map((name) => [name, typeOf(tables, name)]);
  const values = columns.map(([, type], c) =>
    rows.map((row) => (row[c] === null ? null : fromText[type](row[c]))));
  return { columns, values, row_count: rows.length };
}

// CSV has milliseconds.
const toMilliseconds = (us) => (us === null ? null : us / 1000n);

for (const csv of fs.readdirSync(directory).filter((name) => name.endsWith('.csv')).sort()) {
  const suffix = csv.split('.').length > 2 ? csv.split('.')[1] : '';
  const expected = expectedOf(path.join(directory, csv), suffix);
  for (const [name, read] of Object.entries(readers)) {
    const parquet = path.join(directory, csv.replace(/csv$/, 'parquet'));
    const actual = (await read(parquet, expected.columns)).map((values, c) =>
      (expected.columns[c][1] === 'time' ? values.map(toMilliseconds) : values));
    const difference = firstDifference(expected, actual);
    const cells = expected.row_count * expected.columns.length;
    const sentence = `C022 C024 C030 C031: ${name} sees the ${cells} cells of the CSV file ` +
      `(${suffix || 'main'})`;
    console.log(difference ? `not ok - ${sentence}: ${difference}` : `ok - ${sentence}`);
    failures += difference ? 1 : 0;
  }
}
process.exit(failures ? 1 : 0);
