// Package certtest makes valid and invalid authorities and certificates for tests.
package certtest
