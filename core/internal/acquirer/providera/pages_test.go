package providera

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/acquirer/upstream"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/secret"
)

// endless is a host whose lists have no end.
type endless struct {
	batches int
	invoice string           // of all rows
	first   func(in int) int // by the number of a page: that of its first row
	empty   bool             // no page has a row
	others  atomic.Int64     // added to the numbers of batches
	reads   atomic.Int64
}

func (h *endless) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in hostRequest
	if body, err := io.ReadAll(r.Body); err != nil || xml.Unmarshal(body, &in) != nil {
		w.WriteHeader(http.StatusTeapot)
		return
	}
	h.reads.Add(1)
	inside := okay
	switch in.XMLName.Local {
	case "getTransactionDetailsRequest":
		inside = strings.Replace(bad, "E00027", codeNoRecord, 1)
	case "getSettledBatchListRequest":
		inside += "<batchList>"
		for n := range h.batches {
			const batch = "<batch><batchId>%d</batchId><settlementTimeUTC>2026-03-02T16:00:00Z</settlementTimeUTC></batch>"
			inside += fmt.Sprintf(batch, 1+n+int(h.others.Load()))
		}
		inside += "</batchList>"
	case "getUnsettledTransactionListRequest", "getTransactionListRequest":
		if h.empty {
			inside = strings.Replace(okay, "I00001", codeNoRows, 1)
			break
		}
		var rows strings.Builder
		hour := 15
		if in.Paging.Page > 1000 {
			hour = 20
		}
		for n := range pageSize {
			fmt.Fprintf(&rows, "<transaction><transId>%d</transId><submitTimeUTC>2026-03-02T%d:00:00Z</submitTimeUTC>"+
				"<transactionStatus>settledSuccessfully</transactionStatus><invoiceNumber>%s</invoiceNumber></transaction>",
				70000000000+h.first(in.Paging.Page)+n, hour, h.invoice)
		}
		inside += "<transactions>" + rows.String() + "</transactions>"
	}
	_, _ = io.WriteString(w, wrap(strings.TrimSuffix(in.XMLName.Local, "Request")+"Response", inside))
}

// TestEndlessLists: a list that repeats a page ends the reads. Other reads end after mostReads.
func TestEndlessLists(t *testing.T) {
	t.Parallel()
	repeated := func(int) int { return 0 }
	others := func(page int) int { return page * pageSize }
	about := acquirer.Sent{Kind: acquirer.Sale, Reference: reference, Amount: 100, Currency: "usd"}
	for name, test := range map[string]struct {
		host *endless
		most int64
	}{
		"a repeated page":         {&endless{batches: 1, invoice: "another", first: repeated}, 4},
		"other rows on each page": {&endless{batches: 400, invoice: "another", first: others}, mostReads + 2},
		"rows of the request":     {&endless{batches: 1, invoice: reference, first: others}, 4},
		"too many batches":        {&endless{batches: mostBatches + 1, invoice: "another", empty: true}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(test.host)
			t.Cleanup(server.Close)
			now := time.Date(2026, 3, 2, 15, 0, 0, 0, time.UTC)
			c := connect(t, upstream.Config{BaseURL: server.URL}, Config{
				Name: hostName, TransactionKey: secret.New(hostKey), Clock: clock.NewFake(now.Add(time.Minute)),
			})
			about := about
			about.Tag = tagOf(now)
			for range 2 {
				_, err := c.Inquire(t.Context(), about)
				n, is := test.host.reads.Swap(0), errors.Is(err, acquirer.ErrUnknown) && !errors.Is(err, acquirer.ErrNotListed)
				if n > test.most || !is {
					t.Errorf("inquiry: %d requests, want at most %d, %v", n, test.most, err)
				}
			}
			if test.host.invoice == reference {
				return
			}
			about.ID = "1"
			reports, err := c.Settled(t.Context(), []acquirer.Sent{about})
			if n := test.host.reads.Swap(0); n > test.most || err != nil || reports[0].State != acquirer.Unreported {
				t.Errorf("reports: %d requests, want at most %d, got %v, %v", n, test.most, reports, err)
			}
		})
	}
}

// TestOtherBatchesEachTime: a host that lists other batches in each attempt makes a search hold no
// more than mostBatches of them.
func TestOtherBatchesEachTime(t *testing.T) {
	t.Parallel()
	host := &endless{batches: mostReads, invoice: "another", empty: true}
	server := httptest.NewServer(host)
	t.Cleanup(server.Close)
	now := time.Date(2026, 3, 2, 15, 0, 0, 0, time.UTC)
	c := connect(t, upstream.Config{BaseURL: server.URL}, Config{
		Name: hostName, TransactionKey: secret.New(hostKey), Clock: clock.NewFake(now.Add(24 * time.Hour)),
	})
	about := acquirer.Sent{Kind: acquirer.Sale, Reference: reference, Tag: tagOf(now), Amount: 100, Currency: "usd"}
	for range mostBatches/mostReads + 2 {
		_, err := c.Inquire(t.Context(), about)
		if !errors.Is(err, acquirer.ErrUnknown) || errors.Is(err, acquirer.ErrNotListed) {
			t.Errorf("got %v, want an unknown outcome", err)
		}
		host.others.Add(mostReads)
	}
	if got := len(c.searches[reference].read); got > mostBatches {
		t.Errorf("the search holds %d lists, want at most %d", got, mostBatches)
	}
}
