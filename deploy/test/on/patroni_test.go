package on_test

import (
	"regexp"
	"testing"
)

// TestPatroniAdmitsEveryDatabase checks that Patroni's cluster serves each database of the page on
// several cores: pg_hba admits its role, and the README creates both.
func TestPatroniAdmitsEveryDatabase(t *testing.T) {
	t.Parallel()
	page := string(mustRead(t, "deploy/docs/operate/several-cores.md"))
	urls := regexp.MustCompile(`postgres://(\w+):[^@\s]*@[^/\s]+/(\w+)`).FindAllStringSubmatch(page, -1)
	databases := map[string]string{}
	for _, url := range urls {
		databases[url[2]] = url[1]
	}
	if len(databases) != 2 {
		t.Fatalf("several-cores.md names the databases %v, want those of core and mle-filter", databases)
	}
	settings := string(mustRead(t, "deploy/on/patroni/patroni.yaml"))
	readme := string(mustRead(t, "deploy/on/patroni/README.md"))
	for database, role := range databases {
		if !regexp.MustCompile(`(?m)^ +- hostssl +` + database + ` +` + role + ` +\$\{NETWORK\} +scram-sha-256$`).
			MatchString(settings) {
			t.Errorf("patroni.yaml does not admit %s to the database %s", role, database)
		}
		if !regexp.MustCompile(`CREATE ROLE ` + role + ` LOGIN .*\s*CREATE DATABASE ` + database + ` OWNER ` + role + `\b`).
			MatchString(readme) {
			t.Errorf("patroni/README.md does not create the database %s of %s", database, role)
		}
	}
}
