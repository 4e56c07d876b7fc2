// A receiver of remote-write 1.0 and 2.0 and of OTLP, which decodes with libraries that are not ours,
// keeps every point, and fails as scripted.
//
//     node push_receiver.mjs PORT
//
// POST /script   a list of what to do with the next requests: {"status": 500}, {"status": 429,
//                "headers": {"Retry-After": "1"}}, {"hang": true}, {"cut": true}, {"take": true,
//                "cut": true} (taken, but the sender does not learn of it); then all are taken.
// POST /mode     {"speaksV2": false}: 415 for requests of remote-write 2.0; {"keepsNewest": true}:
//                of each series only the newest time is kept
// POST /forget   what was taken
// GET /points    what was taken: {"remote-write": {series: {time: value}}, "otlp": ...}
// GET /seen      what came: counts of requests and of repeated points, headers, metadata, resource
import http from 'node:http';
import zlib from 'node:zlib';
import protobuf from 'protobufjs';
import SnappyJS from 'snappyjs';

const schema = protobuf.parse(`
syntax = "proto3";
message V1Request { repeated V1Series timeseries = 1; repeated V1Metadata metadata = 3; }
message V1Series { repeated Label labels = 1; repeated Sample samples = 2;
                   repeated Histogram histograms = 4; }
message Label { string name = 1; string value = 2; }
message Sample { double value = 1; int64 timestamp = 2; }
message V1Metadata { uint32 type = 1; string metric_family_name = 2; string help = 4;
                     string unit = 5; }
message V2Request { repeated string symbols = 4; repeated V2Series timeseries = 5; }
message V2Series { repeated uint32 labels_refs = 1; repeated Sample samples = 2;
                   repeated Histogram histograms = 3; V2Metadata metadata = 5;
                   int64 created_timestamp = 6; }
message V2Metadata { uint32 type = 1; uint32 help_ref = 3; uint32 unit_ref = 4; }
message Span { sint32 offset = 1; uint32 length = 2; }
message Histogram { uint64 count_int = 1; double sum = 3; sint32 schema = 4;
                    double zero_threshold = 5; uint64 zero_count_int = 6;
                    repeated Span positive_spans = 11; repeated sint64 positive_deltas = 12;
                    int64 timestamp = 15; }
message Export { repeated ResourceMetrics resource_metrics = 1; }
message ResourceMetrics { Resource resource = 1; repeated ScopeMetrics scope_metrics = 2;
                          string schema_url = 3; }
message Resource { repeated KeyValue attributes = 1; }
message KeyValue { string key = 1; AnyValue value = 2; }
message AnyValue { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3;
                   double double_value = 4; } }
message ScopeMetrics { Scope scope = 1; repeated Metric metrics = 2; string schema_url = 3; }
message Scope { string name = 1; string version = 2; }
message Metric { string name = 1; string description = 2; string unit = 3;
                 oneof data { Gauge gauge = 5; Sum sum = 7; Explicit histogram = 9;
                              Exponential exponential_histogram = 10; } }
message Gauge { repeated Number data_points = 1; }
message Sum { repeated Number data_points = 1; int32 aggregation_temporality = 2;
              bool is_monotonic = 3; }
message Explicit { repeated ExplicitPoint data_points = 1; int32 aggregation_temporality = 2; }
message Exponential { repeated ExponentialPoint data_points = 1;
                      int32 aggregation_temporality = 2; }
message Number { fixed64 start_time_unix_nano = 2; fixed64 time_unix_nano = 3;
                 oneof value { double as_double = 4; sfixed64 as_int = 6; }
                 repeated KeyValue attributes = 7; uint32 flags = 8; }
message ExplicitPoint { fixed64 start_time_unix_nano = 2; fixed64 time_unix_nano = 3;
                        fixed64 count = 4; double sum = 5; repeated fixed64 bucket_counts = 6;
                        repeated double explicit_bounds = 7; repeated KeyValue attributes = 9;
                        uint32 flags = 10; }
message ExponentialPoint { repeated KeyValue attributes = 1; fixed64 start_time_unix_nano = 2;
                           fixed64 time_unix_nano = 3; fixed64 count = 4; double sum = 5;
                           sint32 scale = 6; fixed64 zero_count = 7; Buckets positive = 8;
                           uint32 flags = 10; double zero_threshold = 14; }
message Buckets { sint32 offset = 1; repeated uint64 bucket_counts = 2; }
message ExportResponse { Partial partial_success = 1; }
message Partial { int64 rejected_data_points = 1; string error_message = 2; }
`, { keepCase: true }).root;
const type = (name) => schema.lookupType(name);
const STALE = 0x7ff0000000000002n;

let script = [];
let speaksV2 = true, keepsNewest = false;
let points = { 'remote-write': {}, otlp: {} };
const seen = { requests: 0, taken: 0, points: 0, repeated: 0, conflicting: 0, refused_points: 0, errors: [],
    headers: {}, versions: {}, metadata: {}, kinds: {}, resource: {}, scope: {}, schema_url: '' };

const bitsOf = (value) => {
    const view = new DataView(new ArrayBuffer(8));
    view.setFloat64(0, value);
    return view.getBigUint64(0);
};

const isStale = (value) => Number.isNaN(value) && bitsOf(value) === STALE;

function labelsToText(labels) {
    const names = labels.map(([name]) => name);
    const sorted = [...names].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    if (names.join() !== sorted.join() || new Set(names).size !== names.length)
        seen.errors.push(`labels are not sorted: ${names}`);
    return JSON.stringify(labels);
}

function nativeHistogram(h) {
    const buckets = {};
    let index = 0, count = 0n, i = 0;
    for (const span of h.positive_spans) {
        index += span.offset;
        for (let k = 0; k < span.length; k++, index++) {
            count += BigInt(h.positive_deltas[i++].toString());
            buckets[index] = Number(count);
        }
    }
    return { count: Number(h.count_int), sum: h.sum, schema: h.schema,
        zero: Number(h.zero_count_int), buckets };
}

function addPrometheus(found, labels, series) {
    const name = labelsToText(labels);
    let last = -1;
    for (const s of series.samples) {
        const time = Number(s.timestamp);
        if (time <= last)
            seen.errors.push(`${name}: times do not rise`);
        last = time;
        found.push([name, time, isStale(s.value) ? 'stale' : s.value]);
    }
    for (const h of series.histograms)
        found.push([name, Number(h.timestamp), isStale(h.sum) ? 'stale' : nativeHistogram(h)]);
}

function readV1(body) {
    const request = type('V1Request').decode(body), found = [];
    for (const s of request.timeseries)
        addPrometheus(found, s.labels.map((l) => [l.name, l.value]), s);
    for (const m of request.metadata)
        seen.metadata[m.metric_family_name] = { type: m.type, help: m.help, unit: m.unit };
    return found;
}

function readV2(body) {
    const request = type('V2Request').decode(body), found = [];
    if (request.symbols[0] !== '' || new Set(request.symbols).size !== request.symbols.length)
        seen.errors.push('symbols do not begin with the empty one, or repeat');
    for (const s of request.timeseries) {
        const labels = [];
        for (let i = 0; i < s.labels_refs.length; i += 2)
            labels.push([request.symbols[s.labels_refs[i]], request.symbols[s.labels_refs[i + 1]]]);
        addPrometheus(found, labels, s);
        const name = labels.find(([key]) => key === '__name__')[1];
        seen.metadata[name] = { type: s.metadata.type, help: request.symbols[s.metadata.help_ref],
            unit: request.symbols[s.metadata.unit_ref] };
    }
    return found;
}

const attributesToObject = (attributes) => Object.fromEntries(attributes.map((a) =>
    [a.key, a.value.int_value != null && a.value.value === 'int_value'
        ? Number(a.value.int_value) : a.value.string_value]));

function valueOfPoint(p) {
    if (p.flags & 1)
        return 'stale';
    if (p.as_double !== undefined && p.value === 'as_double')
        return p.as_double;
    if (p.scale === undefined)
        return { count: Number(p.count), sum: p.sum };
    const buckets = {};
    (p.positive?.bucket_counts ?? []).forEach((count, i) => {
        if (Number(count) > 0)
            buckets[p.positive.offset + i] = Number(count);
    });
    return { count: Number(p.count), sum: p.sum, scale: p.scale, zero: Number(p.zero_count),
        buckets };
}

function readOtlp(body) {
    const found = [];
    for (const r of type('Export').decode(body).resource_metrics) {
        seen.resource = attributesToObject(r.resource.attributes);
        seen.schema_url = r.schema_url;
        for (const s of r.scope_metrics) {
            seen.scope = { name: s.scope.name, version: s.scope.version };
            const names = s.metrics.map((m) => m.name);
            if (new Set(names).size !== names.length)
                seen.errors.push('a metric stands twice in a request');
            for (const m of s.metrics) {
                const data = m[m.data];
                const kind = m.data + (data.is_monotonic ? ' monotonic' : '') +
                    (data.aggregation_temporality === 2 ? ' cumulative' : '');
                seen.kinds[m.name] = { kind, unit: m.unit, help: m.description };
                for (const p of data.data_points) {
                    const attributes = Object.entries(attributesToObject(p.attributes)).sort();
                    const time = p.time_unix_nano.toString();
                    if (BigInt(p.start_time_unix_nano.toString()) > BigInt(time))
                        seen.errors.push(`${m.name}: starts after its time`);
                    found.push([JSON.stringify([m.name, attributes]), time, valueOfPoint(p)]);
                }
            }
        }
    }
    return found;
}

function keep(protocol, found) {
    seen.points += found.length;
    for (const [name, time, value] of found) {
        const series = points[protocol][name] ??= {};
        if (keepsNewest) {
            seen.repeated += !(time > (series.newest ?? 0));
            series.newest = time;
            continue;
        }
        if (time in series) {
            seen.repeated++;
            if (JSON.stringify(series[time]) !== JSON.stringify(value))
                seen.conflicting++;
        }
        series[time] = value;
    }
}

const writtenHeaders = (found) => ({ 'X-Prometheus-Remote-Write-Samples-Written': found.length,
    'X-Prometheus-Remote-Write-Histograms-Written': 0,
    'X-Prometheus-Remote-Write-Exemplars-Written': 0 });

function decode(url, headers, body) {
    if (url.startsWith('/v1/metrics')) {
        const plain = headers['content-encoding'] === 'gzip' ? zlib.gunzipSync(body) : body;
        return { protocol: 'otlp', found: readOtlp(plain), answer: {} };
    }
    const isV2 = headers['content-type'].includes('proto=io.prometheus.write.v2.Request');
    const version = headers['x-prometheus-remote-write-version'];
    seen.versions[version] = (seen.versions[version] ?? 0) + 1;
    if (isV2 !== (version === '2.0.0') || headers['content-encoding'] !== 'snappy')
        seen.errors.push(`headers do not agree: ${JSON.stringify(headers)}`);
    if (isV2 && !speaksV2)
        return { refused: true };
    const plain = new Uint8Array(SnappyJS.uncompress(body));
    const found = isV2 ? readV2(plain) : readV1(plain);
    return { protocol: 'remote-write', found, answer: isV2 ? writtenHeaders(found) : {} };
}

function receive(request, response, body) {
    if (request.method !== 'POST') { // somebody on this machine who looks for engines
        response.writeHead(404).end();
        return;
    }
    seen.requests++;
    seen.headers = request.headers;
    const step = script.shift() ?? { take: true };
    if (step.hang)
        return;
    const decoded = decode(request.url, request.headers, body);
    if (decoded.refused) {
        response.writeHead(415).end();
        return;
    }
    if (step.status >= 400 && step.status < 500 && step.status !== 429)
        seen.refused_points += decoded.found.length;
    if (step.take) {
        seen.taken++;
        keep(decoded.protocol, decoded.found);
    }
    if (step.cut)
        request.socket.destroy();
    else if (step.status)
        response.writeHead(step.status, step.headers ?? {}).end('as scripted');
    else if (step.rejected)
        response.writeHead(200, { 'Content-Type': 'application/x-protobuf' })
            .end(type('ExportResponse').encode({ partial_success: {
                rejected_data_points: step.rejected, error_message: 'too many' } }).finish());
    else if (decoded.protocol === 'otlp')
        response.writeHead(200, { 'Content-Type': 'application/x-protobuf' }).end();
    else
        response.writeHead(204, decoded.answer).end();
}

function control(request, response, body) {
    if (request.method === 'GET') {
        response.end(JSON.stringify(request.url === '/points' ? points : seen));
        return;
    }
    const said = JSON.parse(body.toString());
    if (request.url === '/script')
        script = said;
    else if (request.url === '/mode')
        ({ speaksV2 = speaksV2, keepsNewest = keepsNewest } = said);
    else
        points = { 'remote-write': {}, otlp: {} };
    response.end('{}');
}

http.createServer((request, response) => {
    const pieces = [];
    request.on('data', (piece) => pieces.push(piece));
    request.on('end', () => {
        const isControl = ['/points', '/seen', '/script', '/mode', '/forget']
            .includes(request.url);
        try {
            (isControl ? control : receive)(request, response, Buffer.concat(pieces));
        } catch (error) {
            seen.errors.push(error.stack);
            response.writeHead(500).end();
        }
    });
}).listen(Number(process.argv[2]), '127.0.0.1');
