// Preloaded into a PostgreSQL server, this moves its wall clock by the seconds in the file that STEERED_CLOCK names, and
// leaves the monotonic clock alone. Reading the clock is one system call and one load: PostgreSQL also reads it in signal
// handlers, where libfaketime, which reads its file each time, aborts.
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t none = 0;
static const volatile int64_t *offset = &none;

__attribute__((constructor)) static void load(void) {
	const char *path = getenv("STEERED_CLOCK");
	int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	void *page = file < 0 ? MAP_FAILED : mmap(NULL, sizeof *offset, PROT_READ, MAP_SHARED, file, 0);
	if (page == MAP_FAILED)
		abort();
	close(file);
	offset = page;
}

int clock_gettime(clockid_t id, struct timespec *now) {
	int failed = syscall(SYS_clock_gettime, id, now) != 0;
	if (!failed && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
		now->tv_sec += *offset;
	return -failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
	(void)zone;
	struct timespec exact;
	clock_gettime(CLOCK_REALTIME, &exact);
	now->tv_sec = exact.tv_sec;
	now->tv_usec = exact.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *now) {
	struct timespec exact;
	clock_gettime(CLOCK_REALTIME, &exact);
	if (now)
		*now = exact.tv_sec;
	return exact.tv_sec;
}
