// Package hostile holds only tests: they kill cores under load. Meanwhile the acquirer is slow,
// late, flaky and contradictory at random, and clocks jump up to a day either way. In the end the
// acquirer has no faults, and time passes. Then nothing may be unfinished, and the acquirer's
// records must equal v1's, refunds and credits included.
//
// The arrangements are one core on SQLite, and three on a PostgreSQL server. There the clocks of
// the server and of the cores jump together or separately.
//
//	CAUSEWAY_CRASH_ROUNDS=200 go test -count=1 -timeout 2h -parallel 4 -run Hostile -v ./deploy/test/hostile
package hostile
