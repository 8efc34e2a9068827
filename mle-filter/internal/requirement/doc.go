// Package requirement reads the announced requirements of encryption from core, and decides which
// requests they apply to.
package requirement
