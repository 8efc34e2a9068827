// Package kill has only tests. They kill cores, mle-filters and proxies at random moments, again
// and again, while clients pay through every endpoint. Each acknowledged response must hold, each
// request must take effect once, and no payment may remain unfinished. Package crash judges the
// result.
//
//	CAUSEWAY_CRASH_ROUNDS=200 go test -count=1 -timeout 2h -run Kill -v ./deploy/test/kill
package kill
