/* Runs a program and writes what wait4 says of it: exit status, microseconds of CPU time, peak
 * memory in bytes. A program of its own, because peak memory counts from before exec: a child of
 * Python would begin with that of Python.
 *     measured FILE PROGRAM ARGUMENT... */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
    struct rusage usage;
    int status;
    pid_t pid = argc > 2 ? fork() : -1;
    if (pid == 0) {
        execv(argv[2], argv + 2);
        _exit(127);
    }
    FILE *file = pid > 0 && wait4(pid, &status, 0, &usage) == pid ? fopen(argv[1], "w") : NULL;
    if (!file)
        return 2;
    fprintf(file, "%d %lld %lld\n", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status),
            (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000LL + usage.ru_utime.tv_usec +
                usage.ru_stime.tv_usec,
            usage.ru_maxrss * 1024LL);
    return fclose(file) ? 2 : 0;
}
