package admission_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/causeway-pay/causeway/shared/admission"
)

func TestReadBody(t *testing.T) {
	t.Parallel()
	const limit = 1000
	broken := errors.New("broken")
	tests := map[string]struct {
		body     io.Reader
		length   int64
		encoding []string
		want     int
		err      error
	}{
		"None":            {http.NoBody, 0, nil, 0, nil},
		"Known":           {strings.NewReader("hello"), 5, nil, 5, nil},
		"Unknown":         {strings.NewReader("hello"), -1, nil, 5, nil},
		"ByteByByte":      {iotest.OneByteReader(strings.NewReader(strings.Repeat("a", 999))), -1, nil, 999, nil},
		"Identity":        {strings.NewReader("hello"), 5, []string{"Identity"}, 5, nil},
		"AtLimit":         {strings.NewReader(strings.Repeat("a", limit)), limit, nil, limit, nil},
		"AtLimitUnknown":  {strings.NewReader(strings.Repeat("a", limit)), -1, nil, limit, nil},
		"LongerThanSaid":  {strings.NewReader("hello"), 2, nil, 5, nil},
		"TooLarge":        {strings.NewReader(strings.Repeat("a", limit+1)), limit + 1, nil, 0, admission.ErrTooLarge},
		"TooLargeUnknown": {strings.NewReader(strings.Repeat("a", limit+1)), -1, nil, limit, admission.ErrTooLarge},
		"TooLargeUnread":  {iotest.ErrReader(broken), 1 << 60, nil, 0, admission.ErrTooLarge},
		"Packed":          {strings.NewReader("hello"), 5, []string{"gzip"}, 0, admission.ErrEncoding},
		"PackedSecond":    {strings.NewReader("hello"), 5, []string{"identity", "br"}, 0, admission.ErrEncoding},
		"Broken":          {iotest.ErrReader(broken), 5, nil, 0, broken},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", tt.body)
			r.ContentLength = tt.length
			r.Header["Content-Encoding"] = tt.encoding
			w := httptest.NewRecorder()
			got, err := admission.ReadBody(w, r, limit)
			if len(got) != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("got %d bytes, %v, want %d, %v", len(got), err, tt.want, tt.err)
			}
			if got, want := w.Header().Get("Connection") == "close", errors.Is(tt.err, admission.ErrTooLarge); got != want {
				t.Errorf("connection closes: got %t, want %t", got, want)
			}
		})
	}
}

// TestReadBodyAllocates: a body of usual size needs one buffer, and a larger body a few.
func TestReadBodyAllocates(t *testing.T) {
	for size, buffers := range map[int]int{1000: 1, 8000: 4} {
		text := strings.Repeat("a", size)
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil)
		r.ContentLength = int64(len(text))
		w := deadlines{httptest.NewRecorder()}
		body := strings.NewReader(text)
		got := testing.AllocsPerRun(100, func() {
			body.Reset(text)
			r.Body = io.NopCloser(body)
			if _, err := admission.ReadBody(w, r, 1<<18); err != nil {
				t.Fatal(err)
			}
		})
		if want := float64(buffers + 3); got > want { // the ticket, the writer's controller, and NopCloser here
			t.Errorf("%d bytes: got %v allocations, want at most %v", size, got, want)
		}
	}
}

// deadlines is a response writer with deadlines, as for a connection.
type deadlines struct{ http.ResponseWriter }

func (deadlines) SetReadDeadline(time.Time) error { return nil }
