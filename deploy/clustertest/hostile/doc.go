// Package hostile holds only tests: a core on SQLite is killed under load, while its acquirer is slow, late, flaky and
// contradictory at random and the clock jumps up to a day either way. In the end the acquirer behaves and time
// passes; then nothing may be unfinished, and the acquirer's records must equal v1's, refunds and credits included.
//
//	CAUSEWAY_CRASH_ROUNDS=200 go test -count=1 -timeout 2h -parallel 8 -run Hostile -v ./deploy/clustertest/hostile
package hostile
