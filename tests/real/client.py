#!/usr/bin/python3
"""A load client for OpenAI-compatible servers; it measures what it receives itself.

    tests/real/client.py URL [--requests 12] [--parallel 4] [--prompt 32] [--answer 64]

Prints one JSON object: counts, and the time to the first token, between tokens and in total of each
request, in seconds. Needs only the standard library. Each request has its own connection and a
time limit; the number of requests is fixed, so a load always ends.
"""
import argparse
import concurrent.futures
import dataclasses
import http.client
import json
import statistics
import time
import urllib.parse

import model

LIMIT_SECONDS = 120


@dataclasses.dataclass
class Answer:
    """One request as the client saw it; times in seconds since it was sent."""
    sent: float             # on the clock of time.monotonic()
    first_token: float
    between_tokens: list
    end: float
    chunks: int             # pieces of text that were received
    prompt_tokens: int      # as the server says at the end of its answer
    cached_tokens: int      # of the prompt, as the server says; None if it does not
    answer_tokens: int
    text: str


def events(response):
    """The JSON of each server-sent event."""
    for line in response:
        if line.startswith(b'data: ') and line.strip() != b'data: [DONE]':
            yield json.loads(line[len(b'data: '):])


def ask(url, prompt, answer_tokens, **more):
    """One streamed completion."""
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=LIMIT_SECONDS)
    body = {'prompt': prompt, 'max_tokens': answer_tokens, 'stream': True, 'model': 'any',
            'stream_options': {'include_usage': True}, **more}
    times, pieces, usage = [], [], None
    sent = time.monotonic()
    try:
        connection.request('POST', parts.path.rstrip('/') + '/v1/completions', json.dumps(body),
                           {'Content-Type': 'application/json'})
        response = connection.getresponse()
        if response.status != 200:
            raise OSError(f'HTTP status {response.status}: {response.read(500).decode()}')
        for event in events(response):
            text = ''.join(choice.get('text') or '' for choice in event.get('choices', []))
            if text:
                times.append(time.monotonic() - sent)
                pieces.append(text)
            usage = event.get('usage') or usage
    finally:
        connection.close()
    end = time.monotonic() - sent
    if not times or not usage:
        raise OSError(f'an answer without {"text" if usage else "usage"}')
    details = usage.get('prompt_tokens_details') or {}
    return Answer(sent, times[0], [b - a for a, b in zip(times, times[1:])], end, len(times),
                  usage['prompt_tokens'], details.get('cached_tokens'),
                  usage['completion_tokens'], ''.join(pieces))


def load(url, requests=12, parallel=4, prompt_words=32, answer_tokens=64, prompts=None, **more):
    """Sends the requests, up to `parallel` at a time. The prompts differ, unless they are given."""
    prompts = prompts or [model.words(prompt_words, seed) for seed in range(requests)]
    with concurrent.futures.ThreadPoolExecutor(parallel) as pool:
        return list(pool.map(lambda p: ask(url, p, answer_tokens, **more), prompts))


def totals(answers):
    """What all answers say together."""
    between = [gap for answer in answers for gap in answer.between_tokens]
    seconds = max(a.sent + a.end for a in answers) - min(a.sent for a in answers)
    tokens = sum(a.answer_tokens for a in answers)
    return {'requests': len(answers),
            'prompt_tokens': sum(a.prompt_tokens for a in answers),
            'cached_tokens': sum(a.cached_tokens or 0 for a in answers),
            'answer_tokens': tokens, 'chunks': sum(a.chunks for a in answers),
            'seconds': seconds, 'tokens_per_second': tokens / seconds,
            'first_token_p50_s': statistics.median(a.first_token for a in answers),
            'between_tokens_p50_s': statistics.median(between) if between else None,
            'end_to_end_p50_s': statistics.median(a.end for a in answers)}


def main():
    parser = argparse.ArgumentParser(description='load an OpenAI-compatible server')
    parser.add_argument('url')
    parser.add_argument('--requests', type=int, default=12)
    parser.add_argument('--parallel', type=int, default=4)
    parser.add_argument('--prompt', type=int, default=32, help='words of each prompt')
    parser.add_argument('--answer', type=int, default=64, help='tokens of each answer')
    given = parser.parse_args()
    answers = load(given.url, given.requests, given.parallel, given.prompt, given.answer)
    print(json.dumps(totals(answers) | {'answers': [
        {'first_token_s': a.first_token, 'end_to_end_s': a.end, 'chunks': a.chunks,
         'prompt_tokens': a.prompt_tokens, 'answer_tokens': a.answer_tokens} for a in answers]},
        indent=1))


if __name__ == '__main__':
    main()
