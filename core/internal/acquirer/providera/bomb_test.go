package providera

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/acquirer/upstream"
)

// TestBomb: a response of many small elements or attributes takes little more memory than its
// bytes.
//
//nolint:paralleltest // it counts the memory that the process allocates
func TestBomb(t *testing.T) {
	for name, b := range map[string]struct{ open, repeated, shut string }{
		"rows":       {`><transactions>`, `<transaction/>`, `</transactions>`},
		"batches":    {`><batchList>`, `<batch/>`, `</batchList>`},
		"lists":      {`>`, `<transactions><transaction/></transactions>`, ``},
		"attributes": {` `, `a="" `, `>`},
		"nested":     {`>`, `<a>`, ``},
		"unread":     {`>`, `<a/>`, ``},
	} {
		t.Run(name, func(t *testing.T) {
			const root = "getTransactionListResponse"
			text := `<` + root + ` xmlns="` + namespace + `"` + b.open
			text += strings.Repeat(b.repeated, (upstream.MaxList-100-len(text))/len(b.repeated)) + b.shut + `</` + root + `>`
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := parse("getTransactionList", []byte(text))
			runtime.ReadMemStats(&after)
			if got := after.TotalAlloc - before.TotalAlloc; !errors.Is(err, acquirer.ErrUnknown) || got > 10*upstream.MaxList {
				t.Errorf("got %v and %d KiB, want unknown and at most %d KiB", err, got>>10, 10*upstream.MaxList>>10)
			}
		})
	}
}
