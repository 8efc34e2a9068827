// Package tlspolicy is the one place that says which TLS our listeners speak.
package tlspolicy
