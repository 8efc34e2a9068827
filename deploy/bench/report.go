package bench

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// Row is one line of the design's table: a measurement and its reach.
type Row struct {
	ID       string     // P1, …; a row with several reaches has several lines
	What     string     // the ratio in words
	Absolute string     // the numbers behind the value
	Value    float64    // the ratio, or a time in ms, or a size in MB: see Unit
	Unit     string     // "" for a ratio
	Reach    float64    // in the same unit; 0 for none
	AtMost   bool       // the value must not exceed the reach; otherwise not be below it
	Spread   [2]float64 // lowest and highest round; zero if there is only one value
	Failure  string     // the reason why the row was not measured; all numbers are zero then
}

// Verdict returns "met" or "short", "failed" if the row was not measured, and "" without a reach.
func (r *Row) Verdict() string {
	switch {
	case r.Failure != "":
		return "failed"
	case r.Reach == 0:
		return ""
	case r.AtMost && r.Value <= r.Reach, !r.AtMost && r.Value >= r.Reach:
		return "met"
	}
	return "short"
}

func (r *Row) reach() string {
	if r.Reach == 0 {
		return "–"
	}
	sign := "≥"
	if r.AtMost {
		sign = "≤"
	}
	return sign + " " + r.number(r.Reach)
}

// number formats a value in the row's unit.
func (r *Row) number(v float64) string {
	if r.Unit == "" {
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.0f %s", v, r.Unit)
}

func (r *Row) spread() string {
	if r.Spread == [2]float64{} {
		return ""
	}
	return fmt.Sprintf("%s … %s", r.number(r.Spread[0]), r.number(r.Spread[1]))
}

// Report is the whole result of a run.
type Report struct {
	Machine []string // facts about the machine, one a line
	Rows    []Row
}

// Failed reports whether a row was not measured.
func (r *Report) Failed() bool {
	return slices.ContainsFunc(r.Rows, func(row Row) bool { return row.Failure != "" })
}

// Print writes the report as a table.
func (r *Report) Print(w io.Writer) error {
	var text bytes.Buffer
	t := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	lines := append(slices.Clone(r.Machine), "", "#\tmeasured\tnumbers\tvalue\trounds\treach")
	for i := range r.Rows {
		row := &r.Rows[i]
		cells := []string{row.ID, row.What, row.Absolute, row.number(row.Value), row.spread(), row.reach(), row.Verdict()}
		if row.Failure != "" {
			cells = []string{row.ID, row.What, oneLine(row.Failure), "–", "", "", row.Verdict()}
		}
		lines = append(lines, strings.Join(cells, "\t"))
	}
	_, _ = fmt.Fprintln(t, strings.Join(lines, "\n")) // a buffer takes all
	_ = t.Flush()
	if _, err := text.WriteTo(w); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}

// oneLine shortens a failure to a table cell.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > 120 {
		return string(r[:120]) + "…"
	}
	return text
}
