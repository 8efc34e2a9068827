package main

// Run is the program without its exit.
var Run = run
