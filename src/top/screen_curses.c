/* top/screen_curses.c -- the module "terminal". ncurses sends only the differences from the
 * previous screen: an unchanged canvas costs nothing and nothing flickers. */
#define NCURSES_WIDECHAR 1
#include "top/screen.h"

#include "base/mem.h"
#include "top/top_view.h"

#include <curses.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

/* Global: curses has one instance, and a signal handler has no argument. */
static struct {
    SCREEN *screen;
    bool with_colour;
    wchar_t *line;
    size_t line_capacity;
    struct termios before;
    char leave[128]; /* restores the terminal's own screen and cursor */
} terminal;

/* Distinguishable with red-green colour blindness, and without colour. */
static const struct {
    attr_t attributes;
    short colour;
} looks[PT_STYLE_COUNT] = {
    [PT_STYLE_PLAIN] = { A_NORMAL, -1 },
    [PT_STYLE_TITLE] = { A_BOLD, -1 },
    [PT_STYLE_LABEL] = { A_NORMAL, COLOR_CYAN },
    [PT_STYLE_DIM] = { A_DIM, -1 },
    [PT_STYLE_LOW] = { A_NORMAL, COLOR_CYAN },
    [PT_STYLE_MIDDLE] = { A_NORMAL, COLOR_YELLOW },
    [PT_STYLE_HIGH] = { A_BOLD, COLOR_MAGENTA },
    [PT_STYLE_CURVE] = { A_NORMAL, COLOR_CYAN },
    [PT_STYLE_HEADING] = { A_REVERSE, -1 },
    [PT_STYLE_SORTED] = { A_BOLD | A_UNDERLINE, -1 },
    [PT_STYLE_SELECTED] = { A_REVERSE, -1 },
    [PT_STYLE_OWN] = { A_BOLD, -1 },
    [PT_STYLE_KEY] = { A_BOLD, -1 },
    [PT_STYLE_EVENT] = { A_BOLD, COLOR_YELLOW },
};

/* A capability without its padding, which modern terminals do not need. */
static void add_capability(const char *name) {
    const char *text = tigetstr(name);
    if (!text || text == (const char *)-1)
        return;
    size_t used = strlen(terminal.leave);
    snprintf(terminal.leave + used, sizeof terminal.leave - used, "%.*s", (int)strcspn(text, "$"),
             text);
}

/* Async-signal-safe. Runs once: then the signal has its default effect. */
static void leave_after_crash(int signal_number) {
    (void)!write(STDOUT_FILENO, terminal.leave, strlen(terminal.leave));
    tcsetattr(STDIN_FILENO, TCSANOW, &terminal.before);
    raise(signal_number);
}

static int open_screen(bool with_colour, struct pt_err *err) {
    const int crashes[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
    struct sigaction action = { .sa_handler = leave_after_crash, .sa_flags = (int)SA_RESETHAND };
    const char *kind = getenv("TERM");
    if (tcgetattr(STDIN_FILENO, &terminal.before))
        return pt_fail(err, -errno, "cannot use the terminal: %s", strerror(errno));
    terminal.screen = newterm(NULL, stdout, stdin);
    if (!terminal.screen)
        return pt_fail(err, -ENOTTY, "unknown terminal type '%s' (try TERM=xterm)",
                       kind ? kind : "");
    set_escdelay(25);
    cbreak();
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    intrflush(stdscr, FALSE);
    curs_set(0);
    terminal.with_colour = with_colour && has_colors();
    if (terminal.with_colour) {
        start_color();
        use_default_colors();
        for (int i = 0; i < PT_STYLE_COUNT; i++)
            init_pair((short)(i + 1), looks[i].colour, -1);
    }
    terminal.leave[0] = 0;
    add_capability("sgr0");
    add_capability("rmkx");
    add_capability("cnorm");
    add_capability("rmcup");
    for (size_t i = 0; i < PT_COUNT(crashes); i++)
        sigaction(crashes[i], &action, NULL);
    return 0;
}

static void close_screen(void) {
    endwin();
    delscreen(terminal.screen);
    pt_free(terminal.line);
    terminal.screen = NULL;
    terminal.line = NULL;
    terminal.line_capacity = 0;
}

static void suspend_screen(void) {
    endwin();
}

static void resume_screen(void) {
    clearok(curscr, TRUE); /* the content of the screen is unknown now */
    refresh();
}

static void screen_size(int *rows, int *columns) {
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0 &&
        is_term_resized(size.ws_row, size.ws_col))
        resizeterm(size.ws_row, size.ws_col);
    getmaxyx(stdscr, *rows, *columns);
}

static void show_run(const struct pt_glyph *glyphs, int count, enum pt_style style, int row,
                     int column) {
    int n = 0;
    for (int i = 0; i < count; i++)
        if (glyphs[i].code)
            terminal.line[n++] = (wchar_t)glyphs[i].code;
    attr_set(looks[style].attributes, terminal.with_colour ? (short)(style + 1) : 0, NULL);
    mvaddnwstr(row, column, terminal.line, n);
}

static void show_canvas(const struct pt_canvas *c) {
    pt_grow(&terminal.line, &terminal.line_capacity, (size_t)c->columns, sizeof *terminal.line);
    for (int row = 0; row < c->rows; row++) {
        const struct pt_glyph *glyphs = c->glyphs + (size_t)row * (size_t)c->columns;
        for (int start = 0, end; start < c->columns; start = end) {
            for (end = start + 1; end < c->columns && glyphs[end].style == glyphs[start].style;)
                end++;
            show_run(glyphs + start, end - start, glyphs[start].style, row, start);
        }
    }
    wnoutrefresh(stdscr);
    doupdate();
}

static const struct {
    int curses, key;
} keys[] = {
    { KEY_UP, PT_KEY_UP },          { KEY_DOWN, PT_KEY_DOWN },
    { KEY_LEFT, PT_KEY_LEFT },      { KEY_RIGHT, PT_KEY_RIGHT },
    { KEY_SLEFT, PT_KEY_FAR_LEFT }, { KEY_SRIGHT, PT_KEY_FAR_RIGHT },
    { KEY_PPAGE, PT_KEY_PAGE_UP },  { KEY_NPAGE, PT_KEY_PAGE_DOWN },
    { KEY_HOME, PT_KEY_HOME },      { KEY_END, PT_KEY_END },
    { KEY_BTAB, PT_KEY_BACK_TAB },  { KEY_BACKSPACE, PT_KEY_BACKSPACE },
    { KEY_ENTER, PT_KEY_ENTER },
};

static int special_key(int curses) {
    if (curses > KEY_F0 && curses <= KEY_F(12))
        return PT_KEY_F1 + (curses - KEY_F(1));
    for (size_t i = 0; i < PT_COUNT(keys); i++)
        if (keys[i].curses == curses)
            return keys[i].key;
    return PT_KEY_NONE;
}

static int next_key(void) {
    wint_t code;
    switch (get_wch(&code)) {
    case KEY_CODE_YES:
        return special_key((int)code);
    case OK:
        return code == '\r'                  ? PT_KEY_ENTER
               : code == 127 || code == '\b' ? PT_KEY_BACKSPACE
                                             : (int)code;
    default:
        return PT_KEY_NONE;
    }
}

static const struct pt_screen interface = {
    open_screen, close_screen, suspend_screen, resume_screen, screen_size, show_canvas, next_key,
};

/* "ncurses 6.4.20221231" */
static const char *library_version(void) {
    return curses_version() + strlen("ncurses ");
}

PT_MODULE(PT_SCREEN_VERSION, &interface, "ncurses", library_version);
