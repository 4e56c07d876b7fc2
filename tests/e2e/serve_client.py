"""A `pitot serve` of a test, and requests to it."""
import contextlib
import http.client
import json
import pathlib
import signal
import urllib.parse

from harness import end, equal, start, wait_until

COMMON = ('--engine', 'off', '-t', '100')


class Server:
    """A running `pitot serve`, and requests to it."""

    def __init__(self, directory, *options, listen='127.0.0.1:0', common=COMMON, **more):
        self.state = pathlib.Path(directory) / 'state'
        listen_options = ['--listen', listen] if listen else []
        self.process = start('serve', *listen_options, '--state-dir', self.state, *common,
                             *options, **more)
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            raise AssertionError(self.process.communicate()[1])
        self.port = urllib.parse.urlparse(self.url).port

    def connect(self):
        return http.client.HTTPConnection('127.0.0.1', self.port, timeout=20)

    def ask(self, path, method='GET', headers=None, body=None):
        """(status, headers, body)"""
        connection = self.connect()
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read().decode()
        finally:
            connection.close()

    def json(self, path, **options):
        status, _, body = self.ask(path, **options)
        equal(status, 200, path + ': ' + body)
        return json.loads(body)

    def wait_for_samples(self):
        wait_until(lambda: self.ask('/health/ready')[0] == 200, 'a sample')

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        return end(self.process)


@contextlib.contextmanager
def server(directory, *options, **more):
    s = Server(directory, *options, **more)
    try:
        yield s
    finally:
        if s.process.poll() is None:
            s.stop()
