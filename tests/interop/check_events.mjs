// Reads a TensorBoard event file with an independent reader, which checks both sums of each record,
// and decodes the messages by the public schema.
//     node check_events.mjs DIRECTORY     (of tests/e2e/export_workload.c)
import fs from 'node:fs';
import path from 'node:path';
import protobuf from 'protobufjs';
import tfrecord from 'tfrecord-stream';

// What is used of tensorflow/core/util/event.proto and framework/summary.proto.
const schema = protobuf.parse(`syntax = "proto3";
message HistogramProto {
  double min = 1; double max = 2; double num = 3; double sum = 4; double sum_squares = 5;
  repeated double bucket_limit = 6 [packed = true];
  repeated double bucket = 7 [packed = true];
}
message Summary {
  message Value {
    string tag = 1;
    oneof value { float simple_value = 2; HistogramProto histo = 5; }
  }
  repeated Value value = 1;
}
message Event {
  double wall_time = 1; int64 step = 2;
  oneof what { string file_version = 3; Summary summary = 5; }
}`, { keepCase: true }).root;
const Event = schema.lookupType('Event');

async function readEvents(file) {
  const reader = await tfrecord.RecordReader.createFromStream(fs.createReadStream(file));
  const events = [];
  for (let record; (record = await reader.readRecord());) {
    events.push(Event.toObject(Event.decode(record), { longs: Number }));
  }
  return events;
}

let failures = 0;
function check(isSo, sentence) {
  console.log(`${isSo ? 'ok' : 'not ok'} - C237: ${sentence}`);
  failures += isSo ? 0 : 1;
}

const [directory] = process.argv.slice(2);
const files = fs.readdirSync(path.join(directory, 'logs'));
check(files.length === 1 && /^events\.out\.tfevents\.\d+\..+\.\d+\.pitot$/.test(files[0]),
  'the event file has the name that TensorBoard looks for');
const events = await readEvents(path.join(directory, 'logs', files[0]));
check(events[0].file_version === 'brain.Event:2', 'the first record is the version');
const age = Date.now() / 1000 - events[0].wall_time;
check(age >= 0 && age < 600, 'times are seconds since 1970');

const values = events.slice(1).flatMap(({ step, summary }) =>
  summary.value.map((value) => ({ step, ...value })));
const loss = values.filter(({ tag }) => tag === 'loss');
check(loss.length === 100 && loss.every(({ step, simple_value: value }, i) =>
  (step ?? 0) === i && value === Math.fround(1 / (i + 1))), 'scalars are there step by step');

function checkHistogram(tag) {
  const { step, histo } = values.find((value) => value.tag === tag);
  const counted = histo.bucket.reduce((a, b) => a + b, 0);
  const isRising = histo.bucket_limit.every((limit, i, all) => i === 0 || limit > all[i - 1]);
  const below = histo.bucket.filter((_, i) => histo.bucket_limit[i] <= 0.5)
    .reduce((a, b) => a + b, 0);
  check(step === 100 && histo.num === 1000 && counted === 1000 && isRising &&
    Math.abs(histo.sum - 500.5) < 1e-9 && Math.abs(histo.sum_squares / 333833.5 * 1000 - 1) < 0.01 &&
    histo.min <= 0.001 && histo.min > 0.00097 && histo.max >= 1 && histo.max < 1.023 &&
    Math.abs(below - 500) <= 11, `histogram ${tag} has the values that were recorded`);
}
checkHistogram('latency');
checkHistogram('request_duration_seconds');
const total = values.find(({ tag }) => tag === 'requests_total{code="200"}');
check(total?.simple_value === 900, 'metrics of the process are scalars');
process.exit(failures ? 1 : 0);
