// Package kill has no code but tests: any core, filter or proxy of several is killed at any moment, over and over, while clients pay at every door.
// What clients were told must hold, each thing they asked for must have been done once, and nothing may be left open. The judge is package crash's.
//
//	CAUSEWAY_CRASH_ROUNDS=200 go test -count=1 -timeout 2h -run Kill -v ./deploy/test/kill
package kill
