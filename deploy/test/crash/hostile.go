package crash

import "regexp"

// disturbances are those of a hostile acquirer: every fourth request meets one.
const disturbances = `
disturbances:
  - {kind: slow, share: 60, delay_ms: 150}
  - {kind: timeout_before, share: 40, delay_ms: 100}
  - {kind: timeout_after, share: 40, delay_ms: 100}
  - {kind: late, share: 40, delay_ms: 50, effect_ms: 700}
  - {kind: unavailable, share: 40}
  - {kind: not_found, share: 30}
`

var (
	longTimes    = regexp.MustCompile(`(delay|effect)_ms: \d{4,}`)
	refusedVoids = regexp.MustCompile(`(?m)^  - \{operation: void,.*\n`)
)

// Catalogues returns two versions of the simulator's catalogue for tests: a calm one, whose slow
// cards take fractions of a second, and the same one with disturbances of all kinds.
func Catalogues(catalogue string) (calm, hostile string) {
	calm = longTimes.ReplaceAllString(catalogue, "${1}_ms: 100")
	calm = refusedVoids.ReplaceAllString(calm, "") // only an operator can end a release that is always refused
	return calm, calm + disturbances
}
