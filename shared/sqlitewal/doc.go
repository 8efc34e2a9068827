// Package sqlitewal opens connections to SQLite databases, and refuses those whose commits would not be durable.
package sqlitewal
