package main

// Run is the program but for its exit.
var Run = run
