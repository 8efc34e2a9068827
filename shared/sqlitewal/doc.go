// Package sqlitewal names SQLite files and opens connections to them. It refuses connections whose
// commits would not be durable.
package sqlitewal
