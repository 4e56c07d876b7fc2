#!/usr/bin/env python3
"""A small service that measures itself: requests, /metrics and /health, using only http.server.

    examples/serve_http.py [PORT]          prints its address; without a port it uses a free one
    curl http://127.0.0.1:8000/generate?text=hello
    curl http://127.0.0.1:8000/metrics     Prometheus text, or the format of the Accept header
    curl http://127.0.0.1:8000/health      200 and "healthy", or 503 and "unhealthy"
"""
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pitot


class Engine:
    """Stands in for a model."""

    def generate(self, text):
        with pitot.span('generate') as span:
            if not text:
                raise ValueError('there is no text')
            tokens = text.split()
            span.tokens = len(tokens)
            return tokens


engine = Engine()
requests = pitot.RequestMetrics()


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        url = urlsplit(self.path)
        routes = {'/generate': self.generate, '/metrics': self.metrics, '/health': self.health}
        route = routes.get(url.path)
        if route is None:
            self.answer(404, b'not found\n')
        else:
            route(parse_qs(url.query))

    def generate(self, query):
        pitot.request_begin()
        start = time.perf_counter()
        tokens, status, body = 0, 200, b''
        try:
            words = engine.generate(query.get('text', [''])[0])
            tokens, body = len(words), (' '.join(reversed(words)) + '\n').encode()
        except ValueError as error:
            status, body = 400, f'{error}\n'.encode()
        finally:
            requests.record_request(time.perf_counter() - start, tokens, ok=status == 200)
            pitot.request_end()
        self.answer(status, body)

    def metrics(self, query):
        body, content_type = pitot.metrics_response(self.headers.get('Accept'))
        self.answer(200, body, content_type)

    def health(self, query):
        status = pitot.health(lambda: engine.generate('test'))
        self.answer(200 if status.status == 'healthy' else 503, status.to_json().encode(),
                    'application/json')

    def answer(self, status, body, content_type='text/plain; charset=utf-8'):
        self.send_response(status)
        self.send_header('Content-Type', content_type)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format, *args):
        pass


def main():
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    with ThreadingHTTPServer(('127.0.0.1', port), Handler) as server:
        print(f'http://127.0.0.1:{server.server_port}', flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            pass


main()
