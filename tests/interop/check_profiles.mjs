// Reads the profiles of make_profiles as other programs do and compares them, stack by stack, with
// the collapsed stacks. Prints a line for each check; exit code 1 when one fails.
//     node check_profiles.mjs DIRECTORY PITOT
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { Function, Line, Location, Profile, Sample, StringTable, ValueType } from 'pprof-format';

const [directory, pitot] = process.argv.slice(2);
const read = (name) => fs.readFileSync(path.join(directory, name));
const readJson = (name) => JSON.parse(read(name));
let failures = 0;

function check(sentence, run) {
  let detail;
  try {
    detail = run();
  } catch (error) {
    detail = error.stack;
  }
  console.log(`${detail ? 'not ok' : 'ok'} - ${sentence}${detail ? `: ${detail}` : ''}`);
  if (detail) failures++;
}

function add(sums, frames, value) {
  const key = frames.join(';');
  sums.set(key, (sums.get(key) ?? 0) + Number(value));
}

// The first difference of two maps from stack to value, or undefined.
function difference(actual, expected) {
  if (actual.size !== expected.size) return `${actual.size} stacks, expected ${expected.size}`;
  for (const [stack, value] of expected)
    if (actual.get(stack) !== value) return `${actual.get(stack)} of ${stack}, expected ${value}`;
  return undefined;
}

// Without the process, which stands first. With `byModule` a place without a symbol is its module.
function foldedStacks(byModule) {
  const sums = new Map();
  for (const line of read('train.folded').toString().trimEnd().split('\n')) {
    const blank = line.lastIndexOf(' ');
    const frames = line.slice(0, blank).split(';').slice(1);
    add(sums, byModule ? frames.map((f) => f.replace(/^(.+)\+0x[0-9a-f]+$/, '[$1]')) : frames,
      line.slice(blank + 1));
  }
  return sums;
}

function pprofStacks() {
  const profile = Profile.decode(gunzipSync(read('train.pb.gz')));
  const text = (number) => profile.stringTable.strings[Number(number)];
  const byId = (list) => new Map(list.map((item) => [Number(item.id), item]));
  const [functions, locations] = [byId(profile.function), byId(profile.location)];
  const mappings = byId(profile.mapping);
  const sums = new Map();
  for (const sample of profile.sample) {
    const frames = sample.locationId.flatMap((id) => {
      const location = locations.get(Number(id));
      if (location.line.length > 0)
        return location.line.map((line) => text(functions.get(Number(line.functionId)).name));
      const file = text(mappings.get(Number(location.mappingId)).filename);
      return `${path.basename(file)}+0x${location.address.toString(16)}`;
    });
    add(sums, frames.reverse(), sample.value[0]);
  }
  return { profile, text, sums };
}

check('C241: pprof-format reads the stacks that the collapsed stacks have', () =>
  difference(pprofStacks().sums, foldedStacks(false)));

check('C241: pprof-format reads units, period and build ids', () => {
  const { profile, text } = pprofStacks();
  const types = profile.sampleType.map((type) => `${text(type.type)}/${text(type.unit)}`).join();
  if (types !== 'cpu/nanoseconds,samples/count') return types;
  if (Number(profile.period) !== 10101010) return `period ${profile.period}`;
  const bad = profile.mapping.find((m) => !/^[0-9a-f]{40}$/.test(text(m.buildId)));
  return bad && `build id of ${text(bad.filename)}`;
});

check('C241: speedscope has the same stacks', () => {
  const file = readJson('train.speedscope.json');
  const sums = new Map();
  for (const profile of file.profiles) {
    if (profile.samples.length !== profile.weights.length) return 'samples without weight';
    profile.samples.forEach((stack, i) =>
      add(sums, stack.map((frame) => file.shared.frames[frame].name), profile.weights[i]));
  }
  return difference(sums, foldedStacks(true));
});

check('C241: the tables of the Firefox profiler give the same stacks', () => {
  const file = readJson('train.firefox.json');
  const sums = new Map();
  for (const thread of file.threads) {
    const { samples, stackTable, frameTable, funcTable, stringArray } = thread;
    samples.stack.forEach((leaf, i) => {
      const frames = [];
      for (let stack = leaf; stack !== null; stack = stackTable.prefix[stack])
        frames.unshift(stringArray[funcTable.name[frameTable.func[stackTable.frame[stack]]]]);
      add(sums, frames, samples.weight[i] * 10101010);
    });
  }
  return difference(sums, foldedStacks(true));
});

check('C241: slices of a thread lie within one another, in time order', () => {
  const open = new Map();
  const last = new Map();
  for (const event of readJson('train.trace.json').traceEvents) {
    if (event.ph !== 'X') continue;
    const stack = open.get(event.tid) ?? [];
    const end = event.ts + event.dur;
    if (event.ts < (last.get(event.tid) ?? 0)) return `${event.name} at ${event.ts} is late`;
    while (stack.length > 0 && stack.at(-1) <= event.ts + 1e-6) stack.pop();
    if (stack.length > 0 && end > stack.at(-1) + 1e-3) return `${event.name} outlives its caller`;
    stack.push(end);
    open.set(event.tid, stack);
    last.set(event.tid, event.ts);
  }
  return last.size === 4 ? undefined : `${last.size} threads`;
});

// As another tool would write it: ids in no order, seconds, an inlined function, no mappings.
check('C242: Pitot reads a profile that pprof-format wrote', () => {
  const stringTable = new StringTable();
  const text = (words) => stringTable.dedup(words);
  const place = (id, functions) => new Location({ id,
    line: functions.map((functionId) => new Line({ functionId, line: 7 })) });
  const profile = new Profile({
    stringTable,
    sampleType: [new ValueType({ type: text('wall'), unit: text('seconds') })],
    function: ['leaf', 'inner', 'main'].map((name, i) =>
      new Function({ id: 900 - i, name: text(name), filename: text('m.go') })),
    location: [place(5, [900]), place(3, [899, 898]), place(4, [898])],
    sample: [new Sample({ locationId: [5, 3], value: [2] }),
      new Sample({ locationId: [4], value: [1] })],
  });
  const [from, to] = ['foreign.pb.gz', 'foreign.folded'].map((name) => path.join(directory, name));
  fs.writeFileSync(from, gzipSync(profile.encode()));
  execFileSync(pitot, ['cpu', 'show', '-q', from, '-o', to]);
  const folded = fs.readFileSync(to, 'utf8');
  return folded === 'main;inner;leaf 2000000000\nmain 1000000000\n' ? undefined : folded;
});

process.exit(failures ? 1 : 0);
