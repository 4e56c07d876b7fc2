"""What the tests with real servers share: free ports, requests, patience."""
import contextlib
import json
import socket
import time
import urllib.parse
import urllib.request


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


def get(url, accept=None):
    request = urllib.request.Request(url, headers={'Accept': accept} if accept else {})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.read().decode()


def wait_for(what, probe, seconds=60):
    """What the probe returns once it is true; servers that do not answer yet are fine."""
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        with contextlib.suppress(OSError):
            found = probe()
            if found:
                return found
        time.sleep(0.05)
    raise AssertionError(f'waited in vain for {what}')


def query(port, expression):
    """All series of an expression, of a Prometheus."""
    url = f'http://127.0.0.1:{port}/api/v1/query?' + urllib.parse.urlencode({'query': expression})
    return json.loads(get(url))['data']['result']


def query_value(port, expression):
    """The value of the only series, or None."""
    result = query(port, expression)
    return float(result[0]['value'][1]) if result else None
