package coretest

import (
	"fmt"
	"testing"
)

// MustRefuse makes the database refuse an operation, INSERT, UPDATE or DELETE, on the rows of a table
// that meet a condition on NEW or OLD. The returned function ends that.
func (s *Service) MustRefuse(tb testing.TB, operation, table, condition string) (end func()) {
	tb.Helper()
	name := "refused_" + operation + "_" + table
	if s.Database.Path != "" {
		s.MustExec(tb, fmt.Sprintf(`CREATE TRIGGER %s BEFORE %s ON %s WHEN %s BEGIN SELECT RAISE(ABORT, 'refused'); END`,
			name, operation, table, condition))
		return func() { s.MustExec(tb, "DROP TRIGGER "+name) }
	}
	s.MustExec(tb, `CREATE OR REPLACE FUNCTION refused() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE check_violation USING CONSTRAINT = ''refused''; END'`)
	s.MustExec(tb, fmt.Sprintf("CREATE TRIGGER %s BEFORE %s ON %s FOR EACH ROW WHEN (%s) EXECUTE FUNCTION refused()",
		name, operation, table, condition))
	return func() { s.MustExec(tb, "DROP TRIGGER "+name+" ON "+table) }
}
