#!/usr/bin/python3
"""A real llama-server under load: every engine number of Pitot against the client's count and
against the server's own page.

    tests/real/llama.py PITOT

Prints TAP. A column that llama-server gives no number for must be empty: never 0. Where one appears
later (by another source than its /metrics), it is compared as soon as it is there.
"""
import contextlib
import json
import math
import os
import re
import signal
import subprocess

import client
import model
from frame import (ENVIRONMENT, PITOT, Skip, equal, free_port, get, last_value, main, metrics,
                   pitot, process, rows, wait_for)

# The server writes six digits, so counts up to 999,999 are exact; times have six digits, too.
RELATIVE_ERROR = 1e-5
# recorded column: the counter of the server
COUNTERS = {'tokens_prompt_total': 'llamacpp:prompt_tokens_total',
            'tokens_generation_total': 'llamacpp:tokens_predicted_total',
            'latency_batch_prefill_s_sum': 'llamacpp:prompt_seconds_total',
            'latency_decode_s_sum': 'llamacpp:tokens_predicted_seconds_total'}
# Compared with what the client counts, if there is a value at all.
IF_KNOWN = {'requests_finished_total': 'requests', 'cache_prefix_hits': 'cached_tokens'}
# The server has no histograms: it says nothing about these.
ABSENT = [f'latency_{name}_s_p{n}' for name in ('ttft', 'e2e', 'inter_token', 'queue')
          for n in (50, 90, 95, 99)]


@contextlib.contextmanager
def server(program, directory, *options, precision='f16'):
    """A llama-server that has loaded its model; its address and process."""
    path = model.write(directory / f'small-{precision}.gguf', precision)
    port = free_port()
    with process(program.path, '-m', path, '--host', '127.0.0.1', '--port', port, '--metrics',
                 '--slots', '--threads', 1, '--no-warmup', *options,
                 log=directory / 'server.log') as child:
        url = f'http://127.0.0.1:{port}'

        def is_ready():
            if child.poll() is not None:
                raise Skip('llama-server does not start with '
                           f'{" ".join(map(str, options))}: {last_line(directory)}')
            return 'ok' in get(url + '/health')
        wait_for('llama-server', is_ready, 120)
        yield url, child


def last_line(directory):
    lines = (directory / 'server.log').read_text(errors='replace').split('\n')
    return next((line.strip() for line in reversed(lines) if line.strip()), 'no output')


def is_scraped(directory):
    """Does the run that is being recorded have an answer of the engine yet?"""
    made = directory / 'so-far'
    with contextlib.suppress(AssertionError):
        pitot('export', '-q', directory / 'run', '-f', 'csv', '-o', made)
        return any(row['eState'] == 'up' for row in rows(made, 'engines'))
    return False


def record(directory, url, load):
    """Records while the load runs, from before its first request; (answers, the server's own page
    after the last one, what Pitot said)."""
    with process(PITOT, '-o', directory / 'run', '-t', 250, '-f', 'csv', '--engine', url,
                 log=directory / 'pitot.log', how=signal.SIGINT):
        wait_for('the first scrape', lambda: is_scraped(directory), 120)
        answers = load(url)
        page = wait_for('an idle server', lambda: idle_page(url))
    return answers, page, (directory / 'pitot.log').read_text()


def idle_page(url):
    """The page of the server if no request is left, otherwise None."""
    page = metrics(get(url + '/metrics'))
    return None if page['llamacpp:requests_processing'] else page


def check_client(answers, totals, words, tokens):
    """The server's answers are what was asked for, so the client knows all counts."""
    for answer in answers:
        equal(answer.answer_tokens, tokens, 'tokens of an answer')
        equal(answer.chunks, tokens, 'pieces of text of an answer')
        equal(len(answer.text.split()), tokens, 'words of an answer')
        equal(answer.prompt_tokens, words + 1, 'tokens of a prompt')
        assert 0 < answer.first_token <= answer.end
    equal(totals['answer_tokens'], len(answers) * tokens, 'tokens of all answers')


def check_files(directory, page, totals):
    """Both files of the run against the server's page and the client."""
    for name in ('', 'engines'):
        table = rows(directory / 'run', name)
        for column, series in COUNTERS.items():
            value = last_value(table, column)
            assert value is not None, f'{column} is empty in {name or "the main file"}'
            assert math.isclose(value, page[series], rel_tol=RELATIVE_ERROR), (
                name, column, value, page[series])
        equal(last_value(table, 'tokens_generation_total'), totals['answer_tokens'],
              f'generated tokens in {name or "the main file"}')
        equal(last_value(table, 'tokens_prompt_total'),
              totals['prompt_tokens'] - totals['cached_tokens'], 'prompt tokens that were computed')
        for column, counted in IF_KNOWN.items():
            value = last_value(table, column)
            assert value is None or value == totals[counted], (column, value, totals[counted])
        for column in ABSENT:
            equal(last_value(table, column), None, f'{column}, which the server does not say')
    engines = rows(directory / 'run', 'engines')
    equal({row['eEngine'] for row in engines if row['eState'] == 'up'}, {'llamacpp'}, 'kind')


def token_reads(directory):
    """(time in ms, tokens) of each scrape of the run."""
    return sorted({(int(row['tokens_generation_totalT']), float(row['tokens_generation_total']))
                   for row in rows(directory / 'run', 'engines') if row['tokens_generation_total']})


def rate(first, last):
    return (last[1] - first[1]) / (last[0] - first[0]) * 1000


def report_data(directory):
    pitot('report', directory / 'run', '-o', directory / 'report.html')
    page = (directory / 'report.html').read_text()
    return json.loads(re.search(r'<script id="report-data"[^>]*>(.*?)</script>', page, re.S)[1])


def check_rates(directory, said):
    """One number for the tokens per second of the run in summary, explanation and report; and in
    each screen of `pitot top` that of the last two scrapes."""
    reads = token_reads(directory)
    whole = rate(reads[0], reads[-1])
    shown = re.search(r'^ *Tokens generated +([\d.]+)', said, re.MULTILINE)
    assert shown, said
    found = {'summary': float(shown[1]),
             'explain': json.loads(pitot('explain', '--json', directory / 'run')[0])['figures'][
                 'engine.tokens'],
             'report': report_data(directory)['explanation']['figures']['engine.tokens']}
    for view, value in found.items(): # times of the files are cut to milliseconds
        assert math.isclose(value, whole, rel_tol=2e-3, abs_tol=0.06), (view, value, whole)
    steps = [0.0] + [rate(a, b) for a, b in zip(reads, reads[1:])]
    screens = pitot('top', directory / 'run', '-t', 250)[0]
    for text in re.findall(r'^Token ([\d.]+)/s', screens, re.MULTILINE):
        assert any(math.isclose(float(text), step, rel_tol=0.01, abs_tol=0.06) for step in steps), (
            text, steps)


def check_absent(directory, said):
    """Latencies that the server does not say are in no view."""
    figures = json.loads(pitot('explain', '--json', directory / 'run')[0])['figures']
    for name in ('engine.ttft_p50', 'engine.inter_token_p50', 'engine.e2e_p50'):
        assert figures.get(name) is None, (name, figures[name])
    assert 'First token' not in said, said


def try_load(program, directory, *options, requests=8, parallel=1, words=24, tokens=32,
             precision='f16', **more):
    with server(program, directory, *options, precision=precision) as (url, _):
        answers, page, said = record(directory, url, lambda url: client.load(
            url, requests, parallel, words, tokens, **more))
    totals = client.totals(answers)
    check_client(answers, totals, words, tokens)
    check_files(directory, page, totals)
    check_rates(directory, said)
    check_absent(directory, said)
    return totals, page


def words_of(totals):
    return (f'{totals["requests"]} requests, {totals["prompt_tokens"]} prompt tokens, '
            f'{totals["answer_tokens"]} generated, {totals["tokens_per_second"]:.0f} tokens/s; '
            f'client p50: first token {totals["first_token_p50_s"] * 1000:.1f} ms, between tokens '
            f'{totals["between_tokens_p50_s"] * 1000:.2f} ms, '
            f'in total {totals["end_to_end_p50_s"] * 1000:.0f} ms')


def plain(program, directory):
    """tokens of a real llama-server are exact in files, summary, explanation and report"""
    totals, _ = try_load(program, directory, '-np', 1, cache_prompt=False)
    return words_of(totals)


def quantized(program, directory):
    """tokens of a model of 8 bits are exact, too"""
    totals, _ = try_load(program, directory, '-np', 1, precision='q8_0', cache_prompt=False)
    return words_of(totals)


def parallel(program, directory):
    """four slots and twelve clients: tokens are exact, never more than four requests run"""
    totals, _ = try_load(program, directory, '-np', 4, '-c', 4096, requests=24, parallel=12,
                         tokens=64, cache_prompt=False)
    engines = rows(directory / 'run', 'engines')
    running = [float(r['system_requests_running']) for r in engines if r['system_requests_running']]
    waiting = [float(r['system_requests_waiting']) for r in engines if r['system_requests_waiting']]
    assert max(running) <= 4, max(running) # a short load may fall between two scrapes
    assert max(waiting) <= 8, max(waiting)
    return f'{words_of(totals)}; at most {max(running):.0f} running, {max(waiting):.0f} waiting'


def cached(program, directory):
    """prompts that repeat come from the cache: only computed tokens are counted, exactly"""
    prompts = [model.words(24, 0)] * 8
    totals, page = try_load(program, directory, '-np', 1, prompts=prompts, cache_prompt=True)
    assert totals['cached_tokens'] > 0, totals
    own = page.get('llamacpp:prompt_tokens_cached_total')
    assert own in (None, totals['cached_tokens']), (own, totals)
    hits = last_value(rows(directory / 'run'), 'cache_prefix_hits')
    return (f'{words_of(totals)}; {totals["cached_tokens"]} cached, cache_prefix_hits '
            f'{"not recorded" if hits is None else hits}')


def speculative(program, directory):
    """tokens are exact when a draft model proposes them"""
    draft = model.write(directory / 'draft.gguf', 'q8_0')
    totals, page = try_load(program, directory, '-np', 1, '--spec-draft-model', draft,
                            '--spec-type', 'draft-simple', cache_prompt=False, temperature=0)
    drafted = page.get('llamacpp:spec_decode_num_draft_tokens_total')
    accepted = page.get('llamacpp:spec_decode_num_accepted_tokens_total')
    if not drafted:
        raise Skip(f'the server did not draft: {drafted}')
    return f'{words_of(totals)}; {accepted:.0f} of {drafted:.0f} drafted tokens accepted'


def served(program, directory):
    """/metrics of pitot serve has the counters of the server; pitot top invents no latency"""
    with server(program, directory, '-np', 2) as (url, _):
        listen = f'127.0.0.1:{free_port()}'
        with process(PITOT, 'serve', '--listen', listen, '-t', 250, '--engine', url,
                     '--state-dir', directory / 'state'):
            totals = client.totals(client.load(url, 8, 2, 24, 32, cache_prompt=False))
            page = wait_for('an idle server', lambda: idle_page(url))

            def is_current():
                got = metrics(get(f'http://{listen}/metrics'))
                count = got.get('pitot_engines_tokens_generation_total')
                return got if count == totals['answer_tokens'] else None
            got = wait_for('the tokens in /metrics', is_current, 150)
            equal(got['pitot_engines_tokens_prompt_total'], totals['prompt_tokens'],
                  'prompt tokens in /metrics')
            assert math.isclose(got['pitot_engines_latency_decode_sum_seconds_total'],
                                page['llamacpp:tokens_predicted_seconds_total'],
                                rel_tol=RELATIVE_ERROR)
            assert not any('latency_ttft_p' in name for name in got), 'a latency nobody measured'
        shown = pitot('top', '-n', 4, '-t', 600, '--engine', url, '--panel', 'engines')[0]
        assert re.search(r'^Token 0.0/s', shown, re.MULTILINE), shown
        assert not re.search(r'^(TTFT|ITL) ', shown, re.MULTILINE), shown
    return words_of(totals)


def found(program, directory):
    """a llama-server that Pitot starts is detected, and its counters are recorded to its end"""
    path, port = model.write(directory / 'small.gguf'), free_port()
    url = f'http://127.0.0.1:{port}'
    child = subprocess.Popen(
        [PITOT, '-o', directory / 'run', '-t', '250', '-f', 'csv', '--', program.path, '-m', path,
         '--host', '127.0.0.1', '--port', str(port), '--metrics', '--threads', '1', '-np', '1',
         '--no-warmup'], env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=open(directory / 'pitot.log', 'w'))
    try:
        wait_for('llama-server', lambda: 'ok' in get(url + '/health'), 120)
        wait_for('the detection', lambda: is_scraped(directory), 120)
        totals = client.totals(client.load(url, 4, 1, 24, 32, cache_prompt=False))

        def has_all():
            made = directory / 'so-far'
            with contextlib.suppress(AssertionError):
                pitot('export', '-q', directory / 'run', '-f', 'csv', '-o', made)
                value = last_value(rows(made), 'tokens_generation_total')
                return value == totals['answer_tokens']
        wait_for('the last tokens in the journal', has_all)
    finally:
        os.kill(child.pid, signal.SIGINT)
        child.wait(60)
    equal(last_value(rows(directory / 'run'), 'tokens_prompt_total'), totals['prompt_tokens'],
          'prompt tokens')
    return words_of(totals)


main('llama-server', plain, quantized, parallel, cached, speculative, served, found)
