/* A program that measures itself with libpitot and says on stdout what it has recorded.
 *
 *     library_workload work THREADS ROUNDS   nested spans, a counter, a histogram
 *     library_workload fork ROUNDS           the same in a child as well
 *     library_workload kill ROUNDS           ends by SIGKILL
 *     library_workload arguments ROUNDS      spans with a text, spans with an amount of work
 *     library_workload exec ROUNDS           the same as work, then again as another program
 *     library_workload cut ROUNDS            cuts its own file at the end
 *
 * Compiles as C11 and as C++17. */
#include <dirent.h>
#include <fcntl.h>
#include <pitot/pitot.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS_MAX 64

static long rounds;
static pt_counter counter;
static pt_histogram histogram;

static void *work(void *unused) {
    (void)unused;
    for (long i = 0; i < rounds; i++) {
        PT_SPAN(outer, "outer");
        {
            PT_SPAN(inner, "inner");
            pt_span_set_argument(&inner, i);
            pt_span_set_request(&inner, 7);
        }
        pt_counter_add(counter, 3);
        pt_histogram_record(histogram, (double)(i + 1));
    }
    return NULL;
}

static void work_in_threads(long count) {
    pthread_t threads[THREADS_MAX];
    for (long i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, work, NULL))
            abort();
    for (long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    printf("%ld %ld\n", 2 * count * rounds, 3 * count * rounds);
}

static void work_in_two(void) {
    work(NULL);
    if (fork() == 0) {
        work(NULL);
        return;
    }
    wait(NULL);
    printf("%ld\n", 2 * 2 * rounds);
}

static void put_arguments(void) {
    static pt_name once;
    pt_name text = pt_name_once(&once, "a \"text\", \xc3\xa9");
    for (long i = 0; i < rounds; i++) {
        PT_SPAN(with_text, "with_text");
        PT_SPAN(with_work, "with_work");
        pt_span_set_text(&with_text, text);
        pt_span_set_work(&with_work, (enum pt_work)(1 + i % 3), i);
    }
}

/* Touches nothing of the library afterwards. */
static void cut_own_file(void) {
    const char *name = getenv(PITOT_REGION_VARIABLE);
    DIR *directory = name ? opendir(name) : NULL;
    for (struct dirent *e; directory && (e = readdir(directory));) {
        int fd = openat(dirfd(directory), e->d_name, O_WRONLY | O_NOFOLLOW);
        if (fd >= 0 && ftruncate(fd, 5000))
            abort();
    }
    _exit(0);
}

int main(int argument_count, char **arguments) {
    const char *how = argument_count > 2 ? arguments[1] : "";
    rounds = argument_count > 2 ? strtol(arguments[argument_count - 1], NULL, 10) : 0;
    counter = pt_counter_new("work", "", "Rounds, three each", "kind=\"test\"");
    histogram = pt_histogram_new("size", "By", "Sizes", NULL);
    if (strcmp(how, "work") == 0 && argument_count == 4 &&
        strtol(arguments[2], NULL, 10) <= THREADS_MAX) {
        work_in_threads(strtol(arguments[2], NULL, 10));
    } else if (strcmp(how, "fork") == 0) {
        work_in_two();
    } else if (strcmp(how, "kill") == 0) {
        work(NULL);
        raise(SIGKILL);
    } else if (strcmp(how, "arguments") == 0) {
        put_arguments();
    } else if (strcmp(how, "exec") == 0) {
        work(NULL);
        execl(arguments[0], arguments[0], "work", "1", arguments[2], (char *)NULL);
    } else if (strcmp(how, "cut") == 0) {
        work(NULL);
        cut_own_file();
    }
    return 0;
}
