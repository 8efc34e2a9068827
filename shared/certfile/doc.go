// Package certfile reads certificates with their keys from files, says what is wrong with a pair before anybody is served by it, and watches a folder
// for new ones.
package certfile
