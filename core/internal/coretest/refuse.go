package coretest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// MustRefuse makes the database refuse an operation, INSERT, UPDATE or DELETE, on the rows of a
// table that meet a condition on NEW or OLD. end removes the refusal.
func (s *Service) MustRefuse(tb testing.TB, operation, table, condition string) (end func()) {
	tb.Helper()
	name := "refused_" + operation + "_" + table
	if s.Database.Path != "" {
		s.MustExec(tb, fmt.Sprintf(`CREATE TRIGGER %s BEFORE %s ON %s WHEN %s BEGIN SELECT RAISE(ABORT, 'refused'); END`,
			name, operation, table, condition))
		return func() { s.MustExec(tb, "DROP TRIGGER "+name) }
	}
	s.MustExec(tb, `CREATE OR REPLACE FUNCTION refused() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE check_violation USING CONSTRAINT = ''refused''; END'`)
	s.mustDefine(tb, fmt.Sprintf("CREATE TRIGGER %s BEFORE %s ON %s FOR EACH ROW WHEN (%s) EXECUTE FUNCTION refused()",
		name, operation, table, condition))
	return func() { s.mustDefine(tb, "DROP TRIGGER "+name+" ON "+table) }
}

// mustDefine runs a statement that locks a table and then each of its partitions. A command that
// locked a partition first can cause a deadlock. PostgreSQL then ends one of the two, and the
// statement is run again.
func (s *Service) mustDefine(tb testing.TB, statement string) {
	tb.Helper()
	db := s.Database.mustWrite(tb)
	defer func() { _ = db.Close() }() // the result of the statement was checked
	programtest.WaitFor(tb, "no command conflicts with "+statement, func() bool {
		_, err := db.ExecContext(tb.Context(), statement)
		if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == "40P01" {
			return false
		}
		if err != nil {
			tb.Fatal(err)
		}
		return true
	})
}
