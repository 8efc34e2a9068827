// Package prism compares both connectors with hyperswitch-prism, a library that implements the same
// two providers independently. Its tests encode 200 payments and decode 50 responses by both.
// differences.md explains each difference. An unexplained one fails the tests.
package prism
