// Burns CPU time where an exception was caught, and says in which functions it was on the way.
#include <cstdint>
#include <ctime>
#include <stdexcept>

namespace {

volatile std::uint64_t sink;

__attribute__((noinline)) void burn(std::int64_t cpu_ns) {
    timespec start, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
    do {
        for (int i = 0; i < 20000; i++)
            sink = sink + 1;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((now.tv_sec - start.tv_sec) * 1000000000LL + now.tv_nsec - start.tv_nsec < cpu_ns);
}

template <typename T> __attribute__((noinline)) void throws(T value) {
    if (sink < 1000)
        throw std::runtime_error("expected");
    sink = sink + static_cast<std::uint64_t>(value);
}

struct Catcher {
    __attribute__((noinline)) void run(int depth) {
        try {
            throws(depth);
        } catch (const std::exception &) {
            burn(300000000);
            sink = sink + 1;
        }
    }
};

} // namespace

int main() {
    Catcher().run(1);
    return sink == 0;
}
