package securitycode_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/securitycode"
)

// hostile are texts of about n bytes with long paths of members, or with many members.
var hostile = map[string]func(n int) string{
	"deep": func(n int) string {
		depth := min(n/12, 9000) // the decoder rejects deeper JSON
		pad := strings.Repeat("x", n/2)
		return strings.Repeat(`{"a":1,"b":`, depth) + `"` + pad + `"` + strings.Repeat("}", depth)
	},
	"deep arrays": func(n int) string {
		depth := min(n/2, 9000)
		return strings.Repeat("[", depth) + strings.Repeat(" ", n/2) + strings.Repeat("]", depth)
	},
	"long name": func(n int) string {
		return `{"` + strings.Repeat("x", n/2) + `":[{}` + strings.Repeat(`,{"b":1}`, n/16) + `]}`
	},
	"long name over codes": func(n int) string {
		return `{"` + strings.Repeat("x", n/2) + `":[{}` + strings.Repeat(`,{"cvc":1}`, n/20) + `]}`
	},
	"long name deep": func(n int) string {
		depth := min(n/24, 9000)
		return `{"` + strings.Repeat("x", n/2) + `":` + strings.Repeat(`{"cvc":1,"b":`, depth) + "1" +
			strings.Repeat("}", depth) + "}"
	},
	"names of a code": func(n int) string {
		return `[{}` + strings.Repeat(`,{"security-Code":1}`, n/20) + `]`
	},
}

// TestWithoutIsLinear: twice the text allocates twice the memory, not four times. A path for each
// member would be as long as all enclosing names.
func TestWithoutIsLinear(t *testing.T) { //nolint:paralleltest // allocations of other tests would count
	for name, text := range hostile {
		var cost [3]uint64
		for i, size := range []int{64 << 10, 128 << 10, 256 << 10} {
			body := []byte(text(size))
			cost[i] = allocated(func() {
				if _, err := securitycode.Without(body, isCode); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			})
		}
		if cost[1] > 3*cost[0] || cost[2] > 3*cost[1] || cost[2] > 64*256<<10 {
			t.Errorf("%s: %d bytes for 64 kB, %d for 128 kB, %d for 256 kB", name, cost[0], cost[1], cost[2])
		}
	}
}

// allocated returns how many bytes a function allocates. Its first call fills pools.
func allocated(do func()) uint64 {
	do()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
