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

// TestTextWithoutItsBlanks: a text that is kept does not keep the blanks around it in memory.
//
//nolint:paralleltest // it counts the memory that the process holds
func TestTextWithoutItsBlanks(t *testing.T) {
	body := []byte(wrap("getSettledBatchListResponse", okay+"<batchList><batch><batchId>6041000"+
		strings.Repeat(" ", upstream.MaxList-1000)+"</batchId></batch></batchList>"))
	held := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, kept := held(), make([]string, 0, 20)
	for range cap(kept) {
		d, err := parse("getSettledBatchList", body)
		if err != nil || len(d.Batches) != 1 {
			t.Fatalf("got %+v, %v", d, err)
		}
		kept = append(kept, number(d.Batches[0].ID))
	}
	if after := held(); after > before+2*upstream.MaxList || kept[0] != "6041000" {
		t.Errorf("%d texts hold %d KiB", len(kept), (after-before)>>10)
	}
	runtime.KeepAlive(kept)
}
