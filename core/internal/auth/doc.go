// Package auth authenticates requests by API key or operator token, and makes both.
package auth
