package v1_test

import (
	stdjson "encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

func TestTimeIsWrittenInMilliseconds(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in   time.Time
		want string
	}{
		"Whole":    {time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC), "2026-11-21T09:30:00.000Z"},
		"CutOff":   {time.Date(2026, 11, 21, 9, 30, 0, 999_999_999, time.UTC), "2026-11-21T09:30:00.999Z"},
		"Trailing": {time.Date(2026, 11, 21, 9, 30, 0, 120_000_000, time.UTC), "2026-11-21T09:30:00.120Z"},
		"Zone":     {time.Date(2026, 11, 21, 1, 0, 0, 0, time.FixedZone("", 2*3600)), "2026-11-20T23:00:00.000Z"},
		"Zero":     {time.Time{}, "0001-01-01T00:00:00.000Z"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := v1.Time{Time: tt.in}
			for door, through := range map[string]func(any) ([]byte, error){
				"v1": stdjson.Marshal, "v2": func(v any) ([]byte, error) { return json.Marshal(v) }, "ours": v1.MarshalRevealed,
			} {
				if got, err := through(in); err != nil || string(got) != `"`+tt.want+`"` {
					t.Errorf("%s: got %s, %v, want %q", door, got, err, tt.want)
				}
				if got, err := through(map[v1.Time]int{in: 1}); err != nil || string(got) != `{"`+tt.want+`":1}` {
					t.Errorf("%s, as a key: got %s, %v, want %q", door, got, err, tt.want)
				}
			}
			if got, err := in.MarshalText(); err != nil || string(got) != tt.want {
				t.Errorf("text: got %s, %v, want %q", got, err, tt.want)
			}
			var back v1.Time
			if err := back.UnmarshalJSON([]byte(`"` + tt.want + `"`)); err != nil ||
				!back.Equal(tt.in.Truncate(time.Millisecond)) {
				t.Errorf("back: got %v, %v, want %v", back, err, tt.in)
			}
		})
	}
}

func TestTimeRefusesYearsItCannotWrite(t *testing.T) {
	t.Parallel()
	for _, year := range []int{-1, 10000} {
		in := v1.Time{Time: time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)}
		if got, err := json.Marshal(in); err == nil {
			t.Errorf("%d, v2: got %s, want an error", year, got)
		}
		if got, err := stdjson.Marshal(in); err == nil {
			t.Errorf("%d, v1: got %s, want an error", year, got)
		}
	}
	for _, in := range []string{"9999-12-31T23:59:59-01:00", "0000-01-01T00:00:00+01:00"} {
		var got v1.Time
		if err := got.UnmarshalText([]byte(in)); !errors.Is(err, v1.ErrTime) {
			t.Errorf("%s: got %v, %v, want %v", in, got, err, v1.ErrTime)
		}
	}
}

func TestTimeReads(t *testing.T) {
	t.Parallel()
	want := time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)
	for _, in := range []string{
		"2026-11-21T09:30:00Z", "2026-11-21T09:30:00.000Z", "2026-11-21T10:30:00+01:00",
		"2026-11-21T09:30:00.000000000Z", "2026-11-21t09:30:00z", "2026-11-21T04:00:00.0-05:30",
	} {
		var got struct{ At v1.Time }
		for door, through := range map[string]func([]byte, any) error{
			"v1": stdjson.Unmarshal, "v2": func(b []byte, v any) error { return json.Unmarshal(b, v) },
		} {
			if err := through([]byte(`{"At":"`+in+`"}`), &got); err != nil || got.At.Time != want {
				t.Errorf("%s, %s: got %v, %v, want %v", door, in, got.At, err, want)
			}
		}
	}
	for _, in := range []string{
		`null`, `1`, `""`, `"2026-11-21"`, `"2026-11-21 09:30:00Z"`, `"2026-11-21T09:30:00"`, `"2026-13-01T00:00:00Z"`,
		`"2026-11-21T9:30:00Z"`, `"2026-11-21T09:30:00,5Z"`, `"2026-11-21T09:30:00+25:00"`,
		`"2026-11-21T09:30:00+0000"`, `"2026-11-21T09:30:00+00"`, `"2026-11-21t09:30:00 z"`,
	} {
		var got v1.Time
		if err := got.UnmarshalJSON([]byte(in)); err == nil {
			t.Errorf("%s: got %v, want an error", in, got)
		}
	}
}

func BenchmarkTime(b *testing.B) {
	in := v1.Time{Time: time.Date(2026, 11, 21, 9, 30, 0, 123_000_000, time.UTC)}
	buf := make([]byte, 0, 32)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := in.AppendText(buf[:0]); err != nil {
			b.Fatal(err)
		}
	}
}
