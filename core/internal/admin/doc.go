// Package admin is the operator's actions on an open store, as the command line runs them. They
// concern merchants, API keys, operator tokens, unfinished steps, secrets and backups. Each action
// leaves an audit record. A core may serve the same store meanwhile.
package admin
