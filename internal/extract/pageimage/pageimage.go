// Package pageimage gives the pages of PDF and image files as the images that OCR engines take: gray, on
// white paper, as a reader sees them.
package pageimage
