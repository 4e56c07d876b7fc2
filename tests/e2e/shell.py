"""An interactive shell with job control on a pseudoterminal, for the end-to-end tests."""
import contextlib
import os
import pty
import select
import threading
import time

from harness import ENVIRONMENT, PITOT, Skip, end_session

PROMPT = b'pitot-e2e$ '
FORKING = threading.Lock()

# LeakSanitizer stops its process with SIGSTOP, which the SIGCONT of a hangup takes away: it would
# wait for ever, and its process would spin.
NO_LEAKS = 'export ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0"; '


class Terminal:
    """An interactive shell; `text` is all that came from it."""

    def __init__(self, directory):
        self.directory, self.text, self.seen = directory, b'', 0
        with FORKING: # a shell that inherits the terminal of another test would keep it open
            try:
                self.pid, self.fd = pty.fork()
            except OSError as reason:
                raise Skip(f'no terminals can be made here: {reason}') from reason
            if self.pid == 0:
                os.chdir(directory)
                os.execvpe('bash', ['bash', '--norc', '--noprofile', '--noediting', '-i'],
                           ENVIRONMENT | {'TERM': 'xterm', 'PS1': PROMPT.decode(), 'PITOT': PITOT})
            os.set_inheritable(self.fd, False)
        self.wait_for(PROMPT)

    def read(self):
        if select.select([self.fd], [], [], 0.05)[0]:
            with contextlib.suppress(OSError): # the shell has ended
                self.text += os.read(self.fd, 65536)

    def wait_for(self, part, seconds=20):
        """Everything since the last wait, up to and with the part."""
        limit = time.monotonic() + seconds
        while (at := self.text.find(part, self.seen)) < 0:
            assert time.monotonic() < limit, f'no {part!r} in {self.text[self.seen:]!r}'
            self.read()
        before, self.seen = self.text[self.seen:at + len(part)], at + len(part)
        return before

    def type(self, text):
        os.write(self.fd, text)

    def line(self, text):
        self.type(text.encode() + b'\n')
        self.wait_for(b'\n') # its echo

    def line_unseen(self, text):
        """The same where the terminal does not echo."""
        self.type(text.encode() + b'\n')

    def hang_up(self):
        if self.fd >= 0:
            os.close(self.fd)
        self.fd = -1

    def close(self):
        self.hang_up()
        os.waitpid(self.pid, 0)
        end_session(self.pid)


@contextlib.contextmanager
def terminal(directory):
    shell = Terminal(directory)
    try:
        yield shell
    finally:
        shell.close()


def exit_code(shell):
    shell.line('echo "code $?."')
    return int(shell.wait_for(b'.').split()[-1].rstrip(b'.'))
