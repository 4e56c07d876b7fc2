"""Requests that can be read in more than one way, or not at all, and clients that are slow. For the
tests of the server and for its torture."""
import contextlib
import re
import select
import socket

PATIENCE_S = 60  # for what must come; nothing is measured with it

# After each bad request: if it is answered, one request was read as two.
SMUGGLED = b'GET /health/live HTTP/1.1\r\nHost: localhost\r\nX-Smuggled: yes\r\n\r\n'

HOST = b'Host: localhost\r\n'


def get(target=b'/health/live', headers=b'', version=b'HTTP/1.1', host=HOST):
    return b'GET ' + target + b' ' + version + b'\r\n' + host + headers + b'\r\n'


def post(headers, body=b''):
    return b'POST /api/recording/stop HTTP/1.1\r\n' + HOST + headers + b'\r\n' + body


CHUNKS = b'5\r\nhello\r\n0\r\n\r\n'
CHUNKED = b'Transfer-Encoding: chunked\r\n'
LENGTH = b'Content-Length: 5\r\n'

# (name, bytes, status of the refusal)
MALFORMED = [
    # lengths
    ('length and chunks', post(LENGTH + CHUNKED, CHUNKS), 400),
    ('chunks and length', post(CHUNKED + LENGTH, CHUNKS), 400),
    ('two equal lengths', post(LENGTH + LENGTH, b'hello'), 400),
    ('two lengths', post(LENGTH + b'Content-Length: 6\r\n', b'hello'), 400),
    ('a list of lengths', post(b'Content-Length: 5, 5\r\n', b'hello'), 400),
    ('negative length', post(b'Content-Length: -1\r\n'), 400),
    ('signed length', post(b'Content-Length: +5\r\n', b'hello'), 400),
    ('hexadecimal length', post(b'Content-Length: 0x5\r\n', b'hello'), 400),
    ('empty length', post(b'Content-Length:\r\n'), 400),
    ('length with a letter', post(b'Content-Length: 5a\r\n', b'hello'), 400),
    ('length of 2^64', post(b'Content-Length: 18446744073709551616\r\n'), 413),
    ('length of 2^64-1', get(headers=b'Content-Length: 18446744073709551615\r\n'), 413),
    ('length of a gigabyte', get(headers=b'Content-Length: 1073741824\r\n'), 413),
    ('length before a folded line', post(b'Content-Length: 5\r\n 0\r\n', b'hello'), 400),
    ('length in a folded name', post(b'Content: 5\r\n -Length\r\n', b'hello'), 400),
    ('length with a space before the colon', post(b'Content-Length : 5\r\n', b'hello'), 400),
    ('length with a tab before the colon', post(b'Content-Length\t: 5\r\n', b'hello'), 400),
    # chunks
    ('chunks', post(CHUNKED, CHUNKS), 411),
    ('chunks without an end', post(CHUNKED, b'5\r\nhello\r\n'), 411),
    ('chunk of a negative size', post(CHUNKED, b'-5\r\nhello\r\n0\r\n\r\n'), 411),
    ('chunk of 2^64', post(CHUNKED, b'10000000000000000\r\nhello\r\n0\r\n\r\n'), 411),
    ('chunk with a bare line feed', post(CHUNKED, b'5\nhello\n0\n\n'), 411),
    ('chunk with an extension', post(CHUNKED, b'5;a="\r\n0\r\n\r\n"\r\nhello\r\n0\r\n\r\n'), 411),
    ('chunk too short', post(CHUNKED, b'4\r\nhello\r\n0\r\n\r\n'), 411),
    ('chunks with a trailer', post(CHUNKED, b'0\r\nContent-Length: 9\r\n\r\n'), 411),
    ('chunks twice', post(CHUNKED + CHUNKED, CHUNKS), 400),
    ('chunks in capitals', post(b'TRANSFER-ENCODING: CHUNKED\r\n', CHUNKS), 411),
    ('chunks after gzip', post(b'Transfer-Encoding: gzip, chunked\r\n', CHUNKS), 400),
    ('chunks before identity', post(b'Transfer-Encoding: chunked, identity\r\n', CHUNKS), 400),
    ('an unknown encoding', post(b'Transfer-Encoding: xchunked\r\n' + LENGTH, b'hello'), 400),
    ('chunks behind a tab', post(b'Transfer-Encoding:\tchunked\r\n', CHUNKS), 411),
    ('chunks behind a control character', post(b'Transfer-Encoding: \x0bchunked\r\n', CHUNKS), 400),
    ('chunks with a space before the colon', post(b'Transfer-Encoding : chunked\r\n', CHUNKS), 400),
    ('chunks in a folded line', post(b'Transfer-Encoding:\r\n chunked\r\n', CHUNKS), 400),
    ('chunks hidden by a line feed', post(b'X: y\nTransfer-Encoding: chunked\r\n', CHUNKS), 400),
    ('chunks hidden by a carriage return',
     post(b'X: y\rTransfer-Encoding: chunked\r\n' + LENGTH, b'hello'), 400),
    # hosts
    ('two hosts', get(headers=b'Host: evil.example\r\n'), 400),
    ('two equal hosts', get(headers=HOST), 400),
    ('two hosts, the other first', get(host=b'Host: evil.example\r\nHost: localhost\r\n'), 400),
    ('no host', get(host=b''), 400),
    ('no host but a header', get(host=b'X: y\r\n'), 400),
    ('an empty host', get(host=b'Host:\r\n'), 403),
    ('a foreign host', get(host=b'Host: evil.example\r\n'), 403),
    ('a foreign host that looks like this one', get(host=b'Host: localhost.evil.example\r\n'), 403),
    ('a host with a user', get(host=b'Host: localhost@evil.example\r\n'), 400),
    ('a host with a path', get(host=b'Host: localhost/evil.example\r\n'), 400),
    ('a list of hosts', get(host=b'Host: localhost, evil.example\r\n'), 400),
    ('a host with a space', get(host=b'Host: localhost evil.example\r\n'), 400),
    ('a host cut by a zero', get(host=b'Host: localhost\x00.evil.example\r\n'), 400),
    ('a host in a folded line', get(host=b'Host: localhost\r\n .evil.example\r\n'), 400),
    ('a foreign host in HTTP/1.0', get(version=b'HTTP/1.0', host=b'Host: evil.example\r\n'), 403),
    # targets
    ('an escaped zero', get(b'/health/live%00'), 400),
    ('an escaped zero and more', get(b'/health/live%00/../../etc/passwd'), 400),
    ('an escaped zero in a query', get(b'/api/history?table=cpu%00x'), 400),
    ('an escaped line end', get(b'/health/live%0d%0aX:%20y'), 400),
    ('an escaped line feed in a query', get(b'/api/history?table=%0A'), 400),
    ('an escaped escape character', get(b'/api/history?table=%1b[2J'), 400),
    ('an escaped delete character', get(b'/api/history?table=%7f'), 400),
    ('half an escape', get(b'/health/live%'), 400),
    ('an escape without digits', get(b'/api/history?table=%zz'), 400),
    ('a zero', get(b'/health/live\x00'), 400),
    ('a zero and more', get(b'/health/live\x00x'), 400),
    ('a control character', get(b'/health/live\x01'), 400),
    ('a byte above 127', get(b'/health/live\xff'), 400),
    ('a tab', get(b'/health/live\tx'), 400),
    ('a fragment', get(b'/health/live#x'), 400),
    ('a space', get(b'/health live'), 400),
    ('two spaces before the target', get(b' /health/live'), 400),
    ('two spaces before the version', get(b'/health/live '), 400),
    ('an absolute target', get(b'http://localhost/health/live'), 400),
    ('an absolute target of another host', get(b'http://evil.example/health/live'), 400),
    ('an authority', get(b'localhost:80'), 400),
    ('an asterisk', get(b'*'), 400),
    ('no slash', get(b'health/live'), 400),
    ('a path upwards', get(b'/../../etc/passwd'), 404),
    ('an escaped path upwards', get(b'/%2e%2e/%2e%2e/etc/passwd'), 404),
    ('two slashes', get(b'//health/live'), 404),
    ('a long target', get(b'/' + b'a' * 20000), 414),
    ('a long query', get(b'/api/history?' + b'a=b&' * 5000), 414),
    # lines
    ('request line ended by a line feed', b'GET /health/live HTTP/1.1\n' + HOST + b'\r\n', 400),
    ('header ended by a line feed', get(headers=b'X: y\nY: z\r\n'), 400),
    ('last header ended by a line feed', get(headers=b'X: y\n'), 400),
    ('head ended by a line feed', get()[:-2] + b'\n', 400),
    ('only line feeds', get(headers=b'X: y\r\n').replace(b'\r\n', b'\n'), 400),
    ('a carriage return', get(headers=b'X: y\rY: z\r\n'), 400),
    ('a folded line', get(headers=b'X: y\r\n z\r\n'), 400),
    ('a folded line with a tab', get(headers=b'X: y\r\n\tz\r\n'), 400),
    ('a first header that is folded', b'GET /health/live HTTP/1.1\r\n X: y\r\n' + HOST + b'\r\n',
     400),
    ('a header without a colon', get(headers=b'nonsense\r\n'), 400),
    ('a header without a name', get(headers=b': y\r\n'), 400),
    ('a name with a space', get(headers=b'X Y: z\r\n'), 400),
    ('a name with a control character', get(headers=b'X\x01: y\r\n'), 400),
    ('a name with a byte above 127', get(headers=b'X\xff: y\r\n'), 400),
    ('a name with a slash', get(headers=b'X/Y: z\r\n'), 400),
    ('a zero in a value', get(headers=b'X: y\x00z\r\n'), 400),
    ('a zero in a last value', get(headers=b'X: y\x00\r\n'), 400),
    ('a zero in a name', get(headers=b'X\x00Y: z\r\n'), 400),
    ('a control character in a value', get(headers=b'X: \x1b[2J\r\n'), 400),
    ('two tokens', get(headers=b'Authorization: Bearer a\r\nAuthorization: Bearer b\r\n'), 400),
    ('two origins', get(headers=b'Origin: http://localhost\r\nOrigin: http://evil\r\n'), 400),
    ('a long header', get(headers=b'X: ' + b'y' * 40000 + b'\r\n'), 431),
    ('many headers', get(headers=b'X: y\r\n' * 20000), 431),
    # routes
    ('a path after a route', get(b'/metrics/../api/schema'), 404),
    ('a path as a run', get(b'/api/report?run=../../../etc/passwd'), 404),
    ('a path as a format', get(b'/api/profile/latest?format=../../etc/passwd'), 400),
    ('a method that no route has', get(b'/metrics').replace(b'GET', b'DELETE'), 405),
    ('another method', b'POST /metrics HTTP/1.1\r\n' + HOST + LENGTH + b'\r\nhello', 405),
    ('an action without a token', post(b'Content-Length: 0\r\n'), 403),
    # versions and methods
    ('HTTP/0.9', b'GET /health/live\r\n', None),
    ('HTTP/2', get(version=b'HTTP/2.0'), None),
    ('HTTP/9.9', get(version=b'HTTP/9.9'), None),
    ('HTTP/1.1 in lower case', get(version=b'http/1.1'), None),
    ('HTTP/1.9', get(version=b'HTTP/1.9'), 400),
    ('HTTP/1.10', get(version=b'HTTP/1.10'), None),
    ('HTTP/01.1', get(version=b'HTTP/01.1'), None),
    ('the preface of HTTP/2', b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', None),
    ('a handshake of TLS', b'\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n', None),
    ('a method in lower case', get().replace(b'GET', b'get'), 405),
    ('an unknown method', get().replace(b'GET', b'FOO'), 405),
    ('a method with a zero', get().replace(b'GET', b'GET\x00'), None),
    ('a method with a control character', get().replace(b'GET', b'\x01GET'), None),
    ('a proxy request', get().replace(b'GET /health/live', b'CONNECT evil.example:80'), 400),
    ('no method', get().replace(b'GET ', b' '), None),
    # pages of other servers
    ('a foreign origin', get(headers=b'Origin: http://evil.example\r\n'), 403),
    ('the origin of a file', get(headers=b'Origin: null\r\n'), 403),
    ('a foreign page', get(headers=b'Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n'),
     403),
    ('a page of another port', get(headers=b'Sec-Fetch-Site: same-site\r\n'), 403),
    ('a form of a foreign page',
     post(b'Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nContent-Length: 0\r\n'), 403),
]

# What must not be refused: ordinary clients.
WELL_FORMED = [
    get(), get(version=b'HTTP/1.0'), get(version=b'HTTP/1.0', host=b''),
    get(host=b'Host: 127.0.0.1:9477\r\n'), get(host=b'Host: [::1]:9477\r\n'),
    get(host=b'host:   localhost  \r\n').replace(b'  \r\n', b'\r\n'),
    get(headers=b'X-Empty:\r\nX-Tab: a\tb\r\nX-Latin: \xe9\r\nCookie: a=b; c=d\r\n'),
    get(headers=b'Accept: a\r\nAccept: b\r\n' + b'X-Pad: ' + b'y' * 4000 + b'\r\n'),
    get(b'/health/live?a=%2f%20b&c=%C3%A9&d=+'),
    get(headers=b'Origin: http://localhost\r\n'),
    get(headers=b'Sec-Fetch-Site: same-origin\r\nOrigin: https://proxy.example\r\n'),
    get(headers=b'Sec-Fetch-Site: none\r\nSec-Fetch-Mode: navigate\r\n'),
    get(headers=b'Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n'),
    get(headers=b'Content-Length: 0\r\n'), get(headers=b'Connection: close\r\n'),
]


def send_in_pieces(c, request, cuts):
    """The bytes, cut at these places: each piece is a packet of its own."""
    c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for start, end in zip([0, *cuts], [*cuts, len(request)]):
        c.sendall(request[start:end])


def exchange(port, request, cuts=(), ends=False):
    """All that comes back until the server closes the connection; `ends`: so does the client."""
    with socket.create_connection(('127.0.0.1', port), timeout=PATIENCE_S) as c:
        answer = b''
        with contextlib.suppress(ConnectionError):
            send_in_pieces(c, request, cuts)
        with contextlib.suppress(ConnectionError):
            while True:
                # the head of a request whose end never comes: no answer, but others are served
                if ends and not select.select([c], [], [], 0)[0]:
                    exchange(port, get(headers=b'Connection: close\r\n'))
                    exchange(port, get(headers=b'Connection: close\r\n'))
                    if not select.select([c], [], [], 0)[0]:
                        break
                if not (piece := c.recv(65536)):
                    break
                answer += piece
        return answer


def refuse(port, name, request, status):
    """Sends a bad request and a good one: the first is refused, the connection is closed, and the
    second is never read."""
    answer = exchange(port, request + SMUGGLED)
    # libmicrohttpd 0.9.75 sends the head of some of its own refusals twice
    statuses = set(re.findall(rb'HTTP/1\.[01] \d\d\d', answer))
    assert len(statuses) <= 1, (name, 'two answers', answer)
    assert not answer.startswith((b'HTTP/1.1 2', b'HTTP/1.0 2')), (name, answer)
    assert b'alive' not in answer and b'root:' not in answer, (name, answer)
    if status and answer:
        assert answer[9:12] == str(status).encode(), (name, status, answer[:200])
    return answer


def accept(port, request, *cuts):
    """An ordinary request, twice on one connection if it stays open: all are answered."""
    stays_open = b'HTTP/1.1' in request and b'Connection: close' not in request
    with socket.create_connection(('127.0.0.1', port), timeout=PATIENCE_S) as c:
        send_in_pieces(c, request * (1 + stays_open), cuts)
        answer = b''
        while answer.count(b'alive\n') < 1 + stays_open:
            piece = c.recv(65536)
            assert piece, (request, answer)
            answer += piece
    assert answer.count(b'HTTP/1.1 200') == 1 + stays_open, (request, answer)


LINE = re.compile(rb'([^\x00-\x08\x0a-\x1f\x7f]*)\r\n')
HEADER = re.compile(rb'([!#$%&\'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*', re.DOTALL)


def strict_count(data):
    """How many requests a strict reader finds, up to the first that somebody may read otherwise."""
    count = at = 0
    while True:
        while data[at:at + 2] == b'\r\n' or data[at:at + 1] == b'\n':
            at += 2 if data[at:at + 1] == b'\r' else 1
        line = LINE.match(data, at)
        if not line or not line[1].endswith((b' HTTP/1.0', b' HTTP/1.1')):
            return count
        headers, is_old = {}, line[1].endswith(b'0')
        while True:
            at = line.end()
            line = LINE.match(data, at)
            if not line:
                return count
            if not line[1]:
                break
            header = HEADER.fullmatch(line[1])
            if not header:
                return count
            headers.setdefault(header[1].lower(), []).append(header[2])
        at = line.end()
        lengths, hosts = headers.get(b'content-length', []), headers.get(b'host', [])
        if (b'transfer-encoding' in headers or len(lengths) > 1 or len(hosts) > 1
                or not (hosts or is_old) or not all(n.isdigit() for n in lengths)):
            return count
        length = int(lengths[0]) if lengths else 0
        if length > len(data) - at:
            return count
        at += length
        count += 1


def partial(port, request):
    """A connection that sends this and then nothing."""
    c = socket.create_connection(('127.0.0.1', port), timeout=PATIENCE_S)
    c.sendall(request)
    return c


def unread(port, target, times=1):
    """A connection that asks, takes the first line of the answer and reads no more."""
    c = socket.socket()
    c.settimeout(PATIENCE_S)
    c.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    c.connect(('127.0.0.1', port))
    c.sendall(get(target) * times)
    line = c.recv(12, socket.MSG_WAITALL)
    assert line == b'HTTP/1.1 200', line
    return c


def is_closed(c):
    """Whether the server has closed it; reads what is there."""
    c.setblocking(False)
    try:
        while c.recv(1 << 20):
            pass
        return True
    except BlockingIOError:
        return False
    except ConnectionError:
        return True
