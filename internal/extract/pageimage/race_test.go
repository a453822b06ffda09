//go:build race

package pageimage_test

const raceDetector = true
