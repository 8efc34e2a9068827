// Package fleet starts several of each program on one PostgreSQL, and kills and replaces them.
package fleet
