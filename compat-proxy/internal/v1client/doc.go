// Package v1client calls v1 for the dialects. It repeats a call while that is safe. It also reports
// whether an attempt may have had an effect, and whether v1 had stored the response.
package v1client
